//! Which session caps rescue a trapped cell at its load, and when they can be released
//! (Cor. 4, Prop. 2, App. E.4, E.7, layer H4).

use crate::facts::{about, answers, facts};
use crate::model::curve::layers::h4::{Rescue, release};
use crate::model::rescue::{RescuingCaps, drain_s, rescuing_caps};
use crate::model::{ModelError, Theory, positive};
use crate::rule::rescue::RescueTest;
use crate::table::{Cell, Col, Heading, Table};

/// When a cap is engaged unless another time is asked for, s.
pub const ENGAGE_AT_S: f64 = RescueTest::PUBLISHED.engage_s;
/// How long the gate stays empty before release unless it is asked for, s (App. E.7).
pub const HOLD_S: f64 = RescueTest::PUBLISHED.hold_s;

/// The backlog that a cap meets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Backlog {
    /// What the protocol's burst has left this long into the run, s (model F).
    AfterTheBurst {
        /// When the cap is engaged, s.
        engage_s: f64,
    },
    /// Sessions that were seen in the system, waiting ones included; the cap is engaged now.
    Seen {
        /// How many.
        sessions: f64,
    },
}

/// One cap at a load.
struct CapRow {
    cap: f64,
    rescues: bool,
    drain_s: Option<f64>,
    /// From engaging to release, by layer H4, s.
    release_after_s: Option<f64>,
}

/// The rescuing caps at a rate, and what each of `caps` does. With no caps given, a spread of
/// rescuing ones. The first table's title answers in one line.
///
/// # Errors
/// A cell without iteration costs, a rate, cap, backlog or hold that is not positive, or a cap
/// before the burst.
pub fn rescue(
    theory: &Theory,
    lambda_per_s: f64,
    backlog: Backlog,
    hold_s: f64,
    caps: &[f64],
) -> Result<Vec<Table>, ModelError> {
    let curve = theory.curve()?;
    positive("time the gate stays empty before release (s)", hold_s)?;
    let range = rescuing_caps(curve, lambda_per_s);
    let waiting = waiting(theory, lambda_per_s, backlog)?;
    let present: f64 = waiting.iter().sum();
    let onset = curve.model().onset().population();
    let unstable = curve.unstable_state(lambda_per_s).map(|s| s.population);
    let whole = range.and_then(|range| range.whole());
    let spread = whole.map(|(from, to)| spread(from, to.unwrap_or(onset as u64).max(from)));
    let caps = if caps.is_empty() { spread.unwrap_or_default() } else { caps.to_vec() };
    let list = caps
        .iter()
        .map(|cap| {
            positive("cap (sessions)", *cap)?;
            let rescues = range.is_some_and(|range| range.contains(*cap));
            let mut row = CapRow { cap: *cap, rescues, drain_s: None, release_after_s: None };
            if rescues {
                row.drain_s = drain_s(curve, lambda_per_s, *cap, present);
                let rescue = Rescue { engage_s: 0.0, cap: *cap, hold_s };
                row.release_after_s = if present > *cap {
                    release(curve, &theory.cell, &theory.workload, &rescue, &waiting, lambda_per_s)?
                        .map(|release| release.release_s)
                } else {
                    // The gate is empty from the start.
                    Some(hold_s)
                };
            }
            Ok(row)
        })
        .collect::<Result<Vec<CapRow>, ModelError>>()?;
    let state = facts(
        "model_rescuing_caps",
        format!(
            "{} at {lambda_per_s:.4} sessions/s, {present:.0} sessions present: {}",
            theory.cell.name,
            answer(range, unstable, present, &list)
        ),
        vec![
            ("rescuing caps, in sessions", caps_cell(range), ""),
            ("good state n_1", Cell::optional(range.map(|r| r.above), 1), "sessions"),
            ("unstable state n_2", Cell::optional(unstable, 1), "sessions"),
            ("all-miss onset n_b", Cell::Number(onset, 1), "sessions"),
            ("sessions present when engaged", Cell::Number(present, 1), "sessions"),
        ],
    );
    let table = each_cap(theory, &list, backlog)?;
    Ok(if table.rows.is_empty() { vec![state] } else { vec![state, table] })
}

