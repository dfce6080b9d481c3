//! A table for people: columns under headings, numbers to the right, 80 characters wide
//! unless all of it is asked for.
//!
//! The width never depends on the terminal, so that the bytes do not either. Columns are
//! given with the most important first: those that do not fit are left out and named.

use std::fmt::Write as _;

use trapcheck::table::Cell;

/// How wide a table may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Width {
    /// [`PAGE`] characters: long texts are wrapped, paths lose their beginning, columns that
    /// do not fit are left out and named below.
    #[default]
    Page,
    /// Everything on one line.
    All,
}

/// Characters of a line that every terminal shows.
const PAGE: usize = 80;
/// Between two columns.
const GAP: usize = 2;
/// A path may be squeezed to this; a sentence too, but to no less than two thirds of it, and
/// only if then every column fits; a number never is.
const LEAST_TEXT: usize = 24;
/// Otherwise a sentence takes this much, so that it stays on a line or two.
const SENTENCE: usize = 44;
/// What words in a column of numbers may be squeezed to.
const LEAST_WORDS: usize = 12;

/// A column as it will be printed.
struct Strip {
    heading: String,
    cells: Vec<String>,
    numeric: bool,
    /// As wide as its widest cell or word of its heading.
    widest: usize,
    least: usize,
    preferred: usize,
}

/// A plain table.
pub fn grid(headings: &[&str], rows: &[Vec<Cell>], width: Width) -> String {
    let strips: Vec<Strip> =
        headings.iter().enumerate().map(|(i, heading)| Strip::of(heading, rows, i)).collect();
    let natural: usize = strips.iter().map(|s| s.widest.max(longest_line(&s.heading)) + GAP).sum();
    if width == Width::All || natural <= PAGE + GAP {
        let columns: Vec<(&Strip, usize)> =
            strips.iter().map(|s| (s, s.widest.max(longest_line(&s.heading)))).collect();
        return lines(&columns, rows.len());
    }
    let squeezed: usize = strips.iter().map(|s| s.least + GAP).sum();
    let squeeze = squeezed <= PAGE + GAP;
    let (mut fitting, mut left_out, mut used) = (Vec::new(), Vec::new(), 0);
    for strip in &strips {
        let asks = if squeeze { strip.least } else { strip.preferred };
        if used + asks <= PAGE {
            used += asks + GAP;
            fitting.push((strip, asks));
        } else {
            left_out.push(strip.heading.replace('\n', " "));
        }
    }
    let mut spare = (PAGE + GAP).saturating_sub(used);
    for (strip, given) in &mut fitting {
        let more = (strip.widest.max(longest_line(&strip.heading)) - *given).min(spare);
        *given += more;
        spare -= more;
    }
    let mut out = lines(&fitting, rows.len());
    if !left_out.is_empty() && !rows.is_empty() {
        let names = format!("(--wide adds {})", left_out.join(", "));
        wrapped(&names, PAGE).iter().for_each(|line| out += &format!("{line}\n"));
    }
    out
}

impl Strip {
    fn of(heading: &str, rows: &[Vec<Cell>], i: usize) -> Self {
        let of_column = || rows.iter().filter_map(|row| row.get(i));
        let is_number = |c: &&Cell| matches!(c, Cell::Number(..) | Cell::Count(_));
        let numbers = of_column().filter(is_number).map(|c| length(&c.print())).max();
        let cells: Vec<String> =
            rows.iter().map(|row| row.get(i).map(Cell::print).unwrap_or_default()).collect();
        let word = heading.split_whitespace().map(length).max().unwrap_or_default();
        let widest = cells.iter().map(|cell| length(cell)).max().unwrap_or_default().max(word);
        let squeezed = |to: usize| widest.min(to).max(word);
        let two_thirds = (2 * widest / 3).clamp(LEAST_TEXT, SENTENCE);
        let least = numbers.map_or(squeezed(LEAST_TEXT), |n| squeezed(LEAST_WORDS).max(n));
        let is_sentence = cells.iter().any(|cell| cell.contains(' ')) && numbers.is_none();
        let (least, preferred) = match is_sentence {
            true => (squeezed(two_thirds), squeezed(SENTENCE)),
            false => (least, least),
        };
        let (heading, numeric) = (heading.to_owned(), numbers.is_some());
        Self { heading, cells, numeric, widest, least, preferred }
    }
}

