//! A registered test is one file: nothing else lists the tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use trapcheck::analysis::spec::TableKind;
use trapcheck::rule::test::Test;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The source files under a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let files = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter();
    let files = files.map(|entry| entry.unwrap().into_path());
    files.filter(|path| path.extension().is_some_and(|e| e == "rs")).collect()
}

/// The kinds by the names of their variants, from the one list.
fn kinds() -> BTreeMap<String, String> {
    let text = fs::read_to_string(root().join("crates/runs/src/rule/test.rs")).unwrap();
    let list = text.split("\nregistered_tests! {").nth(1).unwrap().split("\n}").next().unwrap();
    let lines = list.lines().map(str::trim).filter(|line| line.ends_with("),"));
    let kind = |name: &str| {
        let capital = |(i, c): (usize, char)| match c.is_uppercase() {
            true if i > 0 => format!("_{}", c.to_lowercase()),
            _ => c.to_lowercase().to_string(),
        };
        name.chars().enumerate().map(capital).collect()
    };
    let names = lines.map(|line| line.split('(').next().unwrap());
    names.map(|name| (name.to_owned(), kind(name))).collect()
}

#[test]
fn every_kind_of_test_has_a_file_of_its_own_that_implements_it() {
    let rule = root().join("crates/runs/src/rule");
    let implements = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        text.matches("impl RegisteredTest for ").count()
    };
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for path in sources(&root().join("crates")).iter().chain(&sources(&root().join("src"))) {
        if implements(path) > 0 {
            assert_eq!(path.parent().unwrap(), rule, "{path:?}");
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            found.insert(stem, implements(path));
        }
    }
    let expected: BTreeMap<String, usize> = kinds().into_values().map(|kind| (kind, 1)).collect();
    assert!(expected.len() > 10, "{expected:?}");
    assert_eq!(found, expected);
}

#[test]
fn every_registration_is_of_a_listed_kind_and_no_other_file_tells_kinds_apart() {
    let configs = trapcheck::configs::load(&root().join("configs")).unwrap();
    for (name, file) in &configs.registrations {
        let kind = serde_json::to_value(&file.registration.test).unwrap()["kind"].clone();
        let kind = kind.as_str().unwrap().replace('-', "_");
        assert!(kinds().values().any(|listed| *listed == kind), "{name}: {kind}");
    }
    // A match on the enum would name a variant by its path.
    let mut elsewhere = Vec::new();
    for folder in ["src", "crates"] {
        for path in sources(&root().join(folder)) {
            let text = fs::read_to_string(&path).unwrap();
            let named = |variant: &&String| {
                text.contains(&format!(" Test::{variant}("))
                    || text.contains(&format!("(Test::{variant}("))
            };
            elsewhere.extend(kinds().keys().filter(named).map(|v| format!("{path:?}: {v}")));
        }
    }
    assert_eq!(elsewhere, Vec::<String>::new());
}

#[test]
fn the_tables_that_a_test_names_are_tables_and_no_two_kinds_have_the_same_words() {
    let configs = trapcheck::configs::load(&root().join("configs")).unwrap();
    let mut words = BTreeMap::new();
    for file in configs.registrations.values() {
        let test: &Test = &file.registration.test;
        for table in test.tables() {
            let kind = serde_json::from_value::<TableKind>((*table).into());
            assert!(kind.is_ok(), "{}: {table}", test.words());
        }
        let kind = std::mem::discriminant(test);
        assert_eq!(*words.entry(test.words()).or_insert(kind), kind, "{}", test.words());
    }
    assert!(words.len() > 8, "{words:?}");
}
