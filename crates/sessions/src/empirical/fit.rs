//! Tables of quantiles fitted to recorded sessions.

use super::{Changed, ChangedBand, Empirical, FirstPrompt, Kind, Quantiles, TurnBand};
use crate::description::{KEPT, keeps};
use crate::sample::Sample;
use crate::session::{Session, Turn};

/// The probabilities of the tables: every tenth, and the tails.
const LEVELS: [f64; 19] = [
    0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995,
    0.999, 1.0,
];

/// Where the bands of turns begin.
const TURNS: [u64; 9] = [1, 2, 3, 6, 11, 21, 51, 101, 201];

/// Where the bands of sessions begin, by their number of turns.
const LENGTHS: [u64; 5] = [1, 11, 26, 61, 131];

/// Bands of prompts before a follow-up, with as many follow-ups each.
const PROMPTS: usize = 10;

/// Tokens of a block.
const BLOCK_TOKENS: u64 = 64;

/// Fits a workload to sessions: subagents are to be left out before.
///
/// # Errors
/// Nothing is known of follow-ups, of what they can use again, or of the gaps before them.
pub fn fit(sessions: &[Session], name: &str, source: &str) -> Result<Empirical, String> {
    let follow_ups: Vec<FollowUp<'_>> = sessions.iter().flat_map(follow_ups).collect();
    if follow_ups.is_empty() {
        return Err("no follow-up whose reusable tokens are known".into());
    }
    if follow_ups.iter().all(|f| f.this.gap.seconds.is_none()) {
        return Err("no gap between turns is known".into());
    }
    let later: Vec<&FollowUp<'_>> = follow_ups.iter().filter(|f| f.turn > 2).collect();
    let second = follow_ups.iter().filter(|f| f.turn == 2);
    let fitted = Empirical {
        name: name.to_owned(),
        kind: Kind::Empirical,
        source: source.to_owned(),
        gap_limit_s: None,
        block_tokens: BLOCK_TOKENS,
        levels: LEVELS.to_vec(),
        turns: table(sessions.iter().map(|s| s.turns.len() as f64)).ok_or("no sessions")?,
        first_prompts: first_prompts(sessions),
        by_turn: by_turn(sessions, &follow_ups),
        changed_second: changed(&second.collect::<Vec<_>>()),
        changed_later: changed_later(&later),
    };
    fitted.check().map(|()| fitted)
}

/// A follow-up whose reusable tokens are known.
struct FollowUp<'a> {
    /// 2, 3, ...
    turn: u64,
    before: &'a Turn,
    this: &'a Turn,
    is_changed: bool,
}

fn follow_ups(session: &Session) -> impl Iterator<Item = FollowUp<'_>> {
    session.turns.windows(2).zip(2..).filter_map(|(pair, turn)| {
        let [before, this] = pair else { return None };
        let is_changed = keeps(before, this)? < KEPT;
        Some(FollowUp { turn, before, this, is_changed })
    })
}

/// The quantiles of some values; `None` of nothing.
fn table(values: impl Iterator<Item = f64>) -> Option<Quantiles> {
    let sample = Sample::of(values.map(Some));
    let at: Option<Vec<f64>> = LEVELS.iter().map(|level| sample.quantile(*level)).collect();
    Some(Quantiles { mean: sample.mean()?, at: at? })
}

fn first_prompts(sessions: &[Session]) -> Vec<FirstPrompt> {
    let mut bands = Vec::new();
    for (i, from) in LENGTHS.into_iter().enumerate() {
        let to = LENGTHS.get(i + 1).copied().unwrap_or(u64::MAX);
        let within = sessions.iter().filter(|s| (from..to).contains(&(s.turns.len() as u64)));
        let first = within.filter_map(|s| s.turns.first()).map(|t| t.prompt_tokens as f64);
        let Some(tokens) = table(first) else { continue };
        // What comes first begins at 1, though no session is that short.
        let from_turns = if bands.is_empty() { 1 } else { from };
        bands.push(FirstPrompt { from_turns, tokens });
    }
    bands
}

fn by_turn(sessions: &[Session], follow_ups: &[FollowUp<'_>]) -> Vec<TurnBand> {
    let first = sessions.iter().filter_map(|s| s.turns.first());
    let first = table(first.map(|t| t.output_tokens as f64));
    let band =
        |output_tokens| TurnBand { from_turn: 1, new_tokens: None, output_tokens, gap_s: None };
    let mut bands: Vec<TurnBand> = first.map(band).into_iter().collect();
    for (i, from) in TURNS.into_iter().enumerate().skip(1) {
        let to = TURNS.get(i + 1).copied().unwrap_or(u64::MAX);
        let within = || follow_ups.iter().filter(|f| (from..to).contains(&f.turn));
        let kept = within().filter(|f| !f.is_changed).filter_map(|f| f.this.new_tokens());
        let new_tokens = table(kept.map(|n| n as f64));
        let output_tokens = table(within().map(|f| f.this.output_tokens as f64));
        let gap_s = table(within().filter_map(|f| f.this.gap.seconds));
        // Where a band knows nothing, the one before it goes on.
        let (Some(new_tokens), Some(output_tokens), Some(gap_s)) =
            (new_tokens, output_tokens, gap_s)
        else {
            continue;
        };
        let from_turn = if bands.len() == 1 { 2 } else { from };
        let (new_tokens, gap_s) = (Some(new_tokens), Some(gap_s));
        bands.push(TurnBand { from_turn, new_tokens, output_tokens, gap_s });
    }
    bands
}

fn changed(follow_ups: &[&FollowUp<'_>]) -> Changed {
    let of = || follow_ups.iter().filter(|f| f.is_changed);
    let kept = of().filter_map(|f| f.this.reusable_tokens);
    Changed {
        share: if follow_ups.is_empty() {
            0.0
        } else {
            of().count() as f64 / follow_ups.len() as f64
        },
        kept_tokens: table(kept.map(|n| n as f64)),
        prompt_tokens: table(of().map(|f| f.this.prompt_tokens as f64)),
    }
}

fn changed_later(later: &[&FollowUp<'_>]) -> Vec<ChangedBand> {
    let before = Sample::of(later.iter().map(|f| Some(f.before.prompt_tokens as f64)));
    let edge = |i: usize| before.quantile(i as f64 / PROMPTS as f64).map_or(0, |x| x as u64);
    let mut edges: Vec<u64> = (1..PROMPTS).map(edge).filter(|edge| *edge > 0).collect();
    edges.insert(0, 0);
    edges.dedup();
    let band = |(i, from): (usize, &u64)| {
        let to = edges.get(i + 1).copied().unwrap_or(u64::MAX);
        let within = later.iter().filter(|f| (*from..to).contains(&f.before.prompt_tokens));
        ChangedBand { from_tokens: *from, changed: changed(&within.copied().collect::<Vec<_>>()) }
    };
    edges.iter().enumerate().map(band).collect()
}
