//! What few runs can say of a share: exact binomial intervals (App. D, E.6).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use crate::judged::statistics::extra::Extra;
use crate::judged::verdict::Verdict;
use crate::law::interval::{clopper_pearson, upper_bound};
use crate::rule::persistence::life;
use crate::setup::registration::Test;

use super::{Cell, Column, Row, Table};

const COLUMNS: &[Column] = &[
    Column::key("what", ""),
    Column::key("source", ""),
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

/// `names` is what runs are called in the campaign, by their folder.
///
/// The table: none and all of three seeds, then the escapes that persistence saw.
pub fn table(verdicts: &[Verdict], names: &BTreeMap<String, String>) -> Table {
    let mut rows = vec![
        row(&format!("0 of {SEEDS}"), "model", 0, SEEDS),
        row(&format!("{SEEDS} of {SEEDS}"), "model", SEEDS, SEEDS),
    ];
    let (mut trapped, mut escaped) = (0, 0);
    let mut sources = Vec::new();
    let mut origins = BTreeSet::new();
    for verdict in verdicts {
        let Test::Persistence(rule) = &verdict.registration.registration.test else { continue };
        for run in verdict.subjects() {
            let Extra::Rolling(windows) = &run.extra else { continue };
            // A pull's folders are its own; its runs have a name in the campaign.
            let own = run.dir.display().to_string();
            let named = Path::new(names.get(&own).unwrap_or(&own));
            let of_test = |folder: Component<'_>| {
                COUNTED_TESTS.iter().any(|test| folder.as_os_str() == *test)
            };
            let counted =
                TRAPPED_ARMS.contains(&run.meta.arm.as_str()) && named.components().any(of_test);
            let life = life(windows, rule);
            if counted && life.onset_s.is_some() {
                trapped += 1;
                escaped += u64::from(life.escape_s.is_some());
                origins.insert(run.meta.source.word());
                sources.extend(run.sources.clone());
            }
        }
    }
    let origins: Vec<&str> = origins.into_iter().collect();
    let escapes = row("FCFS traps that escaped", &origins.join(" and "), escaped, trapped);
    rows.push(Row { sources, ..escapes });
    Table {
        name: "binomial".into(),
        title: "Exact 95 % intervals of a share, from few runs".into(),
        columns: COLUMNS.to_vec(),
        rows,
    }
}

fn row(what: &str, source: &str, events: u64, runs: u64) -> Row {
    let interval = clopper_pearson(events, runs, CONFIDENCE);
    let end = |of: fn((f64, f64)) -> f64| Cell::known(interval.map(of), 4);
    Row {
        key: what.into(),
        cells: vec![
            Cell::text(what),
            Cell::text(source),
            Cell::Count(events),
            Cell::Count(runs),
            end(|i| i.0),
            end(|i| i.1),
            Cell::known(upper_bound(events, runs, CONFIDENCE), 4),
        ],
        sources: Vec::new(),
    }
}
