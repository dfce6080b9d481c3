//! Made-up stampedes.

use trapcheck::figure::stampede::{Stampede, StampedeColumn, StampedeRun};
use trapcheck::figure::style::arm_name;
use trapcheck::setup::Arm;

use super::{noise, simulated};

/// One rate, three arms, three seeds.
pub fn one_rate() -> Stampede {
    Stampede { columns: two_rates().columns[..1].to_vec(), ..two_rates() }
}

/// Two rates, three arms, three seeds.
pub fn two_rates() -> Stampede {
    let column = |title: &str, slope: f64| StampedeColumn {
        title: title.to_owned(),
        runs: [Arm::Burst, Arm::NoBurst, Arm::Capped]
            .iter()
            .flat_map(|arm| (0..3).map(move |seed| stampede_run(arm.clone(), seed, slope)))
            .collect(),
        burst_at_s: Some(1200.0),
        window_s: (5700.0, 8700.0),
        cap: Some(20),
    };
    Stampede {
        title: "The stampede, made up".to_owned(),
        columns: vec![
            column("1.35 × *λ*_{ref} (0.0966 sessions/s)", 0.02),
            column("1.65 × *λ*_{ref} (0.1180 sessions/s)", 0.06),
        ],
    }
}

fn stampede_run(arm: Arm, seed: u64, slope: f64) -> StampedeRun {
    let hit = |t_s: f64, step: u64| {
        let good = 0.9 + 0.06 * (noise(seed, step) - 0.5);
        let trapped = arm == Arm::Burst && t_s > 1250.0;
        let value = if trapped { 0.01 * noise(seed, step) } else { good };
        (step % 29 != 28).then_some(value)
    };
    let count = |t_s: f64, step: u64| {
        let base = 3.0 + 6.0 * noise(seed + 17, step);
        let after = (t_s - 1260.0).max(0.0);
        let burst = 200.0 * ((t_s - 1200.0) / 60.0).clamp(0.0, 1.0);
        let level = match &arm {
            Arm::Burst => base + burst + slope * after,
            Arm::NoBurst => base,
            _ => base + (burst - 0.09 * after).max(0.0),
        };
        level.round()
    };
    StampedeRun {
        arm: arm.clone(),
        seed,
        origin: simulated(&format!("{} {seed}", arm_name(&arm))),
        hit_bins: (0..87)
            .map(|i| (50.0 + 100.0 * i as f64, hit(50.0 + 100.0 * i as f64, i)))
            .collect(),
        backlog: (0..435).map(|i| (20.0 * i as f64, count(20.0 * i as f64, i))).collect(),
    }
}
