//! What a set of sessions is like: how long they are, what they ask, what could be used again.
//!
//! Everything is of the sessions that are given: leave subagents out, or describe them alone.

use crate::sample::Sample;
use crate::session::{GapSource, Session, Turn};

/// A quantity with what was recorded of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// Its name: `prompt_tokens`.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// What there is one of for each value.
    pub per: &'static str,
    /// Its values.
    pub sample: Sample,
}

/// The k-th turns of all sessions that have one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AtTurn {
    /// k: 1, 2, ...
    pub turn: u64,
    /// Sessions that have one.
    pub sessions: u64,
    /// Their share of all sessions: P(T >= k).
    pub survival: f64,
    /// Their mean prompt, tokens.
    pub mean_prompt_tokens: f64,
    /// Their mean of prompt tokens that are new, where that is known.
    pub mean_new_tokens: Option<f64>,
}

/// What a set of sessions is like.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// Sessions.
    pub sessions: u64,
    /// Turns.
    pub turns: u64,
    /// Turns after a session's first.
    pub follow_ups: u64,
    /// Turns, prompts, new tokens and the like.
    pub quantities: Vec<Quantity>,
    /// Turn by turn.
    pub by_turn: Vec<AtTurn>,
    /// Of all prompt tokens, the share that the session's last prompt leaves to be used again.
    pub reuse_ceiling: Option<f64>,
    /// The same of follow-ups alone.
    pub follow_up_reuse_ceiling: Option<f64>,
    /// Tokens to prefill with every turn missing, over those with every follow-up hitting.
    pub work_ratio: Option<f64>,
    /// Follow-ups whose prompt is shorter than the one before: compaction.
    pub shrunk: u64,
    /// Follow-ups that leave less than 0.9 of the prompt before them: its start was changed.
    pub broken: u64,
    /// Follow-ups by where the gap before them is from, in the order of [`GapSource::ALL`].
    pub gap_sources: [u64; GapSource::ALL.len()],
}

/// A follow-up that leaves less of the prompt before it than this has a changed start.
pub(crate) const KEPT: f64 = 0.9;

impl Description {
    /// Describes sessions.
    pub fn of(sessions: &[Session]) -> Self {
        let turns = || sessions.iter().flat_map(|session| &session.turns);
        let follow_ups = || sessions.iter().flat_map(|session| session.turns.iter().skip(1));
        let pairs = || sessions.iter().flat_map(|session| session.turns.windows(2));
        let shrunk = |pair: &&[Turn]| pair[1].prompt_tokens < pair[0].prompt_tokens;
        let broken = |pair: &&[Turn]| keeps(&pair[0], &pair[1]).is_some_and(|kept| kept < KEPT);
        let source = |source| follow_ups().filter(|t| t.gap.source == source).count() as u64;
        Self {
            sessions: sessions.len() as u64,
            turns: turns().count() as u64,
            follow_ups: follow_ups().count() as u64,
            quantities: quantities(sessions),
            by_turn: by_turn(sessions),
            reuse_ceiling: ceiling(turns()),
            follow_up_reuse_ceiling: ceiling(follow_ups()),
            work_ratio: ceiling(turns()).map(|ceiling| 1.0 / (1.0 - ceiling)),
            shrunk: pairs().filter(shrunk).count() as u64,
            broken: pairs().filter(broken).count() as u64,
            gap_sources: GapSource::ALL.map(source),
        }
    }
}

/// The share of a prompt that the next one leaves to be used again.
pub fn keeps(before: &Turn, this: &Turn) -> Option<f64> {
    this.reusable_tokens.map(|reusable| reusable as f64 / before.prompt_tokens as f64)
}

/// Reusable over prompt tokens, of the turns that say both.
fn ceiling<'a>(turns: impl Iterator<Item = &'a Turn>) -> Option<f64> {
    let known = turns.filter_map(|turn| Some((turn.reusable_tokens?, turn.prompt_tokens)));
    let (reusable, prompt) = known.fold((0_u128, 0_u128), |(reusable, prompt), (r, p)| {
        (reusable + u128::from(r), prompt + u128::from(p))
    });
    (prompt > 0).then(|| reusable as f64 / prompt as f64)
}

