//! A cell of the engine's size, its workload and its protocol, as files of a configuration.

/// `short`: about four turns.
pub fn workload(tool_mean_s: f64) -> String {
    format!(
        "
name: short
turns: {{ law: truncated-geometric, mean: 4, max: 8 }}
first_prompt_tokens: 200
tool_output_tokens: 55
decoded_tokens: 10
tool_time: {{ law: exponential, mean_s: {tool_mean_s:?} }}
"
    )
}

/// `small`: an engine of this name and version.
pub fn cell(engine: &str, version: &str, lambda_ref_per_s: f64) -> String {
    let all_miss_tokens_per_s = 1536.6 * lambda_ref_per_s;
    format!(
        "
name: small
workload: short
protocol: brief
engine: {{ name: {engine}, version: {version} }}
model: m
gpu: none
pool_tokens: 30016
block_tokens: 32
batching: mixed
chunk_tokens: 2048
max_running: 256
lambda_ref_per_s: {lambda_ref_per_s:?}
all_miss_tokens_per_s: {all_miss_tokens_per_s:?}
costs:
  kind: iteration
  a_s: 0.01
  f0_s: 0.001
  b_s_per_token: 0.0001
  c_p_s_per_pair: 0.0
  c_d_s: 0.0
"
    )
}

/// `brief`: windows of some units of time, and a burst after the first.
pub fn protocol(horizon_s: f64, unit_s: f64) -> String {
    let [burst_s, two_s, four_s] = [0.4, 2.0, 4.0].map(|units| units * unit_s);
    format!(
        "
name: brief
paired:
  horizon_s: {horizon_s:?}
  burst: {{ start_s: {unit_s:?}, length_s: {burst_s:?}, sessions: 10 }}
  window_s: [{two_s:?}, {four_s:?}]
  last_s: {unit_s:?}
  minimum_window_s: {unit_s:?}
closed: {{ warm_up_s: {unit_s:?}, window_s: {two_s:?} }}
e0a: {{ warm_up_s: {unit_s:?}, window_s: {two_s:?} }}
e0b: {{ horizon_s: {four_s:?}, window_s: [{two_s:?}, {four_s:?}] }}
bins: {{ backlog_s: {unit_s:?}, hit_s: {unit_s:?}, follow_up_s: {unit_s:?}, gap_s: {unit_s:?} }}
"
    )
}
