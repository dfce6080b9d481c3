//! Layers: no module uses one above it, and what is pure stays pure.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Per package, its modules from the lowest up. Between packages Cargo sees to it.
const ORDER: [(&str, &[&str]); 12] = [
    (
        "crates/setup",
        &[
            "limits",
            "digits",
            "decimal",
            "date",
            "hash",
            "escape",
            "nearest",
            "packing",
            "name",
            "parse_message",
            "setup",
        ],
    ),
    ("crates/model", &["model"]),
    (
        "crates/sessions",
        &[
            "cell",
            "session",
            "play",
            "reading",
            "objects",
            "row",
            "table",
            "weka",
            "turn_arrays",
            "rows",
            "spans",
            "trace",
            "sample",
            "description",
            "empirical",
            "workload",
        ],
    ),
    ("crates/runs", &["run", "measure", "rule", "configs", "law", "judged"]),
    ("crates/observed", &["format", "form", "read", "sessions", "answer", "import"]),
    ("crates/simulator", &["plan", "client", "sim", "knee"]),
    ("crates/tables", &["table"]),
    ("crates/drawing", &["figure"]),
    (
        "crates/answers",
        &[
            "refused",
            "print",
            "built_in",
            "facts",
            "lines",
            "trap",
            "drain",
            "curve",
            "burst",
            "rescue",
            "knee",
            "arm",
            "cell",
            "workload",
            "which",
            "engine",
            "search",
            "about_run",
            "runs",
            "trap_check",
            "paired",
            "score",
            "services",
            "observed",
        ],
    ),
    (
        "crates/page",
        &[
            "question",
            "command",
            "reply",
            "dropped",
            "run_files",
            "engines",
            "logs",
            "judge",
            "simulate",
            "theory",
            "knee",
            "lists",
            "answer",
        ],
    ),
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
            "directory",
            "sessions",
            "configs",
            "campaign",
            "fidelity",
            "rendering",
            "provenance",
            "slurm",
            "replay",
            "observed",
            "published",
            "table",
            "analysis",
            "query",
            "numbers",
            "page",
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

/// What a pure package may depend on all the same: gzip is Rust alone, and unpacks bytes.
const PURE_ALL_THE_SAME: [(&str, &str); 1] = [("crates/page", "flate2")];

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

/// The modules that a piece of code names after a prefix such as `crate::`.
fn named<'a>(code: &'a str, prefix: &str) -> BTreeSet<&'a str> {
    let word = |text: &'_ str| text.find(|c: char| !c.is_alphanumeric() && c != '_');
    let first = |text| -> &str { word(text).map_or(text, |end| &text[..end]) };
    let mut names = BTreeSet::new();
    for path in code.split(prefix).skip(1) {
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
            let uses = named(&code, "crate::");
            upward.extend(uses.intersection(&above(place)).map(|m| format!("{inside:?} uses {m}")));
        }
    }
    assert_eq!(upward, Vec::<String>::new());
}

/// Files that lie in a folder and use each other in a circle, or lead to such; none is right.
fn circle(folder: &Path, module: &str) -> BTreeSet<String> {
    let stem = |file: &Path| file.file_stem().unwrap().to_string_lossy().into_owned();
    let all = sources(folder);
    let own = all.iter().filter(|file| file.parent() == Some(folder));
    let stems: BTreeSet<String> = own.map(|file| stem(file)).collect();
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in &all {
        let inside: Vec<_> = file.strip_prefix(folder).unwrap().components().collect();
        let user = stem(Path::new(inside[0].as_os_str()));
        let up = "super::".repeat(inside.len());
        let code = code(file).replace(&format!("crate::{module}::"), &up);
        let named = named(&code, &up).into_iter().map(str::to_owned);
        let of_user = uses.entry(user.clone()).or_default();
        of_user.extend(named.filter(|name| stems.contains(name) && *name != user));
    }
    while let Some(lowest) = uses
        .iter()
        .find(|(_, used)| used.iter().all(|name| !uses.contains_key(name)))
        .map(|(user, _)| user.clone())
    {
        uses.remove(&lowest);
    }
    uses.into_keys().collect()
}

/// The folders inside of a module, each with the path of its module.
fn folders(folder: PathBuf, module: String) -> Vec<(PathBuf, String)> {
    let inside = fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let below = inside.filter(|path| path.is_dir()).flat_map(|path| {
        let module = format!("{module}::{}", path.file_name().unwrap().to_string_lossy());
        folders(path, module)
    });
    let below: Vec<_> = below.collect();
    [vec![(folder, module)], below].concat()
}

#[test]
fn no_files_of_a_module_use_each_other_in_a_circle() {
    for (package, modules) in ORDER {
        for module in modules {
            let folder = root().join(package).join("src").join(module);
            for (folder, module) in folders(folder, (*module).to_owned()) {
                let circle = circle(&folder, &module);
                assert_eq!(circle, BTreeSet::new(), "{package}: {module}");
            }
        }
    }
}

#[test]
fn a_circle_of_files_is_found() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("one.rs"), "use super::two::Two;").unwrap();
    fs::write(dir.path().join("two.rs"), "use crate::of::{one::One, three::Three};").unwrap();
    fs::write(dir.path().join("three.rs"), "").unwrap();
    assert_eq!(circle(dir.path(), "of"), BTreeSet::from(["one".into(), "two".into()]));
}

#[test]
fn a_pure_package_touches_no_file_and_starts_no_thread() {
    let mut impure = Vec::new();
    for (package, _) in ORDER.iter().filter(|(package, _)| !IMPURE_PACKAGES.contains(package)) {
        let manifest = fs::read_to_string(root().join(package).join("Cargo.toml")).unwrap();
        let depends = manifest.split("[dependencies]").nth(1).unwrap();
        let depends = depends.split("\n[").next().unwrap();
        let allowed = |name: &&&str| !PURE_ALL_THE_SAME.contains(&(*package, **name));
        let heavy = HEAVY.iter().filter(allowed);
        let heavy = heavy.filter(|name| depends.lines().any(|d| d.starts_with(*name)));
        impure.extend(heavy.map(|name| format!("{package} depends on {name}")));
        for file in sources(&root().join(package).join("src")) {
            let code = code(&file);
            let calls = IMPURE.iter().filter(|call| code.contains(*call));
            impure.extend(calls.map(|call| format!("{}: {call}", file.display())));
        }
    }
    assert_eq!(impure, Vec::<String>::new());
}
