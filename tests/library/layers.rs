//! Layers: no module uses one above it, and what is pure stays pure.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Per package, its modules from the lowest up. Between packages Cargo sees to it.
const ORDER: [(&str, &[&str]); 8] = [
    (
        "crates/setup",
        &[
            "limits",
            "digits",
            "decimal",
            "hash",
            "escape",
            "nearest",
            "name",
            "parse_message",
            "setup",
        ],
    ),
    ("crates/model", &["model"]),
    ("crates/runs", &["run", "measure", "rule", "configs", "law"]),
    ("crates/simulator", &["plan", "client", "sim"]),
    ("crates/tables", &["table"]),
    ("crates/drawing", &["figure"]),
    (
        "crates/drive",
        &[
            "fault",
            "lag",
            "machine",
            "progress",
            "address",
            "prompts",
            "lines",
            "dialect",
            "metrics",
            "http",
            "engine",
            "preflight",
            "record",
            "driver",
            "meta",
            "make",
        ],
    ),
    (
        ".",
        &[
            "reading",
            "files",
            "configs",
            "directory",
            "campaign",
            "fidelity",
            "rendering",
            "provenance",
            "slurm",
            "judged",
            "replay",
            "published",
            "table",
            "analysis",
            "numbers",
            "query",
            "cli",
        ],
    ),
];

/// The packages that touch files, the network or the clock. All others are pure.
const IMPURE_PACKAGES: [&str; 2] = [".", "crates/drive"];

/// What a pure package does not depend on; its tests may.
const HEAVY: [&str; 11] = [
    "polars",
    "zstd",
    "flate2",
    "clap",
    "rayon",
    "walkdir",
    "indicatif",
    "resvg",
    "tokio",
    "hyper",
    "trapcheck ",
];

/// How code reaches files, threads, other programs or the network.
const IMPURE: [&str; 10] = [
    "std::fs",
    "std::thread",
    "std::net",
    "std::process",
    "std::env",
    "fs::read",
    ".exists()",
    ".is_file()",
    ".is_dir()",
    ".canonicalize()",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The source files under a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let files = files.into_iter().filter(|path| path.extension().is_some_and(|e| e == "rs"));
    files.chain(folders.iter().flat_map(|folder| sources(folder))).collect()
}

/// The code of a file, without its comments and its tests.
fn code(path: &Path) -> String {
    if ["tests.rs", "testing.rs"].iter().any(|name| path.ends_with(name))
        || path.components().any(|part| part.as_os_str() == "tests")
    {
        return String::new();
    }
    let text = fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The modules of its own package that a piece of code names by their full path.
fn named(code: &str) -> BTreeSet<&str> {
    let word = |text: &'_ str| text.find(|c: char| !c.is_alphanumeric() && c != '_');
    let first = |text| -> &str { word(text).map_or(text, |end| &text[..end]) };
    let mut names = BTreeSet::new();
    for path in code.split("crate::").skip(1) {
        match path.strip_prefix('{').and_then(|rest| rest.split_once(';')) {
            Some((group, _)) => names.extend(group.split([',', '{']).map(|p| first(p.trim()))),
            None => drop(names.insert(first(path))),
        }
    }
    names
}

#[test]
fn no_module_uses_one_above_it() {
    let mut upward = Vec::new();
    for (package, order) in ORDER {
        let src = root().join(package).join("src");
        let above = |place: usize| order[place + 1..].iter().copied().collect::<BTreeSet<_>>();
        for file in sources(&src) {
            let inside = file.strip_prefix(&src).unwrap().with_extension("");
            let module = inside.components().next().unwrap().as_os_str().to_string_lossy();
            if ["lib", "main"].contains(&&*module) {
                continue;
            }
            let place = order.iter().position(|name| *name == module);
            let place =
                place.unwrap_or_else(|| panic!("{package}: {module} has no place in ORDER"));
            let code = code(&file);
            let uses = named(&code);
            upward.extend(uses.intersection(&above(place)).map(|m| format!("{inside:?} uses {m}")));
        }
    }
    assert_eq!(upward, Vec::<String>::new());
}

#[test]
fn a_pure_package_touches_no_file_and_starts_no_thread() {
    let mut impure = Vec::new();
    for (package, _) in ORDER.iter().filter(|(package, _)| !IMPURE_PACKAGES.contains(package)) {
        let manifest = fs::read_to_string(root().join(package).join("Cargo.toml")).unwrap();
        let depends = manifest.split("[dependencies]").nth(1).unwrap();
        let depends = depends.split("\n[").next().unwrap();
        let heavy = HEAVY.iter().filter(|name| depends.lines().any(|d| d.starts_with(*name)));
        impure.extend(heavy.map(|name| format!("{package} depends on {name}")));
        for file in sources(&root().join(package).join("src")) {
            let code = code(&file);
            let calls = IMPURE.iter().filter(|call| code.contains(*call));
            impure.extend(calls.map(|call| format!("{}: {call}", file.display())));
        }
    }
    assert_eq!(impure, Vec::<String>::new());
}
