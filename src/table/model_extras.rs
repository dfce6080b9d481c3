//! What the paper says of its models in passing, computed: the effect of a think time, how much
//! of the transient is left, a good state's hits, a blackout's length, what a rescue needs, and
//! whether a slowdown traps.

use std::collections::BTreeMap;

use super::model_values::{Answer, At, Settings, Unanswered, curve, fluid, layers, trap};
use super::theory::cell;
use super::{Cell, Col, Heading, Table};
use crate::model::{ModelError, Theory};

/// Something the paper says of a model.
struct Said<'a> {
    quantity: String,
    theory: &'a Theory,
    multiple: f64,
    value: Cell,
    unit: &'static str,
}

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
/// The blind slowdowns: rate, how much longer each tool call takes, for how long, s (App. C).
const SLOWDOWNS: [(f64, f64, f64); 2] = [(1.35, 30.0, 1800.0), (1.65, 15.0, 900.0)];

/// The table.
///
/// # Errors
/// A cell that is not there, or that a model cannot answer for.
pub fn table(theories: &BTreeMap<String, Theory>) -> Result<Table, Unanswered> {
    let named = |name: &str| theories.get(name).ok_or_else(|| Unanswered::no_cell(name));
    let mut rows = Vec::new();
    let standard = named(STANDARD.0)?;
    for multiple in STANDARD.1 {
        rows.extend(think_time(standard, multiple)?);
        rows.extend(transient(standard, multiple)?);
    }
    let good = named(GOOD.0)?;
    for multiple in GOOD.1 {
        let hits = curve::good_hit_fraction(&At::multiple(good, multiple));
        let name = "hit fraction of the good state";
        rows.push(row(name, good, multiple, cell(hits, Some(4))?, ""));
    }
    let (blackout, multiple) = (named(BLACKOUT.0)?, BLACKOUT.1);
    let minutes = cell(fluid::blackout_min(&At::multiple(blackout, multiple)), Some(1))?;
    rows.push(row("blackout after the burst", blackout, multiple, minutes, "min"));
    for (rescued, multiple) in RESCUES {
        rows.push(least_share(named(rescued)?, multiple)?);
    }
    for (multiple, delay_s, length_s) in SLOWDOWNS {
        rows.extend(slowdown(standard, multiple, delay_s, length_s)?);
    }
    let columns: &[Col<Said<'_>>] = &[
        Heading("quantity", "", "What the paper speaks of").key(|of| Cell::text(&of.quantity)),
        Heading("cell", "", "The cell").key(|of| Cell::text(&of.theory.cell.name)),
        Heading("rate_multiple", "lambda_ref", "Arrival rate")
            .key(|of| Cell::Number(of.multiple, 2)),
        Heading("value", "see unit", "What it comes to").new(|of| of.value.clone()),
        Heading("unit", "", "Unit of the value").new(|of| Cell::text(of.unit)),
    ];
    let title = "What the paper says of its models in passing";
    Ok(Table::of("model_extras", title, columns, rows, |of| {
        (format!("{}/{}/{}", of.quantity, of.theory.cell.name, of.multiple), Vec::new())
    }))
}

fn row<'a>(
    quantity: &str,
    theory: &'a Theory,
    multiple: f64,
    value: Cell,
    unit: &'static str,
) -> Said<'a> {
    Said { quantity: quantity.to_owned(), theory, multiple, value, unit }
}

/// How a think time of the workload's mean tool time changes the window's statistics (App. A).
fn think_time(theory: &Theory, multiple: f64) -> Result<Vec<Said<'_>>, Unanswered> {
    let names = ["backlog slope", "completions", "mean served prompt"];
    let changes = fluid::changes_by_a_think_time(&At::multiple(theory, multiple))?;
    let row = |(name, percent)| {
        let name = format!("change by a think time: {name}");
        row(&name, theory, multiple, Cell::Number(percent, 5), "%")
    };
    Ok(names.into_iter().zip(changes).map(row).collect())
}

