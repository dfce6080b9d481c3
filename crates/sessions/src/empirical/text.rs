//! The file of a workload of quantiles, as people read it: a table a line.

use std::fmt::Write as _;

use super::{Changed, Empirical, Quantiles};
use crate::digits::fixed;

impl Empirical {
    /// Its file: YAML, with `comment` above it. Tokens are whole.
    pub fn to_yaml(&self, comment: &str) -> String {
        let mut text = String::new();
        comment.lines().for_each(|line| push(&mut text, format_args!("# {line}\n")));
        let quoted = |words: &str| serde_json::Value::from(words).to_string();
        push(&mut text, format_args!("name: {}\nkind: empirical\n", quoted(&self.name)));
        push(&mut text, format_args!("source: {}\n", quoted(&self.source)));
        if let Some(limit) = self.gap_limit_s {
            push(&mut text, format_args!("gap_limit_s: {limit}\n"));
        }
        push(&mut text, format_args!("block_tokens: {}\n", self.block_tokens));
        let levels: Vec<String> = self.levels.iter().map(f64::to_string).collect();
        push(&mut text, format_args!("levels: [{}]\n", levels.join(", ")));
        push(&mut text, format_args!("turns: {}\n", flow(&self.turns, 2)));
        text.push_str("first_prompts:\n");
        for band in &self.first_prompts {
            push(&mut text, format_args!("  - from_turns: {}\n", band.from_turns));
            push(&mut text, format_args!("    tokens: {}\n", flow(&band.tokens, 0)));
        }
        text.push_str("by_turn:\n");
        for band in &self.by_turn {
            push(&mut text, format_args!("  - from_turn: {}\n", band.from_turn));
            if let Some(new) = &band.new_tokens {
                push(&mut text, format_args!("    new_tokens: {}\n", flow(new, 0)));
            }
            let output = flow(&band.output_tokens, 0);
            push(&mut text, format_args!("    output_tokens: {output}\n"));
            if let Some(gap) = &band.gap_s {
                push(&mut text, format_args!("    gap_s: {}\n", flow(gap, 3)));
            }
        }
        text.push_str("changed_second:\n");
        changed(&mut text, "  ", &self.changed_second);
        text.push_str("changed_later:\n");
        for band in &self.changed_later {
            push(&mut text, format_args!("  - from_tokens: {}\n    changed:\n", band.from_tokens));
            changed(&mut text, "      ", &band.changed);
        }
        text
    }
}

fn changed(text: &mut String, indent: &str, changed: &Changed) {
    push(text, format_args!("{indent}share: {}\n", fixed(changed.share, 5)));
    for (name, table) in
        [("kept_tokens", &changed.kept_tokens), ("prompt_tokens", &changed.prompt_tokens)]
    {
        if let Some(table) = table {
            push(text, format_args!("{indent}{name}: {}\n", flow(table, 0)));
        }
    }
}

/// A table on one line. All in it is rounded alike, so that the mean stays within.
fn flow(table: &Quantiles, digits: usize) -> String {
    let at: Vec<String> = table.at.iter().map(|x| fixed(*x, digits)).collect();
    format!("{{ mean: {}, at: [{}] }}", fixed(table.mean, digits), at.join(", "))
}

fn push(text: &mut String, what: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = text.write_fmt(what);
}
