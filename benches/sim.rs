//! How long one 8,700 s run of the 300k cell takes, plan and records included,
//! nothing written. The goal is under 10 ms on one core.

use std::hint::black_box;
use std::path::{Path, PathBuf};

use criterion::{Criterion, criterion_group, criterion_main};

use trapcheck::plan::Plan;
use trapcheck::setup::{ArmSpec, Cell, Protocol, Scheduling, Workload};
use trapcheck::sim::{Options, RunSpec, simulate};

fn config(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("configs").join(path)
}

fn runs(criterion: &mut Criterion) {
    let cell =
        trapcheck::configs::read(&config("cells/sglang-300k.yaml"), Cell::parse).expect("cell");
    let workload = trapcheck::configs::read(&config("workloads/standard.yaml"), Workload::parse)
        .expect("workload");
    let protocol = trapcheck::configs::read(&config("protocols/paper.yaml"), Protocol::parse)
        .expect("protocol");
    let mut group = criterion.benchmark_group("8700 s at 300k, 1.65");
    let lpm =
        Options { scheduling: Some(Scheduling::Lpm), lpm_fallback: None, ..Options::default() };
    let stock = Options::default();
    let cases = [
        ("burst", ArmSpec::Burst { sessions: None }, stock),
        ("noburst", ArmSpec::NoBurst {}, stock),
        ("capped", ArmSpec::Capped { cap: 20 }, stock),
        ("burst, checked", ArmSpec::Burst { sessions: None }, Options { check: true, ..stock }),
        ("burst, LPM without fallback", ArmSpec::Burst { sessions: None }, lpm),
    ];
    for (name, arm, options) in cases {
        let spec = RunSpec {
            cell: &cell,
            workload: &workload,
            protocol: &protocol,
            arm: &arm,
            multiple: Some(1.65),
            seed: 0,
            options,
        };
        group.bench_function(name, |b| b.iter(|| simulate(black_box(&spec)).expect("run")));
    }
    group.finish();
}

fn plans(criterion: &mut Criterion) {
    let cell =
        trapcheck::configs::read(&config("cells/sglang-300k.yaml"), Cell::parse).expect("cell");
    let workload = trapcheck::configs::read(&config("workloads/standard.yaml"), Workload::parse)
        .expect("workload");
    let protocol = trapcheck::configs::read(&config("protocols/paper.yaml"), Protocol::parse)
        .expect("protocol");
    let arm = ArmSpec::Burst { sessions: None };
    let arrivals = trapcheck::client::arm::arrivals(
        &arm,
        &arm.schedule(&protocol),
        Some(1.65),
        cell.lambda_ref_per_s,
    )
    .expect("arrivals");
    let draw = || Plan::draw(&workload, 0, &arrivals).expect("plan");
    criterion.bench_function("plan drawn", |b| b.iter(draw));
    let plan = draw();
    criterion.bench_function("plan written and hashed", |b| b.iter(|| plan.sha256()));
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(50);
    targets = runs, plans
}
criterion_main!(benches);
