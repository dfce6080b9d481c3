//! What the paper says of its models in passing, computed: the effect of a think time, how much
//! of the transient is left, a good state's hits, a blackout's length, what a rescue needs, and
//! whether a slowdown traps.

use std::collections::BTreeMap;

use super::model_values::{registered_rescue, released};
use super::theory::PredictionError;
use super::{Cell, Column, Row, Table};
use crate::model::curve::Curve;
use crate::model::curve::slowdown::{population_after, slowed};
use crate::model::fifo::roots;
use crate::model::fluid::{Arrivals, Start, Trajectory, orbit, think};
use crate::model::{ModelError, Theory};

const COLUMNS: &[Column] = &[
    Column::key("quantity", ""),
    Column::key("cell", ""),
    Column::key("rate_multiple", "lambda_ref"),
    Column::new("value", "see unit"),
    Column::new("unit", ""),
];

/// The cell and rates of what is said of the standard workload (sec 3 to 7).
const STANDARD: (&str, [f64; 2]) = ("sglang-300k", [1.65, 1.35]);
/// The generations after which App. A says how much of the transient is left.
const GENERATIONS: i32 = 35;
/// The good state whose hits App. E.5 quotes.
const GOOD: (&str, [f64; 2]) = ("vllm-300k", [1.65, 1.35]);
/// The step-capped cell's decisive rate (sec 4.1).
const BLACKOUT: (&str, f64) = ("mirror", 1.65);
/// R1 and R4 at their rates (sec 5).
const RESCUES: [(&str, f64); 3] =
    [("sglang-300k", 1.35), ("sglang-300k", 1.65), ("sglang-native", 4.0)];
/// By when a rescue has to be released (App. E.7), s.
const RELEASED_BY_S: f64 = 7200.0;
/// The blind slowdowns: rate, how much longer each tool call takes, for how long, s (App. C).
const SLOWDOWNS: [(f64, f64, f64); 2] = [(1.35, 30.0, 1800.0), (1.65, 15.0, 900.0)];
/// Bins of the backlog's slope (App. E.5), s.
const BIN_S: f64 = 10.0;

/// The table.
///
/// # Errors
/// A cell that is not there, or that a model cannot answer for.
pub fn table(theories: &BTreeMap<String, Theory>) -> Result<Table, PredictionError> {
    let named =
        |name: &str| theories.get(name).ok_or_else(|| PredictionError::NoCell(name.to_owned()));
    let mut rows = Vec::new();
    let standard = named(STANDARD.0)?;
    for multiple in STANDARD.1 {
        rows.extend(think_time(standard, multiple)?);
        rows.extend(transient(standard, multiple)?);
    }
    let (good, rates) = (named(GOOD.0)?, GOOD.1);
    for multiple in rates {
        rows.push(good_hits(good, multiple)?);
    }
    rows.push(blackout(named(BLACKOUT.0)?, BLACKOUT.1)?);
    for (cell, multiple) in RESCUES {
        rows.push(least_share(named(cell)?, multiple)?);
    }
    for (multiple, delay_s, length_s) in SLOWDOWNS {
        rows.extend(slowdown(standard, multiple, delay_s, length_s)?);
    }
    Ok(Table {
        name: "model_extras".into(),
        title: "What the paper says of its models in passing".into(),
        columns: COLUMNS.to_vec(),
        rows,
    })
}

fn row(quantity: &str, theory: &Theory, multiple: f64, value: Cell, unit: &str) -> Row {
    Row {
        key: format!("{quantity}/{}/{multiple}", theory.cell.name),
        cells: vec![
            Cell::text(quantity),
            Cell::text(&theory.cell.name),
            Cell::Number(multiple, 2),
            value,
            Cell::text(unit),
        ],
        sources: Vec::new(),
    }
}

/// How a think time of the workload's mean tool time changes the window's statistics (App. A).
fn think_time(theory: &Theory, multiple: f64) -> Result<Vec<Row>, ModelError> {
    let lambda = theory.rate_per_s(multiple);
    let protocol = theory.burst(lambda);
    let model = &theory.model_f;
    let (from_s, to_s) = theory.paired.window_s.into();
    let arrivals = Arrivals::constant(lambda)?.with_burst(
        protocol.burst_s,
        protocol.length_s,
        protocol.sessions,
    )?;
    let start = Start::stationary(protocol.burst_s, protocol.good_sessions, model);
    let think_s = theory.workload.tool_time.mean_s();
    let with = think::run(model, &start, &arrivals, think_s, to_s)?;
    let without = protocol.run(model, lambda, &[], to_s)?;
    let prompts = &theory.means.prompt_tokens;
    let statistics = |fluid: &Trajectory| {
        [
            fluid.backlog_slope_per_s(from_s, to_s, BIN_S),
            fluid.sessions_completed(from_s, to_s),
            fluid.served_mean(from_s, to_s, prompts),
        ]
    };
    let names = ["backlog slope", "completions", "mean served prompt"];
    let changes = statistics(&with).into_iter().zip(statistics(&without));
    Ok(names
        .iter()
        .zip(changes)
        .map(|(name, (with, without))| {
            let percent = 100.0 * (with / without - 1.0);
            let name = format!("change by a think time: {name}");
            row(&name, theory, multiple, Cell::Number(percent, 5), "%")
        })
        .collect())
}

