//! Closed runs of an engine beside the simulator's, quantity by quantity, with what the
//! simulator's are spread over.

use crate::knee::{ClosedMeasures, HitState, Levels};
use crate::setup::Arm;
use crate::table::{Cell, Col, Heading, Table};

use super::answers;

/// A closed run, measured or not yet, and its simulations.
#[derive(Debug, Clone)]
pub struct Beside {
    /// Closed, or with the cache off.
    pub arm: Arm,
    /// Its lanes.
    pub population: u32,
    /// What the engine did; `None` where it is predicted only.
    pub measured: Option<ClosedMeasures>,
    /// The simulated run, in the engine's order of sessions.
    pub predicted: ClosedMeasures,
    /// The same at other speeds.
    pub speeds: Vec<ClosedMeasures>,
    /// In other orders of sessions.
    pub orders: Vec<ClosedMeasures>,
}

/// One quantity of one run, or of all.
struct Row {
    arm: Arm,
    population: Option<u32>,
    quantity: &'static str,
    unit: &'static str,
    measured: Cell,
    predicted: Cell,
    speeds: [Cell; 2],
    orders: [Cell; 2],
    within: Option<bool>,
}

type Quantity = (&'static str, &'static str, usize, fn(&ClosedMeasures) -> Option<f64>);

const QUANTITIES: &[Quantity] = &[
    ("follow_up_hits", "", 3, |m| m.follow_up_hits),
    ("token_hits", "", 3, |m| m.token_hits),
    ("turns_per_s", "turns/s", 2, |m| Some(m.turns_per_s)),
    ("uncached_tokens_per_s", "tokens/s", 0, |m| m.uncached_tokens_per_s),
    ("request_median_s", "s", 3, |m| m.request_s),
    ("running", "requests", 1, |m| m.running),
    ("waiting", "requests", 1, |m| m.waiting),
    ("mean_prompt", "tokens", 0, |m| m.prompt_tokens),
];

/// The table: a row per run and quantity, and which populations are good and trapped.
pub fn beside(runs: &[Beside], levels: Levels, all_miss_tokens_per_s: Option<f64>) -> Table {
    let mut rows: Vec<Row> = Vec::new();
    for run in runs {
        for (name, unit, digits, of) in QUANTITIES {
            rows.push(run.row(name, unit, *digits, of));
            if let (&"uncached_tokens_per_s", Some(rate)) = (name, all_miss_tokens_per_s) {
                rows.push(run.row("uncached_over_all_miss", "", 3, |m| Some(of(m)? / rate)));
            }
        }
        rows.extend((run.arm == Arm::Closed).then(|| run.state(levels)));
    }
    rows.extend(brackets(runs, levels));
    let columns: &[Col<Row>] = &[
        Heading("arm", "", "closed, or e0a: with the cache off")
            .new(|of| Cell::text(of.arm.word())),
        Heading(
            "population",
            "sessions",
            "Sessions of the closed population; empty: over all of them",
        )
        .new(|of| of.population.map_or(Cell::Empty, |n| Cell::Count(n.into()))),
        Heading("quantity", "", "What the value is of").new(|of| Cell::text(of.quantity)),
        Heading("measured", "", "The engine's value").new(|of| of.measured.clone()),
        Heading("predicted", "", "The simulator's, in the engine's order of sessions")
            .new(|of| of.predicted.clone()),
        Heading("least", "", "The least at other speeds of the engine")
            .new(|of| of.speeds[0].clone()),
        Heading("greatest", "", "The greatest at other speeds").new(|of| of.speeds[1].clone()),
        Heading("within", "", "Whether the engine's value lies between these")
            .new(|of| of.within.map_or(Cell::Empty, |yes| Cell::yes_no(Some(yes)))),
        Heading("least_of_orders", "", "The least in other orders of sessions")
            .new(|of| of.orders[0].clone()),
        Heading("greatest_of_orders", "", "The greatest in other orders")
            .new(|of| of.orders[1].clone()),
        Heading("unit", "", "Unit of the values in the same row").new(|of| Cell::text(of.unit)),
    ];
    answers("knee_against", "Closed runs, simulated, beside the engine's", columns, rows)
}

/// The least and the greatest of values that may not be known.
fn ends(values: impl Iterator<Item = Option<f64>>) -> Option<[f64; 2]> {
    let values: Vec<f64> = values.flatten().collect();
    let least = values.iter().copied().min_by(f64::total_cmp)?;
    Some([least, values.iter().copied().max_by(f64::total_cmp)?])
}