fn quantities(sessions: &[Session]) -> Vec<Quantity> {
    let per_session = |of: fn(&Session) -> f64| Sample::of(sessions.iter().map(|s| Some(of(s))));
    let per_turn = |first: bool, of: fn(&Turn) -> Option<f64>| {
        let skip = usize::from(!first);
        Sample::of(sessions.iter().flat_map(|s| s.turns.iter().skip(skip)).map(of))
    };
    let quantity = |name, unit, per, sample| Quantity { name, unit, per, sample };
    vec![
        quantity("turns", "turns", "session", per_session(|s| s.turns.len() as f64)),
        quantity(
            "first_prompt_tokens",
            "tokens",
            "session",
            per_session(|s| s.turns.first().map_or(0.0, |t| t.prompt_tokens as f64)),
        ),
        quantity(
            "prompt_tokens",
            "tokens",
            "turn",
            per_turn(true, |t| Some(t.prompt_tokens as f64)),
        ),
        quantity(
            "new_tokens",
            "tokens",
            "follow-up",
            per_turn(false, |t| t.new_tokens().map(|n| n as f64)),
        ),
        quantity(
            "output_tokens",
            "tokens",
            "turn",
            per_turn(true, |t| Some(t.output_tokens as f64)),
        ),
        quantity("gap_s", "s", "follow-up", per_turn(false, |t| t.gap.seconds)),
        quantity("service_s", "s", "turn", per_turn(true, |t| t.service_s)),
        quantity(
            "footprint_tokens",
            "tokens",
            "session",
            per_session(|s| s.footprint_tokens() as f64),
        ),
        quantity(
            "prefill_tokens",
            "tokens",
            "session",
            per_session(|s| s.turns.iter().map(|t| t.prompt_tokens).sum::<u64>() as f64),
        ),
    ]
}

fn by_turn(sessions: &[Session]) -> Vec<AtTurn> {
    #[derive(Clone, Default)]
    struct Sum {
        sessions: u64,
        prompt: u64,
        known: u64,
        new: u64,
    }
    let longest = sessions.iter().map(|session| session.turns.len()).max().unwrap_or(0);
    let mut sums = vec![Sum::default(); longest];
    for session in sessions {
        for (sum, turn) in sums.iter_mut().zip(&session.turns) {
            sum.sessions += 1;
            sum.prompt += turn.prompt_tokens;
            if let Some(new) = turn.new_tokens() {
                sum.known += 1;
                sum.new += new;
            }
        }
    }
    let all = sessions.len() as f64;
    let at = |(i, sum): (usize, Sum)| AtTurn {
        turn: i as u64 + 1,
        sessions: sum.sessions,
        survival: sum.sessions as f64 / all,
        mean_prompt_tokens: sum.prompt as f64 / sum.sessions as f64,
        mean_new_tokens: (sum.known > 0).then(|| sum.new as f64 / sum.known as f64),
    };
    sums.into_iter().enumerate().map(at).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::session::{Format, Gap};

    fn session(turns: &[(u64, u64)]) -> Session {
        let turn = |(i, (prompt_tokens, reusable)): (usize, &(u64, u64))| Turn {
            gap: if i == 0 { Gap::FIRST } else { Gap::of(Some(4.0), None, None) },
            prompt_tokens: *prompt_tokens,
            output_tokens: 10,
            reusable_tokens: Some(*reusable),
            start_s: None,
            service_s: None,
        };
        Session {
            id: "s".into(),
            parent: None,
            format: Format::Table,
            shared_tokens: None,
            turns: turns.iter().enumerate().map(turn).collect(),
        }
    }

    #[test]
    fn two_sessions_by_hand() {
        let sessions = [session(&[(100, 0), (200, 100), (150, 50)]), session(&[(300, 0)])];
        let found = Description::of(&sessions);
        assert_eq!((found.sessions, found.turns, found.follow_ups), (2, 4, 2));
        assert_eq!((found.shrunk, found.broken), (1, 1));
        // 150 of 750 tokens, 150 of the follow-ups' 350; 750 tokens over 600.
        assert_eq!(found.reuse_ceiling, Some(0.2));
        assert_eq!(found.follow_up_reuse_ceiling, Some(150.0 / 350.0));
        assert_eq!(found.work_ratio, Some(1.25));
        let quantity = |name| found.quantities.iter().find(|q| q.name == name).unwrap();
        assert_eq!(quantity("turns").sample.mean(), Some(2.0));
        assert_eq!(quantity("new_tokens").sample.quantile(1.0), Some(100.0));
        assert_eq!(quantity("footprint_tokens").sample.quantile(0.0), Some(210.0));
        assert_eq!(quantity("gap_s").sample.known(), 2);
        assert_eq!(quantity("service_s").sample.unknown, 4);
        let last = found.by_turn[1];
        assert_eq!((last.sessions, last.survival, last.mean_prompt_tokens), (1, 0.5, 200.0));
        assert_eq!(found.gap_sources[1], 2);
    }

    #[test]
    fn nothing_is_said_of_no_sessions() {
        let found = Description::of(&[]);
        assert_eq!((found.sessions, found.reuse_ceiling, found.by_turn.len()), (0, None, 0));
    }
}
