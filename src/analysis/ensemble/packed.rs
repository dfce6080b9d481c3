//! A table of the ensemble as text: a header, then the rows of every draw, fields apart by
//! tabs. Numbers have seven significant digits, more than anything that is compared with
//! them.
//!
//! The header says of each column what it holds, so that what is read is what was written:
//! `name` words, `name:count` whole numbers, `name:3` numbers that are printed with three
//! digits, `name:range` ranges. Its first field is `draw:N`, the number of draws.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::digits::decimals;
use crate::table::{Cell, Column, Row, Table};

/// A cell that the question does not arise for.
const EMPTY: &str = "";
/// A cell whose run cannot say.
const UNKNOWN: &str = "?";
/// Words that are none.
const NO_WORDS: &str = "\"\"";

/// What a column holds besides words, the later in order where it holds several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Holds {
    Words,
    Counts,
    /// Numbers, with so many digits after the point.
    Numbers(usize),
    Ranges,
}

/// A table's rows of one draw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    columns: Vec<(String, Holds)>,
    rows: String,
}

impl Packed {
    /// The rows of a draw.
    pub fn of(table: &Table, draw: u64) -> Self {
        let holds = |place: usize| {
            let cells = table.rows.iter().filter_map(|row| row.cells.get(place));
            cells.map(Holds::of).max().unwrap_or(Holds::Words)
        };
        let columns = table.columns.iter().enumerate();
        let columns = columns.map(|(i, column)| (column.name.clone().into_owned(), holds(i)));
        let mut rows = String::new();
        for row in &table.rows {
            // Writing to a String cannot fail.
            let _ = write!(rows, "{draw}");
            for cell in &row.cells {
                rows.push('\t');
                rows.push_str(&field(cell));
            }
            rows.push('\n');
        }
        Self { columns: columns.collect(), rows }
    }

    /// Its rows as text.
    pub fn rows(&self) -> &str {
        &self.rows
    }
}

/// A table's draws as one text, in their order; `None` where two draws differ in their columns.
pub fn joined(draws: &[Packed]) -> Option<String> {
    let mut columns = draws.first()?.columns.clone();
    for draw in draws {
        if draw.columns.len() != columns.len() {
            return None;
        }
        for ((name, holds), (other, of_draw)) in columns.iter_mut().zip(&draw.columns) {
            if *name != *other {
                return None;
            }
            *holds = (*holds).max(*of_draw);
        }
    }
    let mut text = format!("draw:{}", draws.len());
    for (name, holds) in &columns {
        let _ = match holds {
            Holds::Words => write!(text, "\t{name}"),
            Holds::Counts => write!(text, "\t{name}:count"),
            Holds::Numbers(digits) => write!(text, "\t{name}:{digits}"),
            Holds::Ranges => write!(text, "\t{name}:range"),
        };
    }
    text.push('\n');
    text.extend(draws.iter().map(Packed::rows));
    Some(text)
}

/// A joined text, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unpacked {
    columns: Vec<(String, Holds)>,
    text: String,
    /// Where each draw's rows begin, and where the last one's end.
    starts: Vec<usize>,
}

