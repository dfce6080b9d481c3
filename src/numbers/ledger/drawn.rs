//! A draw with the runs of engines among its own: what an engine did is no draw. It stays as it
//! is, and only what is simulated here is drawn.

use std::collections::{BTreeMap, BTreeSet};

use crate::query::Database;
use crate::table::{Cell, Row, Table};

use super::answers::{Basis, bases};

/// What stays the same in every draw.
#[derive(Debug, Default)]
pub struct Kept {
    /// By table, the rows of ours that rest on engine runs alone.
    tables: BTreeMap<String, Table>,
    /// The simulated runs of ours: what is drawn are these again.
    simulated: BTreeSet<String>,
}

impl Kept {
    /// What stays of the tables that are drawn; nothing where none of their rows rests on an
    /// engine's runs.
    pub fn of<'n>(database: &Database, drawn: impl Iterator<Item = &'n str>) -> Self {
        let drawn: BTreeSet<&str> = drawn.collect();
        let mut kept = Self::default();
        for table in database.tables() {
            let Some(source) = table.place("source") else { continue };
            let whose = |row: &Row| -> BTreeSet<Basis> {
                row.cells.get(source).map(bases).into_iter().flatten().collect()
            };
            if let Some(run) = table.place("run") {
                let own = table.rows.iter().filter(|row| whose(row).contains(&Basis::Simulated));
                kept.simulated.extend(own.map(|row| row.cells[run].print()));
            }
            let is_engine = |row: &&Row| whose(row) == BTreeSet::from([Basis::Engine]);
            let rows: Vec<Row> = table.rows.iter().filter(is_engine).cloned().collect();
            if drawn.contains(table.name.as_str()) && !rows.is_empty() {
                kept.tables.insert(table.name.clone(), Table { rows, ..table.clone() });
            }
        }
        kept
    }

    /// A draw's table with these rows in place of those that were drawn for the same runs, or
    /// for the same row of a table that is by no run.
    pub fn among(&self, mut drawn: Table) -> Table {
        if self.tables.is_empty() {
            return drawn;
        }
        if let Some(run) = drawn.place("run") {
            drawn.rows.retain(|row| self.simulated.contains(&row.cells[run].print()));
        }
        let Some(own) = self.tables.get(&drawn.name) else { return drawn };
        if drawn.place("run").is_none() {
            let keys = own.columns.iter().filter(|column| column.is_key && column.name != "source");
            let keys: Vec<&str> = keys.map(|column| &*column.name).collect();
            let identity = |table: &Table, row: &Row| -> Vec<String> {
                let cell =
                    |key: &&str| table.place(key).map_or(Cell::Empty, |i| row.cells[i].clone());
                keys.iter().map(|key| cell(key).print()).collect()
            };
            let kept: BTreeSet<Vec<String>> =
                own.rows.iter().map(|row| identity(own, row)).collect();
            let others = drawn.rows.iter().filter(|row| !kept.contains(&identity(&drawn, row)));
            drawn.rows = others.cloned().collect();
        }
        let places: Vec<Option<usize>> =
            drawn.columns.iter().map(|column| own.place(&column.name)).collect();
        let cell =
            |row: &Row, place: &Option<usize>| place.map_or(Cell::Empty, |i| row.cells[i].clone());
        drawn.rows.extend(own.rows.iter().map(|row| Row {
            cells: places.iter().map(|place| cell(row, place)).collect(),
            ..row.clone()
        }));
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Col, Heading};

    type OfRun = (&'static str, &'static str, f64);

    fn runs(rows: &[OfRun]) -> Table {
        let columns: &[Col<OfRun>] = &[
            Heading("run", "", "").key(|of| Cell::text(of.0)),
            Heading("source", "", "").key(|of| Cell::text(of.1)),
            Heading("x", "", "").number(1, |of| of.2),
        ];
        Table::of("runs", "runs", columns, rows.to_vec(), |of| (of.0.into(), Vec::new()))
    }

    fn groups(rows: &[OfRun]) -> Table {
        let columns: &[Col<OfRun>] = &[
            Heading("cell", "", "").key(|of| Cell::text(of.0)),
            Heading("source", "", "").key(|of| Cell::text(of.1)),
            Heading("x", "", "").number(1, |of| of.2),
        ];
        Table::of("groups", "groups", columns, rows.to_vec(), |of| (of.0.into(), Vec::new()))
    }

    fn among(ours: [Table; 2], drawn: Table) -> String {
        let mut database = Database::new(Vec::new());
        ours.into_iter().for_each(|table| database.add(table));
        Kept::of(&database, ["runs", "groups"].into_iter()).among(drawn).to_csv()
    }

    #[test]
    fn an_engines_rows_stay_and_only_what_is_simulated_here_is_drawn() {
        let ours = || {
            let runs = runs(&[("pull/a", "engine", 1.0), ("sim/b", "simulator", 2.0)]);
            [runs, groups(&[("a", "engine", 1.0), ("b", "simulator", 2.0)])]
        };
        let drawn = runs(&[("sim/a", "simulator", 7.0), ("sim/b", "simulator", 8.0)]);
        assert_eq!(among(ours(), drawn), "run,source,x\nsim/b,simulator,8.0\npull/a,engine,1.0\n");
        let drawn = groups(&[("a", "simulator", 7.0), ("b", "simulator", 8.0)]);
        assert_eq!(among(ours(), drawn), "cell,source,x\nb,simulator,8.0\na,engine,1.0\n");
    }

    #[test]
    fn without_an_engines_runs_draws_stay_as_they_are() {
        let ours = [runs(&[("sim/b", "simulator", 2.0)]), groups(&[("b", "simulator", 2.0)])];
        let drawn = runs(&[("sim/a", "simulator", 7.0), ("sim/b", "simulator", 8.0)]);
        assert_eq!(among(ours, drawn.clone()), drawn.to_csv());
    }
}
