//! Whether two runs were driven by the same arrivals (App. E.7: common random numbers).

use serde::{Deserialize, Serialize};

use crate::hash::sha256_hex;
use crate::run::{Kind, PlannedSession, Run};

/// What identifies a run's plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanIdentity {
    /// SHA-256 of the uncompressed `plan.csv`, as `meta.json` states it.
    pub file_sha256: Option<String>,
    /// SHA-256 over every planned session's values; `None` without a plan.
    pub all_sha256: Option<String>,
    /// The same over the base sessions alone: what NOBURST shares with BURST.
    pub base_sha256: Option<String>,
}

/// Reads it from a run.
pub(crate) fn plan_identity(run: &Run) -> PlanIdentity {
    let hashed = |planned: &[&PlannedSession]| sha256_hex(&listing(planned));
    let all = in_order(&run.plan);
    let base: Vec<_> = all.iter().copied().filter(|p| p.kind == Kind::Base).collect();
    let all_sha256 = (!all.is_empty()).then(|| hashed(&all));
    let base_sha256 = match all.len() - base.len() {
        0 => all_sha256.clone(),
        _ => Some(hashed(&base)),
    };
    PlanIdentity { file_sha256: run.meta.plan_sha256.clone(), all_sha256, base_sha256 }
}

impl PlanIdentity {
    /// Whether two plans are byte-identical: by the files' hashes where both are
    /// known, else by every value; `None` when neither can be told.
    pub(crate) fn same_as(&self, other: &Self) -> Option<bool> {
        let same = |a: &Option<String>, b: &Option<String>| {
            a.as_ref().zip(b.as_ref()).map(|(a, b)| a == b)
        };
        same(&self.file_sha256, &other.file_sha256).or(same(&self.all_sha256, &other.all_sha256))
    }

    /// Whether two plans have the same base sessions.
    pub(crate) fn same_base_as(&self, other: &Self) -> Option<bool> {
        self.base_sha256.as_ref().zip(other.base_sha256.as_ref()).map(|(a, b)| a == b)
    }
}

/// The sessions in order of arrival; at one time by the bytes of their values in a [`listing`].
fn in_order(plan: &[PlannedSession]) -> Vec<&PlannedSession> {
    fn counts(p: &PlannedSession) -> (&str, u64, usize) {
        (p.kind.word(), p.turns, p.tool_s.len())
    }
    let times = |a: &PlannedSession, b: &PlannedSession| {
        a.tool_s.iter().map(|t| t.to_bits()).cmp(b.tool_s.iter().map(|t| t.to_bits()))
    };
    let mut planned: Vec<_> = plan.iter().collect();
    planned.sort_by(|a, b| {
        let tied = || counts(a).cmp(&counts(b)).then_with(|| times(a, b));
        arrival_bits(a).cmp(&arrival_bits(b)).then_with(tied)
    });
    planned
}

/// No time is negative: its bits order as it does.
fn arrival_bits(planned: &PlannedSession) -> u64 {
    planned.t_arrival_s.unwrap_or(0.0).to_bits()
}

/// Every value of the sessions in their order; times bit for bit. Identifiers are left out:
/// they may number the burst's sessions too.
fn listing(planned: &[&PlannedSession]) -> Vec<u8> {
    let numbers: usize = planned.iter().map(|p| 3 + p.tool_s.len()).sum();
    let mut bytes = Vec::with_capacity(8 * (numbers + planned.len()));
    for p in planned {
        bytes.extend(arrival_bits(p).to_be_bytes());
        bytes.extend(p.kind.word().bytes());
        bytes.extend(p.turns.to_be_bytes());
        bytes.extend((p.tool_s.len() as u64).to_be_bytes());
        p.tool_s.iter().for_each(|t| bytes.extend(t.to_bits().to_be_bytes()));
    }
    bytes
}
