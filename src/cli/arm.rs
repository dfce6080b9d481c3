//! An arm on the command line, for `plan` and `simulate`.

use std::borrow::Cow;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use trapcheck::setup::{Arm, ArmSpec, Protocol};
use trapcheck_answers::arm::Asked;

/// Which arm, and its own values.
#[derive(Debug, clap::Args)]
pub struct ArmArgs {
    /// What is done to the arrivals and at the client's gate
    #[arg(long, value_parser = arms(), value_name = "ARM")]
    arm: Arm,
    /// Sessions of the burst (arms with one; the protocol's number if not given)
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
        Ok(self.asked().arm()?)
    }

    /// The same, and the protocol that its run is made with: its burst is as large as was asked
    /// for.
    ///
    /// # Errors
    /// As [`ArmArgs::arm`].
    pub fn under<'a>(
        &self,
        protocol: &'a Protocol,
    ) -> anyhow::Result<(ArmSpec, Cow<'a, Protocol>)> {
        Ok(self.asked().under(protocol)?)
    }

    fn asked(&self) -> Asked {
        Asked {
            arm: self.arm.clone(),
            burst: self.burst,
            cap: self.cap,
            from: self.from,
            length: self.length,
            delay: self.delay,
            cut_to: self.cut_to,
            population: self.population,
        }
    }
}
