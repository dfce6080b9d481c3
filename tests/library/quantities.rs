//! The paper's quantities: each is found by one search for its name, at its definition.

use std::fs;
use std::path::Path;

use walkdir::WalkDir;

/// Each is set in *italics* in the first line of what is said at its definition, and nowhere
/// else.
const DEFINED: [&str; 11] = [
    "Perron root",
    "youth premium",
    "onset",
    "predicted half-hit crossing",
    "half-hit crossing",
    "gap slope",
    "R_M",
    "mechanism clause",
    "cap",
    "drain",
    "rescue release",
];

/// What a line of documentation must stand above, its other lines and attributes skipped.
const ITEMS: [&str; 5] = ["pub fn ", "fn ", "pub struct ", "pub const ", "pub "];

#[test]
fn every_quantity_of_the_paper_is_found_by_one_search_at_its_definition() {
    let mut definitions = vec![Vec::new(); DEFINED.len()];
    for folder in ["src", "crates"] {
        for entry in WalkDir::new(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)) {
            let path = entry.unwrap().into_path();
            if path.extension().is_none_or(|ending| ending != "rs") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
            for (found, name) in definitions.iter_mut().zip(DEFINED) {
                let term = format!("*{name}*");
                let holding = (0..lines.len()).filter(|i| lines[*i].contains(&term));
                found.extend(holding.map(|i| (path.clone(), i + 1, defines(&lines[i..]))));
            }
        }
    }
    for (found, name) in definitions.iter().zip(DEFINED) {
        assert!(matches!(found.as_slice(), [(.., true)]), "{name}: {found:?}");
    }
}

/// Whether these lines begin with documentation and go on with an item.
fn defines(lines: &[&str]) -> bool {
    let above = |line: &&&str| line.starts_with("///") || line.starts_with("#[");
    let item = lines.iter().find(|line| !above(line));
    lines[0].starts_with("///") && item.is_some_and(|l| ITEMS.iter().any(|w| l.starts_with(w)))
}
