//! docs/configs.md: each example is loaded by the reader that the program uses, and each
//! field of each committed configuration is explained there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;
use trapcheck::analysis::Analysis;
use trapcheck::analysis::batches::Batches;
use trapcheck::analysis::spec::{Draw, TableKind};
use trapcheck::setup::registration::Test;
use trapcheck::setup::registration::inputs::FillInputs;
use trapcheck::setup::{ArmSpec, Campaign, Costs, Speed, ToolTime, TurnLaw};

use crate::project::root;

fn page() -> String {
    fs::read_to_string(root().join("docs/configs.md")).unwrap()
}

/// The examples, by the file that each is said to be.
fn examples() -> BTreeMap<String, String> {
    let page = page();
    let blocks = page.split("```yaml\n# file: ").skip(1);
    blocks
        .map(|block| {
            let (block, _) = block.split_once("\n```").unwrap();
            let (file, text) = block.split_once('\n').unwrap();
            (file.to_owned(), format!("{text}\n"))
        })
        .collect()
}

/// The examples as a project of their own, one of them perhaps with a line more.
fn project(extra: Option<(&str, &str)>) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (file, mut text) in examples() {
        if let Some((_, line)) = extra.filter(|(to, _)| *to == file) {
            text += line;
        }
        let path = dir.path().join(&file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

/// Reads a project of examples as the program does; the first error.
fn load(dir: &Path) -> Result<(), String> {
    let words = |e: &dyn std::error::Error| e.to_string();
    let configs = trapcheck::configs::load(&dir.join("configs")).map_err(|e| words(&e))?;
    let campaign =
        trapcheck::configs::read(&dir.join("configs/campaigns/my-campaign.yaml"), Campaign::parse);
    let tests = campaign.map_err(|e| words(&e))?.tests;
    if let Some(test) = tests.iter().find(|test| !configs.cells.contains_key(&test.cell)) {
        return Err(format!("test {}: no cell is called {}", test.test, test.cell));
    }
    Analysis::load(&dir.join("analysis/my-analysis.yaml")).map_err(|e| words(&e))?;
    trapcheck::configs::read(&dir.join("configs/fill/my-cell.yaml"), FillInputs::parse)
        .map_err(|e| words(&e))?;
    Batches::load(&dir.join("configs/batches.yaml")).map_err(|e| words(&e))?;
    Ok(())
}

#[test]
fn every_example_is_read_by_its_own_reader() {
    assert_eq!(examples().len(), 9, "{:?}", examples().keys());
    assert_eq!(load(project(None).path()), Ok(()));
}

#[test]
fn an_unknown_field_in_any_example_is_an_error_that_names_it() {
    for file in examples().keys() {
        let error = load(project(Some((file, "surprise: 1\n"))).path()).unwrap_err();
        assert!(error.contains("surprise") && error.contains(file), "{file}: {error}");
    }
}

/// The names of all fields in a value, but for those below maps whose keys are the user's own
/// and below what a fill writes.
fn fields(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(entries) => {
            for (name, inner) in entries {
                found.insert(name.clone());
                // The keys under these are names or seeds, and no fields.
                let named = ["sources", "token_cost_factor", "filled", "sessions"];
                if !named.contains(&name.as_str()) {
                    fields(inner, found);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| fields(item, found)),
        _ => {}
    }
}

#[test]
fn every_field_of_a_committed_configuration_is_explained() {
    let page = page();
    let mut found = BTreeSet::new();
    let folders = ["cells", "workloads", "protocols", "registrations", "campaigns", "fill"];
    let folders = folders.map(|folder| root().join("configs").join(folder));
    let files = folders
        .into_iter()
        .chain([root().join("analysis")])
        .flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    let files = files.chain([root().join("configs/batches.yaml")]);
    // The ledger's bindings lie in analysis/ and are no analysis.
    let files = files.filter(|path| path.is_file());
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        fields(&serde_yaml::from_str(&text).unwrap(), &mut found);
    }
    assert!(found.len() > 150, "{}", found.len());
    let explained = |field: &String| {
        [format!("`{field}`"), format!(".{field}`"), format!("`{field}: ")]
            .iter()
            .any(|form| page.contains(form))
    };
    let missing: Vec<&String> = found.iter().filter(|field| !explained(field)).collect();
    assert!(missing.is_empty(), "docs/configs.md does not explain {missing:?}");
}

/// The words that a type knows, from its own answer to one it does not.
fn known<T: serde::de::DeserializeOwned>(text: &str) -> Vec<String> {
    let Err(error) = serde_yaml::from_str::<T>(text) else { panic!("{text} was read") };
    let error = error.to_string();
    let quoted: Vec<String> = error.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    assert!(quoted.first().is_some_and(|asked| asked == "surprise"), "{error}");
    assert!(quoted.len() > 2, "{error}");
    quoted[1..].to_vec()
}

#[test]
fn every_kind_of_test_arm_law_cost_table_and_figure_is_listed() {
    let page = page();
    let kinds = [
        ("`", known::<TableKind>("surprise")),
        ("`", known::<Draw>("kind: surprise")),
        ("`", known::<Test>("kind: surprise")),
        ("`", known::<ArmSpec>("arm: surprise")),
        ("`kind: ", known::<Costs>("kind: surprise")),
        ("`law: ", known::<TurnLaw>("law: surprise")),
        ("`law: ", known::<ToolTime>("law: surprise")),
        ("from: ", known::<Speed>("from: surprise")),
    ];
    for (before, name) in kinds.iter().flat_map(|(b, names)| names.iter().map(move |n| (b, n))) {
        let said = [format!("{before}{name}`"), format!("{before}{name}}}`")];
        assert!(said.iter().any(|form| page.contains(form)), "docs/configs.md lacks {name}");
    }
}
