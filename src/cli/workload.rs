//! Which sessions: a workload of the configuration, or recorded ones from a file.

use std::path::PathBuf;

use anyhow::bail;
use clap::ValueEnum;
use trapcheck_answers::workload::{GAP_LIMIT_S, Playable, check_limit, named};
use trapcheck_runs::configs::SessionWorkload;
use trapcheck_sessions::play::Rules;
use trapcheck_sessions::workload::recorded;

use trapcheck::sessions::{Inputs, load};
use trapcheck::setup::{Configs, RecordedFile, Subagents};

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
    /// Whether the subagents of recorded sessions are streams of their own, for which their session
    /// waits, or are missing from the load [default: the workload's, or played]
    #[arg(long, value_enum, value_name = "HOW")]
    subagents: Option<SubagentsArg>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SubagentsArg {
    Played,
    LeftOut,
}

impl From<SubagentsArg> for Subagents {
    fn from(how: SubagentsArg) -> Self {
        match how {
            SubagentsArg::Played => Self::Played,
            SubagentsArg::LeftOut => Self::LeftOut,
        }
    }
}

impl SessionsArgs {
    /// A workload of the configuration.
    pub fn named(name: &str, gap_limit_s: Option<f64>) -> Self {
        Self {
            sessions: None,
            gap_limit: gap_limit_s,
            workload: Some(name.into()),
            subagents: None,
        }
    }

    /// The same, read from this file.
    #[must_use]
    pub fn in_file(self, sessions: Option<PathBuf>) -> Self {
        Self { sessions, ..self }
    }

    /// The same without subagents: what a law makes of them.
    #[must_use]
    pub fn without_subagents(self, configs: &Configs) -> Self {
        let name = self.workload.as_ref().and_then(|name| configs.session_workloads.get(name));
        let recorded = matches!(name, Some(SessionWorkload::Recorded(_)));
        Self { subagents: recorded.then_some(SubagentsArg::LeftOut), ..self }
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
    pub fn chosen(&self, configs: &Configs, pool_tokens: u64) -> anyhow::Result<Option<Playable>> {
        check_limit(self.gap_limit)?;
        if let (Some(path), None) = (&self.sessions, &self.workload) {
            let gap_limit_s = self.gap_limit.unwrap_or(GAP_LIMIT_S);
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("sessions");
            let stem = stem.split('.').next().unwrap_or(stem);
            let sessions = load(path, Inputs::Whole)?.sessions;
            let subagents = self.subagents.map_or_else(Subagents::default, Subagents::from);
            let rules = Rules { subagents, ..Rules::as_recorded(gap_limit_s, pool_tokens) };
            let playable = recorded(&path.display().to_string(), stem, &sessions, rules);
            return playable.map(Some).map_err(anyhow::Error::msg);
        }
        let Some(name) = &self.workload else { return Ok(None) };
        let playable = match (configs.session_workloads.get(name), &self.sessions) {
            (Some(SessionWorkload::Recorded(file)), path)
                if path.is_some() || self.subagents.is_some() =>
            {
                let path = path.as_ref().unwrap_or(&file.path).clone();
                let subagents = self.subagents.map_or(file.subagents, Subagents::from);
                SessionWorkload::Recorded(RecordedFile { path, subagents, ..file.clone() })
                    .playable(self.gap_limit, pool_tokens, configs.read_sessions)
                    .map_err(anyhow::Error::msg)?
            }
            (_, Some(_)) if configs.has_workload(name) => {
                bail!("--sessions: the workload {name} is of no file; give one of the two")
            }
            _ if self.subagents.is_some() => bail!("--subagents is of recorded sessions"),
            _ => named(configs, name, self.gap_limit, pool_tokens)?,
        };
        Ok(Some(playable))
    }
}
