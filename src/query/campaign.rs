//! What a run is for: its test and treatment, as the campaign's folders name them.

use std::collections::BTreeMap;

use crate::table::{Cell, Col, Heading, Row, Table};

/// A table about runs with two more columns: `test`, the batch of the campaign that a run
/// belongs to, and `treatment`, what was done in it (`burst50`, `shed600`, `noburst`).
/// `names` says what pulls are called in the campaign. Other tables stay as they are.
pub fn with_tests(table: Table, names: &BTreeMap<String, String>) -> Table {
    let has = |name: &str| table.place(name).is_some();
    let Some(run) = table.place("run").filter(|_| !has("test") && !has("treatment")) else {
        return table;
    };
    let path = |row: &Row| {
        let own = row.cells[run].print();
        names.get(&own).cloned().unwrap_or(own)
    };
    let paths: Vec<String> = table.rows.iter().map(path).collect();
    let columns: &[Col<Named<'_>>] = &[
        Heading("test", "", "Batch of the campaign that the run belongs to")
            .key(|of| Cell::text(of.test.unwrap_or_default())),
        Heading("treatment", "", "What was done in the run: its arm, with its dose")
            .key(|of| Cell::text(of.treatment.unwrap_or_default())),
    ];
    table.beside(columns, paths.iter().map(|path| Named::of(path)))
}

/// The parts of a campaign's path: `results/sim/TEST/agentload_ARM/TEST_CELL_TREATMENT_xRATE_sSEED`.
struct Named<'a> {
    test: Option<&'a str>,
    treatment: Option<&'a str>,
}

impl<'a> Named<'a> {
    fn of(path: &'a str) -> Self {
        let mut from_the_end = path.rsplit('/');
        let (run, arm, test) = (from_the_end.next(), from_the_end.next(), from_the_end.next());
        let is_campaign = arm.is_some_and(|arm| arm.starts_with("agentload_"));
        let own = test.filter(|_| is_campaign).and_then(|test| {
            let rest = run?.strip_prefix(test)?.strip_prefix('_')?;
            Some((test, rest))
        });
        let Some((test, rest)) = own else { return Self { test: None, treatment: None } };
        Self { test: Some(test), treatment: rest.split('_').nth(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The added cells of a run, in words.
    fn added(run: &str, names: &[(&str, &str)]) -> [String; 2] {
        let columns: &[Col<&str>] = &[Heading("run", "", "").key(|of| Cell::text(*of))];
        let table = Table::of("t", "t", columns, [run], |of| (of.to_string(), Vec::new()));
        let names = names.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
        let table = with_tests(table, &names);
        [table.rows[0].cells[1].print(), table.rows[0].cells[2].print()]
    }

    #[test]
    fn the_campaign_names_test_and_treatment_of_a_run() {
        let run = "results/sim/basin-2/agentload_burst/basin-2_sglang-300k_burst50_x1.65_s0";
        assert_eq!(added(run, &[]), ["basin-2", "burst50"]);
        let run = "simulated/stage-c/agentload_closed/stage-c_h200-300k_closed-n16_s0";
        assert_eq!(added(run, &[]), ["stage-c", "closed-n16"]);
    }

    #[test]
    fn a_pull_has_the_test_that_the_campaign_finds_for_it() {
        let pull = "results/nova/e2_pulled/agentload_burst/20261025_x1.35_s0";
        let name = "results/sim/paired/agentload_burst/paired_vllm-300k_burst_x1.35_s0";
        assert_eq!(added(pull, &[(pull, name)]), ["paired", "burst"]);
        assert_eq!(added(pull, &[]), ["", ""]);
    }
}
