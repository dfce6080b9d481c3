//! What there is to ask about: cells, workloads and protocols with their values.

use serde_json::{Value, json};
use trapcheck_observed::format::Format;
use trapcheck_runs::configs::{Configs, SessionWorkload};

use crate::reply::Reply;
use crate::setup::{Cell, Protocol, Speed, ToolTime, TurnLaw, Workload};

/// The lists.
pub fn lists(configs: &Configs) -> Reply {
    let workloads = configs.workloads.values().map(of_law);
    let of_sessions = configs.session_workloads.iter().map(|(name, kind)| of_sessions(name, kind));
    Reply::empty()
        .with("cells", configs.cells.values().map(|cell| of_cell(cell, configs)).collect::<Value>())
        .with("workloads", workloads.chain(of_sessions).collect::<Value>())
        .with("protocols", configs.protocols.values().map(of_protocol).collect::<Value>())
        .with("formats", Format::ALL.map(Format::word))
}

fn of_cell(cell: &Cell, configs: &Configs) -> Value {
    let about = configs.registrations.values().filter(|f| f.registration.is_about(&cell.name));
    let mut rates: Vec<f64> = about.flat_map(|f| f.registration.rates.iter().copied()).collect();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    json!({
        "name": cell.name,
        "engine": cell.engine.name,
        "version": cell.engine.version,
        "gpu": cell.gpu,
        "model": cell.model,
        "pool_tokens": cell.pool_tokens,
        "lambda_ref_per_s": cell.lambda_ref_per_s,
        "workload": cell.workload,
        "protocol": cell.protocol,
        "scheduling": cell.scheduling,
        "batching": cell.batching,
        "has_iteration_costs": cell.iteration_parts().is_some(),
        "needs_token_cost_factor": matches!(cell.speed, Speed::AllMissRate { .. }),
        "rates": rates,
    })
}

fn of_law(workload: &Workload) -> Value {
    let (mean, max) = match workload.turns {
        TurnLaw::TruncatedGeometric { mean, max } => (Some(mean), Some(max)),
        _ => (None, None),
    };
    let tool_mean_s = match workload.tool_time {
        ToolTime::Exponential { mean_s } => Some(mean_s),
        _ => None,
    };
    json!({
        "name": workload.name,
        "kind": "law",
        "mean_turns": mean,
        "max_turns": max,
        "first_prompt": workload.first_prompt_tokens,
        "tool_output": workload.tool_output_tokens,
        "decoded": workload.decoded_tokens,
        "tool_mean_s": tool_mean_s,
    })
}

fn of_sessions(name: &str, kind: &SessionWorkload) -> Value {
    let kind = match kind {
        SessionWorkload::Recorded(_) => "recorded",
        SessionWorkload::Empirical(_) => "empirical",
    };
    json!({"name": name, "kind": kind})
}

fn of_protocol(protocol: &Protocol) -> Value {
    let (paired, burst) = (&protocol.paired, &protocol.paired.burst);
    json!({
        "name": protocol.name,
        "burst": {
            "sessions": burst.sessions,
            "start_s": burst.start_s,
            "length_s": burst.length_s,
        },
        "horizon_s": paired.horizon_s,
        "window": [paired.window_s.start_s, paired.window_s.end_s],
    })
}
