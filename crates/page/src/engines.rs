//! A run over time, as a page draws it.

use serde_json::{Value, json};
use trapcheck_answers::score::because;
use trapcheck_runs::configs::Configs;
use trapcheck_runs::rule::json::clause;

use crate::judged::ScoredRun;
use crate::judged::moments::moments;
use crate::measure::share::Share;
use crate::run::Run;
use crate::setup::{Protocol, Span};

/// Requests that wait in the engine, means of the samples in each bin of a run's backlog; bins
/// between two samples are left out.
pub fn waiting(run: &Run, protocol: &Protocol) -> Vec<(f64, Option<f64>)> {
    let whole = Span::new(0.0, run.meta.duration_s);
    let mean = |bin: Span| {
        let samples = run.engine.iter().filter(|sample| bin.holds(sample.t_s));
        let waiting: Vec<f64> = samples.filter_map(|s| s.waiting.map(|n| n as f64)).collect();
        crate::measure::stats::mean(&waiting)
    };
    let bins = whole.bins(protocol.bins.backlog_s).into_iter();
    bins.map(|bin| (bin.middle_s(), mean(bin))).filter(|(_, waiting)| waiting.is_some()).collect()
}

/// The run, its series and what happened to it.
pub fn engine(run: &ScoredRun, configs: &Configs, waiting: &[(f64, Option<f64>)]) -> Value {
    let series = &run.measures.series;
    let known = |points: &[(f64, f64)]| -> Value {
        line(points.iter().map(|(t_s, value)| (*t_s, Some(*value))))
    };
    let whole = &run.measures.whole;
    let window = run.measures.window_span;
    let state = run.state.as_ref();
    json!({
        "name": run.dir.display().to_string(),
        "arm": run.meta.arm.word(),
        "source": run.meta.source.word(),
        "duration_s": run.meta.duration_s,
        "window": [window.start_s, window.end_s],
        "hits": shares(&series.hits),
        "follow_up_hits": shares(&series.follow_up_hits),
        "backlog": known(&series.backlog),
        "held": known(&series.held),
        "waiting": line(waiting.iter().copied()),
        "uncached_tokens_per_s": line(series.uncached_tokens_per_s.iter().copied()),
        "gap_median_s": line(series.gap_median_s.iter().copied()),
        "turnover_s": line(series.turnover_s.iter().copied()),
        "counts": {
            "sessions": whole.sessions_arrived,
            "completed": whole.sessions_completed,
            "turns": run.meta.counts.turns,
        },
        "state": state.map(|state| state.state.word()),
        "because": state.map(because),
        "decided_by": state.and_then(|state| state.deciding()).map(clause),
        "events": moments(run, configs)
            .into_iter()
            .map(|(t_s, what)| json!({"t_s": t_s, "what": what}))
            .collect::<Vec<_>>(),
    })
}

fn line(points: impl Iterator<Item = (f64, Option<f64>)>) -> Value {
    let (t_s, value): (Vec<f64>, Vec<Option<f64>>) = points.unzip();
    json!({"t_s": t_s, "value": value})
}

fn shares(bins: &[(f64, Share)]) -> Value {
    line(bins.iter().map(|(t_s, share)| (*t_s, share.value())))
}
