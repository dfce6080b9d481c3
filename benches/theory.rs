//! Time per answer on one core: the root with its asymptotics, a curve, the burst fluid.
//!
//! Wanted: under 5 us, 5 ms and 50 ms.
#![allow(missing_docs)]

use std::collections::BTreeMap;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use trapcheck::model::Theory;
use trapcheck::model::curve::Curve;

fn main_cell() -> Theory {
    let configs =
        trapcheck::configs::load(std::path::Path::new("configs")).unwrap_or_else(|e| panic!("{e}"));
    let cells: BTreeMap<_, _> = configs.cells;
    let cell = &cells["sglang-300k"];
    Theory::of(cell, &configs.workloads[&cell.workload]).unwrap_or_else(|e| panic!("{e}"))
}

fn theory(c: &mut Criterion) {
    let theory = main_cell();
    let lambda = theory.rate_per_s(1.65);
    c.bench_function("root and asymptotics", |b| {
        b.iter(|| theory.model_f.at(black_box(lambda)));
    });
    let model = theory.curve().unwrap_or_else(|e| panic!("{e}")).model().clone();
    c.bench_function("curve", |b| b.iter(|| Curve::of(black_box(&model))));
    let burst = theory.burst(lambda);
    c.bench_function("burst fluid to 30,000 s", |b| {
        b.iter(|| burst.run(&theory.model_f, black_box(lambda), &[], 30_000.0));
    });
}

criterion_group!(benches, theory);
criterion_main!(benches);
