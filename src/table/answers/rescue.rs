//! Which session caps rescue a trapped cell at its load, and when they can be released
//! (Cor. 4, Prop. 2, App. E.4, E.7, layer H4).

use super::{columns, facts, rows};
use crate::model::curve::layers::h4::{Rescue, release};
use crate::model::rescue::{drain_s, rescuing_caps};
use crate::model::{ModelError, Theory, positive};
use crate::table::{Cell, Table};

/// How long the gate stays empty before release (App. E.7).
const HOLD_S: f64 = 300.0;

/// The rescuing caps at a rate, and what each of `caps` does when engaged at `engage_s` after
/// the paper's burst. With no caps given, a spread of rescuing ones.
///
/// # Errors
/// A cell without iteration costs, a rate or cap that is not positive, or a cap before the burst.
pub fn rescue(
    theory: &Theory,
    lambda_per_s: f64,
    engage_s: f64,
    caps: &[f64],
) -> Result<Vec<Table>, ModelError> {
    let curve = theory.curve()?;
    let range = rescuing_caps(curve, lambda_per_s);
    let burst = theory.burst(lambda_per_s);
    positive("time from the burst to the cap (s)", engage_s - burst.burst_s)?;
    let fluid = burst.run(&theory.model_f, lambda_per_s, &[], engage_s + 1.0)?;
    let (present, waiting) = (fluid.backlog(engage_s), fluid.pending(engage_s));
    let whole = range.and_then(|range| range.whole());
    let rescuing = match (range, whole) {
        (None, _) => Cell::text("none: this load has no good state"),
        (_, None) => Cell::text("none: no whole number lies between n_1 and the bound"),
        (_, Some((from, Some(to)))) => Cell::Range([from.to_string(), to.to_string()]),
        (_, Some((from, None))) => {
            Cell::text(format!("{from} and more: the trap drains by itself"))
        }
    };
    let onset = curve.model().onset().population();
    let unstable = curve.unstable_state(lambda_per_s).map(|s| s.population);
    let state = facts(
        "model_rescuing_caps",
        format!("Caps that rescue {} at {lambda_per_s:.4} sessions/s", theory.cell.name),
        vec![
            ("rescuing caps, in sessions", rescuing, ""),
            ("good state n_1", Cell::optional(range.map(|r| r.above), 1), "sessions"),
            ("unstable state n_2", Cell::optional(unstable, 1), "sessions"),
            ("all-miss onset n_b", Cell::Number(onset, 1), "sessions"),
            ("sessions present when engaged", Cell::Number(present, 1), "sessions"),
        ],
    );
    let spread = whole.map(|(from, to)| spread(from, to.unwrap_or(onset as u64).max(from)));
    let caps = if caps.is_empty() { spread.unwrap_or_default() } else { caps.to_vec() };
    let mut list = Vec::new();
    for cap in caps {
        positive("cap (sessions)", cap)?;
        let rescues = range.is_some_and(|range| range.contains(cap));
        let by_h4 = if rescues {
            let rescue = Rescue { engage_s, cap, hold_s: HOLD_S };
            release(curve, &theory.cell, &theory.workload, &rescue, &waiting, lambda_per_s)?
        } else {
            None
        };
        let drain = drain_s(curve, lambda_per_s, cap, present).filter(|_| rescues);
        list.push(vec![
            Cell::Number(cap, 0),
            Cell::Number(curve.mu_per_s(cap), 4),
            Cell::text(if rescues { "yes" } else { "no" }),
            Cell::optional(drain, 0),
            Cell::optional(by_h4.map(|r| r.release_s), 0),
        ]);
    }
    let names = [
        ("cap", "sessions"),
        ("mu_at_cap", "sessions/s"),
        ("rescues", ""),
        ("gate_drains_in", "s"),
        ("release_at_by_h4", "s"),
    ];
    let table = Table {
        name: "model_rescue".into(),
        title: format!("Caps engaged at {engage_s:.0} s (H4 is an approximation)"),
        columns: columns(&names),
        rows: rows(list.into_iter()),
    };
    Ok(if table.rows.is_empty() { vec![state] } else { vec![state, table] })
}

/// At most eight caps from one end of the range to the other.
fn spread(from: u64, to: u64) -> Vec<f64> {
    let steps = (to - from).clamp(1, 7);
    let mut caps: Vec<f64> = (0..=steps)
        .map(|i| libm::round(from as f64 + (to - from) as f64 * i as f64 / steps as f64))
        .collect();
    caps.dedup();
    caps
}
