//! Which sessions: a workload of the configuration, or recorded ones from a file.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::nearest::unknown;
use crate::setup::{Configs, Workload};
use trapcheck_sessions::play::{Played, Rules, play};
use trapcheck_sessions::session::Session;
use trapcheck_sessions::{Inputs, Names};

/// Where sessions come from.
#[derive(Debug, clap::Args)]
pub struct SessionsArgs {
    /// Recorded sessions: a file that trapcheck sessions reads
    #[arg(long, value_name = "FILE")]
    sessions: Option<PathBuf>,
    /// No recorded gap between an answer and the next turn counts as longer, s
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    gap_limit: f64,
    /// A workload of the configuration
    #[arg(long, value_name = "NAME", conflicts_with = "sessions")]
    workload: Option<String>,
}

/// A workload, and what is to be said of how it was made.
#[derive(Debug)]
pub struct Chosen {
    /// The workload.
    pub workload: Workload,
    /// Sessions and gaps that were left out or filled in, in a sentence each.
    pub notes: Vec<String>,
}

impl SessionsArgs {
    /// The workload that was asked for; `None` where none was. Recorded sessions with a turn that
    /// a pool of `pool_tokens` cannot hold are left out, as an engine refuses them.
    ///
    /// # Errors
    /// A file that cannot be read or has nothing to play, a limit that is not positive, or a name
    /// that there is not.
    pub fn chosen(&self, configs: &Configs, pool_tokens: u64) -> anyhow::Result<Option<Chosen>> {
        if self.gap_limit.is_nan() || self.gap_limit <= 0.0 {
            bail!("--gap-limit: expected a positive number of seconds, found {}", self.gap_limit);
        }
        match (&self.sessions, &self.workload) {
            (Some(path), _) => self.recorded(path, pool_tokens).map(Some),
            (None, Some(name)) => named(configs, name).map(Some),
            (None, None) => Ok(None),
        }
    }

    fn recorded(&self, path: &Path, pool_tokens: u64) -> anyhow::Result<Chosen> {
        let sessions = read(path)?;
        let rules = Rules { gap_limit_s: self.gap_limit, most_tokens: pool_tokens };
        let played = play(&sessions, rules);
        if played.traces.is_empty() {
            bail!(
                "{}: none of its {} sessions can be played: {} are subagents or branches, {} have a \
                 turn larger than the pool of {pool_tokens} tokens",
                path.display(),
                sessions.len(),
                played.beside,
                played.too_large
            );
        }
        let notes = notes(&played, sessions.len(), self.gap_limit, pool_tokens);
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("sessions");
        let stem = stem.split('.').next().unwrap_or(stem);
        let name = format!("{stem}, gaps up to {} s", self.gap_limit);
        let workload = Workload::of_traces(&name, played.traces)
            .map_err(|message| anyhow::anyhow!("{}: {message}", path.display()))?;
        Ok(Chosen { workload, notes })
    }
}

fn named(configs: &Configs, name: &str) -> anyhow::Result<Chosen> {
    let known = configs.workloads.keys().map(String::as_str);
    let workload = configs
        .workloads
        .get(name)
        .with_context(|| unknown("workload", name, "configs/workloads", known))?;
    Ok(Chosen { workload: workload.clone(), notes: Vec::new() })
}

fn read(path: &Path) -> anyhow::Result<Vec<Session>> {
    let cannot = || format!("cannot read {}", path.display());
    let bytes = crate::reading::bytes(path).with_context(cannot)?;
    let mut sessions = Vec::new();
    let name = path.display().to_string();
    let text: Box<dyn Read> = if bytes.starts_with(&[0x1f, 0x8b]) {
        Box::new(flate2::read::MultiGzDecoder::new(bytes.as_slice()))
    } else {
        Box::new(bytes.as_slice())
    };
    trapcheck_sessions::read(&name, text, Inputs::Whole, &mut Names::new(), &mut |session| {
        sessions.push(session);
        Ok(())
    })
    .with_context(cannot)?;
    Ok(sessions)
}

fn notes(played: &Played, sessions: usize, gap_limit_s: f64, pool_tokens: u64) -> Vec<String> {
    let counted = [
        (
            played.too_large,
            format!("sessions left out: a turn larger than the pool of {pool_tokens} tokens"),
        ),
        (played.beside, "subagents and branches left out".to_owned()),
        (played.gaps_limited, format!("gaps longer than {gap_limit_s} s cut to it")),
        (played.gaps_unknown, "gaps not recorded, set to the median of those that are".to_owned()),
        (played.reuse_unknown, "follow-ups whose reuse is not recorded: they never hit".to_owned()),
    ];
    let counted =
        counted.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
    let first = format!("{} of {sessions} recorded sessions are played", played.traces.len());
    std::iter::once(first).chain(counted).collect()
}
