//! Made-up comparisons with model F.

use trapcheck::figure::Origin;
use trapcheck::figure::mirror::{Mirror, MirrorKind, MirrorSeries};
use trapcheck::figure::theorem::{ModelCurve, Protocol, Reading, StuckRun, TheoremCheck};
use trapcheck::figure::tilted_mix::{LoadCurve, TiltedMix};
use trapcheck::figure::time_scales::{TimeScale, TimeScales};

use super::{noise, simulated};

/// Eight cells, 57 runs after a trigger, 13 from empty.
pub fn theorem_check() -> TheoremCheck {
    let cells = (0..8).map(|i| ModelCurve {
        cell: format!("cell_{i}"),
        points: (0..=60).map(|k| reading(1.0 + 0.1 * f64::from(k), 0.002 * f64::from(i))).collect(),
    });
    let run = |protocol, rho, i| StuckRun {
        cell: format!("cell_{}", i % 8),
        origin: simulated(&format!("run_{i}")),
        protocol,
        reading: scattered(reading(rho, 0.0), i),
    };
    let rho = |i: u64| 1.2 + 0.9 * noise(1, i) + if i.is_multiple_of(9) { 2.2 } else { 0.0 };
    let bursts = (0..57).map(|i| run(Protocol::Triggered, rho(i), i));
    let empty = (57..70).map(|i| run(Protocol::FromEmpty, 2.4 + 4.2 * noise(2, i), i));
    TheoremCheck {
        title: "Theorem 1, made up".to_owned(),
        cells: cells.collect(),
        runs: bursts.chain(empty).collect(),
        missing: Vec::new(),
        note: "Made-up numbers.".to_owned(),
    }
}

fn reading(rho: f64, shift: f64) -> Reading {
    let x = rho - 1.0;
    Reading {
        rho,
        prompt_ratio: Some(1.0 - 0.42 * x / (x + 2.2) - shift),
        completions_ratio: Some(1.0 + 1.9 * x / (x + 5.0) + shift),
        growth_ratio: Some(x - 1.9 * x / (x + 5.0) + shift),
        gap_slope: Some(0.22 * x / (x + 4.0) + 0.3 * shift),
    }
}

fn scattered(r: Reading, i: u64) -> Reading {
    let off = |k: u64, by: f64| by * (noise(k, i) - 0.5);
    Reading {
        rho: r.rho,
        prompt_ratio: r.prompt_ratio.map(|v| v + off(11, 0.04)),
        completions_ratio: r.completions_ratio.map(|v| v + off(12, 0.3)),
        growth_ratio: r.growth_ratio.map(|v| v + off(13, 0.5)),
        gap_slope: if i == 5 { None } else { r.gap_slope.map(|v| v + off(14, 0.03)) },
    }
}

/// Three runs of each kind.
pub fn mirror_runs() -> Mirror {
    let kinds = [MirrorKind::Standard, MirrorKind::Predicted, MirrorKind::StepCapped];
    let series = |kind, seed| {
        let bins = || (0..25).map(move |i| (1350.0 + 300.0 * i as f64, i));
        let (level, slope) = match kind {
            MirrorKind::Standard => (1.25, 0.05),
            MirrorKind::Predicted => (0.7, 0.08),
            MirrorKind::StepCapped => (0.66, 0.082),
        };
        let wave = |i: u64| if i < 6 { 2.4 / (1.0 + i as f64) } else { 0.0 };
        MirrorSeries {
            kind,
            seed,
            origin: match kind {
                MirrorKind::Predicted => Origin::model_driven_by(&simulated("mirror")),
                MirrorKind::Standard | MirrorKind::StepCapped => simulated("mirror"),
            },
            completions: bins()
                .map(|(t, i)| (t, level + wave(i) + 0.3 * (noise(seed, i) - 0.5)))
                .collect(),
            backlog: bins()
                .map(|(t, i)| (t, 190.0 + slope * (t - 1200.0) + 9.0 * noise(seed + 9, i)))
                .collect(),
        }
    };
    Mirror {
        title: "MIRROR, made up".to_owned(),
        series: kinds.into_iter().flat_map(|k| (0..3).map(move |seed| series(k, seed))).collect(),
        capacities: vec![1.004, 1.046],
        predicted_status: "frozen".to_owned(),
        from_s: 1200.0,
        bin_s: 300.0,
    }
}

/// Three cells in both states.
pub fn measured_time_scales() -> TimeScales {
    let measured = |(name, trapped, gap_s, turnover_s): (&str, bool, f64, f64)| TimeScale {
        name: name.to_owned(),
        origin: simulated(name),
        trapped,
        gap_s: Some(gap_s),
        turnover_s: Some(turnover_s),
    };
    let rows = [
        ("first cell, no burst", false, 5.0, 190.0),
        ("second cell, no burst", false, 5.9, 500.0),
        ("third cell, no burst", false, 5.4, 210.0),
        ("first cell, burst", true, 170.0, 27.0),
        ("second cell, burst", true, 510.0, 78.0),
        ("third cell, burst", true, 240.0, 29.0),
    ];
    TimeScales {
        title: "Time scales, made up".to_owned(),
        measured: rows.into_iter().map(measured).collect(),
    }
}

/// Geometric mixes, the trapped one steeper.
pub fn mix_at_one_load() -> TiltedMix {
    let mix = |ratio: f64| {
        let shares: Vec<f64> =
            std::iter::successors(Some(1.0), |s| Some(s * ratio)).take(60).collect();
        let total: f64 = shares.iter().sum();
        shares.iter().map(|share| share / total).collect()
    };
    let curve = |label: &str, gain: f64| LoadCurve {
        label: label.to_owned(),
        points: (0..=50)
            .map(|i| 1.0 + 0.1 * f64::from(i))
            .map(|rho| (rho, 1.0 + gain * (rho - 1.0) / (rho + 3.0)))
            .collect(),
    };
    TiltedMix {
        title: "The tilted mix, made up".to_owned(),
        mix_title: "turns served at 1.65 *λ*_{ref}".to_owned(),
        stationary: mix(0.933),
        trapped: mix(0.91),
        curves: vec![
            curve("completions / *λ*_{miss}", 2.2),
            curve("youth premium *H*", 1.2),
            curve("cheapness *Γ*", 0.7),
            curve("prompt / stationary", -0.5),
        ],
        rho: Some(1.64),
        note: "Made-up numbers.".to_owned(),
    }
}