impl Unpacked {
    /// Reads a joined text.
    ///
    /// # Errors
    /// The line and what was expected there.
    pub fn parse(text: String) -> Result<Self, String> {
        let header = text.lines().next().unwrap_or_default();
        let mut fields = header.split('\t');
        let draws = fields.next().and_then(|first| first.strip_prefix("draw:"));
        let draws: usize = draws
            .and_then(|n| n.parse::<usize>().ok())
            .filter(|n| *n <= crate::limits::RUNS)
            .ok_or("line 1: expected draw:N and the columns")?;
        let columns = fields.map(column).collect::<Option<Vec<_>>>();
        let columns = columns.ok_or("line 1: expected NAME, NAME:count, NAME:range or NAME:3")?;
        let body = header.len() + 1;
        let mut starts = Vec::with_capacity(draws + 1);
        let mut at = body.min(text.len());
        for (i, line) in text.get(at..).unwrap_or_default().split_inclusive('\n').enumerate() {
            let wrong = |what: String| format!("line {}: {what}", i + 2);
            let draw: usize = line
                .trim_end_matches('\n')
                .split('\t')
                .next()
                .and_then(|draw| draw.parse().ok())
                .ok_or_else(|| wrong("expected the number of a draw".into()))?;
            if draw >= draws || draw + 1 < starts.len() {
                return Err(wrong(format!("draw {draw} is out of order")));
            }
            let fields = line.split('\t').count();
            if fields != columns.len() + 1 || !line.ends_with('\n') {
                return Err(wrong(format!(
                    "expected {} fields, found {fields}",
                    columns.len() + 1
                )));
            }
            while starts.len() <= draw {
                starts.push(at);
            }
            at += line.len();
        }
        starts.resize(draws + 1, at);
        Ok(Self { columns, text, starts })
    }

    /// How many draws it has.
    pub fn draws(&self) -> usize {
        self.starts.len() - 1
    }

    /// The rows of a draw as text; none for a draw that there is not.
    pub fn rows(&self, draw: usize) -> &str {
        let ends = self.starts.get(draw).zip(self.starts.get(draw + 1));
        ends.map_or("", |(from, to)| &self.text[*from..*to])
    }

    /// The table of a draw. Its columns have names, and its rows no sources.
    pub fn table(&self, name: &str, draw: usize) -> Table {
        let columns = self.columns.iter().map(|(name, _)| named(name));
        let row = |line: &str| {
            let fields = line.split('\t').skip(1).zip(&self.columns);
            let cells = fields.map(|(field, (_, holds))| cell(field, *holds)).collect();
            Row { key: String::new(), cells, sources: Vec::new() }
        };
        Table {
            name: name.into(),
            title: String::new(),
            columns: columns.collect(),
            rows: self.rows(draw).lines().map(row).collect(),
        }
    }
}

impl Holds {
    fn of(cell: &Cell) -> Self {
        match cell {
            Cell::Text(_) | Cell::Unknown | Cell::Empty => Self::Words,
            Cell::Count(_) => Self::Counts,
            Cell::Number(_, digits) => Self::Numbers(*digits),
            Cell::Range(_) => Self::Ranges,
        }
    }
}

fn column(field: &str) -> Option<(String, Holds)> {
    let Some((name, holds)) = field.split_once(':') else {
        return Some((field.into(), Holds::Words));
    };
    let holds = match holds {
        "count" => Holds::Counts,
        "range" => Holds::Ranges,
        digits => Holds::Numbers(digits.parse::<usize>().ok().filter(|digits| *digits <= 17)?),
    };
    Some((name.into(), holds))
}

fn field(cell: &Cell) -> Cow<'_, str> {
    match cell {
        Cell::Number(x, _) => Cow::Owned(seven_digits(*x).to_string()),
        Cell::Unknown => Cow::Borrowed(UNKNOWN),
        Cell::Empty => Cow::Borrowed(EMPTY),
        Cell::Text(text) if text.is_empty() => Cow::Borrowed(NO_WORDS),
        other => Cow::Owned(other.print()),
    }
}

fn cell(field: &str, holds: Holds) -> Cell {
    let words = || Cell::text(field);
    let number = |digits| field.parse().map_or_else(|_| words(), |x| Cell::Number(x, digits));
    match (field, holds) {
        (EMPTY, _) => Cell::Empty,
        (UNKNOWN, _) => Cell::Unknown,
        (NO_WORDS, _) => Cell::text(""),
        (_, Holds::Words) => words(),
        (_, Holds::Counts) => field.parse().map_or_else(|_| words(), Cell::Count),
        (_, Holds::Numbers(digits)) => number(digits),
        (_, Holds::Ranges) => match field.split_once(" to ") {
            Some((least, most)) => match (least.parse(), most.parse()) {
                (Ok(least), Ok(most)) => Cell::Range([least, most]),
                _ => words(),
            },
            None => number(decimals(field)),
        },
    }
}

