//! What an engine with every turn missing does at a load (Theorem 1, Prop. 1).

use crate::facts::{Fact, answers, facts, near_one, significant};
use crate::model::fifo::{kendall, roots};
use crate::model::{ModelError, Regime, Theory, Trap};
use crate::table::{Cell, Col, Heading, Table};

/// Bands of turns that the mix is shown in.
const BANDS: [(usize, usize); 5] = [(1, 5), (6, 10), (11, 20), (21, 40), (41, usize::MAX)];

/// Turns up to which the roots are cheap enough to be found unasked: their time grows as the
/// cube of the number of turns.
const FEW_TURNS: usize = 100;

/// The state at a rate; the turn mix too where it is trapped. The roots behind the transient
/// are found where they are few, or where `all_roots` asks for them.
///
/// # Errors
/// A rate that is not positive, or more roots asked for than can be found.
pub fn trap(theory: &Theory, lambda_per_s: f64, all_roots: bool) -> Result<Vec<Table>, ModelError> {
    let regime = theory.model_f.at(lambda_per_s)?;
    let capacity = theory.model_f.lambda_miss_per_s();
    let lambda_ref = theory.cell.lambda_ref_per_s;
    let mut list: Vec<Fact> = vec![
        ("arrivals", significant(lambda_per_s, 4), "sessions/s"),
        ("arrivals over lambda_ref", Cell::Number(lambda_per_s / lambda_ref, 3), ""),
        ("all-miss capacity lambda_miss", significant(capacity, 5), "sessions/s"),
        ("load rho", near_one(theory.model_f.rho(lambda_per_s), 4), ""),
    ];
    if theory.all_miss.delta_s < 0.0 {
        // Mixed batching: t_P charges every turn the fixed part that an iteration's turns share.
        list.push((
            "decode share delta, below 0: turns share a_s",
            significant(theory.all_miss.delta_s, 5),
            "s",
        ));
    }
    let mut tables = Vec::new();
    match &regime {
        Regime::Trapped(trap) => {
            list.push(("all-miss queue", Cell::text("trapped: it never empties"), ""));
            list.extend(laws(theory, trap));
            list.extend(transient(theory, trap, all_roots)?);
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

fn laws(theory: &Theory, trap: &Trap) -> Vec<Fact> {
    let prompts = &theory.means.prompt_tokens;
    let lambda_ref = theory.cell.lambda_ref_per_s;
    vec![
        ("Perron root z", near_one(trap.z, 6), ""),
        ("gap growth, per joining time", significant(trap.gamma, 5), "s/s"),
        ("gap growth, per completion time", significant(trap.slope, 5), "s/s"),
        ("backlog growth alpha", significant(trap.alpha_per_s, 5), "sessions/s"),
        ("backlog growth in an hour", significant(3600.0 * trap.alpha_per_s, 0), "sessions"),
        ("completions D", significant(trap.completions_per_s, 5), "sessions/s"),
        ("completions over lambda_ref", Cell::Number(trap.completions_per_s / lambda_ref, 3), ""),
        ("youth premium D/lambda_miss - 1", significant(100.0 * trap.premium(), 2), "%"),
        ("turn factor H", near_one(trap.turn_factor, 4), ""),
        ("cost factor Gamma", near_one(trap.cost_factor, 4), ""),
        ("mean served prompt", Cell::Number(trap.served_mean(prompts), 0), "tokens"),
        ("mean prompt, all turns", Cell::Number(theory.means.mean_prompt_tokens(), 0), "tokens"),
    ]
}

/// theta, and r where it is asked for.
fn transient(theory: &Theory, trap: &Trap, all_roots: bool) -> Result<Vec<Fact>, ModelError> {
    let name = "transient per generation theta";
    if !all_roots && theory.model_f.survival().len() > FEW_TURNS {
        return Ok(vec![(name, Cell::text("on request: --roots"), "")]);
    }
    let transient = roots::transient(&theory.model_f, trap)?;
    let mut list = vec![(name, Cell::Number(transient.decay, 3), "")];
    if all_roots {
        list.push(("second root's modulus r", Cell::Number(transient.modulus, 6), ""));
    }
    Ok(list)
}

/// A band of turns, with its shares of those served, %.
struct Band {
    turns: (usize, usize),
    trapped: f64,
    stationary: f64,
}

/// Turns served in the trap against the stationary mix.
fn mix(theory: &Theory, trap: &Trap) -> Table {
    let columns: &[Col<Band>] = &[
        Heading("turns", "", "Band of a session's turns")
            .new(|band| Cell::text(format!("{}-{}", band.turns.0, band.turns.1))),
        Heading("trapped", "%", "Share of the turns served in the trap")
            .number(1, |band| band.trapped),
        Heading("stationary", "%", "Share of all turns").number(1, |band| band.stationary),
    ];
    let turns = trap.tilted_mix.len();
    let share = |mix: &[f64], from: usize, to: usize| 100.0 * mix[from - 1..to].iter().sum::<f64>();
    let bands = BANDS.iter().filter(|(from, _)| *from <= turns).map(|(from, to)| {
        let (from, to) = (*from, (*to).min(turns));
        Band {
            turns: (from, to),
            trapped: share(&trap.tilted_mix, from, to),
            stationary: share(&theory.means.mix, from, to),
        }
    });
    answers("model_turn_mix", "Turns served", columns, bands)
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
                significant(
                    fluid.backlog_slope_per_s(start_s, end_s, window.length_s() / 300.0),
                    5,
                ),
                "sessions/s",
            ),
        ]),
    }
    if let Regime::Trapped(_) = regime {
        // A logarithm: the chance itself is often smaller than any fixed digits show.
        let chance = kendall::log10_emptying_probability(
            &theory.model_f,
            lambda_per_s,
            fluid.work_left_s(start_s),
        );
        list.push((
            "  log10 of its chance to empty (Kendall)",
            chance.map_or(Cell::Unknown, |exponent| significant(exponent, 2)),
            "",
        ));
    }
    Ok(list)
}
