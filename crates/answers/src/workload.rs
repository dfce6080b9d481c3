//! Workloads that consist of sessions, made ready to be played.

use trapcheck_runs::configs::SessionWorkload;
use trapcheck_sessions::empirical::Empirical;
use trapcheck_sessions::play::{Played, Rules, play};
use trapcheck_sessions::session::Session;

use crate::nearest::unknown;
use crate::refused::Refused;
use crate::setup::{Configs, RecordedFile, Workload};

/// Sessions that are drawn of a workload of quantiles, to be played again and again.
const DRAWN: u64 = 1000;

/// The limit of gaps where neither the asker nor the workload has one, s. Recorded gaps without
/// a limit are of people who went home: they make the mean, and no cache spans them.
pub const GAP_LIMIT_S: f64 = 60.0;

/// A workload, and what is to be said of how it was made.
#[derive(Debug)]
pub struct Chosen {
    /// The workload.
    pub workload: Workload,
    /// Sessions and gaps that were left out or filled in, in a sentence each.
    pub notes: Vec<String>,
}

/// A workload of the configuration, as it was named.
#[derive(Debug)]
pub enum Named<'a> {
    /// Made of the configuration alone.
    Chosen(Chosen),
    /// Of sessions in a file, which whoever has files reads.
    Recorded(&'a RecordedFile),
}

/// The workload of a name, for a pool of `pool_tokens`, no gap longer than `gap_limit_s`.
///
/// # Errors
/// A limit that is not positive or has no use, a name that there is not, or sessions of which
/// none can be played.
pub fn named<'a>(
    configs: &'a Configs,
    name: &str,
    gap_limit_s: Option<f64>,
    pool_tokens: u64,
) -> Result<Named<'a>, Refused> {
    check_limit(gap_limit_s)?;
    if let Some(workload) = configs.workloads.get(name) {
        if gap_limit_s.is_some() {
            return Err(Refused(format!(
                "--gap-limit is of recorded sessions; the gaps of {name} follow a law"
            )));
        }
        return Ok(Named::Chosen(Chosen { workload: workload.clone(), notes: Vec::new() }));
    }
    let known = configs.workloads.keys().chain(configs.session_workloads.keys());
    let of_sessions = configs.session_workloads.get(name).ok_or_else(|| {
        Refused(unknown("workload", name, "configs/workloads", known.map(String::as_str)))
    })?;
    match of_sessions {
        SessionWorkload::Recorded(file) => Ok(Named::Recorded(file)),
        SessionWorkload::Empirical(tables) => {
            drawn(tables, gap_limit_s, pool_tokens).map(Named::Chosen)
        }
    }
}

/// Whether a limit of gaps is one.
///
/// # Errors
/// It is not positive.
pub fn check_limit(gap_limit_s: Option<f64>) -> Result<(), Refused> {
    match gap_limit_s.is_some_and(|limit| limit.is_nan() || limit <= 0.0) {
        true => Err(Refused::new("--gap-limit: expected a positive number of seconds")),
        false => Ok(()),
    }
}

/// Sessions of one seed: which are played when is the run's seed's to say.
fn drawn(
    tables: &Empirical,
    gap_limit_s: Option<f64>,
    pool_tokens: u64,
) -> Result<Chosen, Refused> {
    let sessions: Vec<Session> = (0..DRAWN).map(|i| tables.session(0, i)).collect();
    let gap_limit_s = gap_limit_s.or(tables.gap_limit_s).unwrap_or(GAP_LIMIT_S);
    let rules = Rules { gap_limit_s, most_tokens: pool_tokens };
    let mut chosen = played(&format!("workload {}", tables.name), &tables.name, &sessions, rules)?;
    chosen.notes.insert(0, format!("{DRAWN} sessions drawn from quantiles of: {}", tables.source));
    Ok(chosen)
}

/// The workload that these sessions are, called by `stem` and the limit of their gaps; `from`
/// says where they are from.
///
/// # Errors
/// None of them can be played.
pub fn played(
    from: &str,
    stem: &str,
    sessions: &[Session],
    rules: Rules,
) -> Result<Chosen, Refused> {
    let played = play(sessions, rules);
    if played.traces.is_empty() {
        return Err(Refused(format!(
            "{from}: none of its {} sessions can be played: {} are subagents or branches, {} have a \
             turn larger than the pool of {} tokens",
            sessions.len(),
            played.beside,
            played.too_large,
            rules.most_tokens
        )));
    }
    let notes = notes(&played, sessions.len(), rules);
    let name = format!("{stem}, gaps up to {} s", rules.gap_limit_s);
    let workload = Workload::of_traces(&name, played.traces)
        .map_err(|message| Refused(format!("{from}: {message}")))?;
    Ok(Chosen { workload, notes })
}

fn notes(played: &Played, sessions: usize, rules: Rules) -> Vec<String> {
    let Rules { gap_limit_s, most_tokens } = rules;
    let counted = [
        (
            played.too_large,
            format!("sessions left out: a turn larger than the pool of {most_tokens} tokens"),
        ),
        (played.beside, "subagents and branches left out".to_owned()),
        (played.gaps_limited, format!("gaps longer than {gap_limit_s} s cut to it")),
        (played.gaps_unknown, "gaps not recorded, set to the median of those that are".to_owned()),
        (played.reuse_unknown, "follow-ups whose reuse is not recorded: they never hit".to_owned()),
    ];
    let counted =
        counted.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
    let first = format!("{} of {sessions} sessions are played", played.traces.len());
    std::iter::once(first).chain(counted).collect()
}
