//! A campaign: a list of runs to make, by test (paper: Tables 1, 5, 7-9, 11-14,
//! App. E).
//!
//! A file lists tests; a test lists cells' arms, rates and seeds; the runs are
//! their product in a stated order. Nothing here says how a run is made.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::yaml::{self, ConfigError, check_name};
use super::{ArmSpec, Scheduling};
use crate::limits;
use crate::name::PlainName;

/// A campaign as `configs/campaigns/<name>.yaml` states it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Campaign {
    /// The file's stem.
    pub name: String,
    /// How the simulator's costs per token (b, c_p, c_d) are multiplied in a cell
    /// whose own speed is a fit of the model.
    #[serde(default)]
    pub token_cost_factor: BTreeMap<String, f64>,
    /// Form of the runs' tables: part of the bytes that are pinned.
    #[serde(default)]
    pub tables: TableFormat,
    /// The tests, in the order their runs are made.
    pub tests: Vec<Test>,
}

/// Form of a run's tables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableFormat {
    /// Apache Parquet, zstd inside.
    #[default]
    Parquet,
    /// Plain csv.
    Csv,
    /// csv behind gzip.
    CsvGz,
    /// csv behind zstd.
    CsvZst,
}

impl TableFormat {
    /// The ending of a table's file name.
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::CsvGz => "csv.gz",
            Self::CsvZst => "csv.zst",
            Self::Parquet => "parquet",
        }
    }
}

/// Runs that belong together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Test {
    /// A short name, unique with its cell: letters, digits, `-` and `.`.
    pub test: String,
    /// Its place in the paper.
    pub place: String,
    /// What of it is not printed and was chosen here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inferred: Option<String>,
    /// A file stem in `configs/cells`.
    pub cell: String,
    /// The registration its runs are bound to: a file stem in `configs/registrations`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration: Option<String>,
    /// The arms.
    pub arms: Vec<ArmSpec>,
    /// Rates in multiples of lambda_ref; none in closed arms.
    #[serde(default)]
    pub multiples: Vec<f64>,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// How often each is run. Repeats of a simulated run are identical.
    #[serde(default = "once")]
    pub repeats: u32,
    /// Order of admission, if not the cell's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduling: Option<Scheduling>,
    /// Whether LPM falls back to FCFS while more than 128 wait.
    #[serde(default = "yes")]
    pub lpm_fallback: bool,
}

fn once() -> u32 {
    1
}

fn yes() -> bool {
    true
}

/// One run of a campaign.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedRun<'a> {
    /// Unique in the campaign and a valid file name, such as
    /// `e2_sglang-300k_burst_x1.65_s0`.
    pub id: String,
    /// The test it belongs to.
    pub test: &'a Test,
    /// Its arm.
    pub arm: &'a ArmSpec,
    /// Its rate in multiples of lambda_ref; none in closed arms.
    pub multiple: Option<f64>,
    /// Its seed.
    pub seed: u64,
    /// 0-based repeat.
    pub repeat: u32,
    /// The cell's factor on the simulator's costs per token.
    pub token_cost_factor: Option<f64>,
}

impl Campaign {
    /// Reads and checks a campaign file.
    ///
    /// # Errors
    /// As [`yaml::from_bytes`]; a name that is not the file's stem, a test that lists nothing, an open arm without a rate,
    /// a closed one with rates, an arm that makes no sense, two runs of one name.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, ConfigError> {
        let campaign: Self = yaml::from_bytes(path, bytes)?;
        check_name(path, &campaign.name)?;
        campaign.check().map_err(|message| ConfigError::new(path, message))?;
        Ok(campaign)
    }

    /// Says what is wrong with the values, if anything.
    ///
    /// # Errors
    /// One sentence naming the test and what was expected.
    pub fn check(&self) -> Result<(), String> {
        if self.tests.is_empty() {
            return Err("tests: expected at least one test".into());
        }
        for (cell, factor) in &self.token_cost_factor {
            if factor.is_nan() || *factor <= 0.0 {
                return Err(format!(
                    "token_cost_factor.{cell}: expected a positive number, found {factor}"
                ));
            }
        }
        for (i, test) in self.tests.iter().enumerate() {
            test.check().map_err(|m| format!("tests[{i}] ({}, {}): {m}", test.test, test.cell))?;
        }
        let runs = self.tests.iter().fold(0, |sum: u64, test| sum.saturating_add(test.count()));
        if runs > limits::RUNS as u64 {
            return Err(format!("tests: {runs} runs; expected at most {}", limits::RUNS));
        }
        let mut ids = BTreeSet::new();
        match self.runs().into_iter().find(|run| !ids.insert(run.id.clone())) {
            Some(run) => Err(format!("tests: two runs are called {}", run.id)),
            None => Ok(()),
        }
    }

    /// The runs: by test, then arm, then rate, then seed, then repeat, each in
    /// the order of the file.
    pub fn runs(&self) -> Vec<PlannedRun<'_>> {
        self.tests.iter().flat_map(|test| test.runs(self)).collect()
    }
}

