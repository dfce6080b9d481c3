//! What a page carries of the committed files says what they say.
#![allow(clippy::unwrap_used)] // a test that cannot go on fails

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::configs::{SessionWorkload, kind_of};
use crate::rule::registration::Registration;
use crate::rule::test::CarriedTest;
use crate::setup::yaml::{self, carried};
use crate::setup::{Cell, Protocol, RecordedFile, Workload};
use trapcheck_sessions::empirical::Empirical;

/// The files of a folder.
fn files(folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs").join(folder);
    let paths = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<_> = paths.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect();
    assert!(!files.is_empty());
    files
}

/// A value as a page carries it.
fn as_carried(values: &Value) -> String {
    format!("{}{values}", "0".repeat(64))
}

/// Whether both forms of a file make the same.
fn same<T: DeserializeOwned + PartialEq + Debug>(path: &Path, bytes: &[u8]) {
    let values = serde_yaml::from_slice(bytes).unwrap();
    let here: T = yaml::from_bytes(path, bytes).unwrap();
    let there: T = carried::parse(path, &as_carried(&values)).unwrap();
    assert_eq!(here, there, "{}", path.display());
}

#[test]
fn cells_protocols_and_registrations_are_the_same() {
    files("cells").iter().for_each(|(path, bytes)| same::<Cell>(path, bytes));
    files("protocols").iter().for_each(|(path, bytes)| same::<Protocol>(path, bytes));
    files("registrations").iter().for_each(|(path, bytes)| same::<Registration>(path, bytes));
}

#[test]
fn workloads_are_the_same() {
    for (path, bytes) in files("workloads") {
        match (kind_of(&path, &bytes), SessionWorkload::parse(&path, &bytes)) {
            (None, _) => same::<Workload>(&path, &bytes),
            (_, Ok(SessionWorkload::Recorded(_))) => same::<RecordedFile>(&path, &bytes),
            (_, kind) => {
                assert!(matches!(kind, Ok(SessionWorkload::Empirical(_))), "{kind:?}");
                same::<Empirical>(&path, &bytes);
            }
        }
    }
}

#[test]
fn registered_tests_are_the_same_as_a_page_reads_them() {
    let mut kinds = Vec::new();
    for (path, bytes) in files("registrations") {
        let values: Value = serde_yaml::from_slice(&bytes).unwrap();
        let Some(test) = values.get("test") else { continue };
        let here: Registration = yaml::from_bytes(&path, &bytes).unwrap();
        let there: CarriedTest = carried::parse(&path, &as_carried(test)).unwrap();
        assert_eq!(format!("{:?}", here.test), format!("{there:?}"), "{}", path.display());
        kinds.push(test["kind"].to_string());
    }
    kinds.sort();
    kinds.dedup();
    assert!(kinds.len() > 10, "{kinds:?}");
}
