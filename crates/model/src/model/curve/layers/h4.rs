//! H4: when a cap engaged inside the trap can be released again.
//!
//! Not reproduced. Two phases: every session present misses its next turn, while `cap` of
//! them at a time run at mu_1, Eq. (4) for resumed sessions; then what arrived meanwhile
//! drains at mu(cap); the gate must then stay empty for a hold of 300 s. This reading gives 3895,
//! 4385 and 4723 s where the paper prints 3830, 4360 and 5040 s.

use crate::model::curve::{Curve, EntryModel};
use crate::model::session::{SessionMeans, TurnProfile};
use crate::model::{ModelError, positive};
use crate::setup::{Cell, Workload};

/// How a rescue goes by H4, up to the *rescue release*: when its cap is taken off again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Release {
    /// mu_1, completions while resumed sessions run, in sessions/s.
    pub resumed_mu_per_s: f64,
    /// Length of the first phase, N / mu_1, in seconds.
    pub first_phase_s: f64,
    /// Length of the second phase, in seconds.
    pub second_phase_s: f64,
    /// When the cap is released, in seconds.
    pub release_s: f64,
}

/// The rescue that engages a cap inside a trap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rescue {
    /// When the cap is engaged, in seconds.
    pub engage_s: f64,
    /// The cap, in sessions.
    pub cap: f64,
    /// How long the gate has to stay empty before release, in seconds (300).
    pub hold_s: f64,
}

/// The release time of a rescue. `waiting[k - 1]` sessions wait for turn k when the cap is
/// engaged. `None` when mu(cap) does not exceed the load.
///
/// # Errors
/// No session waits, or as [`EntryModel::serving`].
pub fn release(
    curve: &Curve,
    cell: &Cell,
    workload: &Workload,
    rescue: &Rescue,
    waiting: &[f64],
    lambda_per_s: f64,
) -> Result<Option<Release>, ModelError> {
    let present = positive("sessions present at the cap", waiting.iter().sum())?;
    let turns = TurnProfile::resumed(&SessionMeans::of(workload), waiting);
    let resumed = Curve::of(&EntryModel::serving(&turns, cell, workload)?)?;
    let resumed_mu_per_s = resumed.mu_per_s(rescue.cap);
    let first_phase_s = present / resumed_mu_per_s;
    let surplus = curve.mu_per_s(rescue.cap) - lambda_per_s;
    if surplus <= 0.0 {
        return Ok(None);
    }
    let second_phase_s = lambda_per_s * first_phase_s / surplus;
    Ok(Some(Release {
        resumed_mu_per_s,
        first_phase_s,
        second_phase_s,
        release_s: rescue.engage_s + first_phase_s + second_phase_s + rescue.hold_s,
    }))
}
