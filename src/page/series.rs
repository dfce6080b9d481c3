//! A run over time: its binned series, and what happened when.

use serde_json::{Map, Value, json};

use crate::digits;
use crate::judged::ScoredRun;
use crate::judged::moments::moments;
use crate::measure::bins::Series;
use crate::setup::Configs;

/// Digits of a number of a series, as in the figures' csv.
const DIGITS: usize = 6;

/// A number rounded to the digits of a series.
pub fn rounded(x: f64) -> Value {
    Value::from(digits::rounded(x, DIGITS))
}

/// Every series that a run has.
pub fn series(run: &ScoredRun) -> Value {
    let Series {
        hits,
        follow_up_hits,
        backlog,
        outstanding,
        held,
        uncached_tokens_per_s,
        gap_median_s,
        turnover_s,
        completions,
        gate,
    } = &run.measures.series;
    let mut all = Map::new();
    let mut add = |name: &str, points: Vec<(f64, Option<f64>)>| {
        if !points.is_empty() {
            all.insert(name.to_owned(), over_time(&points));
        }
    };
    add("hits", hits.iter().map(|(t, share)| (*t, share.value())).collect());
    add("follow_up_hits", follow_up_hits.iter().map(|(t, s)| (*t, s.value())).collect());
    for (name, points) in [("backlog", backlog), ("outstanding", outstanding), ("held", held)] {
        add(name, points.iter().map(|(t, n)| (*t, Some(*n))).collect());
    }
    add("uncached_tokens_per_s", uncached_tokens_per_s.clone());
    add("gap_median_s", gap_median_s.clone());
    add("turnover_s", turnover_s.clone());
    add("completions", completions.iter().map(|(t, n)| (*t, Some(*n as f64))).collect());
    if !gate.is_empty() {
        let count = |i: usize| gate.iter().map(|(_, counts)| counts[i]).collect::<Vec<_>>();
        let times: Vec<Value> = gate.iter().map(|(t, _)| rounded(*t)).collect();
        let counts = json!({
            "t_s": times, "admitted": count(0), "waiting": count(1), "paused": count(2),
        });
        all.insert("gate".to_owned(), counts);
    }
    all.into()
}

fn over_time(points: &[(f64, Option<f64>)]) -> Value {
    let times: Vec<Value> = points.iter().map(|(t, _)| rounded(*t)).collect();
    let values: Vec<Value> =
        points.iter().map(|(_, value)| value.map_or(Value::Null, rounded)).collect();
    json!({"t_s": times, "value": values})
}

/// What happened in a run, in order of time.
pub fn events(run: &ScoredRun, configs: &Configs) -> Value {
    let all = moments(run, configs).into_iter();
    all.map(|(t, what)| json!({"t_s": rounded(t), "what": what})).collect()
}
