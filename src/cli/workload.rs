//! Which sessions: a workload of the configuration, or recorded ones from a file.

use std::path::PathBuf;

use anyhow::{Context, bail};
pub use trapcheck_answers::workload::Chosen;
use trapcheck_answers::workload::{GAP_LIMIT_S, Named, check_limit, named, played};
use trapcheck_sessions::play::Rules;

use crate::sessions::{Inputs, load};
use crate::setup::{Configs, RecordedFile};

/// Where sessions come from.
#[derive(Debug, clap::Args)]
pub struct SessionsArgs {
    /// Recorded sessions: a file that trapcheck sessions reads
    #[arg(long, value_name = "FILE")]
    sessions: Option<PathBuf>,
    /// No gap between an answer and the next turn is longer, s [default: the workload's, or 60]
    #[arg(long, value_name = "SECONDS")]
    gap_limit: Option<f64>,
    /// A workload of the configuration
    #[arg(long, value_name = "NAME", conflicts_with = "sessions")]
    workload: Option<String>,
}

impl SessionsArgs {
    /// A workload of the configuration.
    pub fn named(name: &str, gap_limit_s: Option<f64>) -> Self {
        Self { sessions: None, gap_limit: gap_limit_s, workload: Some(name.into()) }
    }

    /// The workload that was asked for; `None` where none was. Recorded sessions with a turn that
    /// a pool of `pool_tokens` cannot hold are left out, as an engine refuses them.
    ///
    /// # Errors
    /// A file that cannot be read or has nothing to play, a limit that is not positive, or a name
    /// that there is not.
    pub fn chosen(&self, configs: &Configs, pool_tokens: u64) -> anyhow::Result<Option<Chosen>> {
        check_limit(self.gap_limit)?;
        if let Some(path) = &self.sessions {
            let gap_limit_s = self.gap_limit.unwrap_or(GAP_LIMIT_S);
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("sessions");
            let stem = stem.split('.').next().unwrap_or(stem);
            let sessions = load(path, Inputs::Whole)?.sessions;
            let rules = Rules { gap_limit_s, most_tokens: pool_tokens };
            return Ok(Some(played(&path.display().to_string(), stem, &sessions, rules)?));
        }
        let Some(name) = &self.workload else { return Ok(None) };
        Ok(Some(match named(configs, name, self.gap_limit, pool_tokens)? {
            Named::Chosen(chosen) => chosen,
            Named::Recorded(file) => self.recorded(file, pool_tokens)?,
        }))
    }

    fn recorded(&self, file: &RecordedFile, pool_tokens: u64) -> anyhow::Result<Chosen> {
        let loaded =
            load(&file.path, Inputs::Whole).with_context(|| format!("workload {}", file.name))?;
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
        let rules = Rules { gap_limit_s, most_tokens: pool_tokens };
        Ok(played(&format!("workload {}", file.name), &file.name, &loaded.sessions, rules)?)
    }
}
