//! Subagents as they are played: which session starts each, after which turn, and which turn of it
//! waits for the end.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Played, Rules};
use crate::session::{Format, GapSource, Session, Turn};
use trapcheck_setup::setup::{Awaited, Subagent, Subagents};

/// Subagents of subagents of subagents: deeper ones are left out. Nobody was seen to go beyond two.
const DEEPEST: usize = 8;

/// Records state starts in whole seconds: so much earlier than a subagent's end a turn may seem to
/// start and still have waited for it.
const CLOCK_S: f64 = 1.0;

/// Subagents by the session that started them.
pub(super) struct Beside<'a> {
    by_parent: BTreeMap<&'a str, Vec<&'a Session>>,
}

impl<'a> Beside<'a> {
    /// The subagents among these sessions that are played.
    pub(super) fn of(sessions: &'a [Session], subagents: Subagents) -> Self {
        let mut by_parent: BTreeMap<&str, Vec<&Session>> = BTreeMap::new();
        // A second answer to a prompt is a branch, for which nobody waits.
        let are_played = |s: &&Session| s.format != Format::Bailian;
        for session in sessions.iter().filter(are_played) {
            if let (Some(parent), Subagents::Played) = (&session.parent, subagents) {
                by_parent.entry(&parent.session).or_default().push(session);
            }
        }
        Self { by_parent }
    }

    /// Those that a session starts. One that follows a turn that there is not is none of them.
    fn started_by(&self, session: &Session) -> impl Iterator<Item = &'a Session> + Clone {
        let turns = session.turns.len() as u64;
        let agents = self.by_parent.get(session.id.as_str()).map_or(&[][..], Vec::as_slice);
        let follows =
            move |agent: &&Session| agent.parent.as_ref().is_some_and(|p| p.turn <= turns);
        agents.iter().copied().filter(follows)
    }

    /// A session, those that it starts, and theirs.
    pub(super) fn tree(&self, session: &'a Session) -> std::vec::IntoIter<&'a Session> {
        let (mut tree, mut from) = (vec![session], 0);
        for _ in 0..DEEPEST {
            let until = tree.len();
            for parent in from..until {
                tree.extend(self.started_by(tree[parent]));
            }
            from = until;
        }
        tree.into_iter()
    }
}

/// How a set of sessions is played.
pub(super) struct Playing<'a> {
    pub(super) beside: Beside<'a>,
    pub(super) rules: Rules,
    /// The gap where none is recorded, recorded seconds.
    pub(super) median_s: f64,
}

impl Playing<'_> {
    /// A recorded wait as it is played.
    fn wait_s(&self, recorded_s: f64) -> f64 {
        recorded_s.max(0.0).min(self.rules.gap_limit_s) / self.rules.scale.time
    }
}

impl Played {
    /// The subagents of a session as it is played; none where it is `deep` down enough.
    pub(super) fn subagents(
        &mut self,
        session: &Session,
        playing: &Playing<'_>,
        deep: usize,
    ) -> Vec<Subagent> {
        if deep == DEEPEST {
            return Vec::new();
        }
        let agents: Vec<&Session> = playing.beside.started_by(session).collect();
        let awaited_by: Vec<_> = agents.iter().map(|agent| awaited_by(session, agent)).collect();
        // By turn, the end of the last subagent that it waits for.
        let mut ends_s: BTreeMap<usize, f64> = BTreeMap::new();
        for (agent, turn) in agents.iter().zip(&awaited_by) {
            if let (Some(turn), Some(end_s)) = (turn, ended_s(agent)) {
                let last_s = ends_s.entry(*turn).or_insert(end_s);
                *last_s = last_s.max(end_s);
            }
        }
        let rest_s = |turn: usize| {
            let answered_s = answered_s(&session.turns, turn - 2);
            let ready_s = ends_s.get(&turn)?.max(answered_s.unwrap_or(f64::NEG_INFINITY));
            Some(session.turns[turn - 1].start_s? - ready_s)
        };
        let mut subagents = Vec::with_capacity(agents.len());
        for (agent, turn) in agents.iter().zip(awaited_by) {
            let after = follows(agent);
            let delay_s = answered_s(&session.turns, after - 1)
                .zip(agent.turns[0].start_s)
                .map(|(answered_s, start_s)| start_s - answered_s);
            let rest_s = turn.map(|turn| (turn, rest_s(turn)));
            let is_timed = delay_s.is_some() && rest_s.is_none_or(|(_, rest_s)| rest_s.is_some());
            self.untimed += usize::from(!is_timed);
            self.subagents += 1;
            self.turns_of_subagents += agent.turns.len();
            subagents.push(Subagent {
                trace: Arc::new(self.trace(agent, playing, deep + 1)),
                after: after as u32,
                delay_s: playing.wait_s(delay_s.unwrap_or(0.0)),
                awaited: rest_s.map(|(turn, rest_s)| Awaited {
                    turn: turn as u32,
                    rest_s: playing.wait_s(rest_s.unwrap_or(0.0)),
                }),
            });
        }
        subagents
    }
}

