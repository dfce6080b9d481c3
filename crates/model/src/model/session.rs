//! What a session asks for on average: turns, prompts and KV footprints
//! (paper: sec 2, App. E.2, E.9). Exact sums over the turn law; nothing about time.

use crate::setup::Workload;

use super::numeric::dot;

/// Means over the turns of a session. Index `k - 1` belongs to turn `k`.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionMeans {
    /// G_k = P(T >= k).
    pub survival: Vec<f64>,
    /// E\[T\], in turns.
    pub mean_turns: f64,
    /// w_k = G_k / E\[T\], the stationary turn mix.
    pub mix: Vec<f64>,
    /// L_k, the prompt of turn k, in tokens.
    pub prompt_tokens: Vec<f64>,
    /// E_k = L_k + d, the KV held after turn k, in tokens.
    pub footprint_tokens: Vec<f64>,
    /// The mean of its square over the sessions that have turn k.
    pub footprint_squares: Vec<f64>,
}

/// The turns a server sees: how often each is served and how often it must miss. Index
/// `k - 1` belongs to turn `k`.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnProfile {
    /// Turns per session.
    pub mean_turns: f64,
    /// Share of turn k among the turns served; sums to 1.
    pub share: Vec<f64>,
    /// The part of it that misses whatever the cache holds: a session's first turn.
    pub must_miss: Vec<f64>,
    /// Probability that a session's last turn is turn k.
    pub last: Vec<f64>,
    /// L_k, in tokens.
    pub prompt_tokens: Vec<f64>,
    /// E_k, in tokens.
    pub footprint_tokens: Vec<f64>,
}

impl TurnProfile {
    /// Sessions from their first turn on.
    pub fn fresh(means: &SessionMeans) -> Self {
        let mut must_miss = vec![0.0; means.mix.len()];
        must_miss[0] = means.mix[0];
        Self {
            mean_turns: means.mean_turns,
            share: means.mix.clone(),
            must_miss,
            last: means.last_turn_law().collect(),
            prompt_tokens: means.prompt_tokens.clone(),
            footprint_tokens: means.footprint_tokens.clone(),
        }
    }

    /// Sessions under way whose KV is gone, `waiting[k - 1]` of them before turn k: the turn
    /// they wait for misses, later ones may hit (layer H4).
    pub fn resumed(means: &SessionMeans, waiting: &[f64]) -> Self {
        let sessions: f64 = waiting.iter().sum();
        // Sessions that reach turn k, per resumed session.
        let mut reached = 0.0;
        let mut turns = Vec::with_capacity(means.survival.len());
        let mut last = Vec::with_capacity(means.survival.len());
        for (k, g) in means.survival.iter().enumerate() {
            if k > 0 {
                reached *= g / means.survival[k - 1];
            }
            reached += waiting.get(k).unwrap_or(&0.0) / sessions;
            turns.push(reached);
            last.push(reached * (1.0 - means.survival.get(k + 1).unwrap_or(&0.0) / g));
        }
        let mean_turns: f64 = turns.iter().sum();
        let scaled = |x: &f64| x / mean_turns;
        let must_miss = waiting.iter().map(|m| m / sessions / mean_turns);
        let mut must_miss: Vec<f64> = must_miss.take(turns.len()).collect();
        must_miss.resize(turns.len(), 0.0);
        Self {
            share: turns.iter().map(scaled).collect(),
            must_miss,
            last,
            prompt_tokens: means.prompt_tokens.clone(),
            footprint_tokens: means.footprint_tokens.clone(),
            mean_turns,
        }
    }

    /// A_1: the KV that a session carries into tool calls, in tokens (App. E.9).
    pub fn carried_tokens(&self) -> f64 {
        let into_tools = self.share.iter().zip(&self.last).map(|(s, l)| s * self.mean_turns - l);
        into_tools.zip(&self.footprint_tokens).map(|(n, e)| n * e).sum()
    }

    /// E\[E_T\]: the KV that a finished session leaves behind, in tokens (App. E.9).
    pub fn final_footprint_tokens(&self) -> f64 {
        dot(&self.last, &self.footprint_tokens)
    }
}

impl SessionMeans {
    /// Sums a workload's turn law and lengths.
    pub fn of(workload: &Workload) -> Self {
        let survival = workload.survival();
        let mean_turns: f64 = survival.iter().sum();
        let turns = 1..=survival.len();
        Self {
            mix: survival.iter().map(|g| g / mean_turns).collect(),
            prompt_tokens: turns.clone().map(|k| workload.prompt_tokens(k) as f64).collect(),
            footprint_tokens: turns.clone().map(|k| workload.footprint_tokens(k) as f64).collect(),
            footprint_squares: turns
                .map(|k| {
                    workload.mean_of_turn(k, |turn| {
                        let footprint = turn.footprint_tokens() as f64;
                        footprint * footprint
                    })
                })
                .collect(),
            mean_turns,
            survival,
        }
    }

