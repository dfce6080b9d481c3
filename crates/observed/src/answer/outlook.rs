//! What model F says of an engine whose turn costs are known: its all-miss capacity, where the
//! backlog is heading, which rate or cap brings it back and after how long.

use crate::model::rescue::{drain_s, rescuing_caps};
use crate::model::{ModelError, Theory};

/// The outlook at a rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlook {
    /// Sessions in the system now.
    pub backlog: f64,
    /// lambda_miss, the sessions per second that are served when every turn misses.
    pub all_miss_sessions_per_s: f64,
    /// The load over it.
    pub rho: f64,
    /// alpha, how the backlog of a trap grows, sessions per second; `None` where it drains.
    pub growth_sessions_per_s: Option<f64>,
    /// The smallest and largest cap that empties its gate; `None` where no cap does, or the
    /// cell gives no iteration costs.
    pub caps: Option<(u64, Option<u64>)>,
    /// How long the middle one of these takes, s, with the backlog that is there.
    pub release_s: Option<f64>,
    /// How long a session that arrives first waits at that gate, s: those before it pass at what
    /// the cap serves.
    pub gate_wait_s: Option<f64>,
    /// How long a load of 0.9 lambda_miss takes to drain that backlog, s, if each session in it
    /// has all its turns before it: an upper bound.
    pub drain_at_nine_tenths_s: f64,
}

/// Solves it for `backlog` sessions in the system.
///
/// # Errors
/// As [`Theory::trap`].
pub fn outlook(theory: &Theory, sessions_per_s: f64, backlog: f64) -> Result<Outlook, ModelError> {
    let capacity = theory.model_f.lambda_miss_per_s();
    let trap = theory.trap(sessions_per_s)?;
    let curve = theory.curve().ok();
    let caps =
        curve.and_then(|curve| rescuing_caps(curve, sessions_per_s)).and_then(|caps| caps.whole());
    let middle = |(least, most): (u64, Option<u64>)| {
        most.map_or(least as f64, |most| 0.5 * (least + most) as f64).floor()
    };
    let gate = curve.zip(caps.map(middle));
    let release_s = gate.and_then(|(curve, cap)| drain_s(curve, sessions_per_s, cap, backlog));
    let gate_wait_s = gate
        .map(|(curve, cap)| (backlog - cap).max(0.0) / curve.mu_per_s(cap))
        .filter(|wait| wait.is_finite());
    Ok(Outlook {
        backlog,
        all_miss_sessions_per_s: capacity,
        rho: theory.model_f.rho(sessions_per_s),
        growth_sessions_per_s: trap.map(|trap| trap.alpha_per_s),
        caps,
        release_s,
        gate_wait_s,
        drain_at_nine_tenths_s: backlog / (0.1 * capacity),
    })
}

impl Outlook {
    /// Lines for people.
    pub fn lines(&self) -> Vec<String> {
        use super::times::length;
        use crate::digits::fixed;
        let mut lines = vec![format!(
            "all-miss capacity {} sessions/s; the load is {} times that",
            fixed(self.all_miss_sessions_per_s, 4),
            fixed(self.rho, 2)
        )];
        let (capacity, backlog) = (self.all_miss_sessions_per_s, fixed(self.backlog, 0));
        lines.push(match self.growth_sessions_per_s {
            Some(growth) => format!(
                "while every turn misses the backlog of {backlog} grows by {} sessions per hour",
                fixed(growth * 3600.0, 0)
            ),
            None => format!("at this load the backlog of {backlog} does not grow"),
        });
        let clears = self.drain_at_nine_tenths_s;
        lines.push(format!(
            "a cut to {} sessions/s (0.9 of that capacity) clears it within {}; one to just below what is served now does not, at 0.99 it takes {}",
            fixed(0.9 * capacity, 4),
            length(clears),
            length(10.0 * clears)
        ));
        match (self.caps, self.release_s) {
            (Some((least, most)), release) => {
                let most = most.map_or("any above".into(), |n| n.to_string());
                let after = release
                    .map_or(String::new(), |s| format!("; release after about {}", length(s)));
                let wait = self.gate_wait_s.map_or(String::new(), |s| {
                    format!("; who arrives first waits about {} at the gate", length(s))
                });
                lines.push(format!("cap {least}-{most}{after}{wait}"));
            }
            (None, _) => lines.push("no cap is known to rescue at this load".into()),
        }
        lines
    }
}
