//! Made-up curves over the population and the arrival rate.

use trapcheck::figure::closed_curve::{
    ClosedCell, ClosedCurves, ClosedPoint, ClosedSeries, CurveKind,
};
use trapcheck::figure::from_empty::{FromEmpty, FromEmptyCell, StableCurve, StablePoint};
use trapcheck::figure::population::Estimate;
use trapcheck::figure::predicted_curve::{PredictedCell, PredictedCurves, RunPoint};

use super::{engine, noise, simulated};

const POPULATIONS: [u32; 13] = [16, 20, 24, 28, 32, 36, 44, 48, 64, 80, 96, 128, 300];

/// A curve with a rise to `peak` at `onset` and a fall to `base`.
fn rate(n: f64, onset: f64, peak: f64, base: f64) -> f64 {
    let fall = 1.0 / (1.0 + libm::exp((n - onset) / 2.5));
    base + (peak * (n / onset).min(1.0) - base) * fall
}

fn series(kind: CurveKind, label: &str, onset: f64, peak: f64, error: Option<f64>) -> ClosedSeries {
    let point = |(i, n): (usize, &u32)| {
        let mu =
            rate(f64::from(*n), onset, peak, 0.07) * (0.97 + 0.06 * noise(onset as u64, i as u64));
        let hit = 0.93 / (1.0 + libm::exp((f64::from(*n) - onset) / 2.5));
        ClosedPoint {
            n: *n,
            origin: match kind {
                CurveKind::Engine => engine("closed"),
                CurveKind::Simulator | CurveKind::OtherSimulator => simulated("closed"),
            },
            sessions_per_s: Some(Estimate { value: mu, standard_error: error }),
            turns_based_per_s: (kind == CurveKind::Engine).then_some(1.03 * mu),
            hit_fraction: Some(Estimate { value: hit, standard_error: error }),
        }
    };
    let points = POPULATIONS.iter().enumerate().map(point).collect();
    ClosedSeries { kind, label: label.to_owned(), points }
}

/// Three cells with an engine and up to two simulators.
pub fn closed_cells() -> ClosedCurves {
    let measured = |onset, peak| series(CurveKind::Engine, "engine", onset, peak, None);
    let simulator =
        |label: &str, onset, peak| series(CurveKind::Simulator, label, onset, peak, Some(0.008));
    let cell = |title: &str, series, lambda_ref, cap| ClosedCell {
        title: title.to_owned(),
        series,
        lambda_ref_per_s: Some(lambda_ref),
        cap: Some(cap),
    };
    ClosedCurves {
        title: "Closed curves, made up".to_owned(),
        cells: vec![
            cell(
                "SGLang, 300k-token pool",
                vec![measured(30.0, 0.24), simulator("simulator, 3 seeds", 31.0, 0.25)],
                0.0715,
                20,
            ),
            cell(
                "SGLang, native pool",
                vec![
                    measured(90.0, 0.5),
                    simulator("simulator, blind", 86.0, 0.48),
                    series(CurveKind::OtherSimulator, "simulator, not blind", 91.0, 0.51, None),
                ],
                0.0718,
                64,
            ),
            cell(
                "vLLM, 300k-token pool",
                vec![measured(29.0, 0.25), simulator("simulator, blind", 32.0, 0.27)],
                0.0657,
                20,
            ),
        ],
        note: "Made-up numbers.".to_owned(),
    }
}

/// Three cells with engine runs and simulators.
pub fn from_empty_cells() -> FromEmpty {
    let cell = |title: &str, lambda_ref: f64, edge: f64, labels: &[&str]| FromEmptyCell {
        title: title.to_owned(),
        lambda_ref_per_s: lambda_ref,
        lambda_miss_per_s: Some(1.004 * lambda_ref),
        engine: (2..=6)
            .map(|k| f64::from(k) * edge / 4.5)
            .map(|multiple| StablePoint {
                rate_per_s: multiple * lambda_ref,
                share: f64::from(u8::from(multiple < edge)),
                origin: engine("from empty"),
            })
            .collect(),
        simulators: labels
            .iter()
            .enumerate()
            .map(|(i, label)| StableCurve {
                label: (*label).to_owned(),
                points: (0..12)
                    .map(|k| edge * (0.4 + 0.08 * f64::from(k)))
                    .map(|m| {
                        let shift = 0.15 * i as f64;
                        StablePoint {
                            rate_per_s: m * lambda_ref,
                            share: 1.0 / (1.0 + libm::exp((m - edge + shift) / 0.12)),
                            origin: simulated("from empty"),
                        }
                    })
                    .collect(),
            })
            .collect(),
    };
    FromEmpty {
        title: "From empty, made up".to_owned(),
        cells: vec![
            cell("SGLang, 300k-token pool", 0.0715, 2.6, &["B2, 3 seeds", "B2, 20 seeds"]),
            cell("SGLang, native pool", 0.0718, 6.0, &["B2n, mixed", "B2n, separate"]),
            cell("vLLM, 300k-token pool", 0.0657, 2.6, &["B2v, 10 seeds"]),
        ],
        note: "Made-up numbers.".to_owned(),
    }
}

/// Four cells, the last one partly seen and partly blind.
pub fn predicted_cells() -> PredictedCurves {
    let cell = |title: &str, onset: f64, peak: f64, base: f64| {
        let line = |shift: f64| {
            let populations = (12..=110).map(f64::from);
            populations.map(|n| (n, rate(n, onset - shift, peak - 0.01 * shift, base))).collect()
        };
        let runs = POPULATIONS[..11].iter().map(|n| {
            let mu = rate(f64::from(*n), onset - 1.0, 0.97 * peak, base);
            RunPoint {
                n: *n,
                origin: simulated("closed"),
                sessions_per_s: Some(mu),
                turns_based_per_s: Some(1.04 * mu),
            }
        });
        PredictedCell {
            title: title.to_owned(),
            fluid: line(0.0),
            h1: line(2.0),
            runs: runs.collect(),
            onset_n: Some(onset + 1.5),
            lambda_ref_per_s: Some(0.99 * base),
            seen_up_to_n: None,
            blind_n: Vec::new(),
        }
    };
    let frozen = cell("SGLang, H200, 300k (frozen)", 40.0, 0.38, 0.195);
    PredictedCurves {
        title: "Predicted curves, made up".to_owned(),
        cells: vec![
            cell("SGLang, A100, 300k", 31.0, 0.25, 0.072),
            cell("SGLang, A100, native", 93.0, 0.5, 0.074),
            cell("vLLM, A100, 300k", 31.0, 0.25, 0.067),
            PredictedCell { seen_up_to_n: Some(32.0), blind_n: vec![36, 44], ..frozen },
        ],
        note: "Made-up numbers.".to_owned(),
    }
}
