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
pub fn plan_identity(run: &Run) -> PlanIdentity {
    let hashed = |of: &dyn Fn(&PlannedSession) -> bool| {
        (!run.plan.is_empty()).then(|| sha256_hex(&listing(run.plan.iter().filter(|p| of(p)))))
    };
    PlanIdentity {
        file_sha256: run.meta.plan_sha256.clone(),
        all_sha256: hashed(&|_| true),
        base_sha256: hashed(&|p| p.kind == Kind::Base),
    }
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

/// Every value of the sessions, in order of arrival; times bit for bit. Identifiers
/// are left out: they may number the burst's sessions too.
fn listing<'a>(sessions: impl Iterator<Item = &'a PlannedSession>) -> Vec<u8> {
    let mut rows: Vec<Vec<u8>> = sessions
        .map(|p| {
            let numbers = [p.turns, p.tool_s.len() as u64];
            let values = numbers.into_iter().chain(p.tool_s.iter().map(|t| t.to_bits()));
            // Big-endian, and no time is negative: bytes order as the arrivals do.
            let mut row = p.t_arrival_s.unwrap_or(0.0).to_bits().to_be_bytes().to_vec();
            row.extend(p.kind.word().bytes());
            row.extend(values.flat_map(u64::to_be_bytes));
            row
        })
        .collect();
    rows.sort_unstable();
    rows.concat()
}
