//! An engine's samples as rows of the table `engine`.

use crate::form::{Losses, Quantity, Sample};
use crate::run::EngineSample;

/// The rows, in order of time.
pub fn of(
    samples: &[Sample],
    start_s: f64,
    pool_tokens: u64,
    notes: &mut Losses,
) -> Vec<EngineSample> {
    samples.iter().map(|sample| row(sample, start_s, pool_tokens, notes)).collect()
}

fn row(sample: &Sample, start_s: f64, pool_tokens: u64, notes: &mut Losses) -> EngineSample {
    let of = |quantity| sample.get(quantity).filter(|x| *x >= 0.0).map(|x| x.round() as u64);
    let by_usage = sample.get(Quantity::Usage).filter(|x| (0.0..=1.0).contains(x));
    let used = of(Quantity::UsedTokens).or_else(|| {
        let usage = by_usage?;
        notes.add("samples whose kv_used_tokens are the usage gauge times the pool", 0);
        Some((usage * pool_tokens as f64).round() as u64)
    });
    if sample.get(Quantity::LoggedHits).is_some() && of(Quantity::PromptTokens).is_none() {
        notes.add("printed hit rates, for which a run has no column", 0);
    }
    EngineSample {
        t_s: sample.t_s - start_s,
        running: of(Quantity::Running),
        waiting: of(Quantity::Waiting),
        kv_used_tokens: used,
        kv_evictable_tokens: of(Quantity::EvictableTokens),
        kv_total_tokens: of(Quantity::PoolTokens),
        prompt_tokens_total: of(Quantity::PromptTokens),
        cached_tokens_total: of(Quantity::CachedTokens),
        generation_tokens_total: of(Quantity::GenerationTokens),
        preemptions_total: of(Quantity::Preemptions),
    }
}
