//! An arm on the command line, for `plan` and `simulate`.

use anyhow::bail;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::setup::{Arm, ArmSpec};

/// Which arm, and its own values.
#[derive(Debug, clap::Args)]
pub struct ArmArgs {
    /// What is done to the arrivals and at the client's gate
    #[arg(long, value_parser = arms(), value_name = "ARM")]
    arm: Arm,
    /// Sessions of the burst (burst; the protocol's number if not given)
    #[arg(long, value_name = "SESSIONS")]
    burst: Option<u32>,
    /// Sessions that the gate admits at most (capped, rescue)
    #[arg(long, value_name = "SESSIONS")]
    cap: Option<u32>,
    /// When the gate, the stop, the slowdown or the cut begins, s (rescue, shed, toolslow, cut)
    #[arg(long, value_name = "SECONDS")]
    from: Option<f64>,
    /// How long the stop or the slowdown lasts, s (shed, toolslow)
    #[arg(long = "for", value_name = "SECONDS")]
    length: Option<f64>,
    /// How much longer each tool call takes, s (toolslow)
    #[arg(long, value_name = "SECONDS")]
    delay: Option<f64>,
    /// The rate from the cut on, in multiples of lambda_ref (cut)
    #[arg(long, value_name = "MULTIPLE")]
    cut_to: Option<f64>,
    /// Sessions that are kept in the system (closed, e0a)
    #[arg(long, value_name = "SESSIONS")]
    population: Option<u32>,
}

/// The arms, each with what it does.
fn arms() -> impl TypedValueParser<Value = Arm> {
    static ALL: [Arm; 10] = Arm::ALL;
    let values = ALL.iter().map(|arm| PossibleValue::new(arm.word()).help(meaning(arm)));
    PossibleValuesParser::new(values).map(Arm::from)
}

/// What an arm is, in a few words.
const fn meaning(arm: &Arm) -> &'static str {
    match arm {
        Arm::NoBurst => "The base stream alone",
        Arm::Burst => "The base stream and a burst",
        Arm::Capped => "The burst, behind a gate from the start",
        Arm::Rescue => "The burst; a gate engages later and comes off",
        Arm::Shed => "The burst; arrivals are refused for a while",
        Arm::Toolslow => "No burst; tool calls take longer for a while",
        Arm::Cut => "The burst; the base stream is thinned from some time on",
        Arm::Closed => "A closed population",
        Arm::E0a => "A closed population, prefix cache off",
        Arm::E0b => "The base stream into an empty engine",
        Arm::Other(_) => "An arm that is not the paper's",
    }
}
impl ArmArgs {
    /// The arm that was meant.
    ///
    /// # Errors
    /// A value that the arm needs and lacks, one that it has no use for, or one
    /// that makes no sense.
    pub fn arm(&self) -> anyhow::Result<ArmSpec> {
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
            Arm::Other(word) => bail!("no arm {word}"),
            Arm::E0a => ArmSpec::E0a { population: needed("--population", self.population)? },
        };
        self.no_idle_value()?;
        arm.check().map_err(anyhow::Error::msg)?;
        Ok(arm)
    }

    /// A value that changes nothing is a mistake.
    fn no_idle_value(&self) -> anyhow::Result<()> {
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
            Some((flag, ..)) => bail!("{flag} says nothing about this arm"),
            None => Ok(()),
        }
    }
}

fn needed<T>(flag: &str, value: Option<T>) -> anyhow::Result<T> {
    value.ok_or_else(|| anyhow::anyhow!("this arm needs {flag}"))
}
