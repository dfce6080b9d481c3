//! The registered tests: the one place that lists them. A test is a file that implements
//! [`RegisteredTest`], and [`MeasuringTest`] where it measures something of its own, and a line
//! here.

use std::any::Any;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::measure::Share;
use crate::measure::rolling::Rolled;
use crate::measure::trigger::TriggerMeasures;

use super::cut::{CutMeasures, CutTest};
use super::edge::EdgeTest;
use super::endpoints::EndpointTest;
use super::goodput::{GoodputMeasures, GoodputTest};
use super::mechanism::{MechanismMeasures, MechanismTest};
use super::mirror::{MirrorMeasures, MirrorTest};
use super::paired::PairedTest;
use super::persistence::PersistenceTest;
use super::queue_limit::{QueueLimitMeasures, QueueLimitTest};
use super::registered::{Case, Evidence, Judged, Measurable, MeasuringTest, RegisteredTest};
use super::replicate::ReplicateTest;
use super::rescue::{RescueOrControl, RescueTest};
use super::stability::QueueFromEmpty;
use super::three_way::ThreeWayTest;
use super::trap_law::TrapLawTest;
use super::trigger::TriggerTest;

/// From the list of tests: [`Test`], what they measure, and how one is asked by its type.
macro_rules! registered_tests {
    ($($(#[$doc:meta])* $name:ident($test:ident $(measures $measured:ty)?),)+) => {
        /// The kind of a test, with its thresholds.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[cfg_attr(not(target_family = "wasm"), serde(tag = "kind"))]
        #[cfg_attr(target_family = "wasm", serde(rename = "kind"))]
        pub enum Test {
            $($(#[$doc])* $name($test),)+
        }

        /// A [`Test`] as a page reads it.
        #[cfg(test)]
        #[derive(Debug, Deserialize)]
        #[serde(rename = "kind", rename_all = "kebab-case")]
        pub enum CarriedTest {
            $($(#[$doc])* $name($test),)+
        }

        impl Deref for Test {
            type Target = dyn RegisteredTest;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Self::$name(test) => test,)+
                }
            }
        }

        impl Test {
            /// Judges a case by its evidence, as a test of this kind does.
            pub fn judge(&self, case: &Case<'_>, evidence: &[Evidence<'_>]) -> Judged {
                match self {
                    $(Self::$name(test) => test.judge(case, evidence),)+
                }
            }
        }

        impl Test {
            /// What it measures on a run that has a role; nothing where its kind has none.
            pub fn measure(&self, run: &Measurable<'_>) -> Option<TestMeasures> {
                match self {
                    $($(Self::$name(test) => {
                        let found: Option<$measured> = test.measure(run);
                        found.map(TestMeasures::$name)
                    })?)+
                    _ => None,
                }
            }
        }

        impl TestMeasures {
            /// As the test that measured it knows it.
            pub fn found(&self) -> &dyn Any {
                match self {
                    $($(Self::$name(found) => found as &$measured,)?)+
                }
            }
        }

        /// What a kind of test measures on a run beyond its window.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        pub enum TestMeasures {
            $($(
                #[doc = concat!("For a [`", stringify!($test), "`].")]
                $name($measured),
            )?)+
        }

        $(impl $test {
            /// The parameters of a test, if it is of this kind.
            pub const fn of(test: &Test) -> Option<&Self> {
                match test {
                    Test::$name(test) => Some(test),
                    _ => None,
                }
            }
        })+
    };
}

registered_tests! {
    /// BURST, NOBURST and CAPPED at the registration's rates (Table 6).
    Paired(PairedTest),
    /// The largest rate that stays stable from empty (E0b, App. E.3).
    Edge(EdgeTest measures QueueFromEmpty),
    /// Runs of the same plan from empty: do they come out as their original did (sec 7)?
    Replicate(ReplicateTest measures QueueFromEmpty),
    /// Doses of one treatment, each with the state it is expected to leave
    /// (BASIN-1, BASIN-2, TOOLSLOW, SHED; App. E.6).
    Endpoints(EndpointTest),
    /// One treatment, called TRAPS, NO-TRAP or MIXED (TOOLSLOW-W, TOOLSLOW-D15; App. C).
    ThreeWay(ThreeWayTest),
    /// A cap engaged inside the trap and released (R1, R4; App. E.7).
    Rescue(RescueTest measures RescueOrControl),
    /// Arrivals cut inside the trap (CUT-A, CUT-B; App. C).
    Cut(CutTest measures CutMeasures),
    /// The blackout, the wave and the lull of a step-capped workload (MIRROR; App. C).
    Mirror(MirrorTest measures MirrorMeasures),
    /// Scores of the trap law on trapped runs (S1 to S5; App. C).
    TrapLaw(TrapLawTest),
    /// Longest-prefix-first without its queue limit (LPM-INF; App. E.8).
    QueueLimit(QueueLimitTest measures QueueLimitMeasures),
    /// The mechanism checks (a) to (d) (App. E.5).
    Mechanism(MechanismTest measures MechanismMeasures),
    /// Whether a trap ever ended by itself (D5; App. D): follow-up hits after the trigger.
    Persistence(PersistenceTest measures Vec<Rolled<Share>>),
    /// Whether a trap outlived what caused it (D1; App. D).
    Trigger(TriggerTest measures TriggerMeasures),
    /// Sessions served in time (D2; App. D).
    Goodput(GoodputTest measures GoodputMeasures),
}

impl Default for Test {
    fn default() -> Self {
        Self::Paired(PairedTest {})
    }
}