    /// P(T = k) for k = 1..=K.
    pub fn last_turn_law(&self) -> impl Iterator<Item = f64> + '_ {
        let next = self.survival.iter().skip(1).chain(std::iter::once(&0.0));
        self.survival.iter().zip(next).map(|(now, next)| now - next)
    }

    /// Mean prompt over the stationary mix, in tokens (10,469 in the paper, App. E.14).
    pub fn mean_prompt_tokens(&self) -> f64 {
        dot(&self.mix, &self.prompt_tokens)
    }

    /// E_bar = sum w_k E_k, the mean footprint over the stationary mix, in tokens (App. E.9).
    pub fn mean_footprint_tokens(&self) -> f64 {
        dot(&self.mix, &self.footprint_tokens)
    }

    /// E\[W\] = sum G_k L_k, the prompt tokens a session sends over its life (App. E.2).
    pub fn session_prompt_tokens(&self) -> f64 {
        dot(&self.survival, &self.prompt_tokens)
    }

    /// A_1 = sum P(T >= k+1) E_k, the KV a session carries into tool calls over its
    /// life, in tokens (App. E.9).
    pub fn carried_tokens(&self) -> f64 {
        self.survival.iter().skip(1).zip(&self.footprint_tokens).map(|(g, e)| g * e).sum()
    }

    /// E\[E_T\], the KV that a finished session leaves behind, in tokens (App. E.9).
    pub fn final_footprint_tokens(&self) -> f64 {
        self.last_turn_law().zip(&self.footprint_tokens).map(|(p, e)| p * e).sum()
    }

    /// E_lb = A_1 / (E\[T\] - 1), the mean footprint during tool calls, in tokens (App. E.4).
    /// Infinite when every session has one turn.
    pub fn tool_call_footprint_tokens(&self) -> f64 {
        self.carried_tokens() / (self.mean_turns - 1.0)
    }

    /// Mean prompt of follow-ups (k >= 2), which is what a miss prefills, in tokens (sec 1).
    pub fn mean_followup_prompt_tokens(&self) -> f64 {
        let total: f64 =
            self.survival.iter().zip(&self.prompt_tokens).skip(1).map(|(g, l)| g * l).sum();
        total / (self.mean_turns - 1.0)
    }

    /// 1 - 1/E\[T\]: the share of turns that can hit, since first turns miss (App. E.2).
    pub fn followup_share(&self) -> f64 {
        1.0 - 1.0 / self.mean_turns
    }

    /// The turn at which G_k E_k peaks and that peak, in tokens: what a fresh
    /// session adds to the pool's demand at most (App. E.9, layer H3).
    pub fn peak_fresh_footprint(&self) -> (usize, f64) {
        let mut best = (1, f64::NEG_INFINITY);
        for (i, (g, e)) in self.survival.iter().zip(&self.footprint_tokens).enumerate() {
            if g * e > best.1 {
                best = (i + 1, g * e);
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::{ToolTime, TurnLaw};
    use std::collections::BTreeMap;

    fn workload(turns: TurnLaw) -> Workload {
        Workload {
            name: "test".into(),
            turns,
            first_prompt_tokens: 2000,
            tool_output_tokens: 550,
            decoded_tokens: 100,
            tool_time: ToolTime::Exponential { mean_s: 5.0 },
            sources: BTreeMap::new(),
            recorded: None,
        }
    }

    #[test]
    fn the_standard_workload_has_the_published_means() {
        let s = SessionMeans::of(&workload(TurnLaw::TruncatedGeometric { mean: 15.0, max: 60 }));
        assert_eq!((s.mean_turns * 1e3).round(), 14761.0);
        assert_eq!(s.session_prompt_tokens().round(), 154_529.0);
        assert_eq!(s.mean_footprint_tokens().round(), 10_569.0);
        assert_eq!(s.carried_tokens().round(), 144_960.0);
        assert_eq!(s.final_footprint_tokens().round(), 11_045.0);
        assert_eq!(s.mean_prompt_tokens().round(), 10_469.0);
        let (turn, tokens) = s.peak_fresh_footprint();
        assert_eq!((turn, tokens.round()), (12, 4331.0));
    }

    #[test]
    fn carried_and_final_footprints_together_are_all_footprints() {
        let s = SessionMeans::of(&workload(TurnLaw::Survival { at_least: vec![1.0, 0.5, 0.25] }));
        let all: f64 = s.survival.iter().zip(&s.footprint_tokens).map(|(g, e)| g * e).sum();
        assert!((s.carried_tokens() + s.final_footprint_tokens() - all).abs() < 1e-9);
    }

    #[test]
    fn sessions_resumed_before_their_first_turn_are_fresh() {
        let s = SessionMeans::of(&workload(TurnLaw::Survival { at_least: vec![1.0, 0.5, 0.25] }));
        let (fresh, resumed) = (TurnProfile::fresh(&s), TurnProfile::resumed(&s, &[7.0]));
        assert_eq!(fresh, resumed);
        assert!((fresh.carried_tokens() - s.carried_tokens()).abs() < 1e-9);
        assert!((fresh.final_footprint_tokens() - s.final_footprint_tokens()).abs() < 1e-9);
    }

    #[test]
    fn sessions_resumed_late_have_fewer_turns_left() {
        let s = SessionMeans::of(&workload(TurnLaw::Survival { at_least: vec![1.0, 0.5, 0.25] }));
        let resumed = TurnProfile::resumed(&s, &[0.0, 1.0, 1.0]);
        assert!((resumed.mean_turns - 1.25).abs() < 1e-12);
        assert!((resumed.must_miss.iter().sum::<f64>() * resumed.mean_turns - 1.0).abs() < 1e-12);
        assert!((resumed.last.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn sessions_of_one_turn_carry_nothing() {
        let s = SessionMeans::of(&workload(TurnLaw::Survival { at_least: vec![1.0] }));
        assert_eq!((s.mean_turns, s.carried_tokens(), s.followup_share()), (1.0, 0.0, 0.0));
    }
}
