//! Made-up closed populations: where one falls off, and one beside the theory.

use trapcheck::figure::closed_curve::ClosedPoint;
use trapcheck::figure::knee::{Knee, KneeCurve, KneeKind, KneePoint};
use trapcheck::figure::population::Estimate;
use trapcheck::figure::session_law::{Predicted, SessionLaw};
use trapcheck::figure::theorem::TheoremCheck;

use super::theories::theorem_check;
use super::{noise, simulated};

const POPULATIONS: [u32; 9] = [4, 6, 8, 12, 16, 24, 32, 48, 64];

/// Falls from 1 to 0 around a population.
fn falling(n: f64, edge: f64) -> f64 {
    1.0 / (1.0 + libm::pow(n / edge, 6.0))
}

/// Both starts, without and with a host tier; at the largest population no share is known.
pub fn knee_with_a_host_tier() -> Knee {
    let curve = |kind: KneeKind, edge: f64, seed: u64| {
        let point = |n: u32| {
            let share = falling(f64::from(n), edge);
            let estimate = |value: f64| Estimate {
                value,
                standard_error: Some(0.05 * value * noise(seed, u64::from(n))),
            };
            KneePoint {
                n,
                origin: simulated(&format!("{} n{n}", kind.word())),
                hit_share: (n < 64).then(|| estimate(share)),
                turns_per_s: estimate(0.02 * f64::from(n) * share + 0.09),
            }
        };
        KneeCurve { kind, points: POPULATIONS.into_iter().map(point).collect() }
    };
    Knee {
        title: "Where it falls off, made up".to_owned(),
        curves: vec![
            curve(KneeKind::Empty, 17.0, 1),
            curve(KneeKind::Trap, 14.0, 2),
            curve(KneeKind::EmptyWithHost, 40.0, 3),
            curve(KneeKind::TrapWithHost, 36.0, 4),
        ],
        bracket: Some((12.0, 24.0)),
        onset_n: Some(19.4),
        cap: Some(12),
        note: "Made-up numbers.".to_owned(),
    }
}

/// A cell's stuck runs after a trigger, and its closed populations.
pub fn law_of_one_cell() -> SessionLaw {
    let all = theorem_check();
    let check = TheoremCheck {
        title: "The law on sessions, made up".to_owned(),
        cells: all.cells.into_iter().take(1).collect(),
        runs: all.runs.into_iter().take(21).collect(),
        ..all
    };
    let rate = |n: f64| 0.004 * n * falling(n, 17.0) + 0.012;
    let point = |n: u32| {
        let at = f64::from(n);
        let estimate = |value: f64| Some(Estimate { value, standard_error: Some(0.05 * value) });
        ClosedPoint {
            n,
            origin: simulated(&format!("n{n}")),
            sessions_per_s: estimate(0.97 * rate(at)),
            turns_based_per_s: (n != 6).then(|| rate(at)),
            hit_fraction: estimate(0.95 * falling(at, 17.0)),
        }
    };
    let predicted = (0..=60).map(|i| {
        let n = 4.0 * libm::pow(16.0, f64::from(i) / 60.0);
        let hit_fraction = 0.96 * falling(n, 18.0);
        Predicted { n, hit_fraction, sessions_per_s: rate(0.97 * n) }
    });
    SessionLaw {
        check,
        closed: POPULATIONS.into_iter().map(point).collect(),
        predicted: predicted.collect(),
        crossing_n: Some(17.9),
        onset_n: Some(20.3),
    }
}
