//! How runs would come out by another rule: by a registration they were not made for, or
//! with other thresholds. It is asked beside what they are judged by, and decides nothing.

use std::borrow::Cow;
use std::sync::Arc;

use crate::configs::Configs;
use crate::rule::PairedVerdict;
use crate::rule::paired::PairedTest;
use crate::rule::registration::{PairedThresholds, RegistrationFile};
use crate::rule::state::RunState;
use crate::setup::ConfigError;

use super::Measured;
use super::binding::judge_of;
use super::score::{ScoredRun, Scoring, state_of};
use super::verdict::{Verdict, verdict_what_if};

/// Another rule.
#[derive(Debug, Clone, Default)]
pub struct WhatIf {
    /// This registration instead of the one that judges a run, for runs of its cells.
    pub rule: Option<RegistrationFile>,
    /// Thresholds set by name, whichever registration judges.
    pub set: Vec<(String, f64)>,
}

/// What came of asking.
#[derive(Debug, Clone)]
pub struct Answer {
    /// What was asked.
    pub asked: WhatIf,
    /// Every open run that the other rule judges.
    pub runs: Vec<RunWhatIf>,
    /// Every rate of the paired test, by the rules that judge and by the other one.
    pub rates: Vec<RateWhatIf>,
}

/// One run, before and after.
#[derive(Debug, Clone)]
pub struct RunWhatIf {
    /// The run as it is judged.
    pub run: ScoredRun,
    /// Its state by the other rule.
    pub after: RunState,
}

impl RunWhatIf {
    /// Whether the other rule gives another answer.
    pub fn changes(&self) -> bool {
        let answer = |state: &RunState| (state.state, state.stuck);
        self.run.state.as_ref().map(answer) != Some(answer(&self.after))
    }
}

/// One rate of the paired test, before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct RateWhatIf {
    /// The cell.
    pub cell: String,
    /// The rate, a multiple of lambda_ref.
    pub multiple: f64,
    /// The registration that judges and how the rate comes out under it; `None` where no
    /// verdict is made.
    pub before: Option<(String, PairedVerdict)>,
    /// The same by the other rule.
    pub after: Option<(String, PairedVerdict)>,
}

/// Why what was asked cannot be answered.
#[derive(Debug, thiserror::Error)]
pub enum WhatIfError {
    /// A threshold that there is not, or a value that is none.
    #[error("{0}")]
    Threshold(String),
    /// None of the runs is of the rule's cell.
    #[error("{file} is a rule for {cell}, and none of these runs is of that cell (they are of {})", there.join(", "))]
    OtherCell {
        /// The registration.
        file: String,
        /// Its cell.
        cell: String,
        /// The runs' cells.
        there: Vec<String>,
    },
    /// A registration cannot be asked.
    #[error(transparent)]
    Verdict(#[from] ConfigError),
}

impl WhatIf {
    /// Whether anything is asked.
    pub fn is_asked(&self) -> bool {
        self.rule.is_some() || !self.set.is_empty()
    }

    /// The rule in words: `slope_factor = 1`, or a file's path, or both.
    pub fn words(&self) -> String {
        let set: Vec<String> = self.set.iter().map(|(name, x)| format!("{name} = {x}")).collect();
        match (&self.rule, set.is_empty()) {
            (None, _) => set.join(", "),
            (Some(file), true) => file.path.display().to_string(),
            (Some(file), false) => format!("{} with {}", file.path.display(), set.join(", ")),
        }
    }

