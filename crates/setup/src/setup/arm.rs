//! An arm: what one run does to the arrivals and at the client's gate
//! (paper: App. E.2, E.3, E.6, E.7, sec 5).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::protocol::{Burst, Protocol, Span};
use crate::limits;

/// How long a run of an arm lasts under a protocol, and which part of it is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// How long the run is asked to run, seconds.
    pub horizon_s: f64,
    /// The burst, of the arm's own size where it has one.
    pub burst: Option<Burst>,
    /// The part that is judged.
    pub window_s: Span,
}

/// Which arm a run is of, by its word in `meta.json`. Runs of others may have arms of their own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Arm {
    /// The base stream and a burst.
    Burst,
    /// The base stream alone.
    NoBurst,
    /// The burst, behind a gate from the start.
    Capped,
    /// The burst; a gate engages later and comes off.
    Rescue,
    /// The burst; arrivals are refused for a while.
    Shed,
    /// No burst; tool calls take longer for a while.
    Toolslow,
    /// The burst; the base stream is thinned from some time on.
    Cut,
    /// A closed population.
    Closed,
    /// A closed population, prefix cache off.
    E0a,
    /// The base stream into an empty engine.
    E0b,
    /// None of the paper's.
    Other(String),
}

impl Arm {
    /// The arms of the paper, in the order they are listed.
    pub const ALL: [Self; 10] = [
        Self::NoBurst,
        Self::Burst,
        Self::Capped,
        Self::Rescue,
        Self::Shed,
        Self::Toolslow,
        Self::Cut,
        Self::Closed,
        Self::E0a,
        Self::E0b,
    ];

    /// Its word in `meta.json`.
    pub fn word(&self) -> &str {
        match self {
            Self::Burst => "burst",
            Self::NoBurst => "noburst",
            Self::Capped => "capped",
            Self::Rescue => "rescue",
            Self::Shed => "shed",
            Self::Toolslow => "toolslow",
            Self::Cut => "cut",
            Self::Closed => "closed",
            Self::E0a => "e0a",
            Self::E0b => "e0b",
            Self::Other(word) => word,
        }
    }

    /// Whether it is judged by the paired test's rule: not closed, and not from empty.
    pub fn is_open(&self) -> bool {
        !matches!(self, Self::Closed | Self::E0a | Self::E0b)
    }
}

impl From<&str> for Arm {
    fn from(word: &str) -> Self {
        let known = Self::ALL.into_iter().find(|arm| arm.word() == word);
        known.unwrap_or_else(|| Self::Other(word.to_owned()))
    }
}

impl From<String> for Arm {
    fn from(word: String) -> Self {
        Self::from(word.as_str())
    }
}

impl From<Arm> for String {
    fn from(arm: Arm) -> Self {
        arm.to_string()
    }
}

impl fmt::Display for Arm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// An arm with its values: what makes its runs. Times are on the run's clock, in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "arm", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ArmSpec {
    /// The base stream alone.
    #[serde(rename = "noburst")]
    NoBurst {},
    /// The base stream and a burst.
    Burst {
        /// Sessions of the burst; the protocol's number when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sessions: Option<u32>,
    },
    /// The burst, and a gate from the start that admits at most `cap` sessions.
    Capped {
        /// n_cap.
        cap: u32,
    },
    /// The burst, and a gate that engages later and comes off when it is empty.
    Rescue {
        /// c, sessions admitted at most.
        cap: u32,
        /// t_on.
        engage_s: f64,
        /// The gate stays at least this long.
        #[serde(default = "min_capped_s")]
        min_capped_s: f64,
        /// Both queues must have been empty this long at release.
        #[serde(default = "hold_s")]
        hold_s: f64,
        /// Release is decided on this grid.
        #[serde(default = "tick_s")]
        tick_s: f64,
    },
    /// The burst; arrivals in [from, from + length) are refused.
    Shed {
        /// When refusing starts.
        from_s: f64,
        /// For how long.
        length_s: f64,
    },
    /// No burst; tool calls that start in [from, to) take longer.
    Toolslow {
        /// When slowing starts.
        from_s: f64,
        /// When it ends.
        to_s: f64,
        /// How much longer each such call takes.
        delay_s: f64,
    },
    /// The burst; from `from_s` on the base stream is thinned.
    Cut {
        /// When.
        from_s: f64,
        /// The rate from then on, in multiples of lambda_ref.
        multiple: f64,
    },
    /// A closed population: a session that ends is replaced at once.
    Closed {
        /// n.
        population: u32,
    },
    /// A closed population with prefix caching off (all-miss calibration).
    E0a {
        /// n.
        population: u32,
    },
    /// The base stream into an empty engine.
    E0b {},
}

fn min_capped_s() -> f64 {
    600.0
}

fn hold_s() -> f64 {
    300.0
}

fn tick_s() -> f64 {
    10.0
}