/// What is left of the transient: theta to the power of the generations (App. A, sec 7).
fn transient(theory: &Theory, multiple: f64) -> Result<Vec<Said<'_>>, Unanswered> {
    let at = At::multiple(theory, multiple);
    let decay = trap::transient_decay(&at);
    let left = |generations: Answer| -> Result<Cell, ModelError> {
        let left = decay.clone().and_then(|decay| Ok(libm::pow(decay, generations?)));
        cell(left, Some(4))
    };
    let stated = format!("transient left after {GENERATIONS} generations");
    let at_window = left(fluid::generations_to_the_window(&at))?;
    Ok(vec![
        row(&stated, theory, multiple, left(Ok(f64::from(GENERATIONS)))?, ""),
        row("transient left at the window's start", theory, multiple, at_window, ""),
    ])
}

fn least_share(theory: &Theory, multiple: f64) -> Result<Said<'_>, Unanswered> {
    let share = layers::least_release_share_percent(&At::multiple(theory, multiple));
    let name = "least share of H4's rates that releases in time";
    Ok(row(name, theory, multiple, cell(share, Some(1))?, "%"))
}

/// Whether the fluid of the slowed curve passes the unstable state before the slowdown ends
/// (App. C).
fn slowdown(
    theory: &Theory,
    multiple: f64,
    delay_s: f64,
    length_s: f64,
) -> Result<Vec<Said<'_>>, Unanswered> {
    let with = Settings { delay_s: Some(delay_s), length_s: Some(length_s), ..Settings::default() };
    let at = At { with, ..At::multiple(theory, multiple) };
    let (after, limit) = (curve::slowed_population(&at), curve::unstable_population(&at));
    let passes = after.clone().and_then(|n| Ok(n > limit.clone()?)).ok();
    let verdict =
        passes.map_or(Cell::Empty, |passes| Cell::text(if passes { "TRAPS" } else { "NO-TRAP" }));
    let words = format!("calls {delay_s:.0} s longer for {length_s:.0} s");
    let row =
        |what: &str, value, unit| row(&format!("{what}, {words}"), theory, multiple, value, unit);
    Ok(vec![
        row("population", cell(after, Some(1))?, "sessions"),
        row("unstable state", cell(limit, Some(1))?, "sessions"),
        row("verdict", verdict, ""),
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

    fn number(said: &Said<'_>) -> f64 {
        match said.value {
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
            let (registered, h4) = layers::rescue_release(&At::multiple(theory, multiple)).unwrap();
            let rescue = registered.rescue;
            let slowed_s = (h4.first_phase_s + h4.second_phase_s) / share;
            let released_s = rescue.engage_s + slowed_s + rescue.hold_s;
            assert!(
                (released_s - registered.released_by_s).abs() < 1e-6,
                "{cell} {multiple}: {released_s}"
            );
        }
    }

    #[test]
    fn a_cell_is_asked_about_with_its_own_deadline_and_length_from_empty() {
        let theories = theories();
        // A protocol of a tenth of the paper's times, and its rescue.
        let scaled = &theories["vllm-cpu-tiny-30k"];
        assert_eq!(scaled.from_empty_s, 300.0);
        assert_eq!(scaled.rescue.unwrap().released_by_s, 480.0);
        let (cell, multiple) = RESCUES[0];
        let share = |released_by_s: f64| {
            let mut theory = theories[cell].clone();
            theory.rescue.as_mut().unwrap().released_by_s = released_by_s;
            number(&least_share(&theory, multiple).unwrap())
        };
        // Of the 5100 s from the cap to the hold's start, 1020 are left.
        assert!((share(3120.0) / share(7200.0) - 5.0).abs() < 1e-9);
    }

    #[test]
    fn more_generations_leave_less_of_the_transient() {
        let theories = theories();
        let rows = transient(&theories[STANDARD.0], 1.35).unwrap();
        let [stated, at_window] = [number(&rows[0]), number(&rows[1])];
        // At this rate the window starts after more than the stated generations.
        assert!(0.0 < at_window && at_window < stated && stated < 1.0, "{stated} {at_window}");
    }
}
