//! What few runs can say of a share: exact binomial intervals (App. D, E.6).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use crate::judged::verdict::Verdict;
use crate::law::interval::{clopper_pearson, upper_bound};
use crate::rule::persistence::{PersistenceTest, life};
use crate::rule::test::TestMeasures;
use crate::run::SourceFile;
use crate::setup::Arm;

use super::{Cell, Col, Heading, Table};

/// The confidence of every interval (App. D, E.6).
const CONFIDENCE: f64 = 0.95;
/// Seeds of a dose (App. E.6).
const SEEDS: u64 = 3;
/// Arms whose traps persistence is about: after a burst, and after a tool slowdown (App. D).
const TRAPPED_ARMS: [Arm; 2] = [Arm::Burst, Arm::Toolslow];
/// Tests of the campaign whose traps App. D counts: served first come first served, and made
/// before the blind tests. A run's own files do not say in which order it was served, so its
/// folder has to; runs in folders of other names are not counted.
const COUNTED_TESTS: [&str; 6] =
    ["paired", "grid-fcfs-r0", "vllm-burst", "basin-1", "basin-2", "toolslow"];

/// A share: so many events in so many runs.
struct Share {
    what: String,
    source: String,
    events: u64,
    runs: u64,
    sources: Vec<SourceFile>,
}

const COLUMNS: &[Col<Share>] = &[
    Heading("what", "", "What is counted or compared").key(|share| Cell::text(&share.what)),
    Heading("source", "", "What made the runs: engine or simulator")
        .key(|share| Cell::text(&share.source)),
    Heading("events", "runs", "Runs with the event").count(|share| share.events),
    Heading("runs", "runs", "Runs that the row counts").count(|share| share.runs),
    Heading("lower_95", "", "Lower end of the share's exact 95 % interval")
        .known(4, |share| share.interval().map(|i| i.0)),
    Heading("upper_95", "", "Upper end of the share's exact 95 % interval")
        .known(4, |share| share.interval().map(|i| i.1)),
    Heading("upper_95_one_sided", "", "Upper end of the share's one-sided exact 95 % interval")
        .known(4, |share| upper_bound(share.events, share.runs, CONFIDENCE)),
];

impl Share {
    /// Of the seeds of a dose.
    fn of_seeds(events: u64) -> Self {
        let what = format!("{events} of {SEEDS}");
        Self { what, source: "model".into(), events, runs: SEEDS, sources: Vec::new() }
    }

    fn interval(&self) -> Option<(f64, f64)> {
        clopper_pearson(self.events, self.runs, CONFIDENCE)
    }
}

/// `names` is what runs are called in the campaign, by their folder.
///
/// The table: none and all of three seeds, then the escapes that persistence saw.
pub fn table(verdicts: &[Verdict], names: &BTreeMap<String, String>) -> Table {
    let (mut trapped, mut escaped) = (0, 0);
    let mut sources = Vec::new();
    let mut origins = BTreeSet::new();
    for verdict in verdicts {
        let Some(rule) = PersistenceTest::of(verdict.test()) else { continue };
        for run in verdict.subjects() {
            let Some(TestMeasures::Persistence(windows)) = &run.for_test else { continue };
            // A pull's folders are its own; its runs have a name in the campaign.
            let own = run.dir.display().to_string();
            let named = Path::new(names.get(&own).unwrap_or(&own));
            let of_test = |folder: Component<'_>| {
                COUNTED_TESTS.iter().any(|test| folder.as_os_str() == *test)
            };
            let counted = TRAPPED_ARMS.contains(&run.meta.arm) && named.components().any(of_test);
            let life = life(windows, rule);
            if counted && life.trapped_from_s.is_some() {
                trapped += 1;
                escaped += u64::from(life.escape_s.is_some());
                origins.insert(run.meta.source.word());
                sources.extend(run.sources.clone());
            }
        }
    }
    let source = origins.into_iter().collect::<Vec<_>>().join(" and ");
    let what = "FCFS traps that escaped".into();
    let escapes = Share { what, source, events: escaped, runs: trapped, sources };
    let rows = [Share::of_seeds(0), Share::of_seeds(SEEDS), escapes];
    Table::of("binomial", "Exact 95 % intervals of a share, from few runs", COLUMNS, rows, |of| {
        (of.what.clone(), of.sources.clone())
    })
}
