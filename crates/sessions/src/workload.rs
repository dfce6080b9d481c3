//! Workloads that consist of sessions: recorded ones, or such as are drawn from tables of
//! quantiles. What is left out or filled in is said, a sentence each.

use trapcheck_setup::setup::Workload;

use crate::empirical::Empirical;
use crate::play::{Played, Rules, play};
use crate::session::Session;

/// Sessions that are drawn of a workload of quantiles, to be played again and again.
const DRAWN: u64 = 1000;

/// The limit of gaps where nothing states one, s. Recorded gaps without a limit are of people
/// who went home: they make the mean, and no cache spans them.
pub const GAP_LIMIT_S: f64 = 60.0;

/// A workload of sessions, and what is to be said of how it was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Playable {
    /// The workload. Its name has the limit of its gaps.
    pub workload: Workload,
    /// Sessions and gaps that were left out or filled in.
    pub notes: Vec<String>,
}

/// The workload that recorded sessions are, called by `stem`, the limit of their gaps and, where
/// they are played, subagents; in messages they are called `from`.
///
/// # Errors
/// Nothing is left to play, or a session cannot be played.
pub fn recorded(
    from: &str,
    stem: &str,
    sessions: &[Session],
    rules: Rules,
) -> Result<Playable, String> {
    let played = play(sessions, rules);
    if played.traces.is_empty() {
        return Err(format!(
            "{from}: none of its {} sessions can be played: {} are subagents or branches, {} are \
             longer than it allows, {} have a turn larger than the pool of {} tokens",
            sessions.len(),
            played.beside,
            played.beyond,
            played.too_large,
            rules.most_tokens
        ));
    }
    let notes = notes(&played, sessions.len(), rules);
    let beside = if played.subagents > 0 { ", with subagents" } else { "" };
    let name = format!("{stem}, gaps up to {} s{beside}", rules.gap_limit_s);
    let workload = Workload::of_traces(&name, played.traces)
        .map_err(|message| format!("{from}: {message}"))?;
    Ok(Playable { workload, notes })
}

/// The workload of sessions drawn from tables of quantiles, for a pool of `pool_tokens`; without a
/// limit of gaps the tables' own, or [`GAP_LIMIT_S`]. The sessions are those of one seed: which
/// are played when is the run's seed's to say.
///
/// # Errors
/// As [`recorded`].
pub fn drawn(
    tables: &Empirical,
    gap_limit_s: Option<f64>,
    pool_tokens: u64,
) -> Result<Playable, String> {
    let sessions: Vec<Session> = (0..DRAWN).map(|i| tables.session(0, i)).collect();
    let gap_limit_s = gap_limit_s.or(tables.gap_limit_s).unwrap_or(GAP_LIMIT_S);
    let rules = Rules::as_recorded(gap_limit_s, pool_tokens);
    let from = format!("workload {}", tables.name);
    let mut playable = recorded(&from, &tables.name, &sessions, rules)?;
    let first = format!("{DRAWN} sessions drawn from quantiles of: {}", tables.source);
    playable.notes.insert(0, first);
    Ok(playable)
}

fn notes(played: &Played, sessions: usize, rules: Rules) -> Vec<String> {
    let Rules { gap_limit_s, most_tokens, .. } = rules;
    let counted = [
        (
            played.too_large,
            format!("sessions left out: a turn larger than the pool of {most_tokens} tokens"),
        ),
        (played.beyond, "sessions left out: longer than the workload allows".to_owned()),
        (
            played.subagents,
            format!("subagents played beside them, with {} turns", played.turns_of_subagents),
        ),
        (
            played.untimed,
            "subagents of which it is not recorded when they ran: the next turn waits for their end"
                .to_owned(),
        ),
        (
            played.beside,
            format!("subagents and branches left out, with {} turns", played.turns_beside),
        ),
        (played.gaps_limited, format!("gaps longer than {gap_limit_s} s cut to it")),
        (played.gaps_unknown, "gaps not recorded, set to the median of those that are".to_owned()),
        (played.reuse_unknown, "follow-ups whose reuse is not recorded: they never hit".to_owned()),
    ];
    let counted =
        counted.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
    let first = format!("{} of {sessions} sessions are played", played.traces.len());
    std::iter::once(first).chain(counted).collect()
}
