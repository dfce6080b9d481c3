//! The tables that an analysis can derive: the one list of them, each with how it is made.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::LazyLock;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

use crate::replay::replay_runs;
use crate::setup::{Configs, RegistrationFile};
use crate::table::theory::Prediction;
use crate::table::{self, Table};

use super::error::AnalysisError;
use super::fidelity_table::FidelitySpec;
use super::score::{ScoredRun, Scoring};
use super::store::Measured;
use super::theory_tables::TheoryTables;
use super::verdict::{Verdict, most_fitting, verdict};

/// Every table, in the order in which they are told.
const TABLES: &[TableKind] = &[
    derived("runs", |of| Ok(table::runs::table(of.runs()))),
    derived("paired", |of| Ok(table::paired::table(&of.paired()?))),
    derived("trap_check", |of| Ok(table::trap_check::table(of.runs()))),
    derived("calibration", |of| Ok(table::calibration::table(of.runs(), of.configs))),
    derived("closed_curve", |of| Ok(table::closed_curve::table(of.runs(), of.configs))),
    derived("from_empty", |of| Ok(table::from_empty::table(of.runs()))),
    derived("model_values", |of| of.theory.values()),
    derived("model_values_summary", |of| of.theory.summary()),
    derived("model_traps", |of| of.theory.predicted(Prediction::Traps)).called("model_table_3"),
    derived("model_from_empty", |of| of.theory.predicted(Prediction::FromEmpty)),
    derived("model_cuts", |of| of.theory.predicted(Prediction::Corollary3))
        .called("model_corollary_3"),
    derived("model_mirror", |of| of.theory.predicted(Prediction::Mirror)),
    derived("model_windows", |of| of.theory.predicted(Prediction::Windows)),
    derived("model_crossings", |of| of.theory.predicted(Prediction::Crossings)),
    derived("model_extras", |of| of.theory.extras()),
    derived("sim_against_engine", |of| {
        Ok(table::sim_against_engine::table(replay_runs(of.runs(), of.configs).as_ref()))
    }),
    derived("paired_ranges", |of| Ok(table::paired_ranges::table(of.runs()))),
    derived("arm_counts", |of| Ok(table::arm_counts::table(of.runs()))),
    derived("burst", |of| Ok(table::burst::table(of.runs()))),
    derived("bins", |of| Ok(table::bins::table(of.runs()))),
    derived("cohort", |of| Ok(table::cohort::table(of.runs()))),
    of_a_test("detector", |verdict, _| Some(table::detector::table(verdict))),
    derived("client_cost", |of| Ok(table::client_cost::table(of.runs()))),
    derived("loop_variables", |of| {
        Ok(table::loop_variables::table(of.runs(), of.theory.theories()?))
    }),
    derived("trap_summary", |of| Ok(table::trap_summary::table(of.runs(), of.configs))),
    derived("cell_calibration", |of| Ok(table::cell_calibration::table(of.runs(), of.configs))),
    derived("crossings", |of| Ok(table::crossings::table(of.runs(), of.configs))),
    derived("edges", |of| Ok(table::edges::table(of.runs()))),
    derived("verdicts", |of| Ok(table::verdicts::verdicts(of.verdicts()))),
    derived("labels", |of| Ok(table::verdicts::labels(of.verdicts()))),
    derived("clauses", |of| Ok(table::verdicts::clauses(of.verdicts()))),
    of_a_test("rescue", |verdict, _| Some(table::rescue::table(verdict))),
    of_a_test("cut", |verdict, of| table::cut::table(verdict, of.runs(), of.configs)),
    of_a_test("mirror", |verdict, of| table::mirror::table(verdict, of.runs(), of.configs)),
    of_a_test("goodput", |verdict, _| Some(table::goodput::table(verdict))),
    of_a_test("persistence", |verdict, of| table::persistence::table(verdict, of.verdicts())),
    derived("fidelity", |of| match of.fidelity {
        Some(spec) => spec.table(of.configs),
        None => Ok(table::fidelity::table(&[], &[])),
    }),
    derived("rule_values", |of| {
        Ok(table::rule_values::table(of.configs, Path::new(table::rule_values::FILLS))?)
    }),
    derived("plug_in", |of| Ok(table::plug_in::table(of.runs()))),
    derived("trigger", |of| Ok(table::trigger::table(of.verdicts()))),
    derived("doses", |of| Ok(table::doses::table(of.verdicts()))),
    derived("trap_scores", |of| Ok(table::trap_scores::table(of.verdicts(), of.configs))),
    derived("self_similarity", |of| Ok(table::self_similarity::table(of.runs()))),
    derived("binomial", |of| Ok(table::binomial::table(of.verdicts(), of.names))),
    derived("crossing_fit", |of| Ok(table::crossing_fit::table(of.runs(), of.configs))),
    derived("release_estimates", |of| {
        let theories = of.theory.theories()?;
        Ok(table::release_estimates::table(of.verdicts(), of.runs(), theories))
    }),
    derived("token_rates", |of| Ok(table::token_rates::table(of.runs(), of.theory.theories()?))),
];

/// A table that an analysis can derive. Two are the same if their names are.
#[derive(Debug, Clone, Copy)]
pub struct TableKind {
    /// What an analysis calls it.
    name: &'static str,
    /// What the name of the table itself ends with.
    stem: &'static str,
    make: Make,
}

