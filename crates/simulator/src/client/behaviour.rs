//! What a client does beside following its plan: the arm's part of it.

use super::gate::GateRule;

/// What a client does beside following its plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Behaviour {
    /// `Some(n)`: n sessions start at 0 and each that ends is replaced at once.
    pub population: Option<u32>,
    /// A closed population's sessions start one after the other over this long, seconds.
    pub ramp_s: f64,
    /// Who is let in.
    pub gate: GateRule,
    /// Arrivals in [from, to) are refused.
    pub refuse_s: Option<(f64, f64)>,
    /// Tool calls that start in [from, to) take `delay_s` longer.
    pub slow: Option<Slow>,
}

impl Behaviour {
    /// Follow the plan, nothing else.
    pub const PLAIN: Self =
        Self { population: None, ramp_s: 0.0, gate: GateRule::Open, refuse_s: None, slow: None };
}

/// A slowdown of tool calls (TOOLSLOW, App. E.6).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slow {
    /// Calls that start from here on, seconds.
    pub from_s: f64,
    /// Calls that start before here, seconds.
    pub to_s: f64,
    /// Added to each, seconds.
    pub delay_s: f64,
}