impl Test {
    fn check(&self) -> Result<(), String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
        if self.test.is_empty() || !self.test.chars().all(plain) {
            return Err("test: expected a name of letters, digits, '-' and '.'".into());
        }
        PlainName::new(&self.test).map_err(|e| format!("test: {e}"))?;
        PlainName::new(&self.cell).map_err(|e| format!("cell: {e}"))?;
        if self.arms.is_empty() || self.seeds.is_empty() || self.repeats == 0 {
            return Err("expected at least one arm, one seed and one repeat".into());
        }
        if let Some(bad) = self.multiples.iter().find(|m| m.is_nan() || **m <= 0.0) {
            return Err(format!("multiples: expected positive numbers, found {bad}"));
        }
        for arm in &self.arms {
            arm.check()?;
            match (arm.population(), self.multiples.is_empty()) {
                (Some(_), false) => {
                    return Err(format!("{}: a closed arm has no arrival rate", arm.arm()));
                }
                (None, true) => {
                    return Err(format!("{}: expected at least one rate in multiples", arm.arm()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// How many runs it lists.
    fn count(&self) -> u64 {
        let of = [self.arms.len(), self.multiples.len().max(1), self.seeds.len()];
        of.iter().fold(u64::from(self.repeats), |all, n| all.saturating_mul(*n as u64))
    }

    fn runs<'a>(&'a self, campaign: &'a Campaign) -> impl Iterator<Item = PlannedRun<'a>> + 'a {
        let multiples: Vec<Option<f64>> = match self.multiples.as_slice() {
            [] => vec![None],
            some => some.iter().copied().map(Some).collect(),
        };
        self.arms.iter().flat_map(move |arm| {
            multiples.clone().into_iter().flat_map(move |multiple| {
                self.seeds.iter().flat_map(move |seed| {
                    (0..self.repeats).map(move |repeat| PlannedRun {
                        id: self.id(arm, multiple, *seed, repeat),
                        test: self,
                        arm,
                        multiple,
                        seed: *seed,
                        repeat,
                        token_cost_factor: campaign.token_cost_factor.get(&self.cell).copied(),
                    })
                })
            })
        })
    }

    fn id(&self, arm: &ArmSpec, multiple: Option<f64>, seed: u64, repeat: u32) -> String {
        let rate = multiple.map_or(String::new(), |m| format!("_x{m}"));
        let repeat = if self.repeats > 1 { format!("_r{repeat}") } else { String::new() };
        format!("{}_{}_{}{rate}_s{seed}{repeat}", self.test, self.cell, arm_id(arm))
    }
}

/// The arm's name with what tells it from other arms of a test.
fn arm_id(arm: &ArmSpec) -> String {
    let name = arm.arm();
    match arm {
        ArmSpec::Burst { sessions: Some(n) } => format!("{name}{n}"),
        ArmSpec::Capped { cap } => format!("{name}{cap}"),
        ArmSpec::Rescue { cap, engage_s, .. } => format!("{name}{cap}-at{engage_s}"),
        ArmSpec::Shed { length_s, .. } => format!("{name}{length_s}"),
        ArmSpec::Toolslow { from_s, to_s, delay_s } => {
            format!("{name}{delay_s}-for{}", to_s - from_s)
        }
        ArmSpec::Cut { multiple, .. } => format!("{name}{multiple}"),
        ArmSpec::Closed { population } | ArmSpec::E0a { population } => {
            format!("{name}-n{population}")
        }
        ArmSpec::NoBurst {} | ArmSpec::Burst { sessions: None } | ArmSpec::E0b {} => {
            name.to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::Arm;
    use crate::setup::Cell;

    fn root() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs")
    }

    fn paper() -> Campaign {
        let path = root().join("campaigns/paper.yaml");
        Campaign::parse(&path, &std::fs::read(&path).unwrap()).unwrap()
    }

    fn parse(text: &str) -> Result<Campaign, String> {
        let campaign: Campaign =
            yaml::parse(Path::new("x.yaml"), text).map_err(|e| e.to_string())?;
        campaign.check()?;
        Ok(campaign)
    }

    const ONE: &str = "name: x\ntests:\n- { test: t, place: p, cell: c, ";

    #[test]
    fn the_registered_paired_tests_have_their_ninety_runs() {
        let campaign = paper();
        let runs = campaign.runs();
        let paired = runs.iter().filter(|run| run.test.test == "paired");
        assert_eq!(paired.clone().count(), 90);
        let bursts = paired.filter(|run| run.arm.arm() == Arm::Burst).count();
        assert_eq!(bursts, 30);
    }

    #[test]
    fn every_test_of_the_paper_has_its_printed_number_of_runs() {
        let campaign = paper();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for run in campaign.runs() {
            *counts.entry(run.test.test.as_str()).or_default() += 1;
        }
        let printed = [
            ("fresh-seeds", 6),
            ("grid-fcfs-r0", 6),
            ("grid-lpm-r1", 6),
            ("grid-lpm-r0", 6),
            ("vllm-burst", 6),
            ("basin-1", 6),
            ("basin-2", 9),
            ("toolslow", 6),
            ("toolslow-w", 3),
            ("toolslow-d15", 3),
            ("shed", 4),
            ("r1", 6),
            ("r4", 3),
            ("lpm-inf", 3),
            ("cut-a", 3),
            ("cut-b", 3),
            ("replicate-edge", 6),
        ];
        for (test, runs) in printed {
            assert_eq!(counts.get(test), Some(&runs), "{test}");
        }
        let mirror = counts["mirror-burst"] + counts["mirror-noburst"];
        assert_eq!(mirror, 9);
    }

    #[test]
    fn runs_come_by_test_arm_rate_seed_and_repeat() {
        let text = format!(
            "{ONE}arms: [{{ arm: burst }}, {{ arm: noburst }}], multiples: [2, 1.5], \
             seeds: [1, 0], repeats: 2 }}\n"
        );
        let campaign = parse(&text).unwrap();
        let ids: Vec<String> = campaign.runs().into_iter().map(|run| run.id).collect();
        assert_eq!(ids.len(), 16);
        assert_eq!(
            ids[..5],
            [
                "t_c_burst_x2_s1_r0",
                "t_c_burst_x2_s1_r1",
                "t_c_burst_x2_s0_r0",
                "t_c_burst_x2_s0_r1",
                "t_c_burst_x1.5_s1_r0"
            ]
        );
    }

    #[test]
    fn a_test_that_makes_no_sense_is_named() {
        let refused = |rest: &str| parse(&format!("{ONE}{rest} }}\n")).unwrap_err();
        assert!(refused("arms: [{ arm: burst }], seeds: [0]").contains("at least one rate"));
        let closed = "arms: [{ arm: closed, population: 4 }]";
        assert!(refused(&format!("{closed}, multiples: [1], seeds: [0]")).contains("no arrival"));
        assert!(refused(&format!("{closed}, seeds: []")).contains("at least one arm"));
        assert!(refused(&format!("{closed}, seeds: [0, 0]")).contains("two runs are called"));
        assert!(
            refused("arms: [{ arm: capped, cap: 0 }], multiples: [1], seeds: [0]")
                .contains("cap: expected at least 1")
        );
        assert!(refused("arms: [{ arm: warp }], multiples: [1], seeds: [0]").contains("warp"));
    }

    #[test]
    fn more_runs_than_anybody_makes_are_refused_before_they_are_listed() {
        let text = format!(
            "{ONE}arms: [{{ arm: burst }}], multiples: [1], seeds: [0], repeats: 4000000000 }}\n"
        );
        assert_eq!(parse(&text).unwrap_err(), "tests: 4000000000 runs; expected at most 100000");
    }

    #[test]
    fn every_cell_of_the_paper_is_there() {
        for test in paper().tests {
            let path = root().join(format!("cells/{}.yaml", test.cell));
            Cell::parse(&path, &std::fs::read(&path).unwrap()).unwrap();
        }
    }
}