impl Beside {
    fn row(
        &self,
        quantity: &'static str,
        unit: &'static str,
        digits: usize,
        of: impl Fn(&ClosedMeasures) -> Option<f64>,
    ) -> Row {
        let predicted = of(&self.predicted);
        let own = std::iter::once(predicted);
        let speeds = ends(own.chain(self.speeds.iter().map(&of)));
        let orders = ends(self.orders.iter().map(&of));
        let measured = self.measured.as_ref().map(&of);
        let cells = |ends: Option<[f64; 2]>| match ends {
            Some(ends) => ends.map(|end| Cell::Number(end, digits)),
            None => [Cell::Empty, Cell::Empty],
        };
        let within = measured.flatten().zip(speeds).map(|(x, [a, b])| {
            // As printed: what reads the same is within.
            let printed = |x: f64| crate::digits::rounded(x, digits);
            printed(a) <= printed(x) && printed(x) <= printed(b)
        });
        Row {
            arm: self.arm.clone(),
            population: Some(self.population),
            quantity,
            unit,
            measured: measured.map_or(Cell::Empty, |x| Cell::known(x, digits)),
            predicted: Cell::known(predicted, digits),
            speeds: cells(speeds),
            orders: cells(orders),
            within,
        }
    }

    fn state(&self, levels: Levels) -> Row {
        let of = |m: &ClosedMeasures| m.state(levels);
        let word = |state: Option<HitState>| state.map_or(Cell::Unknown, |s| Cell::text(s.word()));
        let (measured, own) = (self.measured.as_ref().map(of), of(&self.predicted));
        // The worst of them first.
        let span = |all: Vec<HitState>| match (all.iter().max(), all.iter().min()) {
            (Some(worst), Some(best)) => [*worst, *best].map(|s| Cell::text(s.word())),
            _ => [Cell::Empty, Cell::Empty],
        };
        let speeds: Vec<HitState> = self.speeds.iter().filter_map(of).chain(own).collect();
        let ends = speeds.iter().min().copied().zip(speeds.iter().max().copied());
        let within = measured.flatten().zip(ends).map(|(x, (best, worst))| best <= x && x <= worst);
        Row {
            arm: self.arm.clone(),
            population: Some(self.population),
            quantity: "state",
            unit: "",
            measured: measured.map_or(Cell::Empty, word),
            predicted: word(own),
            speeds: span(speeds),
            orders: span(self.orders.iter().filter_map(of).collect()),
            within,
        }
    }
}

/// The largest population that is good with all below it, and the smallest that is trapped with
/// all above it, of each simulation.
fn brackets(runs: &[Beside], levels: Levels) -> Vec<Row> {
    let closed: Vec<&Beside> = runs.iter().filter(|run| run.arm == Arm::Closed).collect();
    let of = |pick: &dyn Fn(&Beside) -> Option<ClosedMeasures>| -> [Option<f64>; 2] {
        let states: Vec<(u32, Option<HitState>)> = closed
            .iter()
            .map(|run| (run.population, pick(run).and_then(|m| m.state(levels))))
            .collect();
        let is = |wanted| move |(_, state): &&(u32, Option<HitState>)| *state == Some(wanted);
        let good = states.iter().take_while(is(HitState::Good)).last();
        let trapped = states.iter().rev().take_while(is(HitState::Trapped)).last();
        [good, trapped].map(|found| found.map(|(n, _)| f64::from(*n)))
    };
    let measured = closed.iter().any(|run| run.measured.is_some()).then(|| of(&|run| run.measured));
    let predicted = of(&|run| Some(run.predicted));
    let draws = |pick: fn(&Beside) -> &Vec<ClosedMeasures>| -> Vec<[Option<f64>; 2]> {
        let n = closed.iter().map(|run| pick(run).len()).min().unwrap_or(0);
        (0..n).map(|i| of(&|run| pick(run).get(i).copied())).collect()
    };
    let (speeds, orders) = (draws(|run| &run.speeds), draws(|run| &run.orders));
    let row = |i: usize, quantity: &'static str| {
        let cells = |ends: Option<[f64; 2]>| match ends {
            Some(ends) => ends.map(|end| Cell::Number(end, 0)),
            None => [Cell::Empty, Cell::Empty],
        };
        let of_speeds = ends(speeds.iter().map(|d| d[i]).chain([predicted[i]]));
        let measured = measured.map(|found| found[i]);
        Row {
            arm: Arm::Closed,
            population: None,
            quantity,
            unit: "sessions",
            measured: measured.map_or(Cell::Empty, |x| Cell::optional(x, 0)),
            predicted: Cell::optional(predicted[i], 0),
            speeds: cells(of_speeds),
            orders: cells(ends(orders.iter().map(|d| d[i]))),
            within: measured.flatten().zip(of_speeds).map(|(x, [a, b])| a <= x && x <= b),
        }
    };
    if closed.is_empty() {
        return Vec::new();
    }
    vec![row(0, "good_up_to"), row(1, "trapped_from")]
}
