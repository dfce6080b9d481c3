//! An analysis' tables, in memory. What several of them need is made once.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use crate::fidelity::{self, report};
use crate::rule::cut::CutTest;
use crate::rule::mirror::MirrorTest;
use crate::rule::persistence::PersistenceTest;
use crate::setup::Configs;
use crate::setup::yaml::ConfigError;
use crate::table::theory::Prediction;
use crate::table::{self, Table};

use super::error::AnalysisError;
use super::project::Evaluated;
use super::spec::TableKind;
use super::theory_tables::TheoryTables;
use super::verdict::{Verdict, most_fitting, verdict};
use crate::configs::hashed;
use crate::replay::replay_runs;

impl Evaluated {
    /// Its tables, each named after the analysis.
    ///
    /// # Errors
    /// A table of the theory that cannot be made.
    pub fn tables(&self, configs: &Configs) -> Result<Vec<Table>, AnalysisError> {
        let mut maker = Maker {
            of: self,
            configs,
            theory: TheoryTables::new(configs),
            verdicts: OnceCell::new(),
        };
        let named = |kind: &TableKind| {
            let name = self.analysis.table_stem(*kind);
            Ok(Table { name, ..maker.table(*kind)? })
        };
        self.analysis.tables.iter().map(named).collect()
    }
}

struct Maker<'a> {
    of: &'a Evaluated,
    configs: &'a Configs,
    theory: TheoryTables<'a>,
    verdicts: OnceCell<Vec<Verdict>>,
}

