//! Runs that were scored, as tables and as the JSON of `trapcheck score`.

use serde_json::{Value, json};

use crate::judged::score::Scoring;
use crate::judged::verdict::Verdict;
use crate::rule::json::state as as_json;
use crate::rule::{RunState, State};
use crate::table::Table;
use crate::{paired, runs, trap_check};

/// The runs, the checks of those that are stuck, and the paired test's verdicts.
pub fn tables(scoring: &Scoring, verdicts: &[Verdict]) -> Vec<Table> {
    vec![runs::table(&scoring.runs), trap_check::table(&scoring.runs), paired::table(verdicts)]
}

/// The parts of the answer, with every clause behind a state; `tables` are those of [`tables`].
pub fn parts(scoring: &Scoring, tables: &[Table], what_if: Value) -> Vec<(&'static str, Value)> {
    let states: Vec<_> = scoring
        .runs
        .iter()
        .filter_map(|run| run.state.as_ref().map(|state| (run, state)))
        .map(|(run, state)| {
            let mut json = as_json(state);
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
    vec![
        ("runs", tables[0].to_json()),
        ("states", states.into()),
        ("trap_check", tables[1].to_json()),
        ("paired", tables[2].to_json()),
        ("not_judged", not_judged.into()),
        ("not_scored", unreadable.into()),
        ("what_if", what_if),
    ]
}

/// The deciding clause in words: what was measured, what it needed, how far off.
pub fn because(state: &RunState) -> String {
    if let Some(why) = &state.because {
        return why.clone();
    }
    let Some(clause) = state.deciding() else { return String::new() };
    let verb = match (state.state, clause.holds) {
        (State::Trapped | State::Recovered, _) => "",
        (_, Some(false)) => "not trapped: ",
        _ => "",
    };
    format!("{verb}{}", clause.in_words(short(clause.quantity)))
}

fn short(quantity: &str) -> &str {
    match quantity {
        "uncached token rate / all-miss rate" => "tokens/miss",
        "hit fraction, end of the window" => "hit at end",
        "outstanding, end of the window" => "outstanding at end",
        other => other,
    }
}