/// The turn (1, 2, ...) that a subagent follows: the first where it began before that, by a clock
/// of whole seconds.
fn follows(agent: &Session) -> usize {
    agent.parent.as_ref().map_or(1, |parent| parent.turn.max(1) as usize)
}

/// The turn (1, 2, ...) that waits for a subagent: the first to start after its end, or the next
/// one where times are not recorded; `None` where it outlives the session's last turn.
fn awaited_by(session: &Session, agent: &Session) -> Option<usize> {
    let after = follows(agent);
    let end_s = ended_s(agent);
    let waits = |turn: &Turn| match (turn.start_s, end_s) {
        (Some(start_s), Some(end_s)) => start_s + CLOCK_S >= end_s,
        _ => true,
    };
    session.turns.iter().skip(after).position(waits).map(|place| after + 1 + place)
}

/// When a turn (by its place) was answered: from its start and service time, or from the next start
/// and the think time before it.
fn answered_s(turns: &[Turn], place: usize) -> Option<f64> {
    let served = |turn: &Turn| Some(turn.start_s? + turn.service_s?);
    let thought = |next: &Turn| match next.gap.source {
        GapSource::Think => Some(next.start_s? - next.gap.seconds?),
        _ => None,
    };
    turns.get(place).and_then(served).or_else(|| turns.get(place + 1).and_then(thought))
}