fn lines(columns: &[(&Strip, usize)], rows: usize) -> String {
    let mut out = String::new();
    let headings: Vec<Vec<String>> = columns
        .iter()
        .map(|(strip, width)| strip.heading.lines().flat_map(|l| wrapped(l, *width)).collect())
        .collect();
    block(&mut out, columns, &headings);
    for i in 0..rows {
        let cells: Vec<Vec<String>> =
            columns.iter().map(|(strip, width)| wrapped(&strip.cells[i], *width)).collect();
        block(&mut out, columns, &cells);
    }
    out
}

/// One row: as many lines as its longest cell takes.
fn block(out: &mut String, columns: &[(&Strip, usize)], cells: &[Vec<String>]) {
    let most = cells.iter().map(Vec::len).max().unwrap_or_default().max(1);
    for i in 0..most {
        let mut line = String::new();
        for ((strip, width), cell) in columns.iter().zip(cells) {
            let text = cell.get(i).map_or("", String::as_str);
            let blank = " ".repeat(width.saturating_sub(length(text)));
            let (before, after) =
                if strip.numeric { (blank, String::new()) } else { (String::new(), blank) };
            // Writing to a String cannot fail.
            let _ = write!(line, "{before}{text}{after}{:GAP$}", "");
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

fn longest_line(text: &str) -> usize {
    text.lines().map(length).max().unwrap_or_default()
}

/// A text in lines of at most `width` characters, broken between words; a word that is
/// longer (a path) keeps its end, which tells it from others.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    if length(text) <= width {
        return vec![text.to_owned()];
    }
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = ending(word, width);
        match lines.last_mut() {
            Some(line) if length(line) + 1 + length(&word) <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// The end of a long word, a path from a `/` on if one is left.
fn ending(word: &str, width: usize) -> String {
    let letters = length(word);
    if letters <= width {
        return word.to_owned();
    }
    let skipped = letters - width.saturating_sub(1);
    let end: String = word.chars().skip(skipped).collect();
    let slash = end.find('/').filter(|at| at + 1 < end.len());
    let end = slash.map_or(end.as_str(), |at| &end[at..]);
    format!("…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<Cell>> {
        let row = |state: &str, why: &str, hit: f64, run: &str| {
            vec![Cell::text(state), Cell::text(why), Cell::Number(hit, 3), Cell::text(run)]
        };
        vec![
            row(
                "TRAPPED",
                "tokens/miss 1.1003 in [0.85, 1.15] (+0.0497)",
                0.0,
                "results/campaign/agentload_burst/20261129_x1.5_s0",
            ),
            row("RECOVERED", "hit at end", 0.93, "results/campaign/noburst/20261129_x1.5_s1"),
        ]
    }

    #[test]
    fn what_fits_on_a_page_is_printed_as_it_is() {
        let text =
            grid(&["state", "hit"], &[vec![Cell::text("GOOD"), Cell::Number(0.5, 2)]], Width::Page);
        assert_eq!(text, "state   hit\nGOOD   0.50\n");
    }

    #[test]
    fn a_wide_table_keeps_its_first_columns_and_names_the_others() {
        let headings = ["state", "decided by", "hit", "run"];
        let narrow = grid(&headings, &rows(), Width::Page);
        assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
        assert!(narrow.contains("  …/20261129_x1.5_s0\n"), "{narrow}");
        let wide = grid(&headings, &rows(), Width::All);
        assert!(
            wide.contains("results/campaign/noburst/20261129_x1.5_s1") && !wide.contains("--wide"),
            "{wide}"
        );
        let numbers = vec![Cell::Number(1234.5, 1); 20];
        let headings: Vec<String> = (0..20).map(|i| format!("c{i}")).collect();
        let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
        let narrow = grid(&headings, &[numbers], Width::Page);
        assert!(
            narrow.ends_with("(--wide adds c10, c11, c12, c13, c14, c15, c16, c17, c18, c19)\n"),
            "{narrow}"
        );
    }

    #[test]
    fn a_control_character_moves_no_cursor() {
        let text = grid(&["cell"], &[vec![Cell::text("a\nok\u{1b}[2J")]], Width::Page);
        assert_eq!(text, "cell\na\\nok\\u001b[2J\n");
    }

    #[test]
    fn text_is_wrapped_between_words_and_a_path_keeps_its_end() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("results/vllm-cpu/pull/run_x1.5_s0", 20), ["…/pull/run_x1.5_s0"]);
        assert_eq!(wrapped("0123456789", 5), ["…6789"]);
    }
}
