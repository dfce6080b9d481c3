//! Made-up single runs.

use trapcheck::figure::run_picture::{RunPanel, RunPicture, SlopeLine, Threshold};
use trapcheck::figure::timeline::Timeline;
use trapcheck::figure::two_engines::{EngineRun, TwoEngines};
use trapcheck::setup::Arm;

use super::{noise, simulated};

fn timeline() -> Timeline {
    Timeline {
        end_s: 8700.0,
        burst_at_s: Some(1200.0),
        cap_on_s: Some(1800.0),
        cap_off_s: Some(4070.0),
        window: Some((5700.0, 8700.0, "evaluation window")),
    }
}

fn bins() -> impl Iterator<Item = (f64, u64)> {
    (0..87).map(|i| (50.0 + 100.0 * i as f64, i))
}

fn trapped(t_s: f64) -> bool {
    (1250.0..2900.0).contains(&t_s)
}

fn in_system(t_s: f64, i: u64, rescued: bool) -> f64 {
    let base = 4.0 + 5.0 * noise(1, i);
    let drain = if rescued { 1.0 - ((t_s - 1800.0) / 2100.0).clamp(0.0, 1.0) } else { 1.0 };
    let growth = if rescued { 0.0 } else { 0.02 * (t_s - 1200.0) };
    let burst = if t_s < 1200.0 { 0.0 } else { 195.0 * drain + growth };
    (base + burst).round()
}

/// A run that was trapped and rescued.
pub fn rescued_run() -> RunPicture {
    let hit = |t: f64, i: u64| if trapped(t) { 0.01 } else { 0.91 + 0.03 * noise(2, i) };
    let by_bin = |of: &dyn Fn(f64, u64) -> f64| {
        bins().map(|(t, i)| (t, (i % 31 != 30).then(|| of(t, i)))).collect::<Vec<_>>()
    };
    let threshold = |panel, value, name: &str| Threshold { panel, value, name: name.to_owned() };
    let slope =
        |from, to, name: &str, measured| SlopeLine { from, to, name: name.to_owned(), measured };
    let gate = |t: f64, i: u64| {
        let held = if (1800.0..4070.0).contains(&t) {
            (in_system(t, i, true) - 20.0).max(0.0)
        } else {
            0.0
        };
        (t, [(in_system(t, i, true) - held).max(0.0), 0.6 * held, 0.4 * held])
    };
    RunPicture {
        run: "sglang-300k, rescue, 1.35, seed 0".to_owned(),
        arm: Arm::Rescue,
        origin: simulated("rescued"),
        verdict: "Verdict: RECOVERED (hit fraction 0.92 over the window, threshold 0.5)."
            .to_owned(),
        timeline: timeline(),
        hits: by_bin(&hit),
        follow_up_hits: by_bin(&|t, i| (1.07 * hit(t, i)).min(1.0)),
        backlog: bins().map(|(t, i)| (t, in_system(t, i, true))).collect(),
        token_rate_ratio: by_bin(&|t, i| if trapped(t) { 0.98 } else { 0.2 + 0.05 * noise(4, i) }),
        gap_s: by_bin(&|t, i| if trapped(t) { 90.0 + 0.04 * t } else { 5.0 + noise(5, i) }),
        turnover_s: by_bin(&|t, i| if trapped(t) { 30.0 } else { 230.0 + 40.0 * noise(6, i) }),
        gate: bins().map(|(t, i)| gate(t, i)).collect(),
        thresholds: vec![
            threshold(RunPanel::Hits, 0.5, "recovered ≥ 0.5"),
            threshold(RunPanel::Hits, 0.2, "stuck < 0.2"),
            threshold(RunPanel::TokenRate, 1.0, "all-miss"),
            threshold(RunPanel::Gate, 20.0, "cap 20"),
        ],
        slopes: vec![
            slope((5700.0, 6.0), (8700.0, 7.0), "fitted slope", true),
            slope((5700.0, 6.0), (8700.0, 43.0), "slope line", false),
        ],
    }
}

/// The same traffic, left alone and rescued.
pub fn both_engines() -> TwoEngines {
    let run = |title: &str, rescued: bool| EngineRun {
        title: title.to_owned(),
        origin: simulated(title),
        follow_up_hits: bins()
            .map(|(t, i)| {
                let caught = t > 1250.0 && (!rescued || trapped(t));
                (t, Some(if caught { 0.0 } else { 0.98 + 0.02 * noise(7, i) }))
            })
            .collect(),
        in_system: bins().map(|(t, i)| (t, in_system(t, i, rescued))).collect(),
        held: match rescued {
            true => bins().map(|(t, i)| (t, (in_system(t, i, true) - 20.0).max(0.0))).collect(),
            false => Vec::new(),
        },
    };
    TwoEngines {
        title: "Two engines, made up".to_owned(),
        alone: run("left alone", false),
        rescued: run("rescue cap of 20", true),
        timeline: Timeline { window: Some((5700.0, 8700.0, "last 3000 s")), ..timeline() },
        seed: 3,
        note: "Mean prompt of the last window: 9300 tokens left alone, 10400 rescued.".to_owned(),
    }
}