/// What is left of the transient: theta to the power of the generations (App. A, sec 7).
fn transient(theory: &Theory, multiple: f64) -> Result<Vec<Row>, ModelError> {
    let lambda = theory.rate_per_s(multiple);
    let Some(trap) = theory.trap(lambda)? else { return Ok(Vec::new()) };
    let decay = roots::transient(&theory.model_f, &trap)?.decay;
    let burst = theory.burst(lambda);
    let window_s = theory.paired.window_s;
    let fluid = burst.run(&theory.model_f, lambda, &[], window_s.end_s)?;
    let ended_s = burst.burst_s + burst.length_s;
    let passed = orbit::generations(&fluid, ended_s, window_s.start_s);
    let left = |generations: f64| Cell::Number(libm::pow(decay, generations), 4);
    let stated = format!("transient left after {GENERATIONS} generations");
    Ok(vec![
        row(&stated, theory, multiple, left(f64::from(GENERATIONS)), ""),
        row("transient left at the window's start", theory, multiple, left(passed as f64), ""),
    ])
}

/// The share of all turns that hit in the good state (App. E.5).
fn good_hits(theory: &Theory, multiple: f64) -> Result<Row, ModelError> {
    let good = theory.curve()?.good_state(theory.rate_per_s(multiple));
    let hits = good.map(|state| state.hit_probability * theory.means.followup_share());
    Ok(row("hit fraction of the good state", theory, multiple, Cell::optional(hits, 4), ""))
}

/// From the burst's end until its first session of the most turns can have completed: until
/// then what the burst brought has completed next to nothing (sec 4.1).
fn blackout(theory: &Theory, multiple: f64) -> Result<Row, ModelError> {
    let lambda = theory.rate_per_s(multiple);
    let burst = theory.burst(lambda);
    let fluid = burst.run(&theory.model_f, lambda, &[], theory.paired.horizon_s)?;
    let turns = theory.model_f.survival().len();
    let first_s = (0..turns).fold(burst.burst_s, |at_s, _| fluid.completes_s(at_s));
    let minutes = (first_s - burst.burst_s - burst.length_s) / 60.0;
    Ok(row("blackout after the burst", theory, multiple, Cell::Number(minutes, 1), "min"))
}

/// The least share of layer H4's rates at which a rescue is still released in time: both
/// phases take 1/share as long (App. E.7).
fn least_share(theory: &Theory, multiple: f64) -> Result<Row, ModelError> {
    let rescue = registered_rescue(theory);
    let share = match &rescue {
        Some(rescue) => {
            let release = released(theory, theory.rate_per_s(multiple), rescue)?;
            let available_s = RELEASED_BY_S - rescue.engage_s - rescue.hold_s;
            release.map(|r| 100.0 * (r.first_phase_s + r.second_phase_s) / available_s)
        }
        None => None,
    };
    let name = "least share of H4's rates that releases in time";
    Ok(row(name, theory, multiple, Cell::optional(share, 1), "%"))
}

/// Whether the fluid of the slowed curve passes the unstable state before the slowdown ends
/// (App. C).
fn slowdown(
    theory: &Theory,
    multiple: f64,
    delay_s: f64,
    length_s: f64,
) -> Result<Vec<Row>, ModelError> {
    let lambda = theory.rate_per_s(multiple);
    let curve = theory.curve()?;
    let states = curve.good_state(lambda).zip(curve.unstable_state(lambda));
    let after = match states {
        Some((good, _)) => {
            let slow = Curve::of(&slowed(curve.model(), delay_s)?)?;
            Some(population_after(&slow, lambda, good.population, length_s))
        }
        None => None,
    };
    let limit = states.map(|(_, unstable)| unstable.population);
    let verdict = after.zip(limit).map(|(n, limit)| if n > limit { "TRAPS" } else { "NO-TRAP" });
    let words = format!("calls {delay_s:.0} s longer for {length_s:.0} s");
    Ok(vec![
        row(
            &format!("population, {words}"),
            theory,
            multiple,
            Cell::optional(after, 1),
            "sessions",
        ),
        row(
            &format!("unstable state, {words}"),
            theory,
            multiple,
            Cell::optional(limit, 1),
            "sessions",
        ),
        row(
            &format!("verdict, {words}"),
            theory,
            multiple,
            verdict.map_or(Cell::Empty, Cell::text),
            "",
        ),
    ])
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::table::model_values::solve;

    fn theories() -> BTreeMap<String, Theory> {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
        solve(&crate::configs::load(&dir).unwrap()).unwrap()
    }

    fn number(row: &Row) -> f64 {
        match row.cells[3] {
            Cell::Number(x, _) => x,
            ref other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_think_time_hardly_changes_the_window_of_a_trap() {
        let theories = theories();
        for multiple in STANDARD.1 {
            let rows = think_time(&theories[STANDARD.0], multiple).unwrap();
            let changes: Vec<f64> = rows.iter().map(number).collect();
            // App. A: within 0.02 %; and the fluid with it is another one.
            assert!(changes.iter().all(|x| x.abs() < 0.02 && *x != 0.0), "{changes:?}");
        }
    }

    #[test]
    fn at_the_least_share_a_rescue_is_released_just_in_time() {
        let theories = theories();
        for (cell, multiple) in RESCUES {
            let theory = &theories[cell];
            let share = number(&least_share(theory, multiple).unwrap()) / 100.0;
            let rescue = registered_rescue(theory).unwrap();
            let h4 = released(theory, theory.rate_per_s(multiple), &rescue).unwrap().unwrap();
            let slowed_s = (h4.first_phase_s + h4.second_phase_s) / share;
            let released_s = rescue.engage_s + slowed_s + rescue.hold_s;
            assert!((released_s - RELEASED_BY_S).abs() < 1e-6, "{cell} {multiple}: {released_s}");
        }
    }

    #[test]
    fn more_generations_leave_less_of_the_transient() {
        let rows = transient(&theories()[STANDARD.0], 1.35).unwrap();
        let [stated, at_window] = [number(&rows[0]), number(&rows[1])];
        // At this rate the window starts after more than the stated generations.
        assert!(0.0 < at_window && at_window < stated && stated < 1.0, "{stated} {at_window}");
    }
}