/// A column of which only the name is known.
fn named(name: &str) -> Column {
    let nothing = Cow::Borrowed("");
    let name = Cow::Owned(name.to_owned());
    Column { name, unit: nothing.clone(), meaning: nothing, is_key: false }
}

/// A number to seven significant digits.
fn seven_digits(x: f64) -> f64 {
    format!("{x:.6e}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: Vec<Vec<Cell>>) -> Table {
        let row = |cells| Row { key: String::new(), cells, sources: Vec::new() };
        let columns = ["what", "rate", "runs", "span"].map(named);
        let (name, title) = (String::from("t"), String::new());
        Table { name, title, columns: columns.to_vec(), rows: rows.into_iter().map(row).collect() }
    }

    fn two_draws() -> [Table; 2] {
        let range = |a: &str, b: &str| Cell::Range([a, b].map(|end| end.parse().unwrap()));
        let first = vec![Cell::text("a b"), Cell::Number(1.65, 2), Cell::Count(3), Cell::Empty];
        let second = vec![Cell::text(""), Cell::Unknown, Cell::Empty, range("0.1", "0.25")];
        let third = vec![Cell::text("x"), Cell::Number(-2e-9, 2), Cell::Count(0), Cell::Unknown];
        [table(vec![first, second]), table(vec![third])]
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let tables = two_draws();
        let packed: Vec<Packed> =
            tables.iter().zip(0..).map(|(table, draw)| Packed::of(table, draw)).collect();
        let text = joined(&packed).unwrap();
        let header = "draw:2\twhat\trate:2\truns:count\tspan:range\n";
        assert!(text.starts_with(header), "{text}");
        let unpacked = Unpacked::parse(text).unwrap();
        assert_eq!(unpacked.draws(), 2);
        for (draw, table) in tables.iter().enumerate() {
            assert_eq!(&unpacked.table("t", draw), table);
            assert_eq!(unpacked.rows(draw), packed[draw].rows());
        }
        assert_eq!(unpacked.rows(2), "");
    }

    #[test]
    fn a_draw_without_rows_has_none() {
        let packed = [Packed::of(&table(vec![]), 0), Packed::of(&two_draws()[1], 1)];
        let unpacked = Unpacked::parse(joined(&packed).unwrap()).unwrap();
        let rows = |draw| unpacked.table("t", draw).rows.len();
        assert_eq!([rows(0), rows(1)], [0, 1]);
    }

    #[test]
    fn numbers_have_seven_significant_digits() {
        let written = |x: f64| field(&Cell::Number(x, 3)).into_owned();
        assert_eq!(written(1.0 / 3.0), "0.3333333");
        assert_eq!(written(1234567.89), "1234568");
        assert_eq!(written(0.35), "0.35");
    }

    #[test]
    fn a_text_that_is_cut_or_out_of_order_is_refused_with_its_line() {
        let refused = |text: &str| Unpacked::parse(text.into()).unwrap_err();
        assert!(refused("").starts_with("line 1: "));
        assert!(refused("draw:2\ta:x\n").starts_with("line 1: "));
        assert_eq!(refused("draw:2\ta\n0\tx\n2\ty\n"), "line 3: draw 2 is out of order");
        assert_eq!(refused("draw:2\ta\n1\tx\n0\ty\n"), "line 3: draw 0 is out of order");
        assert_eq!(refused("draw:2\ta\n0\tx\ty\n"), "line 2: expected 2 fields, found 3");
        assert!(refused("draw:2\ta\n0\tx").starts_with("line 2: "));
    }

    #[test]
    fn draws_of_other_columns_do_not_join() {
        let mut other = two_draws()[1].clone();
        other.columns[0] = named("else");
        assert_eq!(joined(&[Packed::of(&two_draws()[0], 0), Packed::of(&other, 1)]), None);
    }
}
