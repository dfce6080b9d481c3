//! What a session asks for (sec 1, 2, App. E.2, E.4, E.9, E.14).

use super::answer::Unanswered;
use super::question::{At, Formula};
use crate::model::cost::hit_prefill_tokens;

pub(super) const QUANTITIES: &[(&str, Formula)] = &[
    ("mean_turns", |at| Ok(at.theory.means.mean_turns)),
    ("session_prompt_tokens", |at| Ok(at.theory.means.session_prompt_tokens())),
    ("mean_footprint_tokens", |at| Ok(at.theory.means.mean_footprint_tokens())),
    ("carried_tokens", |at| Ok(at.theory.means.carried_tokens())),
    ("final_footprint_tokens", |at| Ok(at.theory.means.final_footprint_tokens())),
    ("mean_prompt_tokens", |at| Ok(at.theory.means.mean_prompt_tokens())),
    ("longest_prompt_tokens", |at| {
        let prompts = &at.theory.means.prompt_tokens;
        prompts.last().copied().ok_or_else(|| Unanswered::new("a session without turns"))
    }),
    ("all_hit_session_tokens", |at| Ok(all_hit_tokens(at))),
    ("all_miss_over_all_hit_tokens", |at| {
        Ok(at.theory.means.session_prompt_tokens() / all_hit_tokens(at))
    }),
    ("mean_followup_prompt_tokens", |at| Ok(at.theory.means.mean_followup_prompt_tokens())),
    ("hit_ceiling", |at| Ok(at.theory.means.followup_share())),
    ("tool_call_footprint_tokens", |at| Ok(at.theory.means.tool_call_footprint_tokens())),
    ("pool_over_tool_call_footprint", |at| {
        Ok(at.theory.cell.pool_tokens as f64 / at.theory.means.tool_call_footprint_tokens())
    }),
    ("pool_over_mean_footprint", |at| Ok(pool_over_mean_footprint(at))),
    ("footprint_share_of_pool_percent", |at| {
        let pool = at.theory.cell.pool_tokens as f64;
        Ok(100.0 * at.theory.means.mean_footprint_tokens() / pool)
    }),
    ("peak_fresh_footprint_tokens", |at| Ok(at.theory.means.peak_fresh_footprint().1)),
    ("turn_of_peak_footprint", |at| Ok(at.theory.means.peak_fresh_footprint().0 as f64)),
    ("share_with_the_most_turns_percent", |at| {
        let law = at.theory.means.last_turn_law();
        let share = law.last().ok_or_else(|| Unanswered::new("a session without turns"))?;
        Ok(100.0 * share)
    }),
];

/// Sessions of mean footprint that the pool holds, M / E_bar.
pub(crate) fn pool_over_mean_footprint(at: &At) -> f64 {
    at.theory.cell.pool_tokens as f64 / at.theory.means.mean_footprint_tokens()
}

fn all_hit_tokens(at: &At) -> f64 {
    let means = &at.theory.means;
    let hit = hit_prefill_tokens(&at.theory.cell, &at.theory.workload);
    means.prompt_tokens[0] + hit * (means.mean_turns - 1.0)
}
