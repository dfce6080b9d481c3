//! From an arm to what is drawn and what the client does.

use crate::limits;
use crate::plan::{Arrivals, Cut, OpenArrivals, Plan};
use crate::setup::{ArmSpec, Schedule};

use super::gate::GateRule;
use super::{Behaviour, ClientError, Slow};

/// The arrivals of an arm at `multiple` times `lambda_ref_per_s`; a closed arm
/// has no multiple.
///
/// # Errors
/// [`ClientError`]; a rate or burst that makes no sense is left to [`Plan::draw`].
pub fn arrivals(
    arm: &ArmSpec,
    schedule: &Schedule,
    multiple: Option<f64>,
    lambda_ref_per_s: f64,
) -> Result<Arrivals, ClientError> {
    arm.check().map_err(ClientError::Arm)?;
    let horizon_s = schedule.horizon_s;
    if let Some(population) = arm.population() {
        if multiple.is_some() {
            return Err(ClientError::RateOfClosed { arm: arm.arm() });
        }
        return Ok(Arrivals::Closed { sessions: Plan::closed_sessions(population, horizon_s) });
    }
    let multiple = multiple.ok_or(ClientError::NoRate { arm: arm.arm() })?;
    let cut = match *arm {
        ArmSpec::Cut { from_s, multiple } => {
            Some(Cut { from_s, rate_per_s: multiple * lambda_ref_per_s })
        }
        _ => None,
    };
    let rate_per_s = multiple * lambda_ref_per_s;
    Ok(Arrivals::Open(OpenArrivals { rate_per_s, horizon_s, cut, burst: schedule.burst }))
}

/// What the client of an arm does.
///
/// # Errors
/// [`ClientError`]: a value that makes no sense, or lies outside the run.
pub fn behaviour(arm: &ArmSpec, horizon_s: f64) -> Result<Behaviour, ClientError> {
    arm.check().map_err(ClientError::Arm)?;
    let within = |what, t_s: f64| {
        if t_s < horizon_s {
            Ok(t_s)
        } else {
            Err(ClientError::OutsideHorizon { arm: arm.arm(), what, t_s, horizon_s })
        }
    };
    let mut behaviour = Behaviour { population: arm.population(), ..Behaviour::PLAIN };
    match *arm {
        ArmSpec::Capped { cap } => behaviour.gate = GateRule::Capped { cap },
        ArmSpec::Rescue { cap, engage_s, min_capped_s, hold_s, tick_s } => {
            let engage_s = within("the gate's engagement", engage_s)?;
            if (horizon_s - engage_s) / tick_s > limits::TICKS {
                return Err(ClientError::TooManyTicks {
                    arm: arm.arm(),
                    tick_s,
                    limit: limits::TICKS,
                });
            }
            behaviour.gate = GateRule::Rescue { cap, engage_s, min_capped_s, hold_s, tick_s };
        }
        ArmSpec::Shed { from_s, length_s } => {
            let from_s = within("the stop of arrivals", from_s)?;
            behaviour.refuse_s = Some((from_s, from_s + length_s));
        }
        ArmSpec::Toolslow { from_s, to_s, delay_s } => {
            let from_s = within("the slowdown", from_s)?;
            behaviour.slow = Some(Slow { from_s, to_s, delay_s });
        }
        ArmSpec::NoBurst {}
        | ArmSpec::Burst { .. }
        | ArmSpec::Cut { .. }
        | ArmSpec::Closed { .. }
        | ArmSpec::E0a { .. }
        | ArmSpec::E0b {} => {}
    }
    Ok(behaviour)
}
