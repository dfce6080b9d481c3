//! A table as csv: one fact in each column, so a range is two.

use std::fmt::Write as _;

use super::super::{Cell, Table};

impl Table {
    /// The table as csv: header, rows, LF.
    pub fn to_csv(&self) -> String {
        let ranges: Vec<bool> = (0..self.columns.len()).map(|i| self.is_range(i)).collect();
        let mut out = String::new();
        let names = self.columns.iter().zip(&ranges).flat_map(|(column, is_range)| {
            if *is_range {
                vec![format!("{}_least", column.name), format!("{}_most", column.name)]
            } else {
                vec![column.name.clone().into_owned()]
            }
        });
        line(&mut out, names);
        for row in &self.rows {
            let cells = row.cells.iter().zip(&ranges).flat_map(|(cell, is_range)| {
                match (cell, is_range) {
                    (Cell::Range(ends), _) => ends.map(|end| end.to_string()).to_vec(),
                    // A single value is the least and the greatest.
                    (cell, true) => vec![cell.print(); 2],
                    (cell, false) => vec![cell.print()],
                }
            });
            line(&mut out, cells);
        }
        out
    }
}

/// Appends one csv line, quoting what has to be.
fn line(out: &mut String, fields: impl Iterator<Item = String>) {
    for (i, field) in fields.enumerate() {
        if i > 0 {
            out.push(',');
        }
        if field.contains([',', '"', '\n', '\r']) {
            let _ = write!(out, "\"{}\"", field.replace('"', "\"\""));
        } else {
            out.push_str(&field);
        }
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use crate::digits::Rounded;
    use crate::table::{Cell, Heading, Row, Table};

    #[test]
    fn a_range_is_two_columns_and_a_single_value_both_its_ends() {
        let row = |cell| Row { key: String::new(), cells: vec![cell], sources: Vec::new() };
        let table = Table {
            name: "t".into(),
            title: "t".into(),
            columns: vec![Heading("hit", "", "").column()],
            rows: vec![
                row(Cell::Range([Rounded::new(0.0, 1), Rounded::new(0.1, 2)])),
                row(Cell::Number(0.5, 2)),
                row(Cell::Unknown),
                row(Cell::Empty),
            ],
        };
        assert_eq!(table.to_csv(), "hit_least,hit_most\n0.0,0.10\n0.50,0.50\nunknown,unknown\n,\n");
        assert_eq!(table.to_json()[0]["hit"], serde_json::json!([0.0, 0.1]));
        assert!(table.to_markdown().contains("| 0.0 to 0.10 |"));
    }
}
