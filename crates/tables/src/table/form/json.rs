//! A table as JSON: every row has every key, and numbers keep all their digits.

use serde_json::{Map, Value as Json, json};

use super::super::{Cell, Column, Row, Table};

impl Table {
    /// The rows as JSON objects, a key per column. `null` is no value: the key `unknown` lists
    /// the columns where the data cannot say; for the others the question does not arise.
    pub fn to_json(&self) -> Json {
        self.rows.iter().map(|row| self.object(row)).collect()
    }

    /// The table as it is printed: its title, its columns with unit and meaning, and each row's
    /// cells as text, with the digits they are stated to.
    pub fn to_printed(&self) -> Json {
        let column = |column: &Column| json!({"name": column.name, "unit": column.unit, "about": column.meaning});
        let cells = |row: &Row| row.cells.iter().map(|cell| Json::from(cell.print())).collect();
        json!({
            "title": self.title,
            "columns": self.columns.iter().map(column).collect::<Json>(),
            "rows": self.rows.iter().map(cells).collect::<Vec<Json>>(),
        })
    }

    fn object(&self, row: &Row) -> Json {
        let pairs = || self.columns.iter().zip(&row.cells);
        let mut object: Map<String, Json> =
            pairs().map(|(column, cell)| (column.name.clone().into_owned(), value(cell))).collect();
        let unknown = pairs().filter(|(_, cell)| **cell == Cell::Unknown);
        let unknown = unknown.map(|(column, _)| Json::from(&*column.name)).collect();
        object.insert("unknown".into(), Json::Array(unknown));
        Json::Object(object)
    }
}

fn value(cell: &Cell) -> Json {
    match cell {
        Cell::Text(text) => Json::from(text.as_str()),
        Cell::Count(n) => Json::from(*n),
        // Not the printed digits: the shortest that give the same number again.
        Cell::Number(x, _) => Json::from(*x),
        Cell::Range(ends) => ends.iter().map(|end| Json::from(end.value())).collect(),
        Cell::Unknown | Cell::Empty => Json::Null,
    }
}

#[cfg(test)]
mod tests {
    use crate::table::{Cell, Heading, Row, Table};

    #[test]
    fn unknown_and_not_applicable_differ_in_every_form() {
        let table = Table {
            name: "t".into(),
            title: "t".into(),
            columns: vec![
                Heading("a", "", "").column(),
                Heading("b", "s", "").column(),
                Heading("c", "s", "").column(),
            ],
            rows: vec![Row {
                key: "r".into(),
                cells: vec![Cell::Unknown, Cell::Empty, Cell::Number(0.1 + 0.2, 2)],
                sources: Vec::new(),
            }],
        };
        assert_eq!(table.to_csv(), "a,b,c\nunknown,,0.30\n");
        assert_eq!(
            table.to_json().to_string(),
            r#"[{"a":null,"b":null,"c":0.30000000000000004,"unknown":["a"]}]"#
        );
        let printed = table.to_printed();
        assert_eq!(printed["rows"].to_string(), r#"[["unknown","","0.30"]]"#);
        assert_eq!(printed["columns"][1].to_string(), r#"{"about":"","name":"b","unit":"s"}"#);
    }
}
