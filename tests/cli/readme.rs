//! The README and the pages in docs/ show what is so: each console block is run, and the
//! README's counts are those of the ledger.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::project::root;

#[test]
fn every_console_block_is_what_the_program_prints() {
    trycmd::TestCases::new().case("README.md").case("docs/*.md");
}

#[test]
fn every_link_of_a_page_leads_to_a_file() {
    let pages = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let others =
        ["README.md", "CONTRIBUTING.md", "results/sim/README.md", "results/nova/README.md"];
    let mut seen = 0;
    for page in pages.chain(others.map(|name| root().join(name))) {
        let text = fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap();
            if !file.is_empty() && !file.contains("://") {
                assert!(page.parent().unwrap().join(file).exists(), "{}: {link}", page.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn the_readme_counts_the_papers_numbers_as_the_ledger_does() {
    let text = fs::read_to_string(root().join("paper/numbers.json")).unwrap();
    let numbers: Value = serde_json::from_str(&text).unwrap();
    let table = standing(numbers["ledger"].as_array().unwrap());
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains(&table), "README.md has to hold this table:\n{table}");
}

/// How the published numbers stand, by what ours rests on.
fn standing(ledger: &[Value]) -> String {
    const STATUS: [&str; 7] = [
        "differs",
        "consistent",
        "uninformative",
        "by construction",
        "reproduced",
        "needs nova",
        "not computed",
    ];
    const RESTS_ON: [&str; 3] = ["a model", "settings", "simulated runs"];
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for entry in ledger {
        let status = entry["status"].as_str().unwrap();
        assert!(STATUS.contains(&status), "a status that the README does not explain: {status}");
        let basis = entry["basis"].as_str().unwrap();
        let rests_on = match basis {
            "" => "nothing",
            _ if basis.contains("engine") => panic!("{basis}: the README says: no engine's runs"),
            _ if basis.contains("simulated") => "simulated runs",
            _ if basis.contains("model") || basis.contains("inferred") => "a model",
            _ => "settings",
        };
        *counts.entry((status, rests_on)).or_default() += 1;
        *counts.entry((status, "")).or_default() += 1;
    }
    let mut table = format!("| status | of {} | {} |\n|---|---|---|---|---|\n", ledger.len(), {
        RESTS_ON.map(|what| format!("by {what}")).join(" | ")
    });
    for status in STATUS {
        let count = |what| counts.get(&(status, what)).copied().unwrap_or(0);
        let by: Vec<String> = RESTS_ON.iter().map(|what| count(what).to_string()).collect();
        table += &format!("| {status} | {} | {} |\n", count(""), by.join(" | "));
    }
    table
}
