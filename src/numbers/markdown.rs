//! `NUMBERS.md`: the manifest for people.

use std::fmt::Write as _;

use super::{Manifest, NumberEntry};

/// Renders the manifest.
pub fn render(manifest: &Manifest) -> String {
    let mut out = String::from(
        "# NUMBERS\n\n\
         Every derived value and figure, with what it was computed from. Made by\n\
         `trapcheck numbers`; `trapcheck numbers --verify` computes everything again and\n\
         compares. Source numbers refer to the list at the end.\n",
    );
    for analysis in &manifest.analyses {
        let _ = write!(
            out,
            "\n## {}\n\n{}\n\nDeclared in and configured by:\n\n",
            analysis.name, analysis.title
        );
        for config in &analysis.configs {
            let _ = writeln!(out, "- `{}` `{}`", config.path.display(), config.sha256);
        }
        if !analysis.not_used.is_empty() {
            out.push_str("\nNamed, but not usable:\n\n");
            for why in &analysis.not_used {
                let _ = writeln!(out, "- {why}");
            }
        }
        outputs(&mut out, manifest, &analysis.name);
        numbers(&mut out, manifest, &analysis.name);
    }
    out.push_str("\n## Sources\n\n| # | file | SHA-256 |\n|---|---|---|\n");
    for (i, source) in manifest.sources.iter().enumerate() {
        let _ = writeln!(out, "| {i} | `{}` | `{}` |", source.path.display(), source.sha256);
    }
    out
}

fn outputs(out: &mut String, manifest: &Manifest, analysis: &str) {
    out.push_str("\n### Files\n\n| file | SHA-256 | sources |\n|---|---|---|\n");
    for output in manifest.outputs.iter().filter(|o| o.analysis == analysis) {
        let _ = writeln!(
            out,
            "| `{}` | `{}` | {} |",
            output.path.display(),
            output.sha256,
            ranges(&output.sources)
        );
    }
}

fn numbers(out: &mut String, manifest: &Manifest, analysis: &str) {
    out.push_str("\n### Values\n\n| id | value | unit | sources |\n|---|---|---|---|\n");
    let of_analysis = |n: &&NumberEntry| n.analysis == analysis;
    for number in manifest.numbers.iter().filter(of_analysis) {
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} |",
            number.id,
            number.value,
            number.unit,
            ranges(&number.sources)
        );
    }
}

/// 3, 4, 5, 9 as `3-5, 9`.
fn ranges(indices: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for &i in indices {
        match parts.last_mut() {
            Some((_, end)) if *end + 1 == i => *end = i,
            _ => parts.push((i, i)),
        }
    }
    let part = |(a, b): &(usize, usize)| if a == b { a.to_string() } else { format!("{a}-{b}") };
    parts.iter().map(part).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn neighbours_are_joined() {
        assert_eq!(ranges(&[3, 4, 5, 9]), "3-5, 9");
        assert_eq!(ranges(&[]), "");
    }
}
