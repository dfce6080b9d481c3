use std::path::Path;

use rayon::prelude::*;

use super::*;
use crate::sim::options::{Hits, Refresh};

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs")
}

fn published() -> Fidelity {
    let path = root().join("fidelity/paper.yaml");
    Fidelity::parse(&path, &std::fs::read(&path).unwrap()).unwrap()
}

fn configs() -> Configs {
    let mut files = BTreeMap::new();
    for folder in crate::configs::FOLDERS {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            files.insert(path, bytes);
        }
    }
    Configs::parse(&root(), &files).unwrap()
}

fn in_parallel(runs: &[SeedRun<'_>]) -> Vec<Result<Values, SimError>> {
    runs.par_iter().map(SeedRun::values).collect()
}

/// Only the rows of `ids`, with at most `seeds` seeds each.
fn part(ids: &[&str], seeds: u64) -> Fidelity {
    let mut fidelity = published();
    fidelity.rows.retain(|row| ids.contains(&row.id.as_str()));
    let used: Vec<String> = fidelity.rows.iter().flat_map(|row| row.runs.clone()).collect();
    fidelity.run_sets.retain(|name, _| used.contains(name));
    fidelity.run_sets.values_mut().for_each(|set| set.seeds = set.seeds.min(seeds));
    fidelity
}

#[test]
fn the_sharpest_rows_come_out_with_a_few_seeds() {
    let ids = [
        "all-miss-vllm-mixed",
        "burst-300k-1.65",
        "noburst-300k-1.65",
        "capped-300k-1.65",
        "basin-100",
        "shed-600",
        "lpm-inf",
        "mirror-stuck",
    ];
    let fidelity = part(&ids, 6);
    let rows = report(&fidelity, &configs(), in_parallel).unwrap();
    assert_eq!(rows.len(), ids.len());
    for row in rows {
        assert!(row.inside, "{row:?}");
    }
}

#[test]
fn a_report_is_the_same_in_any_thread_count() {
    let fidelity = part(&["half-hit-crossing", "r1-release-1.65", "mirror-wave"], 3);
    let rows = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| report(&fidelity, &configs(), in_parallel).unwrap())
    };
    assert_eq!(rows(1), rows(3));
}

#[test]
fn a_name_that_nothing_has_is_found_before_anything_runs() {
    let mut fidelity = part(&["basin-100"], 1);
    fidelity.run_sets.values_mut().for_each(|set| set.cell = "nowhere".into());
    let error = report(&fidelity, &configs(), |_| panic!("ran")).unwrap_err();
    assert_eq!(error.to_string(), "run set basin-100: no cell is called nowhere");
}

#[test]
fn a_report_that_makes_no_sense_is_refused_with_its_row() {
    let text = std::fs::read_to_string(root().join("fidelity/paper.yaml")).unwrap();
    let refused = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        let broken = text.replacen(from, to, 1);
        Fidelity::parse(Path::new("broken.yaml"), broken.as_bytes()).unwrap_err().message
    };
    assert!(refused("runs: [basin-025]", "runs: [basin-26]").contains("no run set is called"));
    assert!(refused("runs: [basin-025]", "runs: []").contains("at least one run set"));
    assert!(refused("id: basin-25", "id: lpm-inf").contains("used twice"));
    assert!(refused("cap: 20 }", "cap: 0 }").contains("cap: expected at least 1"));
    let never = refused("every_passes: 32", "every_passes: 0");
    assert!(never.contains("refresh.every_passes: expected at least 1, found 0"));
    assert!(refused("runs: [closed-016,", "runs: [basin-025,").contains("needs closed arms"));
}

#[test]
fn a_run_set_may_have_what_the_papers_simulator_leaves_out() {
    let sets = published().run_sets;
    let with = sets["lpm-inf-both"].options();
    let touch = Refresh { every_passes: 1, requests: 100_000 };
    assert_eq!((with.hits, with.refresh), (Hits::Prefix, Some(touch)));
    let without = sets["lpm-inf"].options();
    assert_eq!((without.hits, without.refresh), (Hits::Whole, None));
}

#[test]
fn a_crossing_is_linear_between_the_points_around_the_level() {
    let xs = [16.0, 20.0, 24.0];
    let at =
        |ys: &[f64]| crossing(&xs.iter().copied().zip(ys.iter().copied()).collect::<Vec<_>>(), 0.5);
    assert_eq!(at(&[0.9, 0.6, 0.2]), Some(21.0));
    assert_eq!(at(&[0.9, 0.5, 0.0]), Some(20.0));
    assert_eq!(at(&[0.4, 0.3, 0.2]), None);
}
