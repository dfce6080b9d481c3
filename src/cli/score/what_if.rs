//! The part of `trapcheck score` that answers what if: `--rule FILE` and `--set NAME=VALUE`.

use std::collections::BTreeMap;

use serde_json::json;

use trapcheck::judged::ScoredRun;
use trapcheck::judged::what_if::{Answer, RunWhatIf};
use trapcheck::rule::PairedVerdict;
use trapcheck::rule::json::state as state_as_json;
use trapcheck::table::{Cell, Col, Heading, fixed};

use super::text::{because, in_reading_order, state_word};
use crate::cli::output::{self, Width};
use crate::cli::runs::short_name;

/// Reads `NAME=VALUE`.
pub fn threshold(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, as slope_factor=1")?;
    let number = value.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    let number = number.ok_or_else(|| format!("expected a number after =, found {value}"))?;
    Ok((name.trim().to_owned(), number))
}

/// A run, before and after.
const RUNS: &[Col<RunWhatIf>] = &[
    Heading("arm", "", "Its arm").key(|of| Cell::text(of.run.meta.arm.word())),
    Heading("rate", "", "Its rate over lambda_ref")
        .key(|of| Cell::optional(of.run.meta.rate.multiple, 2)),
    Heading("seed", "", "The seed of its plan").key(|of| Cell::Count(of.run.meta.seed)),
    Heading("before", "", "State by what judges").new(|of| state_word(&of.run)),
    Heading("what if", "", "State by the rule asked for")
        .new(|of| Cell::text(of.after.state.word())),
    Heading("decided by", "", "The clause that then decides")
        .new(|of| Cell::text(because(&of.after))),
    Heading("run", "", "Its directory").new(|of| Cell::text(short_name(&of.run.dir))),
];

/// The states and the verdicts, before and after.
pub fn as_text(answer: &Answer, width: Width) -> String {
    let ordered = in_reading_order(answer.runs.iter().map(|asked| &asked.run));
    let asked_of = |run: &ScoredRun| answer.runs.iter().find(|asked| asked.run.dir == run.dir);
    let rows: Vec<&RunWhatIf> = ordered.into_iter().filter_map(asked_of).collect();
    let changed = answer.runs.iter().filter(|run| run.changes()).count();
    let mut out = format!(
        "\nWHAT IF {}? Beside what judges above; it decides nothing\n{}{changed} of {} runs change\n",
        answer.asked.words(),
        output::rows(RUNS, rows, width),
        answer.runs.len()
    );
    for rate in &answer.rates {
        let judge = rate.before.as_ref().map_or(String::new(), |(name, _)| format!(" by {name}"));
        out += &format!(
            "{} rate {}: {}{judge}, what if: {}\n",
            rate.cell,
            fixed(rate.multiple, 2),
            in_words(rate.before.as_ref()),
            in_words(rate.after.as_ref())
        );
    }
    out
}

fn in_words(side: Option<&(String, PairedVerdict)>) -> String {
    side.map_or("no verdict".into(), |(_, rate)| {
        format!("{} ({} of {} seeds)", rate.verdict.words(), rate.met, rate.judged)
    })
}

/// The same with every clause.
pub fn as_json(answer: &Answer) -> serde_json::Value {
    let side = |side: &Option<(String, PairedVerdict)>| {
        side.as_ref().map(|(name, rate)| {
            json!({"registration": name, "verdict": rate.verdict.words(),
                   "seeds_met": rate.met, "seeds_judged": rate.judged})
        })
    };
    let runs = answer.runs.iter().map(|asked| {
        json!({
            "run": asked.run.dir.display().to_string(),
            "before": asked.run.state.as_ref().map(state_as_json),
            "what_if": state_as_json(&asked.after),
            "changes": asked.changes(),
        })
    });
    let rates = answer.rates.iter().map(|rate| {
        json!({"cell": rate.cell, "rate_multiple": rate.multiple,
               "before": side(&rate.before), "what_if": side(&rate.after)})
    });
    let asked = &answer.asked;
    json!({
        "asked": asked.words(),
        "rule": asked.rule.as_ref().map(|file| file.path.display().to_string()),
        "set": asked.set.iter().cloned().collect::<BTreeMap<_, _>>(),
        "decisive": false,
        "runs": runs.collect::<Vec<_>>(),
        "paired": rates.collect::<Vec<_>>(),
    })
}