impl ArmSpec {
    /// Which arm it is.
    pub fn arm(&self) -> Arm {
        match self {
            Self::NoBurst {} => Arm::NoBurst,
            Self::Burst { .. } => Arm::Burst,
            Self::Capped { .. } => Arm::Capped,
            Self::Rescue { .. } => Arm::Rescue,
            Self::Shed { .. } => Arm::Shed,
            Self::Toolslow { .. } => Arm::Toolslow,
            Self::Cut { .. } => Arm::Cut,
            Self::Closed { .. } => Arm::Closed,
            Self::E0a { .. } => Arm::E0a,
            Self::E0b {} => Arm::E0b,
        }
    }

    /// Whether the engine may reuse prefixes.
    pub fn prefix_caching(&self) -> bool {
        !matches!(self, Self::E0a { .. })
    }

    /// The population of a closed arm.
    pub fn population(&self) -> Option<u32> {
        match self {
            Self::Closed { population } | Self::E0a { population } => Some(*population),
            _ => None,
        }
    }

    /// Whether the arm has the protocol's burst.
    pub fn has_burst(&self) -> bool {
        matches!(
            self,
            Self::Burst { .. }
                | Self::Capped { .. }
                | Self::Rescue { .. }
                | Self::Shed { .. }
                | Self::Cut { .. }
        )
    }

    /// The arm's schedule under `protocol`.
    pub fn schedule(&self, protocol: &Protocol) -> Schedule {
        let closed = |window_s: Span| Schedule { horizon_s: window_s.end_s, burst: None, window_s };
        match self {
            Self::Closed { .. } => closed(protocol.closed.window()),
            Self::E0a { .. } => closed(protocol.e0a.window()),
            Self::E0b {} => Schedule {
                horizon_s: protocol.e0b.horizon_s,
                burst: None,
                window_s: protocol.e0b.window_s,
            },
            _ => Schedule {
                horizon_s: protocol.paired.horizon_s,
                burst: self.has_burst().then(|| self.burst_of(protocol.paired.burst)),
                window_s: protocol.paired.window_s,
            },
        }
    }

    fn burst_of(&self, burst: Burst) -> Burst {
        match self {
            Self::Burst { sessions: Some(sessions) } => {
                Burst { sessions: u64::from(*sessions), ..burst }
            }
            _ => burst,
        }
    }

    /// Says what is wrong with the values, if anything.
    ///
    /// # Errors
    /// One sentence naming the field and what was expected.
    pub fn check(&self) -> Result<(), String> {
        let name = self.arm();
        let count = |field: &str, n: u32| {
            if n > 0 {
                Ok(())
            } else {
                Err(format!("{name}: {field}: expected at least 1, found 0"))
            }
        };
        let positive = |field: &str, x: f64| {
            if x > 0.0 && x.is_finite() {
                Ok(())
            } else {
                Err(format!("{name}: {field}: expected a positive number, found {x}"))
            }
        };
        let time = |field: &str, x: f64| {
            if x >= 0.0 && x.is_finite() {
                Ok(())
            } else {
                Err(format!("{name}: {field}: expected a time of at least 0 s, found {x}"))
            }
        };
        match *self {
            Self::NoBurst {} | Self::E0b {} => Ok(()),
            Self::Burst { sessions } => count("sessions", sessions.unwrap_or(1)),
            Self::Capped { cap } => count("cap", cap),
            Self::Rescue { cap, engage_s, min_capped_s, hold_s, tick_s } => {
                count("cap", cap)?;
                time("engage_s", engage_s)?;
                time("min_capped_s", min_capped_s)?;
                time("hold_s", hold_s)?;
                positive("tick_s", tick_s)
            }
            Self::Shed { from_s, length_s } => {
                time("from_s", from_s)?;
                positive("length_s", length_s)
            }
            Self::Toolslow { from_s, to_s, delay_s } => {
                time("from_s", from_s)?;
                positive("to_s - from_s", to_s - from_s)?;
                positive("delay_s", delay_s)?;
                if delay_s >= limits::RUN_S {
                    return Err(format!("{name}: delay_s: {delay_s:?} s is over 31 days"));
                }
                Ok(())
            }
            Self::Cut { from_s, multiple } => {
                time("from_s", from_s)?;
                positive("multiple", multiple)
            }
            Self::Closed { population } | Self::E0a { population } => {
                count("population", population)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arm_is_parsed_from_its_word_and_printed_as_it() {
        for arm in Arm::ALL {
            assert_eq!(Arm::from(arm.word()), arm);
            assert!(!matches!(arm, Arm::Other(_)));
        }
        let own = Arm::from("drift");
        assert_eq!((own.to_string().as_str(), &own), ("drift", &Arm::Other("drift".into())));
    }

    #[test]
    fn an_arm_with_its_values_goes_by_the_word_of_its_arm() {
        let spec: ArmSpec = serde_json::from_str(r#"{"arm": "noburst"}"#).unwrap();
        assert_eq!((spec.arm(), spec), (Arm::NoBurst, ArmSpec::NoBurst {}));
    }
}