    /// Judges scored runs by it.
    ///
    /// # Errors
    /// A threshold that there is not, a value that is none, or a rule for another cell.
    pub fn ask(&self, scoring: &Scoring, configs: &Configs) -> Result<Answer, WhatIfError> {
        self.with_set(PairedThresholds::default())?;
        let mut runs = Vec::new();
        let mut judges: Vec<(RegistrationFile, Vec<Measured>)> = Vec::new();
        for run in &scoring.runs {
            let Some(file) = self.judge(run, configs)? else { continue };
            let Some(after) = state_of(run, &file) else { continue };
            runs.push(RunWhatIf { run: run.clone(), after });
            let voter: Measured = Ok(Arc::clone(&run.statistics));
            match judges.iter_mut().find(|(judge, _)| is_same(judge, &file)) {
                Some((_, voters)) => voters.push(voter),
                None => judges.push((file.into_owned(), vec![voter])),
            }
        }
        if let Some(file) = self.rule.as_ref().filter(|_| runs.is_empty()) {
            return Err(other_cell(file, scoring));
        }
        let before = scoring.paired(configs)?;
        let mut rates = Vec::new();
        let paired = |file: &RegistrationFile| PairedTest::of(&file.registration.test).is_some();
        for (file, voters) in judges.iter().filter(|(file, _)| paired(file)) {
            let after = verdict_what_if(file, voters, configs)?;
            rates.extend(beside(&before, &after, self.rule.is_some()));
        }
        Ok(Answer { asked: self.clone(), runs, rates })
    }

    /// The rule that would judge a run; `None` where it is not asked of it.
    fn judge<'a>(
        &'a self,
        run: &ScoredRun,
        configs: &'a Configs,
    ) -> Result<Option<Cow<'a, RegistrationFile>>, WhatIfError> {
        let file = match &self.rule {
            Some(file) if file.registration.is_about(&run.meta.cell) => Cow::Borrowed(file),
            Some(_) => return Ok(None),
            None => match judge_of(&run.meta, configs, None) {
                Ok(file) => file,
                Err(_) => return Ok(None),
            },
        };
        if self.set.is_empty() {
            return Ok(Some(file));
        }
        let rule = self.with_set(file.registration.rule)?;
        Ok(Some(Cow::Owned(file.with_rule(rule))))
    }

    fn with_set(&self, mut rule: PairedThresholds) -> Result<PairedThresholds, WhatIfError> {
        for (name, value) in &self.set {
            rule.set(name, *value).map_err(WhatIfError::Threshold)?;
        }
        if rule.seeds_at_least < rule.seeds_passing {
            let message = "seeds_at_least: expected at least seeds_passing";
            return Err(WhatIfError::Threshold(message.into()));
        }
        Ok(rule)
    }
}

fn is_same(a: &RegistrationFile, b: &RegistrationFile) -> bool {
    (&a.sha256, &a.registration.cell) == (&b.sha256, &b.registration.cell)
}

fn other_cell(file: &RegistrationFile, scoring: &Scoring) -> WhatIfError {
    let mut there: Vec<String> = scoring.runs.iter().map(|run| run.meta.cell.clone()).collect();
    there.sort();
    there.dedup();
    WhatIfError::OtherCell {
        file: file.path.display().to_string(),
        cell: file.registration.cell.clone(),
        there,
    }
}

/// The rates of a cell under the rules that judge and under another one. Where the rule is
/// `another` registration it stands beside every one of the cell, else beside its own.
fn beside(before: &[Verdict], after: &Verdict, another: bool) -> Vec<RateWhatIf> {
    let rule = &after.registration.registration;
    let of_cell = |verdict: &&Verdict| {
        let judge = &verdict.registration.registration;
        judge.cell == rule.cell && (another || judge.name == rule.name)
    };
    let mut rates: Vec<RateWhatIf> = Vec::new();
    for verdict in before.iter().filter(of_cell) {
        let name = &verdict.registration.registration.name;
        rates.extend(verdict.rates.iter().map(|rate| RateWhatIf {
            cell: rule.cell.clone(),
            multiple: rate.multiple,
            before: Some((name.clone(), rate.clone())),
            after: None,
        }));
    }
    for rate in &after.rates {
        let same = |other: &&mut RateWhatIf| (other.multiple - rate.multiple).abs() < 1e-6;
        let found = Some((rule.name.clone(), rate.clone()));
        let mut known = false;
        for one in rates.iter_mut().filter(same) {
            one.after.clone_from(&found);
            known = true;
        }
        if !known {
            rates.push(RateWhatIf {
                cell: rule.cell.clone(),
                multiple: rate.multiple,
                before: None,
                after: found,
            });
        }
    }
    rates.sort_by(|a, b| a.multiple.total_cmp(&b.multiple));
    rates
}
