//! Recorded sessions as they are played: what a simulated or a real client sends.
//!
//! A gap is at most as long as the limit that is part of the workload; one that is not recorded
//! is as long as the median of those that are. Where a record does not say what could be used
//! again, nothing is. A subagent is played as its session had it, unless it is left out; branches
//! are not: nobody waits for them.

mod beside;

use crate::session::Session;
use beside::{Beside, Playing};
use trapcheck_setup::setup::{AtMost, Scale, Subagents, Trace, TraceTurn};

/// What is played of a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// No gap is longer, recorded seconds; infinite for gaps as recorded.
    pub gap_limit_s: f64,
    /// A session with a turn of more tokens as played, prompt and output, is left out: what an
    /// engine cannot hold it refuses.
    pub most_tokens: u64,
    /// Longer sessions are left out.
    pub at_most: AtMost,
    /// How much smaller and faster they are played.
    pub scale: Scale,
    /// Whether subagents are played.
    pub subagents: Subagents,
}

impl Rules {
    /// All sessions that an engine can hold, as recorded.
    pub fn as_recorded(gap_limit_s: f64, most_tokens: u64) -> Self {
        Self {
            gap_limit_s,
            most_tokens,
            at_most: AtMost::default(),
            scale: Scale::default(),
            subagents: Subagents::default(),
        }
    }

    fn are_beyond(&self, session: &Session) -> bool {
        let AtMost { turns, prompt_tokens } = self.at_most;
        turns.is_some_and(|most| session.turns.len() as u64 > most)
            || prompt_tokens
                .is_some_and(|most| session.turns.iter().any(|t| t.prompt_tokens > most))
    }

    /// The most KV that a session needs at once as it is played, tokens.
    fn footprint_tokens(&self, session: &Session) -> u64 {
        let of =
            |prompt, output| self.scale.prompt_tokens(prompt) + self.scale.output_tokens(output);
        session.turns.iter().map(|t| of(t.prompt_tokens, t.output_tokens)).max().unwrap_or(0)
    }
}

/// What can be played, and what could not.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Played {
    /// The sessions, in the order of their record.
    pub traces: Vec<Trace>,
    /// Sessions left out because a turn is too large.
    pub too_large: usize,
    /// Sessions left out because they are longer than the workload allows.
    pub beyond: usize,
    /// Subagents that are played.
    pub subagents: usize,
    /// Turns of these.
    pub turns_of_subagents: usize,
    /// Subagents and branches, left out.
    pub beside: usize,
    /// Turns of these.
    pub turns_beside: usize,
    /// Subagents that are played though it is not recorded when they ran: they start with the
    /// answer that they follow, and the next turn follows them at once.
    pub untimed: usize,
    /// Gaps that are not recorded, and are as long as the median of those that are.
    pub gaps_unknown: usize,
    /// Gaps that were longer than the limit.
    pub gaps_limited: usize,
    /// Follow-ups of which it is not recorded what they repeat: they never hit.
    pub reuse_unknown: usize,
}

/// The sessions of a record as they are played.
pub fn play(sessions: &[Session], rules: Rules) -> Played {
    let mut played = Played::default();
    let median_s = median_gap_s(sessions);
    let beside = Beside::of(sessions, rules.subagents);
    let playing = Playing { beside, rules, median_s };
    for session in sessions.iter().filter(|session| session.parent.is_none()) {
        let mut tree = playing.beside.tree(session);
        if tree.clone().any(|stream| rules.are_beyond(stream)) {
            played.beyond += 1;
        } else if tree.any(|stream| rules.footprint_tokens(stream) > rules.most_tokens) {
            played.too_large += 1;
        } else {
            let trace = played.trace(session, &playing, 0);
            played.traces.push(trace);
        }
    }
    let all = || sessions.iter().filter(|session| session.parent.is_some());
    let turns: usize = all().map(|session| session.turns.len()).sum();
    played.beside = all().count() - played.subagents;
    played.turns_beside = turns - played.turns_of_subagents;
    played
}

impl Played {
    /// A session that is so `deep` below one that nobody started.
    fn trace(&mut self, session: &Session, playing: &Playing<'_>, deep: usize) -> Trace {
        let Playing { rules: Rules { gap_limit_s, scale, .. }, median_s, .. } = *playing;
        let turns = session.turns.iter().enumerate().map(|(i, turn)| {
            let follows = i > 0;
            let recorded_s = turn.gap.seconds.filter(|_| follows);
            self.gaps_unknown += usize::from(follows && recorded_s.is_none());
            self.gaps_limited += usize::from(recorded_s.is_some_and(|s| s > gap_limit_s));
            self.reuse_unknown += usize::from(follows && turn.reusable_tokens.is_none());
            TraceTurn {
                gap_s: if follows {
                    recorded_s.unwrap_or(median_s).min(gap_limit_s) / scale.time
                } else {
                    0.0
                },
                prompt_tokens: scale.prompt_tokens(turn.prompt_tokens),
                output_tokens: scale.output_tokens(turn.output_tokens).max(1),
                reusable_tokens: scale
                    .reusable_tokens(turn.reusable_tokens.filter(|_| follows).unwrap_or(0)),
            }
        });
        let turns = turns.collect();
        let subagents = self.subagents(session, playing, deep);
        Trace { id: session.id.clone(), turns, subagents }
    }
}

