//! What an engine with every turn missing does at a load (Theorem 1, Prop. 1).

use super::{Fact, columns, facts, rows};
use crate::model::fifo::roots;
use crate::model::{ModelError, Regime, Theory, Trap};
use crate::table::{Cell, Table};

/// Bands of turns that the mix is shown in.
const BANDS: [(usize, usize); 5] = [(1, 5), (6, 10), (11, 20), (21, 40), (41, usize::MAX)];

/// The state at a rate; the turn mix too where it is trapped.
///
/// # Errors
/// A rate that is not positive.
pub fn trap(theory: &Theory, lambda_per_s: f64) -> Result<Vec<Table>, ModelError> {
    let regime = theory.model_f.at(lambda_per_s)?;
    let capacity = theory.model_f.lambda_miss_per_s();
    let lambda_ref = theory.cell.lambda_ref_per_s;
    let mut list: Vec<Fact> = vec![
        ("arrivals", Cell::Number(lambda_per_s, 4), "sessions/s"),
        ("arrivals over lambda_ref", Cell::Number(lambda_per_s / lambda_ref, 3), ""),
        ("all-miss capacity lambda_miss", Cell::Number(capacity, 5), "sessions/s"),
        ("load rho", Cell::Number(theory.model_f.rho(lambda_per_s), 4), ""),
    ];
    let mut tables = Vec::new();
    match &regime {
        Regime::Trapped(trap) => {
            list.push(("all-miss queue", Cell::text("trapped: it never empties"), ""));
            list.extend(laws(theory, trap)?);
            tables.push(mix(theory, trap));
        }
        Regime::Critical => {
            list.push(("all-miss queue", Cell::text("critical: it settles"), ""));
        }
        Regime::Drains { .. } => list.push(("all-miss queue", Cell::text("drains"), "")),
    }
    list.extend(after_the_burst(theory, &regime, lambda_per_s)?);
    let title = format!("Model F on {} with {}", theory.cell.name, theory.workload.name);
    tables.insert(0, facts("model_trap", title, list));
    Ok(tables)
}

fn laws(theory: &Theory, trap: &Trap) -> Result<Vec<Fact>, ModelError> {
    let prompts = &theory.means.prompt_tokens;
    let transient = roots::transient(&theory.model_f, trap)?;
    let lambda_ref = theory.cell.lambda_ref_per_s;
    Ok(vec![
        ("Perron root z", Cell::Number(trap.z, 6), ""),
        ("gap growth, per joining time", Cell::Number(trap.gamma, 5), "s/s"),
        ("gap growth, per completion time", Cell::Number(trap.slope, 5), "s/s"),
        ("backlog growth alpha", Cell::Number(trap.alpha_per_s, 5), "sessions/s"),
        ("backlog growth in an hour", Cell::Number(3600.0 * trap.alpha_per_s, 0), "sessions"),
        ("completions D", Cell::Number(trap.completions_per_s, 5), "sessions/s"),
        ("completions over lambda_ref", Cell::Number(trap.completions_per_s / lambda_ref, 3), ""),
        ("youth premium D/lambda_miss - 1", Cell::Number(100.0 * trap.premium(), 2), "%"),
        ("turn factor H", Cell::Number(trap.turn_factor, 4), ""),
        ("cost factor Gamma", Cell::Number(trap.cost_factor, 4), ""),
        ("mean served prompt", Cell::Number(trap.served_mean(prompts), 0), "tokens"),
        ("mean prompt, all turns", Cell::Number(theory.means.mean_prompt_tokens(), 0), "tokens"),
        ("transient per generation theta", Cell::Number(transient.decay, 3), ""),
    ])
}

/// Turns served in the trap against the stationary mix.
fn mix(theory: &Theory, trap: &Trap) -> Table {
    let turns = trap.tilted_mix.len();
    let share = |mix: &[f64], from: usize, to: usize| 100.0 * mix[from - 1..to].iter().sum::<f64>();
    let bands = BANDS.iter().filter(|(from, _)| *from <= turns).map(|(from, to)| {
        let to = (*to).min(turns);
        vec![
            Cell::text(format!("{from}-{to}")),
            Cell::Number(share(&trap.tilted_mix, *from, to), 1),
            Cell::Number(share(&theory.means.mix, *from, to), 1),
        ]
    });
    Table {
        name: "model_turn_mix".into(),
        title: "Turns served".into(),
        columns: columns(&[("turns", ""), ("trapped", "%"), ("stationary", "%")]),
        rows: rows(bands),
    }
}

/// The protocol's burst, all misses from then on, over the evaluation window (App. E.5).
fn after_the_burst(
    theory: &Theory,
    regime: &Regime,
    lambda_per_s: f64,
) -> Result<Vec<Fact>, ModelError> {
    let burst = theory.burst(lambda_per_s);
    let ends_s = burst.burst_s + burst.length_s;
    let window = theory.paired.window_s;
    let (start_s, end_s) = window.into();
    let fluid = burst.run(&theory.model_f, lambda_per_s, &[], end_s)?;
    let mut list = vec![(
        "after the burst: good state before",
        Cell::Number(burst.good_sessions, 1),
        "sessions",
    )];
    match regime {
        Regime::Drains { rho } => {
            let empty_s = ends_s + fluid.work_left_s(ends_s) / (1.0 - rho);
            list.push(("  drains, empty at", Cell::Number(empty_s, 0), "s"));
        }
        Regime::Critical | Regime::Trapped(_) => list.extend([
            (
                "  backlog at the window's start",
                Cell::Number(fluid.backlog(start_s), 1),
                "sessions",
            ),
            ("  backlog at its end", Cell::Number(fluid.backlog(end_s), 1), "sessions"),
            ("  gap at its end", Cell::Number(fluid.gap_s(end_s), 0), "s"),
            (
                "  backlog slope over the window",
                Cell::Number(
                    fluid.backlog_slope_per_s(start_s, end_s, window.length_s() / 300.0),
                    5,
                ),
                "sessions/s",
            ),
        ]),
    }
    Ok(list)
}
