//! The paper's campaign can be simulated, written and read back: every arm of it.

use std::collections::BTreeMap;
use std::path::Path;

use rayon::prelude::*;
use trapcheck::campaign::{CampaignRun, campaign_runs};
use trapcheck::directory::LoadOptions;
use trapcheck::directory::write::{TableFormat, write};
use trapcheck::run::{GateEvent, Kind, Problem, Run, Session, SessionIndex, Turn};
use trapcheck::setup::{Arm, Campaign};
use trapcheck::sim::directory::to_run;
use trapcheck::sim::{Options, simulate};

/// Applies a check to the first seed of each arm: seeds differ in their draws only.
fn each_arm(check: impl Fn(usize, &CampaignRun<'_>) + Sync) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
    let campaign =
        trapcheck::configs::read(&root.join("campaigns/paper.yaml"), Campaign::parse).unwrap();
    let configs = trapcheck::configs::load(&root).unwrap();
    let checked = |options| Options { check: true, ..options };
    let all = campaign_runs(&campaign, &configs, checked).unwrap();
    assert_eq!(all.len(), 325);
    let first = |job: &&CampaignRun<'_>| {
        job.planned.seed == job.planned.test.seeds[0] && job.planned.repeat == 0
    };
    let firsts: Vec<_> = all.iter().filter(first).collect();
    firsts.par_iter().enumerate().for_each(|(i, job)| check(i, job));
}

#[test]
fn every_published_run_can_be_simulated() {
    each_arm(|_, job| {
        let id = &job.planned.id;
        let run = simulate(&job.spec).unwrap_or_else(|error| panic!("{id}: {error}"));
        assert!(run.turns.len() > 1000, "{id}");
        let gated = [Arm::Capped, Arm::Rescue].contains(&job.planned.arm.arm());
        assert_eq!(run.gate.is_empty(), !gated, "{id}");
    });
}

type Name<'a> = (Kind, &'a str);

fn sessions_by_name(run: &Run) -> BTreeMap<Name<'_>, &Session> {
    run.sessions.iter().map(|session| ((session.kind, &*session.id), session)).collect()
}

/// Turns without the index of their session, which depends on the order of rows.
fn turns_by_name(run: &Run) -> BTreeMap<(Name<'_>, u64), Turn> {
    run.turns
        .iter()
        .map(|turn| {
            let session = &run.sessions[turn.session.at()];
            let name = ((session.kind, &*session.id), turn.number);
            (name, Turn { session: SessionIndex(0), ..turn.clone() })
        })
        .collect()
}

/// Gate events with the name of their session in place of its index.
fn gate_by_name(run: &Run) -> Vec<(Option<Name<'_>>, GateEvent)> {
    run.gate
        .iter()
        .map(|event| {
            let session = event.session.map(|index| &run.sessions[index.at()]);
            let name = session.map(|session| (session.kind, &*session.id));
            (name, GateEvent { session: None, ..*event })
        })
        .collect()
}

#[test]
fn a_written_run_is_read_back_as_it_was() {
    const FORMS: [TableFormat; 4] =
        [TableFormat::Parquet, TableFormat::Csv, TableFormat::CsvGz, TableFormat::CsvZst];
    let folder = tempfile::tempdir().unwrap();
    // One thread per few runs: nothing here depends on which form an arm gets.
    each_arm(|i, job| {
        if i % 3 > 0 {
            return;
        }
        let id = &job.planned.id;
        let run = to_run(&simulate(&job.spec).unwrap(), &job.spec, &job.label);
        let dir = folder.path().join(id);
        write(&run, &dir, FORMS[i / 3 % 4]).unwrap();
        let read = trapcheck::directory::load(&dir, &LoadOptions::default())
            .unwrap_or_else(|e| panic!("{e}"));
        // A parquet plan has no text form whose hash could be compared.
        let about_the_hash = |note: &Problem| note.message.contains("the hash of plan.csv");
        let only_that = read.notes.iter().all(about_the_hash);
        let expected = usize::from(FORMS[i / 3 % 4] == TableFormat::Parquet);
        assert!(only_that && read.notes.len() == expected, "{id}: {:?}", read.notes);
        assert_eq!(read.meta, run.meta, "{id}");
        assert!(read.plan == run.plan, "{id}: plan");
        // The reader puts rows in an order of its own, so that the files' says nothing.
        assert!(sessions_by_name(&read) == sessions_by_name(&run), "{id}: sessions");
        assert!(turns_by_name(&read) == turns_by_name(&run), "{id}: turns");
        assert!(read.engine == run.engine, "{id}: engine");
        assert!(gate_by_name(&read) == gate_by_name(&run), "{id}: gate");
    });
}
