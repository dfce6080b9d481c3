//! Workloads of the configuration, by name.

pub use trapcheck_sessions::workload::{GAP_LIMIT_S, Playable};

use crate::nearest::unknown;
use crate::refused::Refused;
use crate::setup::Configs;

/// The workload of a name, for a pool of `pool_tokens`, no gap longer than `gap_limit_s`.
///
/// # Errors
/// A limit that is not positive or has no use, a name that there is not, or sessions that are not
/// to be had or of which none can be played.
pub fn named(
    configs: &Configs,
    name: &str,
    gap_limit_s: Option<f64>,
    pool_tokens: u64,
) -> Result<Playable, Refused> {
    check_limit(gap_limit_s)?;
    if let Some(workload) = configs.workloads.get(name) {
        if gap_limit_s.is_some() {
            return Err(gaps_by_law(name));
        }
        return Ok(Playable { workload: workload.clone(), notes: Vec::new() });
    }
    let known = configs.workloads.keys().chain(configs.session_workloads.keys());
    let of_sessions = configs.session_workloads.get(name).ok_or_else(|| {
        Refused(unknown("workload", name, "configs/workloads", known.map(String::as_str)))
    })?;
    of_sessions.playable(gap_limit_s, pool_tokens, configs.read_sessions).map_err(Refused)
}

/// Why a workload has no use for a limit of gaps.
pub(crate) fn gaps_by_law(name: &str) -> Refused {
    Refused(format!("--gap-limit is of sessions; the gaps of {name} follow a law"))
}

/// Whether a limit of gaps is one.
///
/// # Errors
/// It is not positive.
pub fn check_limit(gap_limit_s: Option<f64>) -> Result<(), Refused> {
    match gap_limit_s.is_some_and(|limit| limit.is_nan() || limit <= 0.0) {
        true => Err(Refused::new("--gap-limit: expected a positive number of seconds")),
        false => Ok(()),
    }
}
