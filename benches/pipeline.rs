//! One committed burst run (578 sessions, 5,758 turns): how long it takes to read,
//! to measure and to judge, beside reading its bytes alone.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use trapcheck::analysis::score::score;
use trapcheck::analysis::store::Store;
use trapcheck::directory::{LoadOptions, find_runs};
use trapcheck::measure::measure;

const RUN: &str =
    "results/vllm-cpu/cpu_1_pulled_20261129-125700/agentload_burst/20261129-121107_x1.5_s0";

fn benches(c: &mut Criterion) {
    let configs =
        trapcheck::configs::load(Path::new("configs")).expect("the project's configuration");
    let dir = Path::new(RUN);
    let run = trapcheck::directory::load(dir, &LoadOptions::default()).expect("a committed run");
    let (_, _, protocol) = configs.of_cell(&run.meta.cell).expect("the run's cell");
    c.bench_function("read the bytes of one run", |b| {
        b.iter(|| {
            let files = run.sources.iter().map(|s| std::fs::read(&s.path).map_or(0, |f| f.len()));
            black_box(files.sum::<usize>())
        });
    });
    c.bench_function("load and check one run", |b| {
        b.iter(|| {
            trapcheck::directory::load(black_box(dir), &LoadOptions::default())
                .map(|run| run.turns.len())
        });
    });
    c.bench_function("measure one run", |b| b.iter(|| measure(black_box(&run), protocol)));
    let dirs = find_runs(&["results/vllm-cpu"]).runs;
    c.bench_function("score 22 runs", |b| {
        b.iter(|| {
            score(Store::new(&configs).runs(black_box(&dirs), || ()), &configs, None).runs.len()
        });
    });
}

criterion_group!(group, benches);
criterion_main!(group);
