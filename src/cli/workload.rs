//! Which sessions: a workload of the configuration, or recorded ones from a file.

use std::path::PathBuf;

use anyhow::{Context, bail};
use trapcheck_runs::configs::SessionWorkload;
use trapcheck_sessions::empirical::Empirical;
use trapcheck_sessions::play::{Played, Rules, play};

use crate::nearest::unknown;
use crate::sessions::{Inputs, Session, load};
use crate::setup::{Configs, RecordedFile, Workload};

/// Sessions that are drawn of a workload of quantiles, to be played again and again.
const DRAWN: u64 = 1000;

/// Where sessions come from.
#[derive(Debug, Clone, clap::Args)]
pub struct SessionsArgs {
    /// Recorded sessions: a file that trapcheck sessions reads; with --workload, where the
    /// workload's own file lies
    #[arg(long, value_name = "FILE")]
    sessions: Option<PathBuf>,
    /// No gap between an answer and the next turn is longer, s [default: the workload's, or 60]
    #[arg(long, value_name = "SECONDS")]
    gap_limit: Option<f64>,
    /// A workload of the configuration
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
}

/// The limit of gaps where neither the command line nor the workload has one, s. Recorded gaps
/// without a limit are of people who went home: they make the mean, and no cache spans them.
const GAP_LIMIT_S: f64 = 60.0;

/// A workload, and what is to be said of how it was made.
#[derive(Debug)]
pub struct Chosen {
    /// The workload.
    pub workload: Workload,
    /// Sessions and gaps that were left out or filled in, in a sentence each.
    pub notes: Vec<String>,
}

impl SessionsArgs {
    /// A workload of the configuration.
    pub fn named(name: &str, gap_limit_s: Option<f64>) -> Self {
        Self { sessions: None, gap_limit: gap_limit_s, workload: Some(name.into()) }
    }

    /// The same, read from this file.
    #[must_use]
    pub fn in_file(self, sessions: Option<PathBuf>) -> Self {
        Self { sessions, ..self }
    }

    /// The same, of a workload where none was asked for.
    #[must_use]
    pub fn or_named(&self, name: &str) -> Self {
        let workload = match (&self.sessions, &self.workload) {
            (Some(_), None) => None,
            (_, asked) => Some(asked.clone().unwrap_or_else(|| name.into())),
        };
        Self { workload, ..self.clone() }
    }

    /// The workload that was asked for; `None` where none was. Recorded sessions with a turn that
    /// a pool of `pool_tokens` cannot hold are left out, as an engine refuses them.
    ///
    /// # Errors
    /// A file that cannot be read or has nothing to play, a limit that is not positive, or a name
    /// that there is not.
    pub fn chosen(&self, configs: &Configs, pool_tokens: u64) -> anyhow::Result<Option<Chosen>> {
        if self.gap_limit.is_some_and(|limit| limit.is_nan() || limit <= 0.0) {
            bail!("--gap-limit: expected a positive number of seconds");
        }
        if let (Some(path), None) = (&self.sessions, &self.workload) {
            let gap_limit_s = self.gap_limit.unwrap_or(GAP_LIMIT_S);
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("sessions");
            let stem = stem.split('.').next().unwrap_or(stem);
            let sessions = load(path, Inputs::Whole)?.sessions;
            let rules = Rules::as_recorded(gap_limit_s, pool_tokens);
            return played(&path.display().to_string(), stem, &sessions, rules).map(Some);
        }
        let Some(name) = &self.workload else { return Ok(None) };
        if self.sessions.is_some()
            && !matches!(configs.session_workloads.get(name), Some(SessionWorkload::Recorded(_)))
        {
            bail!("--sessions: the workload {name} is of no file; give one of the two");
        }
        if let Some(workload) = configs.workloads.get(name) {
            if self.gap_limit.is_some() {
                bail!("--gap-limit is of recorded sessions; the gaps of {name} follow a law");
            }
            return Ok(Some(Chosen { workload: workload.clone(), notes: Vec::new() }));
        }
        let known = configs.workloads.keys().chain(configs.session_workloads.keys());
        let of_sessions = configs.session_workloads.get(name).with_context(|| {
            unknown("workload", name, "configs/workloads", known.map(String::as_str))
        })?;
        match of_sessions {
            SessionWorkload::Recorded(file) => self.recorded(file, pool_tokens),
            SessionWorkload::Empirical(tables) => self.drawn(tables, pool_tokens),
        }
        .map(Some)
    }

    fn recorded(&self, file: &RecordedFile, pool_tokens: u64) -> anyhow::Result<Chosen> {
        let path = self.sessions.as_ref().unwrap_or(&file.path);
        let loaded =
            load(path, Inputs::Whole).with_context(|| format!("workload {}", file.name))?;
        if let Some(read) = loaded.files.iter().find(|read| read.source.sha256 != file.sha256) {
            bail!(
                "workload {}: {} has the SHA-256 {}, and the workload is of {}: other sessions are \
                 another workload",
                file.name,
                read.source.path.display(),
                read.source.sha256,
                file.sha256
            );
        }
        let gap_limit_s = self.gap_limit.unwrap_or(file.gap_limit_s);
        let rules = Rules {
            at_most: file.at_most,
            scale: file.scale,
            ..Rules::as_recorded(gap_limit_s, pool_tokens)
        };
        played(&format!("workload {}", file.name), &file.name, &loaded.sessions, rules)
    }

    /// Sessions of one seed: which are played when is the run's seed's to say.
    fn drawn(&self, tables: &Empirical, pool_tokens: u64) -> anyhow::Result<Chosen> {
        let sessions: Vec<Session> = (0..DRAWN).map(|i| tables.session(0, i)).collect();
        let gap_limit_s = self.gap_limit.or(tables.gap_limit_s).unwrap_or(GAP_LIMIT_S);
        let rules = Rules::as_recorded(gap_limit_s, pool_tokens);
        let mut chosen =
            played(&format!("workload {}", tables.name), &tables.name, &sessions, rules)?;
        chosen
            .notes
            .insert(0, format!("{DRAWN} sessions drawn from quantiles of: {}", tables.source));
        Ok(chosen)
    }
}

/// The workload that these sessions are, called by `stem` and the limit of their gaps.
fn played(from: &str, stem: &str, sessions: &[Session], rules: Rules) -> anyhow::Result<Chosen> {
    let played = play(sessions, rules);
    if played.traces.is_empty() {
        bail!(
            "{from}: none of its {} sessions can be played: {} are subagents or branches, {} are \
             longer than it allows, {} have a turn larger than the pool of {} tokens",
            sessions.len(),
            played.beside,
            played.beyond,
            played.too_large,
            rules.most_tokens
        );
    }
    let notes = notes(&played, sessions.len(), rules);
    let name = format!("{stem}, gaps up to {} s", rules.gap_limit_s);
    let workload = Workload::of_traces(&name, played.traces)
        .map_err(|message| anyhow::anyhow!("{from}: {message}"))?;
    Ok(Chosen { workload, notes })
}

fn notes(played: &Played, sessions: usize, rules: Rules) -> Vec<String> {
    let Rules { gap_limit_s, most_tokens, .. } = rules;
    let counted = [
        (
            played.too_large,
            format!("sessions left out: a turn larger than the pool of {most_tokens} tokens"),
        ),
        (played.beyond, "sessions left out: longer than the workload allows".to_owned()),
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