impl Maker<'_> {
    fn table(&mut self, kind: TableKind) -> Result<Table, AnalysisError> {
        let (runs, configs) = (&self.of.scoring.runs, self.configs);
        Ok(match kind {
            TableKind::Runs => table::runs::table(runs),
            TableKind::Paired => table::paired::table(&self.paired()?),
            TableKind::TrapCheck => table::trap_check::table(runs),
            TableKind::TrapSummary => table::trap_summary::table(runs, configs),
            TableKind::Calibration => table::calibration::table(runs, configs),
            TableKind::CellCalibration => table::cell_calibration::table(runs, configs),
            TableKind::ClosedCurve => table::closed_curve::table(runs, configs),
            TableKind::Crossings => table::crossings::table(runs, configs),
            TableKind::FromEmpty => table::from_empty::table(runs),
            TableKind::Edges => table::edges::table(runs),
            TableKind::ModelValues => self.theory.values()?,
            TableKind::ModelValuesSummary => self.theory.summary()?,
            TableKind::ModelTraps => self.theory.predicted(Prediction::Traps)?,
            TableKind::ModelFromEmpty => self.theory.predicted(Prediction::FromEmpty)?,
            TableKind::ModelCuts => self.theory.predicted(Prediction::Corollary3)?,
            TableKind::ModelMirror => self.theory.predicted(Prediction::Mirror)?,
            TableKind::ModelWindows => self.theory.predicted(Prediction::Windows)?,
            TableKind::ModelCrossings => self.theory.predicted(Prediction::Crossings)?,
            TableKind::ModelExtras => self.theory.extras()?,
            TableKind::SimAgainstEngine => {
                let replay = replay_runs(runs, configs);
                table::sim_against_engine::table(replay.as_ref())
            }
            TableKind::PairedRanges => table::paired_ranges::table(runs),
            TableKind::ArmCounts => table::arm_counts::table(runs),
            TableKind::Burst => table::burst::table(runs),
            TableKind::Bins => table::bins::table(runs),
            TableKind::Cohort => table::cohort::table(runs),
            TableKind::Detector => self.joined(kind, |v| Some(table::detector::table(v))),
            TableKind::ClientCost => table::client_cost::table(runs),
            TableKind::LoopVariables => table::loop_variables::table(runs, self.theory.theories()?),
            TableKind::Fidelity => self.fidelity()?,
            TableKind::Verdicts => table::verdicts::verdicts(self.verdicts()),
            TableKind::Labels => table::verdicts::labels(self.verdicts()),
            TableKind::Clauses => table::verdicts::clauses(self.verdicts()),
            TableKind::Rescue => self.joined(kind, |v| Some(table::rescue::table(v))),
            TableKind::Cut => self
                .joined(kind, |v| Some(table::cut::table(runs, CutTest::of(v.test())?, configs))),
            TableKind::Mirror => self.joined(kind, |v| {
                Some(table::mirror::table(v, MirrorTest::of(v.test())?, runs, configs))
            }),
            TableKind::Goodput => self.joined(kind, |v| Some(table::goodput::table(v))),
            TableKind::Persistence => self.joined(kind, |v| {
                let rule = PersistenceTest::of(v.test())?;
                Some(table::persistence::table(v, rule, self.verdicts()))
            }),
            TableKind::RuleValues => {
                table::rule_values::table(configs, Path::new(table::rule_values::FILLS))?
            }
            TableKind::PlugIn => table::plug_in::table(runs),
            TableKind::Trigger => table::trigger::table(self.verdicts()),
            TableKind::Doses => table::doses::table(self.verdicts()),
            TableKind::TrapScores => table::trap_scores::table(self.verdicts(), configs),
            TableKind::SelfSimilarity => table::self_similarity::table(runs),
            TableKind::Binomial => table::binomial::table(self.verdicts(), &self.of.names),
            TableKind::CrossingFit => table::crossing_fit::table(runs, configs),
            TableKind::ReleaseEstimates => {
                let theories = self.theory.theories()?;
                table::release_estimates::table(self.verdicts(), runs, theories)
            }
            TableKind::TokenRates => table::token_rates::table(runs, self.theory.theories()?),
        })
    }

    /// The simulator's published values that the analysis names, over runs of its own.
    fn fidelity(&self) -> Result<Table, AnalysisError> {
        let Some(spec) = &self.of.analysis.fidelity else {
            return Ok(table::fidelity::table(&[], &[]));
        };
        let wanted = fidelity::load(&spec.file)?
            .only(&spec.rows)
            .map_err(|message| ConfigError::new(&spec.file, message))?;
        let rows = report(&wanted, self.configs, &|| ())?;
        let mut files = vec![spec.file.clone()];
        for set in wanted.run_sets.values() {
            if let Some((cell, _, protocol)) = self.configs.of_cell(&set.cell) {
                let file =
                    |kind: &str, name: &str| PathBuf::from(format!("configs/{kind}/{name}.yaml"));
                files.push(file("cells", &cell.name));
                files.push(file("workloads", &cell.workload));
                files.push(file("protocols", &protocol.name));
            }
        }
        files.sort();
        files.dedup();
        let sources = files.iter().map(|path| hashed(path)).collect::<Result<Vec<_>, _>>()?;
        Ok(table::fidelity::table(&rows, &sources))
    }

    /// The verdict of every registration that a run of the analysis counts for. One that no
    /// run was made for is left out where another of its test and cell has runs of its own.
    fn verdicts(&self) -> &[Verdict] {
        self.verdicts.get_or_init(|| {
            let of = |file| verdict(file, &self.of.measured, self.configs).ok();
            most_fitting(self.configs.registrations.values().filter_map(of).collect())
        })
    }

    /// The paired test's verdicts: the pinned registration's, or else those that its runs
    /// are for. The published rule speaks only for a cell that has no registration at all.
    fn paired(&self) -> Result<Vec<Verdict>, AnalysisError> {
        if let Some(file) = &self.of.registration {
            return Ok(vec![verdict(file, &self.of.measured, self.configs)?]);
        }
        let has_tests = |cell: &str| {
            self.configs.registrations.values().any(|file| file.registration.is_about(cell))
        };
        let mut verdicts = self.of.scoring.paired(self.configs)?;
        verdicts.retain(|v| {
            !v.registration.is_published() || !has_tests(&v.registration.registration.cell)
        });
        Ok(verdicts)
    }

    /// The tables of the verdicts whose test says that it has such a table, joined.
    fn joined(&self, kind: TableKind, of: impl Fn(&Verdict) -> Option<Table>) -> Table {
        let name = kind.to_string();
        let shown = |v: &&Verdict| v.test().tables().contains(&name.as_str());
        let mut tables = self.verdicts().iter().filter(shown).filter_map(of);
        let Some(mut all) = tables.next() else {
            let title = format!("No run of a {name} test");
            return Table { name, title, columns: Vec::new(), rows: Vec::new() };
        };
        for table in tables {
            all.rows.extend(table.rows);
        }
        // Each named its registration; together they are several.
        all.title = all.title.split(" of registration ").next().unwrap_or_default().to_owned();
        all
    }
}
