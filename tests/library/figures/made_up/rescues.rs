//! Made-up rescues.

use trapcheck::figure::rescue::{Rescue, RescueColumn, RescueRun};
use trapcheck::figure::style::arm_name;
use trapcheck::figure::timeline::Timeline;
use trapcheck::setup::Arm;

use super::{noise, simulated};

/// Three cells, each with a rescue run and its controls.
pub fn three_cells() -> Rescue {
    Rescue {
        note: String::new(),
        title: "Trap, rescue and release, made up".to_owned(),
        columns: vec![
            column("R1: 300k pool, 1.35 *λ*_{ref}, cap 20", 1800.0, 4300.0, 200.0),
            column("R1: 300k pool, 1.65 *λ*_{ref}, cap 20", 1800.0, 5000.0, 220.0),
            column("R4: native pool, 4.0 *λ*_{ref}, cap 64", 2100.0, 4900.0, 700.0),
        ],
    }
}

fn column(title: &str, on_s: f64, off_s: f64, peak: f64) -> RescueColumn {
    RescueColumn {
        title: title.to_owned(),
        timeline: Timeline {
            end_s: 8700.0,
            burst_at_s: Some(1200.0),
            cap_on_s: Some(on_s),
            cap_off_s: Some(off_s),
            window: Some((off_s, off_s + 3000.0, "post-release interval")),
        },
        runs: [Arm::Rescue, Arm::Burst, Arm::NoBurst]
            .into_iter()
            .map(|arm| run(arm, on_s, off_s, peak))
            .collect(),
    }
}

fn run(arm: Arm, on_s: f64, off_s: f64, peak: f64) -> RescueRun {
    let caught = |t_s: f64| match &arm {
        Arm::NoBurst => false,
        Arm::Rescue => t_s > 1230.0 && t_s < on_s + 0.4 * (off_s - on_s),
        _ => t_s > 1230.0,
    };
    let hit = |t_s: f64, i: u64| if caught(t_s) { 0.0 } else { 0.98 + 0.02 * noise(3, i) };
    let out = |t_s: f64, i: u64| {
        let base = 2.0 + 3.0 * noise(5, i);
        let drain = 1.0 - ((t_s - on_s) / (off_s - on_s - 100.0)).clamp(0.0, 1.0);
        let backlog = match &arm {
            Arm::NoBurst => 0.0,
            _ if t_s < 1200.0 => 0.0,
            Arm::Rescue => peak * drain,
            _ => peak + 0.03 * (t_s - 1200.0),
        };
        (base + backlog).round()
    };
    let held = |t_s: f64| {
        if t_s < on_s || t_s > off_s { 0.0 } else { (out(t_s, 0) - 20.0).max(0.0) }
    };
    let bins = || (0..145).map(|i| (i, 30.0 + 60.0 * i as f64));
    let steps = || (0..435).map(|i| (i, 20.0 * i as f64));
    RescueRun {
        arm: arm.clone(),
        seed: 0,
        origin: simulated(&arm_name(&arm)),
        follow_up_hits: bins().map(|(i, t)| (t, Some(hit(t, i)))).collect(),
        outstanding: steps().map(|(i, t)| (t, out(t, i))).collect(),
        held: match &arm {
            Arm::Rescue => steps().map(|(_, t)| (t, held(t))).collect(),
            _ => Vec::new(),
        },
    }
}
