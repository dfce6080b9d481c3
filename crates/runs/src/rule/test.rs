//! The registered tests: the one place that lists them. A test is a file that implements
//! [`RegisteredTest`], and [`MeasuringTest`] where it measures something of its own, and a line
//! of the list below.

use std::any::Any;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::measure::Share;
use crate::measure::rolling::Rolled;
use crate::measure::trigger::TriggerMeasures;

use super::registered::{Case, Evidence, Judged, Measurable, MeasuringTest, RegisteredTest};

/// From the list of tests: [`Test`], what they measure, and how one is asked by its type.
macro_rules! registered_tests {
    ($(
        $(#[$doc:meta])*
        $name:ident(super::$file:ident::$test:ident $(measures $measured:ty)?),
    )+) => {
        /// The kind of a test, with its thresholds.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[cfg_attr(not(target_family = "wasm"), serde(tag = "kind"))]
        #[cfg_attr(target_family = "wasm", serde(rename = "kind"))]
        pub enum Test {
            $($(#[$doc])* $name(super::$file::$test),)+
        }

        /// A [`Test`] as a page reads it.
        #[cfg(test)]
        #[derive(Debug, Deserialize)]
        #[serde(rename = "kind", rename_all = "kebab-case")]
        pub enum CarriedTest {
            $($(#[$doc])* $name(super::$file::$test),)+
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
                #[doc = concat!("For a [`super::", stringify!($file), "::", stringify!($test), "`].")]
                $name($measured),
            )?)+
        }

        $(impl super::$file::$test {
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
    Paired(super::paired::PairedTest),
    /// The largest rate that stays stable from empty (E0b, App. E.3).
    Edge(super::edge::EdgeTest measures super::stability::QueueFromEmpty),
    /// Runs of the same plan from empty: do they come out as their original did (sec 7)?
    Replicate(super::replicate::ReplicateTest measures super::stability::QueueFromEmpty),
    /// Doses of one treatment, each with the state it is expected to leave
    /// (BASIN-1, BASIN-2, TOOLSLOW, SHED; App. E.6).
    Endpoints(super::endpoints::EndpointTest),
    /// One treatment, called TRAPS, NO-TRAP or MIXED (TOOLSLOW-W, TOOLSLOW-D15; App. C).
    ThreeWay(super::three_way::ThreeWayTest),
    /// A cap engaged inside the trap and released (R1, R4; App. E.7).
    Rescue(super::rescue::RescueTest measures super::rescue::RescueOrControl),
    /// Arrivals cut inside the trap (CUT-A, CUT-B; App. C).
    Cut(super::cut::CutTest measures super::cut::CutMeasures),
    /// The blackout, the wave and the lull of a step-capped workload (MIRROR; App. C).
    Mirror(super::mirror::MirrorTest measures super::mirror::MirrorMeasures),
    /// Scores of the trap law on trapped runs (S1 to S5; App. C).
    TrapLaw(super::trap_law::TrapLawTest),
    /// Longest-prefix-first without its queue limit (LPM-INF; App. E.8).
    QueueLimit(super::queue_limit::QueueLimitTest measures super::queue_limit::QueueLimitMeasures),
    /// The mechanism checks (a) to (d) (App. E.5).
    Mechanism(super::mechanism::MechanismTest measures super::mechanism::MechanismMeasures),
    /// Whether a trap ever ended by itself (D5; App. D): follow-up hits after the trigger.
    Persistence(super::persistence::PersistenceTest measures Vec<Rolled<Share>>),
    /// Whether a trap outlived what caused it (D1; App. D).
    Trigger(super::trigger::TriggerTest measures TriggerMeasures),
    /// Sessions served in time (D2; App. D).
    Goodput(super::goodput::GoodputTest measures super::goodput::GoodputMeasures),
}

impl Default for Test {
    fn default() -> Self {
        Self::Paired(super::paired::PairedTest {})
    }
}