/// The sessions that the cap meets, by the turn they wait for. Seen sessions
/// are taken to wait in the mix of the trap, or of the stationary state where there is none.
fn waiting(theory: &Theory, lambda_per_s: f64, backlog: Backlog) -> Result<Vec<f64>, ModelError> {
    match backlog {
        Backlog::AfterTheBurst { engage_s } => {
            let burst = theory.burst(lambda_per_s);
            positive("time from the burst to the cap (s)", engage_s - burst.burst_s)?;
            let fluid = burst.run(&theory.model_f, lambda_per_s, &[], engage_s + 1.0)?;
            Ok(fluid.pending(engage_s))
        }
        Backlog::Seen { sessions } => {
            positive("backlog (sessions)", sessions)?;
            let trap = theory.trap(lambda_per_s)?;
            let mix = trap.as_ref().map_or(&theory.means.mix, |trap| &trap.tilted_mix);
            Ok(mix.iter().map(|share| share * sessions).collect())
        }
    }
}

/// The answer in a line: which caps, and how soon the best of those looked at is released.
fn answer(
    range: Option<RescuingCaps>,
    unstable: Option<f64>,
    present: f64,
    list: &[CapRow],
) -> String {
    let Some(whole) = range.and_then(|range| range.whole()) else { return words(range) };
    if unstable.is_some_and(|unstable| present <= unstable) {
        return format!("no cap needed below the unstable state; if any, {}", words(range));
    }
    let caps = match whole {
        (from, Some(to)) if from == to => format!("cap {from}"),
        (from, Some(to)) => format!("cap {from}-{to}"),
        (from, None) => format!("it drains without a cap, or with any from {from}"),
    };
    let soonest = list
        .iter()
        .filter_map(|row| Some((row.release_after_s?, row.cap)))
        .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    match soonest {
        Some((after_s, cap)) => {
            format!("{caps}; release after about {} (cap {cap})", about(after_s))
        }
        None => format!("{caps}; none of the caps asked for rescues"),
    }
}

/// The caps as a range of numbers, or what is said in their place.
fn caps_cell(range: Option<RescuingCaps>) -> Cell {
    match range.and_then(|range| range.whole()) {
        Some((from, Some(to))) => Cell::whole_numbers([from, to]),
        _ => Cell::text(words(range)),
    }
}

fn words(range: Option<RescuingCaps>) -> String {
    match (range, range.and_then(|range| range.whole())) {
        (None, _) => "none: this load has no good state".to_owned(),
        (_, None) => "none: no whole number lies between n_1 and the bound".to_owned(),
        (_, Some((from, Some(to)))) => format!("{from} to {to}"),
        (_, Some((from, None))) => format!("{from} and more: the trap drains by itself"),
    }
}

/// A cap, the curve's rate at it, and when it is engaged, where that is given.
struct Asked<'a> {
    row: &'a CapRow,
    mu_per_s: f64,
    engage_s: Option<f64>,
}

fn each_cap(theory: &Theory, list: &[CapRow], backlog: Backlog) -> Result<Table, ModelError> {
    let curve = theory.curve()?;
    let (when, engage_s) = match backlog {
        Backlog::AfterTheBurst { engage_s } => (format!("at {engage_s:.0} s"), Some(engage_s)),
        Backlog::Seen { .. } => ("now".to_owned(), None),
    };
    let mut columns: Vec<Col<Asked<'_>>> = vec![
        Heading("cap", "sessions", "The cap").number(0, |of| of.row.cap),
        Heading("mu_at_cap", "sessions/s", "Throughput at that population")
            .number(4, |of| of.mu_per_s),
        Heading("rescues", "", "Whether the cap rescues")
            .new(|of| Cell::yes_no(Some(of.row.rescues))),
        Heading("gate_drains_in", "s", "Until the gate is empty, quasi-static")
            .optional(0, |of| of.row.drain_s),
        Heading("release_after_by_h4", "s", "From engaging the cap to its release, by layer H4")
            .optional(0, |of| of.row.release_after_s),
    ];
    if engage_s.is_some() {
        columns.push(
            Heading(
                "release_at_by_h4",
                "s",
                "When the cap is released, by layer H4, on the protocol's clock",
            )
            .optional(0, |of| {
                let at_s = of.engage_s.zip(of.row.release_after_s);
                at_s.map(|(engage_s, after_s)| engage_s + after_s)
            }),
        );
    }
    let title = format!("Caps engaged {when} (H4 is an approximation)");
    let rows = list.iter().map(|row| Asked { row, mu_per_s: curve.mu_per_s(row.cap), engage_s });
    Ok(answers("model_rescue", title, &columns, rows))
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