/// When its last turn was answered or, where no service time is recorded, sent.
fn ended_s(session: &Session) -> Option<f64> {
    let last = session.turns.last()?;
    Some(last.start_s? + last.service_s.unwrap_or(0.0))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::play::play;
    use crate::session::{Gap, Parent};
    use trapcheck_setup::setup::Scale;

    /// Turns by start and service time, s.
    fn session(id: &str, parent: Option<(&str, u64)>, turns: &[(f64, f64)]) -> Session {
        let turn = |(i, (start_s, service_s)): (usize, &(f64, f64))| Turn {
            gap: match i {
                0 => Gap::FIRST,
                i => Gap::of(None, Some((turns[i - 1].0, *start_s)), Some(turns[i - 1].1)),
            },
            prompt_tokens: 100,
            output_tokens: 5,
            reusable_tokens: Some(0),
            start_s: Some(*start_s),
            service_s: Some(*service_s),
        };
        Session {
            id: id.into(),
            parent: parent.map(|(session, turn)| Parent { session: session.into(), turn }),
            format: Format::Weka,
            shared_tokens: None,
            turns: turns.iter().enumerate().map(turn).collect(),
        }
    }

    fn summary(agent: &Subagent) -> (&str, u32, f64, Option<(u32, f64)>) {
        let awaited = agent.awaited.map(|a| (a.turn, a.rest_s));
        (&agent.trace.id, agent.after, agent.delay_s, awaited)
    }

    #[test]
    fn a_session_waits_for_the_last_of_its_subagents_and_then_the_rest_of_its_gap() {
        let sessions = [
            session("s", None, &[(0.0, 10.0), (100.0, 5.0), (120.0, 5.0)]),
            session("s/short", Some(("s", 1)), &[(12.0, 2.0), (20.0, 4.0)]),
            session("s/long", Some(("s", 1)), &[(13.0, 2.0), (80.0, 6.0)]),
            session("s/long/own", Some(("s/long", 1)), &[(20.0, 30.0)]),
            session("s/aside", Some(("s", 2)), &[(110.0, 60.0)]),
            session("s/through", Some(("s", 1)), &[(15.0, 95.0)]),
        ];
        let played = play(&sessions, Rules::as_recorded(60.0, 1000));
        assert_eq!((played.subagents, played.turns_of_subagents), (5, 7));
        assert_eq!((played.beside, played.turns_beside, played.untimed), (0, 0, 0));
        let [trace] = &played.traces[..] else { panic!("{played:?}") };
        assert_eq!(
            trace.subagents.iter().map(summary).collect::<Vec<_>>(),
            [
                ("s/short", 1, 2.0, Some((2, 14.0))),
                ("s/long", 1, 3.0, Some((2, 14.0))),
                ("s/aside", 2, 5.0, None),
                ("s/through", 1, 5.0, Some((3, 10.0))),
            ]
        );
        let own = &trace.subagents[1].trace.subagents;
        assert_eq!(
            own.iter().map(summary).collect::<Vec<_>>(),
            [("s/long/own", 1, 5.0, Some((2, 30.0)))]
        );
        // The law keeps the recorded gaps; a client waits for what comes after the subagents.
        assert_eq!([1, 2].map(|i| trace.turns[i].gap_s), [60.0, 15.0]);
        assert_eq!(trace.waits_s(), [14.0, 10.0]);
    }

    #[test]
    fn waits_around_a_subagent_are_limited_and_scaled_as_gaps_are() {
        let sessions = [
            session("s", None, &[(0.0, 10.0), (300.0, 5.0)]),
            session("s/a", Some(("s", 1)), &[(110.0, 10.0)]),
        ];
        let scale = Scale { tokens: 10, time: 2.0 };
        let played = play(&sessions, Rules { scale, ..Rules::as_recorded(60.0, 1000) });
        let agent = &played.traces[0].subagents[0];
        assert_eq!(summary(agent), ("s/a", 1, 30.0, Some((2, 30.0))));
        assert_eq!(agent.trace.turns[0].prompt_tokens, 10);
    }

    #[test]
    fn a_turn_that_seems_to_start_within_a_second_of_the_end_waited_for_it() {
        let sessions = [
            session("s", None, &[(0.0, 10.0), (30.0, 5.0), (50.0, 5.0)]),
            session("s/a", Some(("s", 1)), &[(11.0, 20.0)]),
            session("s/b", Some(("s", 0)), &[(5.0, 27.0)]),
        ];
        let played = play(&sessions, Rules::as_recorded(60.0, 1000));
        let agents = played.traces[0].subagents.iter().map(summary).collect::<Vec<_>>();
        assert_eq!(agents, [("s/a", 1, 1.0, Some((2, 0.0))), ("s/b", 1, 0.0, Some((3, 15.0)))]);
    }

    #[test]
    fn where_times_are_unknown_the_next_turn_waits_and_it_is_counted() {
        let mut sessions = [
            session("s", None, &[(0.0, 10.0), (30.0, 5.0)]),
            session("s/a", Some(("s", 1)), &[(11.0, 4.0)]),
        ];
        sessions[1].turns[0].start_s = None;
        let played = play(&sessions, Rules::as_recorded(60.0, 1000));
        assert_eq!(summary(&played.traces[0].subagents[0]), ("s/a", 1, 0.0, Some((2, 0.0))));
        assert_eq!(played.untimed, 1);
    }

    #[test]
    fn what_is_not_played_is_counted_as_left_out() {
        let sessions = [
            session("s", None, &[(0.0, 10.0), (30.0, 5.0)]),
            session("s/a", Some(("s", 1)), &[(11.0, 4.0), (20.0, 1.0)]),
            session("s/late", Some(("s", 3)), &[(40.0, 4.0)]),
            session("orphan", Some(("nobody", 1)), &[(11.0, 4.0)]),
            Session { format: Format::Bailian, ..session("branch", Some(("s", 1)), &[(1.0, 1.0)]) },
            session("ring", Some(("ring", 1)), &[(11.0, 4.0)]),
        ];
        let rules = Rules::as_recorded(60.0, 1000);
        let played = play(&sessions, rules);
        assert_eq!((played.subagents, played.beside, played.turns_beside), (1, 4, 4));
        let out = play(&sessions, Rules { subagents: Subagents::LeftOut, ..rules });
        assert_eq!((out.subagents, out.beside, out.turns_beside), (0, 5, 6));
        assert!(out.traces[0].subagents.is_empty());
        // A session one of whose streams the pool cannot hold is left out whole.
        let mut large = sessions.clone();
        large[1].turns[1].prompt_tokens = 1000;
        let none = play(&large, rules);
        assert_eq!((none.traces.len(), none.too_large, none.beside), (0, 1, 5));
    }

    #[test]
    fn a_chain_of_any_depth_is_cut_where_none_was_seen() {
        let mut sessions = vec![session("0", None, &[(0.0, 1.0)])];
        for i in 1..20_000 {
            let parent = (i - 1).to_string();
            sessions.push(session(&i.to_string(), Some((&parent, 1)), &[(0.0, 1.0)]));
        }
        let played = play(&sessions, Rules::as_recorded(60.0, 1000));
        assert_eq!((played.subagents, played.beside), (DEEPEST, 19_999 - DEEPEST));
    }
}
