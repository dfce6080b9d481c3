//! A table as Markdown that a person can read: at most about a page wide.
//!
//! A table that is wider is cut. What is the same in every row is said once, above; the
//! other columns follow in parts below one another, each with the columns that say which
//! row it is, or, where those are wide themselves (a run's path), with the row's number.

use super::super::{Row, Table};

/// A wider line cannot be read without scrolling.
const PAGE: usize = 140;
/// Keys that take more than this are given once, with a number for each row.
const MOST_FOR_KEYS: usize = 60;

/// A column's heading and cells as they are printed.
struct Strip {
    heading: String,
    cells: Vec<String>,
    is_key: bool,
}

impl Table {
    /// The table in Markdown, with units beside the names.
    pub fn to_markdown(&self) -> String {
        let strips: Vec<Strip> = (0..self.columns.len()).map(|i| self.strip(i)).collect();
        let all: Vec<&Strip> = strips.iter().collect();
        let mut out = format!("**{}**\n\n", self.title);
        if wide(&all) <= PAGE {
            return out + &block(&all, self.rows.len());
        }
        // Of two rows or more: a single row is all "the same in every row".
        let (same, others): (Vec<&Strip>, Vec<&Strip>) =
            all.into_iter().partition(|s| s.cells.windows(2).all(|pair| pair[0] == pair[1]));
        let mut parts = Vec::new();
        if !same.is_empty() {
            let name = if self.rows.len() == 1 { "column" } else { "in every row" };
            parts.push(lines_of(&same, name));
        }
        let (keys, findings): (Vec<&Strip>, Vec<&Strip>) =
            others.into_iter().partition(|strip| strip.is_key);
        let number = Strip {
            heading: "row".into(),
            cells: (1..=self.rows.len()).map(|i| i.to_string()).collect(),
            is_key: true,
        };
        let beside = if wide(&keys) > MOST_FOR_KEYS || keys.is_empty() {
            if !keys.is_empty() {
                parts.push(block(&[&[&number], &keys[..]].concat(), self.rows.len()));
            }
            vec![&number]
        } else {
            keys
        };
        let mut rest = &findings[..];
        while !rest.is_empty() {
            let most = PAGE.saturating_sub(wide(&beside));
            let fitting = (1..=rest.len()).rev().find(|n| wide(&rest[..*n]) <= most).unwrap_or(1);
            let (now, later) = rest.split_at(fitting);
            parts.push(block(&[&beside[..], now].concat(), self.rows.len()));
            rest = later;
        }
        out += &parts.join("\n");
        out
    }

    fn strip(&self, i: usize) -> Strip {
        let cell =
            |row: &Row| row.cells.get(i).map_or(String::new(), |cell| escaped(&cell.print()));
        Strip {
            heading: escaped(&self.columns[i].heading()),
            cells: self.rows.iter().map(cell).collect(),
            is_key: self.columns[i].is_key,
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

/// Characters of the widest line that these columns make.
fn wide(strips: &[&Strip]) -> usize {
    let length = |text: &String| text.chars().count() + 3;
    let line = |cells: &dyn Fn(&Strip) -> Option<usize>| -> usize {
        strips.iter().filter_map(|strip| cells(strip)).sum()
    };
    let rows = strips.first().map_or(0, |strip| strip.cells.len());
    let heading = line(&|strip| Some(length(&strip.heading)));
    (0..rows).map(|i| line(&|strip| strip.cells.get(i).map(length))).fold(heading, usize::max)
}

/// Columns of one value each, as lines: name and value.
fn lines_of(same: &[&Strip], name: &str) -> String {
    let value = |strip: &&Strip| strip.cells.first().cloned().unwrap_or_default();
    let names = Strip {
        heading: name.into(),
        cells: same.iter().map(|strip| strip.heading.clone()).collect(),
        is_key: true,
    };
    let values =
        Strip { heading: "value".into(), cells: same.iter().map(value).collect(), is_key: false };
    block(&[&names, &values], same.len())
}

fn block(strips: &[&Strip], rows: usize) -> String {
    let line = |fields: Vec<&str>| format!("| {} |\n", fields.join(" | "));
    let mut out = line(strips.iter().map(|s| s.heading.as_str()).collect());
    out += &format!("|{}\n", "---|".repeat(strips.len()));
    for i in 0..rows {
        out += &line(strips.iter().map(|s| s.cells[i].as_str()).collect());
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::table::{Cell, Column, Heading, Row, Table};

    fn table(rows: usize, findings: usize) -> Table {
        let column = |name, unit| Heading(name, unit, "").column();
        let key = |name| Column { is_key: true, ..column(name, "") };
        let columns = [key("run"), key("seed"), column("engine", "")]
            .into_iter()
            .chain((0..findings).map(|_| column("backlog_slope_per_s", "sessions/s")));
        let row = |i: usize| Row {
            key: i.to_string(),
            cells: [
                Cell::text(format!(
                    "results/campaign/{}/agentload_burst/run_{i}",
                    "batch".repeat(8)
                )),
                Cell::Count(i as u64),
                Cell::text("vLLM"),
            ]
            .into_iter()
            .chain((0..findings).map(|k| Cell::Number((i * findings + k) as f64, 1)))
            .collect(),
            sources: Vec::new(),
        };
        Table {
            name: "t".into(),
            title: "T".into(),
            columns: columns.collect(),
            rows: (0..rows).map(row).collect(),
        }
    }

    #[test]
    fn a_wide_table_is_cut_into_parts_of_a_page_and_loses_no_value() {
        let text = table(3, 12).to_markdown();
        assert!(text.lines().all(|line| line.chars().count() <= super::PAGE), "{text}");
        assert!(
            text.contains("| in every row | value |\n|---|---|\n| engine | vLLM |\n"),
            "{text}"
        );
        assert!(text.contains("| row | run | seed |\n"), "{text}");
        for value in 0..36 {
            assert!(text.contains(&format!(" {value}.0 |")), "{value} is lost: {text}");
        }
    }

    #[test]
    fn a_single_row_is_a_list_and_a_narrow_table_stays_one() {
        let list = table(1, 12).to_markdown();
        assert!(list.contains("| column | value |") && list.contains("| seed | 0 |"), "{list}");
        assert!(list.lines().all(|line| line.chars().count() <= super::PAGE), "{list}");
        let text = table(2, 1).to_markdown();
        assert_eq!(text.lines().filter(|line| line.starts_with("|---")).count(), 1, "{text}");
        assert!(
            text.starts_with("**T**\n\n| run | seed | engine | backlog slope (sessions/s) |\n")
        );
    }
}
