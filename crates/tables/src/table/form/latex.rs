//! A table as LaTeX.

use super::super::{Cell, Table};

impl Table {
    /// The table as a LaTeX `tabular` with the rules of booktabs; numbers to the right, the
    /// units in a second heading line.
    pub fn to_latex(&self) -> String {
        let number = |c: &Cell| match c {
            Cell::Number(..) | Cell::Count(_) => true,
            Cell::Text(text) => text.parse::<f64>().is_ok(),
            Cell::Range(_) | Cell::Unknown | Cell::Empty => false,
        };
        let numeric = |i: usize| self.rows.iter().filter_map(|row| row.cells.get(i)).any(number);
        let spec: String =
            (0..self.columns.len()).map(|i| if numeric(i) { 'r' } else { 'l' }).collect();
        let line = |fields: Vec<String>| format!("{} \\\\\n", fields.join(" & "));
        let names = self.columns.iter().map(|c| words(&c.name.replace('_', " ")));
        let mut out = format!(
            "% {}\n% \\usepackage{{booktabs}}\n\\begin{{tabular}}{{{spec}}}\n\\toprule\n{}",
            self.title.replace('\n', " "),
            line(names.collect())
        );
        if self.columns.iter().any(|c| !c.unit.is_empty()) {
            out += &line(self.columns.iter().map(|c| words(&c.unit)).collect());
        }
        out += "\\midrule\n";
        for row in &self.rows {
            out += &line(row.cells.iter().map(|cell| words(&cell.print())).collect());
        }
        out + "\\bottomrule\n\\end{tabular}\n"
    }
}

/// Whether the hyphen at a place is a number's sign.
fn before_digit(text: &str, at: usize) -> bool {
    let begins = at == 0 || text[..at].ends_with(' ');
    begins && text[at + 1..].starts_with(|c: char| c.is_ascii_digit())
}

/// Words as LaTeX prints them.
fn words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '-' if before_digit(text, at) => out.push_str("$-$"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            c => out.push(c),
        }
    }
    out
}
