//! The order in which a plan's sessions arrive, and whether a run can begin with them.

use std::collections::BTreeSet;

use super::ClientError;
use crate::plan::{DrawnSession, Plan};

/// All of a closed run's plan, if the population can be started from it.
pub(super) fn closed_order(plan: &Plan, population: u32) -> Result<Vec<usize>, ClientError> {
    let order: Vec<usize> = arriving(plan).map(|(who, _)| who).collect();
    let sessions = order.len();
    if population == 0 {
        return Err(ClientError::PopulationOfZero);
    }
    if population as usize > sessions {
        return Err(ClientError::PlanTooShort { population, sessions });
    }
    let names = recorded_names(plan);
    if !names.is_empty() && names.len() < population as usize {
        return Err(ClientError::TooFewRecorded { population, recorded: names.len() });
    }
    Ok(order)
}

/// The sessions that arrive by themselves, with their places: all but subagents.
fn arriving(plan: &Plan) -> impl Iterator<Item = (usize, &DrawnSession)> {
    plan.sessions.iter().enumerate().filter(|(_, session)| session.started_by.is_none())
}

/// The recorded sessions that a plan plays, without subagents.
pub(super) fn recorded_names(plan: &Plan) -> BTreeSet<&str> {
    arriving(plan).filter_map(|(_, s)| Some(s.trace.as_ref()?.id.as_str())).collect()
}

/// Plan positions by (arrival, kind, number).
pub(super) fn arrival_order(plan: &Plan) -> Result<Vec<usize>, ClientError> {
    let mut keyed = arriving(plan)
        .map(|(who, s)| match s.t_arrival_s {
            Some(t) => Ok((t, s.kind, s.session, who)),
            None => Err(ClientError::NoArrivalTime { kind: s.kind, session: s.session }),
        })
        .collect::<Result<Vec<_>, _>>()?;
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
    Ok(keyed.into_iter().map(|(_, _, _, who)| who).collect())
}
