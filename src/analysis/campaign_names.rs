//! What a run of a batch is called in the campaign, whoever made it.
//!
//! The ledger's bindings name runs by the campaign's folders (`*/paired/*`). A pull has
//! folders of its own, so each of its runs is found in the campaign by what was done to it:
//! its test, cell, arm, dose, rate and seed.

use crate::campaign::CampaignRun;
use crate::measure::treatment::Dose;
use crate::setup::ArmSpec;

use super::statistics::RunStatistics;

/// The folder that the campaign gives to a run like this one of one of these tests;
/// `None` where the campaign has no such run, or several tests have one.
pub(crate) fn campaign_name(
    run: &RunStatistics,
    tests: &[String],
    campaign_runs: &[CampaignRun<'_>],
) -> Option<String> {
    let of_batch =
        campaign_runs.iter().filter(|candidate| tests.contains(&candidate.planned.test.test));
    let fitting: Vec<&CampaignRun<'_>> =
        of_batch.filter(|candidate| fits(candidate, run)).collect();
    let first = fitting.first()?;
    // Tests that differ in what a run does not say, such as its scheduling, name none.
    let one_test =
        fitting.iter().all(|candidate| candidate.planned.test.test == first.planned.test.test);
    one_test.then(|| first.dir.display().to_string())
}

fn fits(candidate: &CampaignRun<'_>, run: &RunStatistics) -> bool {
    let planned = &candidate.planned;
    let same_rate = match (planned.multiple, run.meta.rate.multiple) {
        (Some(planned), Some(own)) => (planned - own).abs() < 1e-6,
        (None, None) => true,
        _ => false,
    };
    planned.test.cell == run.meta.cell
        && planned.arm.arm() == run.meta.arm
        && planned.seed == run.meta.seed
        && same_rate
        && same_dose(planned.arm, run, candidate)
}

/// Whether the run was given what the arm gives.
fn same_dose(arm: &ArmSpec, run: &RunStatistics, candidate: &CampaignRun<'_>) -> bool {
    let given = &run.treatment;
    match arm {
        ArmSpec::Burst { sessions } => {
            let registered = candidate.spec.protocol.paired.burst.sessions;
            given.burst_sessions == sessions.map_or(registered, u64::from)
        }
        ArmSpec::Toolslow { from_s, to_s, delay_s } => {
            let during = crate::setup::Span::new(*from_s, *to_s);
            given.is(Dose::ToolDelayS, *delay_s) && given.slowed_during(during)
        }
        ArmSpec::Shed { length_s, .. } => given.is(Dose::StopS, *length_s),
        ArmSpec::Cut { from_s, multiple } => {
            let after = crate::setup::Span::new(*from_s, run.meta.horizon_s);
            let arrived = run.from_burst.iter().filter(|a| after.holds(a.arrival_s)).count() as f64;
            let rate = arrived / after.length_s() / candidate.spec.cell.lambda_ref_per_s;
            // The paper's two cuts lie 0.3 apart, and a plan scatters by a tenth of its rate.
            (rate - multiple).abs() < 0.15
        }
        ArmSpec::Closed { population } | ArmSpec::E0a { population } => {
            run.meta.population == Some(u64::from(*population))
        }
        ArmSpec::NoBurst {} | ArmSpec::Capped { .. } | ArmSpec::Rescue { .. } | ArmSpec::E0b {} => {
            true
        }
    }
}
