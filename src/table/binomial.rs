//! What few runs can say of a share: exact binomial intervals (App. D, E.6).

use std::path::Component;

use crate::analysis::statistics::extra::Extra;
use crate::analysis::verdict::Verdict;
use crate::law::interval::{clopper_pearson, upper_bound};
use crate::rule::persistence::life;
use crate::setup::registration::Test;

use super::{Cell, Column, Row, Table};

const COLUMNS: &[Column] = &[
    Column::key("what", ""),
    Column::new("events", "runs"),
    Column::new("runs", "runs"),
    Column::new("lower_95", ""),
    Column::new("upper_95", ""),
    Column::new("upper_95_one_sided", ""),
];

/// The confidence of every interval (App. D, E.6).
const CONFIDENCE: f64 = 0.95;
/// Seeds of a dose (App. E.6).
const SEEDS: u64 = 3;
/// Arms whose traps persistence is about: after a burst, and after a tool slowdown (App. D).
const TRAPPED_ARMS: [&str; 2] = ["burst", "toolslow"];
/// Tests of the campaign whose traps App. D counts: served first come first served, and made
/// before the blind tests. A run's own files do not say in which order it was served, so its
/// folder has to; runs in folders of other names are not counted.
const COUNTED_TESTS: [&str; 6] =
    ["paired", "grid-fcfs-r0", "vllm-burst", "basin-1", "basin-2", "toolslow"];

/// The table: none and all of three seeds, then the escapes that persistence saw.
pub fn table(verdicts: &[Verdict]) -> Table {
    let mut rows = vec![
        row(&format!("0 of {SEEDS}"), 0, SEEDS),
        row(&format!("{SEEDS} of {SEEDS}"), SEEDS, SEEDS),
    ];
    let (mut trapped, mut escaped) = (0, 0);
    let mut sources = Vec::new();
    for verdict in verdicts {
        let Test::Persistence(rule) = &verdict.registration.registration.test else { continue };
        for run in verdict.subjects() {
            let Extra::Rolling(windows) = &run.extra else { continue };
            let of_test = |folder: Component<'_>| {
                COUNTED_TESTS.iter().any(|test| folder.as_os_str() == *test)
            };
            let counted =
                TRAPPED_ARMS.contains(&run.meta.arm.as_str()) && run.dir.components().any(of_test);
            let life = life(windows, rule);
            if counted && life.onset_s.is_some() {
                trapped += 1;
                escaped += u64::from(life.escape_s.is_some());
                sources.extend(run.sources.clone());
            }
        }
    }
    rows.push(Row { sources, ..row("FCFS traps that escaped", escaped, trapped) });
    Table {
        name: "binomial".into(),
        title: "Exact 95 % intervals of a share, from few runs".into(),
        columns: COLUMNS.to_vec(),
        rows,
    }
}

fn row(what: &str, events: u64, runs: u64) -> Row {
    let interval = clopper_pearson(events, runs, CONFIDENCE);
    let end = |of: fn((f64, f64)) -> f64| Cell::known(interval.map(of), 4);
    Row {
        key: what.into(),
        cells: vec![
            Cell::text(what),
            Cell::Count(events),
            Cell::Count(runs),
            end(|i| i.0),
            end(|i| i.1),
            Cell::known(upper_bound(events, runs, CONFIDENCE), 4),
        ],
        sources: Vec::new(),
    }
}