/// The median of the gaps that are recorded; 0 where none is.
fn median_gap_s(sessions: &[Session]) -> f64 {
    let follow_ups = sessions.iter().flat_map(|session| session.turns.iter().skip(1));
    let mut gaps_s: Vec<f64> = follow_ups.filter_map(|turn| turn.gap.seconds).collect();
    gaps_s.sort_by(f64::total_cmp);
    gaps_s.get(gaps_s.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::session::{Format, Gap, GapSource, Parent, Turn};

    fn turn(gap_s: Option<f64>, prompt_tokens: u64, reusable_tokens: Option<u64>) -> Turn {
        let gap = Gap { seconds: gap_s, source: GapSource::Think };
        let (output_tokens, start_s, service_s) = (0, None, None);
        Turn { gap, prompt_tokens, output_tokens, reusable_tokens, start_s, service_s }
    }

    fn session(id: &str, turns: Vec<Turn>) -> Session {
        let (parent, shared_tokens) = (None, None);
        Session { id: id.into(), parent, format: Format::Table, shared_tokens, turns }
    }

    #[test]
    fn gaps_are_limited_and_what_is_not_recorded_is_filled_and_counted() {
        let first = || turn(Some(0.0), 100, Some(0));
        let sessions = [
            session("a", vec![first(), turn(Some(90.0), 120, Some(64)), turn(None, 130, None)]),
            session(
                "b",
                vec![first(), turn(Some(4.0), 120, Some(64)), turn(Some(5.0), 9, Some(0))],
            ),
            session("large", vec![turn(Some(0.0), 1001, Some(0))]),
            Session {
                parent: Some(Parent { session: "a".into(), turn: 1 }),
                ..session("agent", vec![first()])
            },
        ];
        let played = play(&sessions, Rules::as_recorded(60.0, 1000));
        let gaps = |i: usize| played.traces[i].turns.iter().map(|t| t.gap_s).collect::<Vec<_>>();
        assert_eq!((gaps(0), gaps(1)), (vec![0.0, 60.0, 5.0], vec![0.0, 4.0, 5.0]));
        assert_eq!(played.traces[0].turns[1].reusable_tokens, 64);
        assert_eq!(played.traces[0].turns[2].reusable_tokens, 0);
        assert!(played.traces.iter().flat_map(|t| &t.turns).all(|t| t.output_tokens == 1));
        assert_eq!((played.traces.len(), played.too_large), (2, 1));
        assert_eq!((played.subagents, played.beside), (1, 0));
        let counts = (played.gaps_unknown, played.gaps_limited, played.reuse_unknown);
        assert_eq!(counts, (1, 1, 1));
    }

    #[test]
    fn sessions_are_scaled_down_and_longer_ones_left_out() {
        let two = vec![turn(Some(0.0), 100, Some(0)), turn(Some(26.0), 130, Some(99))];
        let sessions = [
            session("a", two.clone()),
            session("many turns", [two.clone(), two.clone()].concat()),
            session("long prompt", vec![turn(Some(0.0), 201, Some(0))]),
        ];
        let rules = Rules {
            at_most: AtMost { turns: Some(3), prompt_tokens: Some(200) },
            scale: Scale { tokens: 10, time: 13.0 },
            ..Rules::as_recorded(60.0, 1000)
        };
        let played = play(&sessions, rules);
        assert_eq!((played.traces.len(), played.beyond), (1, 2));
        let turn = played.traces[0].turns[1];
        assert_eq!((turn.prompt_tokens, turn.output_tokens, turn.reusable_tokens), (13, 1, 9));
        assert_eq!(turn.gap_s, 2.0);
        // The limit is of recorded seconds.
        let limited = play(&sessions, Rules { gap_limit_s: 13.0, ..rules });
        assert_eq!(limited.traces[0].turns[1].gap_s, 1.0);
        // What an engine holds is what is played.
        assert_eq!(play(&sessions, Rules { most_tokens: 12, ..rules }).too_large, 1);
        assert_eq!(play(&sessions, Rules { most_tokens: 13, ..rules }).too_large, 0);
    }
}
