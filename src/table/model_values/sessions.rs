//! What a session asks for (sec 1, 2, App. E.2, E.4, E.9, E.14).

use super::question::{Answer, Question};
use crate::model::cost::hit_prefill_tokens;

pub(super) fn answer(q: &Question) -> Option<Answer> {
    let theory = match q.theory() {
        Ok(theory) => theory,
        Err(_) => return None,
    };
    let s = &theory.means;
    let pool = theory.cell.pool_tokens as f64;
    let all_hit = || {
        let hit = hit_prefill_tokens(&theory.cell, &theory.workload);
        s.prompt_tokens[0] + hit * (s.mean_turns - 1.0)
    };
    let value = match q.quantity {
        "E[T]" => s.mean_turns,
        "E[W]" => s.session_prompt_tokens(),
        "E_bar" => s.mean_footprint_tokens(),
        "A_1" => s.carried_tokens(),
        "E[E_T]" => s.final_footprint_tokens(),
        "stationary mean prompt" => s.mean_prompt_tokens(),
        "L_max" => *s.prompt_tokens.last()?,
        "all-hit session work (about)" => all_hit(),
        "all-miss/all-hit work ratio (about)" => s.session_prompt_tokens() / all_hit(),
        "mean miss prefill of a follow-up (about)" => s.mean_followup_prompt_tokens(),
        "hit ceiling 1-1/E[T]" | "MIRROR hit ceiling, printed .949-.950" => s.followup_share(),
        "E_lb (about, tokens)" => s.tool_call_footprint_tokens(),
        "N_lb = 300k/E_lb" => pool / s.tool_call_footprint_tokens(),
        "300k/E_bar" => pool / s.mean_footprint_tokens(),
        "session footprint / 300k pool (%)" => 100.0 * s.mean_footprint_tokens() / pool,
        "peak fresh footprint G_k E_k" => s.peak_fresh_footprint().1,
        "turn of the peak footprint" => s.peak_fresh_footprint().0 as f64,
        "MIRROR share with exactly 20 turns (%)" => 100.0 * s.last_turn_law().last()?,
        _ => return None,
    };
    Some(Ok(value))
}
