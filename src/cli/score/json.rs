//! The answer of `trapcheck score` for machines.

use serde_json::json;

use crate::cli::output;
use crate::judged::score::Scoring;
use crate::judged::what_if::Answer;
use crate::rule;
use crate::table::Table;

/// The answer with every clause behind a state.
pub fn as_json(
    scoring: &Scoring,
    tables: &[Table],
    answer: Option<&Answer>,
) -> serde_json::Result<String> {
    let states: Vec<_> = scoring
        .runs
        .iter()
        .filter_map(|run| run.state.as_ref().map(|state| (run, state)))
        .map(|(run, state)| {
            let mut json = rule::json::state(state);
            json["run"] = json!(run.dir.display().to_string());
            json["judged_by"] = json!(run.judged_by);
            json["binding"] = json!(run.judged_in_words());
            json
        })
        .collect();
    let not_judged: Vec<_> = scoring
        .runs
        .iter()
        .filter_map(|run| run.fitting_rules().map(|files| (run, files)))
        .map(|(run, files)| {
            json!({"run": run.dir.display().to_string(), "registrations_that_fit": files})
        })
        .collect();
    let unreadable: Vec<_> = scoring
        .unreadable
        .iter()
        .map(|run| {
            let problems: Vec<_> = run.problems.iter().map(ToString::to_string).collect();
            json!({"run": run.dir.display().to_string(), "problems": problems})
        })
        .collect();
    let parts = [
        ("runs", tables[0].to_json()),
        ("states", states.into()),
        ("trap_check", tables[1].to_json()),
        ("paired", tables[2].to_json()),
        ("not_judged", not_judged.into()),
        ("not_scored", unreadable.into()),
        ("what_if", answer.map(super::what_if::as_json).into()),
    ];
    output::json("score", parts)
}
