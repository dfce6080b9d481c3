//! What `/metrics` says, by the engines' names.

use std::sync::atomic::Ordering;

use super::{BLOCK, Shared};

/// Tokens of the requests that have ended.
#[derive(Debug, Default)]
pub struct Totals {
    prompt: usize,
    cached: usize,
    generated: usize,
}

impl Totals {
    pub fn add(&mut self, prompt: usize, cached: usize, generated: usize) {
        self.prompt += prompt;
        self.cached += cached;
        self.generated += generated;
    }
}

impl Shared {
    pub(super) fn metrics(&self) -> String {
        let running = self.held.load(Ordering::SeqCst) + usize::from(self.is_busy());
        let all = self.manner.pool_blocks * BLOCK;
        let kept = (self.cache.lock().unwrap().len() * BLOCK).min(all);
        let Totals { prompt, cached, generated } = *self.totals.lock().unwrap();
        if !self.manner.is_sglang {
            let on = if self.manner.prefix_caching { "True" } else { "False" };
            let blocks = self.manner.pool_blocks;
            return format!(
                "# TYPE vllm:num_requests_running gauge\n\
                 vllm:num_requests_running{{engine=\"0\"}} {running}.0\n\
                 vllm:num_requests_waiting{{engine=\"0\"}} 0.0\n\
                 vllm:kv_cache_usage_perc{{engine=\"0\"}} 0.5\n\
                 vllm:prompt_tokens_total{{engine=\"0\"}} {prompt}.0\n\
                 vllm:prompt_tokens_cached_total{{engine=\"0\"}} {cached}.0\n\
                 vllm:generation_tokens_total{{engine=\"0\"}} {generated}.0\n\
                 vllm:cache_config_info{{block_size=\"{BLOCK}\",num_gpu_blocks=\"{blocks}\",\
                 enable_prefix_caching=\"{on}\"}} 1.0\n"
            );
        }
        // As 0.5.23 writes them: its warm-up of 3 and 8 tokens does not stream; a request moves
        // the counters when it ends; used is what no request could take.
        let rank = "engine_type=\"unified\",model_name=\"tiny\",moe_ep_rank=\"0\",pp_rank=\"0\",tp_rank=\"0\"";
        let of = "engine_type=\"unified\"";
        format!(
            "# TYPE sglang:num_running_reqs gauge\n\
             sglang:num_running_reqs{{{rank}}} {running}.0\n\
             sglang:num_queue_reqs{{{rank}}} 0.0\n\
             sglang:max_total_num_tokens{{{rank}}} {all}.0\n\
             sglang:num_used_tokens{{{rank}}} {used}.0\n\
             sglang:kv_used_tokens{{{rank}}} {used}.0\n\
             sglang:kv_available_tokens{{{rank}}} {available}.0\n\
             sglang:kv_evictable_tokens{{{rank}}} {kept}.0\n\
             sglang:prompt_tokens_total{{{of},is_streaming=\"false\",model_name=\"tiny\"}} 3.0\n\
             sglang:prompt_tokens_total{{{of},is_streaming=\"true\",model_name=\"tiny\"}} {prompt}.0\n\
             sglang:generation_tokens_total{{{of},is_streaming=\"false\",model_name=\"tiny\"}} 8.0\n\
             sglang:generation_tokens_total{{{of},is_streaming=\"true\",model_name=\"tiny\"}} {generated}.0\n\
             sglang:cached_tokens_total{{cache_source=\"device\",{of},model_name=\"tiny\"}} {cached}.0\n",
            used = BLOCK * running,
            available = all.saturating_sub(kept + BLOCK * running),
        )
    }
}
