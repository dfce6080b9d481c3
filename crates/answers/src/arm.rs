//! An arm with its values, as it is asked for.

use std::borrow::Cow;

use serde::Deserialize;

use crate::refused::Refused;
use crate::setup::{Arm, ArmSpec, Protocol};

/// Which arm, and its own values; what each arm takes is for [`Asked::arm`] to say.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// What is done to the arrivals and at the client's gate.
    pub arm: Arm,
    /// Sessions of the burst; the protocol's number if not given.
    pub burst: Option<u32>,
    /// Sessions that the gate admits at most.
    pub cap: Option<u32>,
    /// When the gate, the stop, the slowdown or the cut begins, s.
    pub from: Option<f64>,
    /// How long the stop or the slowdown lasts, s.
    #[serde(rename = "for")]
    pub length: Option<f64>,
    /// How much longer each tool call takes, s.
    pub delay: Option<f64>,
    /// The rate from the cut on, in multiples of lambda_ref.
    pub cut_to: Option<f64>,
    /// Sessions that are kept in the system.
    pub population: Option<u32>,
}

impl Asked {
    /// The arm that was meant.
    ///
    /// # Errors
    /// A value that the arm needs and lacks, one that it has no use for, or one that makes no
    /// sense.
    pub fn arm(&self) -> Result<ArmSpec, Refused> {
        let arm = match &self.arm {
            Arm::NoBurst => ArmSpec::NoBurst {},
            Arm::E0b => ArmSpec::E0b {},
            Arm::Burst => ArmSpec::Burst { sessions: self.burst },
            Arm::Capped => ArmSpec::Capped { cap: needed("--cap", self.cap)? },
            Arm::Rescue => {
                let (cap, engage_s) = (needed("--cap", self.cap)?, needed("--from", self.from)?);
                // The gate's own times are the published ones (App. E.7).
                ArmSpec::Rescue { cap, engage_s, min_capped_s: 600.0, hold_s: 300.0, tick_s: 10.0 }
            }
            Arm::Shed => ArmSpec::Shed {
                from_s: needed("--from", self.from)?,
                length_s: needed("--for", self.length)?,
            },
            Arm::Toolslow => {
                let from_s = needed("--from", self.from)?;
                let to_s = from_s + needed("--for", self.length)?;
                ArmSpec::Toolslow { from_s, to_s, delay_s: needed("--delay", self.delay)? }
            }
            Arm::Cut => ArmSpec::Cut {
                from_s: needed("--from", self.from)?,
                multiple: needed("--cut-to", self.cut_to)?,
            },
            Arm::Closed => ArmSpec::Closed { population: needed("--population", self.population)? },
            Arm::Other(word) => return Err(Refused(format!("no arm {word}"))),
            Arm::E0a => ArmSpec::E0a { population: needed("--population", self.population)? },
        };
        self.no_idle_value()?;
        arm.check().map_err(Refused)?;
        Ok(arm)
    }

    /// The same, and the protocol that its run is made with: its burst is as large as was asked
    /// for, of an arm that has a burst and no size of its own.
    ///
    /// # Errors
    /// As [`Asked::arm`].
    pub fn under<'a>(
        &self,
        protocol: &'a Protocol,
    ) -> Result<(ArmSpec, Cow<'a, Protocol>), Refused> {
        let sized = matches!(self.arm, Arm::Capped | Arm::Rescue | Arm::Shed | Arm::Cut);
        let Some(sessions) = self.burst.filter(|_| sized) else {
            return Ok((self.arm()?, Cow::Borrowed(protocol)));
        };
        let arm = Self { burst: None, ..self.clone() }.arm()?;
        let mut protocol = protocol.clone();
        protocol.paired.burst.sessions = sessions.into();
        Ok((arm, Cow::Owned(protocol)))
    }

    /// A value that changes nothing is a mistake.
    fn no_idle_value(&self) -> Result<(), Refused> {
        use Arm::{Burst, Capped, Closed, Cut, E0a, Rescue, Shed, Toolslow};
        let given = [
            ("--burst", self.burst.is_some(), &[Burst][..]),
            ("--cap", self.cap.is_some(), &[Capped, Rescue]),
            ("--from", self.from.is_some(), &[Rescue, Shed, Toolslow, Cut]),
            ("--for", self.length.is_some(), &[Shed, Toolslow]),
            ("--delay", self.delay.is_some(), &[Toolslow]),
            ("--cut-to", self.cut_to.is_some(), &[Cut]),
            ("--population", self.population.is_some(), &[Closed, E0a]),
        ];
        match given.iter().find(|(_, there, arms)| *there && !arms.contains(&self.arm)) {
            Some((flag, ..)) => Err(Refused(format!("{flag} says nothing about this arm"))),
            None => Ok(()),
        }
    }
}

fn needed<T>(flag: &str, value: Option<T>) -> Result<T, Refused> {
    value.ok_or_else(|| Refused(format!("this arm needs {flag}")))
}