/// How a table is made.
#[derive(Debug, Clone, Copy)]
enum Make {
    /// Once, of all that the analysis has.
    Derived(fn(&Maker<'_>) -> Result<Table, AnalysisError>),
    /// A registered test's own ([`crate::rule::RegisteredTest::tables`] names it): of each
    /// verdict of such a test, joined.
    OfATest(fn(&Verdict, &Maker<'_>) -> Option<Table>),
}

const fn derived(
    name: &'static str,
    make: fn(&Maker<'_>) -> Result<Table, AnalysisError>,
) -> TableKind {
    TableKind { name, stem: name, make: Make::Derived(make) }
}

const fn of_a_test(
    name: &'static str,
    make: fn(&Verdict, &Maker<'_>) -> Option<Table>,
) -> TableKind {
    TableKind { name, stem: name, make: Make::OfATest(make) }
}

impl TableKind {
    /// Under another name than the analysis calls it by.
    const fn called(self, stem: &'static str) -> Self {
        Self { stem, ..self }
    }
}

impl PartialEq for TableKind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Display for TableKind {
    /// The name of the table that it is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.stem)
    }
}

impl<'de> Deserialize<'de> for TableKind {
    fn deserialize<D: Deserializer<'de>>(typed: D) -> Result<Self, D::Error> {
        struct Name;
        impl Visitor<'_> for Name {
            type Value = TableKind;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a table")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<TableKind, E> {
                static NAMES: LazyLock<Vec<&str>> =
                    LazyLock::new(|| TABLES.iter().map(|kind| kind.name).collect());
                let found = TABLES.iter().find(|kind| kind.name == name).copied();
                found.ok_or_else(|| E::unknown_variant(name, &NAMES))
            }
        }
        typed.deserialize_str(Name)
    }
}

/// What an analysis has that its tables are made of. What several of them need is made once.
pub(crate) struct Maker<'a> {
    /// The configuration that it reads.
    pub configs: &'a Configs,
    /// Its runs as they were measured.
    pub measured: &'a [Measured],
    /// Its runs, judged by the paired test's rule.
    pub scoring: &'a Scoring,
    /// The registration that judged, if any.
    pub registration: Option<&'a RegistrationFile>,
    /// The simulator's published values that it computes again.
    pub fidelity: Option<&'a FidelitySpec>,
    /// What runs that were found in a batch are called in the campaign, by their folder.
    pub names: &'a BTreeMap<String, String>,
    /// The theory's tables and models.
    pub theory: TheoryTables<'a>,
    /// The verdicts, once they are asked for.
    pub verdicts: OnceCell<Vec<Verdict>>,
}

impl Maker<'_> {
    /// A table.
    ///
    /// # Errors
    /// A table of the theory or of published values that cannot be made.
    pub fn table(&self, kind: TableKind) -> Result<Table, AnalysisError> {
        match kind.make {
            Make::Derived(make) => make(self),
            Make::OfATest(make) => Ok(self.joined(kind.name, make)),
        }
    }

    fn runs(&self) -> &[ScoredRun] {
        &self.scoring.runs
    }

    /// The verdict of every registration that a run of the analysis counts for. One that no
    /// run was made for is left out where another of its test and cell has runs of its own.
    fn verdicts(&self) -> &[Verdict] {
        self.verdicts.get_or_init(|| {
            let of = |file| verdict(file, self.measured, self.configs).ok();
            most_fitting(self.configs.registrations.values().filter_map(of).collect())
        })
    }

    /// The paired test's verdicts: the pinned registration's, or else those that its runs
    /// are for. The published rule speaks only for a cell that has no registration at all.
    fn paired(&self) -> Result<Vec<Verdict>, AnalysisError> {
        if let Some(file) = self.registration {
            return Ok(vec![verdict(file, self.measured, self.configs)?]);
        }
        let has_tests = |cell: &str| {
            self.configs.registrations.values().any(|file| file.registration.is_about(cell))
        };
        let mut verdicts = self.scoring.paired(self.configs)?;
        verdicts.retain(|v| {
            !v.registration.is_published() || !has_tests(&v.registration.registration.cell)
        });
        Ok(verdicts)
    }

    /// The tables of the verdicts whose test says that it has such a table, joined.
    fn joined(&self, name: &str, of: fn(&Verdict, &Self) -> Option<Table>) -> Table {
        let shown = |v: &&Verdict| v.test().tables().contains(&name);
        let mut tables = self.verdicts().iter().filter(shown).filter_map(|v| of(v, self));
        let Some(mut all) = tables.next() else {
            let title = format!("No run of a {name} test");
            return Table { name: name.into(), title, columns: Vec::new(), rows: Vec::new() };
        };
        for table in tables {
            all.rows.extend(table.rows);
        }
        // Each named its registration; together they are several.
        all.title = all.title.split(" of registration ").next().unwrap_or_default().to_owned();
        all
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_tables_are_called_the_same() {
        for name in [|kind: &TableKind| kind.name, |kind: &TableKind| kind.stem] {
            let names: BTreeSet<&str> = TABLES.iter().map(name).collect();
            assert_eq!(names.len(), TABLES.len(), "{names:?}");
        }
    }

    #[test]
    fn the_own_tables_of_tests_are_named_by_one() {
        let configs = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
        let configs = crate::configs::load(&configs).unwrap();
        let registered = configs.registrations.values();
        let named = registered.flat_map(|file| file.registration.test.tables());
        let named: BTreeSet<&str> = named.copied().collect();
        let own = TABLES.iter().filter(|kind| matches!(kind.make, Make::OfATest(_)));
        let own: BTreeSet<&str> = own.map(|kind| kind.name).collect();
        assert!(own.len() > 5 && own.is_subset(&named), "{own:?}, of {named:?}");
    }
}
