//! The data behind a figure, as a table of named columns with units; each row says where it
//! comes from.

use super::FigureError;
use super::origin::Origin;
use crate::escape::escaped;

/// What a figure plots, one row per plotted value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FigureData {
    /// The columns, in order; `run` and `source` of [`Origin`] stand before them.
    pub columns: Vec<Column>,
    /// The rows, each with where it comes from and a value per column.
    pub rows: Vec<(Origin, Vec<Value>)>,
}

/// A column's name, unit and number of decimals.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its unit; empty for names and pure numbers.
    pub unit: &'static str,
    /// Decimals with which numbers are written.
    pub decimals: usize,
}

/// A value of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A name.
    Text(String),
    /// A number.
    Number(f64),
    /// Not known: an empty field.
    Unknown,
}

impl FigureData {
    /// An empty table with these columns: name, unit, decimals.
    pub fn new(columns: &[(&'static str, &'static str, usize)]) -> Self {
        let column = |&(name, unit, decimals): &_| Column { name, unit, decimals };
        Self { columns: columns.iter().map(column).collect(), rows: Vec::new() }
    }

    /// Adds a row that comes from there.
    pub fn push(&mut self, from: &Origin, row: impl IntoIterator<Item = Value>) {
        self.rows.push((from.clone(), row.into_iter().collect()));
    }

    /// Where all rows together come from.
    pub fn origin(&self) -> Origin {
        // Rows of one run follow each other: one of them stands for all.
        let changes = self.rows.chunk_by(|a, b| a.0 == b.0);
        Origin::of(changes.filter_map(|rows| rows.first()).map(|(from, _)| from))
    }

    /// The table as CSV: a header of `name [unit]`, then the rows; unknown values are empty.
    /// Several runs behind one value are separated by `;`.
    ///
    /// # Errors
    /// A row that has not one value per column.
    pub fn to_csv(&self) -> Result<String, FigureError> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let head = self.columns.iter().map(|c| match c.unit {
            "" => c.name.to_owned(),
            unit => format!("{} [{unit}]", c.name),
        });
        let head = ["run", "source"].map(str::to_owned).into_iter().chain(head);
        writer.write_record(head).map_err(FigureError::data)?;
        for (from, row) in &self.rows {
            let fields = row
                .iter()
                .enumerate()
                .map(|(i, v)| v.written(self.columns.get(i).map_or(0, |column| column.decimals)));
            let fields = [from.run_names(), from.source_words()].into_iter().chain(fields);
            writer.write_record(fields).map_err(FigureError::data)?;
        }
        let bytes = writer.into_inner().map_err(FigureError::data)?;
        String::from_utf8(bytes).map_err(FigureError::data)
    }
}

impl Value {
    /// The number, or unknown.
    pub fn known(value: Option<f64>) -> Self {
        value.map_or(Value::Unknown, Value::Number)
    }

    fn written(&self, decimals: usize) -> String {
        match self {
            Value::Text(text) => escaped(text).into_owned(),
            Value::Number(number) if number.is_finite() => format!("{number:.decimals$}"),
            Value::Number(_) | Value::Unknown => String::new(),
        }
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::Number(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value::Text(value.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::origin::Source;

    #[test]
    fn columns_carry_their_units_and_unknown_values_are_empty() {
        let mut data = FigureData::new(&[("arm", "", 0), ("t", "s", 1), ("hit_fraction", "", 3)]);
        let run = Origin::run("r1", "x", Source::Simulated);
        data.push(&run, ["BURST, late".into(), 10.0.into(), Value::known(None)]);
        data.push(&Origin::model(), ["F".into(), 20.25.into(), Value::known(Some(0.5))]);
        let csv = data.to_csv().unwrap();
        let expected = "run,source,arm,t [s],hit_fraction\n\
                        r1,simulated,\"BURST, late\",10.0,\n,model,F,20.2,0.500\n";
        assert_eq!(csv, expected);
        assert_eq!(data.origin(), Origin::of(&[run, Origin::model()]));
    }

    #[test]
    fn a_row_of_another_length_is_an_error() {
        let mut data = FigureData::new(&[("a", "", 0), ("b", "", 0)]);
        data.push(&Origin::model(), ["x".into()]);
        assert!(data.to_csv().is_err());
    }
}
