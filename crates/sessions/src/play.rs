//! Recorded sessions as they are played: what a simulated or a real client sends.
//!
//! A gap is at most as long as the limit that is part of the workload; one that is not recorded
//! is as long as the median of those that are. Where a record does not say what could be used
//! again, nothing is. Subagents and branches are not played: when the session that started them
//! waits for them is not known of every format.

use crate::session::Session;
use trapcheck_setup::setup::{Trace, TraceTurn};

/// What is played of a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// No gap is longer, seconds; infinite for gaps as recorded.
    pub gap_limit_s: f64,
    /// A session with a turn of more tokens, prompt and output, is left out: what an engine
    /// cannot hold it refuses.
    pub most_tokens: u64,
}

/// What can be played, and what could not.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Played {
    /// The sessions, in the order of their record.
    pub traces: Vec<Trace>,
    /// Sessions left out because a turn is too large.
    pub too_large: usize,
    /// Subagents and branches, left out.
    pub beside: usize,
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
    let median_s = median_gap_s(sessions).min(rules.gap_limit_s);
    for session in sessions {
        if session.parent.is_some() {
            played.beside += 1;
        } else if session.footprint_tokens() > rules.most_tokens {
            played.too_large += 1;
        } else {
            let trace = played.trace(session, rules.gap_limit_s, median_s);
            played.traces.push(trace);
        }
    }
    played
}

impl Played {
    fn trace(&mut self, session: &Session, gap_limit_s: f64, median_s: f64) -> Trace {
        let turns = session.turns.iter().enumerate().map(|(i, turn)| {
            let follows = i > 0;
            let recorded_s = turn.gap.seconds.filter(|_| follows);
            self.gaps_unknown += usize::from(follows && recorded_s.is_none());
            self.gaps_limited += usize::from(recorded_s.is_some_and(|s| s > gap_limit_s));
            self.reuse_unknown += usize::from(follows && turn.reusable_tokens.is_none());
            TraceTurn {
                gap_s: if follows {
                    recorded_s.map_or(median_s, |s| s.min(gap_limit_s))
                } else {
                    0.0
                },
                prompt_tokens: turn.prompt_tokens,
                output_tokens: turn.output_tokens.max(1),
                reusable_tokens: turn.reusable_tokens.filter(|_| follows).unwrap_or(0),
            }
        });
        Trace { id: session.id.clone(), turns: turns.collect() }
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
        let played = play(&sessions, Rules { gap_limit_s: 60.0, most_tokens: 1000 });
        let gaps = |i: usize| played.traces[i].turns.iter().map(|t| t.gap_s).collect::<Vec<_>>();
        assert_eq!((gaps(0), gaps(1)), (vec![0.0, 60.0, 5.0], vec![0.0, 4.0, 5.0]));
        assert_eq!(played.traces[0].turns[1].reusable_tokens, 64);
        assert_eq!(played.traces[0].turns[2].reusable_tokens, 0);
        assert!(played.traces.iter().flat_map(|t| &t.turns).all(|t| t.output_tokens == 1));
        assert_eq!((played.traces.len(), played.too_large, played.beside), (2, 1, 1));
        let counts = (played.gaps_unknown, played.gaps_limited, played.reuse_unknown);
        assert_eq!(counts, (1, 1, 1));
    }
}
