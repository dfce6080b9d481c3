//! Which runs of a paired design are there, and which a reader would miss.

use std::collections::BTreeSet;

use super::style::arm_name;
use crate::setup::Arm;

/// Names every arm without a run, and every seed that an arm lacks and another has; `place` says
/// where, in a figure of several columns.
pub(crate) fn missing_runs(expected: &[Arm], present: &[(&Arm, u64)], place: &str) -> Vec<String> {
    let seeds: BTreeSet<u64> = present.iter().map(|(_, seed)| *seed).collect();
    let of_arm = |arm: &Arm| {
        let lacking = seeds.iter().filter(|seed| !present.contains(&(arm, **seed)));
        let lacking: Vec<_> = lacking.map(u64::to_string).collect();
        match lacking.len() {
            count if count == seeds.len() => Some(format!("{} runs{place}", arm_name(arm))),
            0 => None,
            _ => Some(format!("{} seed {}{place}", arm_name(arm), lacking.join(", "))),
        }
    };
    expected.iter().filter_map(of_arm).collect()
}

/// Where a column is, when there is more than one.
pub fn place(title: &str, columns: usize) -> String {
    if columns > 1 { format!(" at {title}") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arm_without_runs_and_a_seed_without_a_partner_are_named() {
        let present = [(&Arm::Burst, 0), (&Arm::Burst, 1), (&Arm::NoBurst, 0)];
        let missing = missing_runs(&[Arm::Burst, Arm::NoBurst, Arm::Capped], &present, " here");
        assert_eq!(missing, ["NOBURST seed 1 here", "CAPPED runs here"]);
    }

    #[test]
    fn without_any_run_every_arm_is_missing() {
        assert_eq!(
            missing_runs(&[Arm::Burst, Arm::Rescue], &[], ""),
            ["BURST runs", "RESCUE runs"]
        );
    }
}
