//! `trapcheck diagnose`: is my engine trapped, by the files that are there.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;

use trapcheck::answer::{Answer, Ask, Thresholds, Verdict};
use trapcheck::configs::{self, built_in};
use trapcheck::model::Theory;
use trapcheck::observed::picture::picture;
use trapcheck::observed::read_all;
use trapcheck::setup::ConfigError;

use super::model::Plot;
use super::{output, project};
pub use trapcheck_answers::observed::format_named;
use trapcheck_answers::observed::{Known, as_text, found, parts};

/// Say whether an engine is trapped, from logs, metrics or benchmark output
///
/// Reads the logs and /metrics of vLLM and SGLang, csv tables of gauges or requests, and what
/// load generators write; docs/diagnose.md lists the formats. Files that are given together
/// are views of one service. The first line says it, those below prove it, the last says what
/// to do.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck diagnose results/vllm-cpu/server_prefix_caching_on.log.gz
  trapcheck diagnose --pool 346584 before.prom after.prom
  trapcheck diagnose --format json profile_export.jsonl > answer.json
  trapcheck diagnose --plot night.svg server.log
  trapcheck diagnose --cell sglang-300k --sessions-per-s 0.118 server.log requests.jsonl

Exit codes: 0 good, cold, or a queue or misses alone; 1 trapped or pressed; 2 it cannot be told, \
                         or bad input")]
pub struct Args {
    /// Files, or folders of them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What the files are, where it is not told by their content
    #[arg(long, value_name = "FORMAT")]
    from: Option<String>,
    #[command(flatten)]
    about: About,
    #[command(flatten)]
    plot: Plot,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: output::Format,
}

/// Runs the command.
///
/// # Errors
/// A file that cannot be read or that no format knows.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (ask, rule) = (args.about.ask()?, args.about.thresholds()?);
    let format = args.from.as_deref().map(format_named).transpose()?;
    let theory = args.about.theory()?;
    let services = read_all(&args.files, format)?;
    let found = found(services, &ask, &rule, theory.as_ref(), args.about.sessions_per_s);
    args.plot.write(|| {
        let drawn = |(answer, _): &&(Answer, _)| !answer.timeline.bins.is_empty();
        let mut each = found.iter().filter_map(|one| Some((one, one.answers.iter().find(drawn)?)));
        let Some((one, (answer, _))) = each.next() else {
            bail!("--plot: nothing over time in these files");
        };
        let name = [one.label.as_str(), &answer.engine].into_iter().find(|name| !name.is_empty());
        Ok(picture(answer, name.unwrap_or("engine"), &rule))
    })?;
    match args.format {
        output::Format::Table => output::show(&as_text(&found))?,
        output::Format::Json => output::print(&output::json("diagnose", parts(&found))?)?,
        output::Format::Csv => bail!("--format csv: an answer is no table; expected table or json"),
    }
    Ok(exit_code(found.iter().flat_map(|one| &one.answers).map(|(answer, _)| answer.verdict)))
}

/// What is known beside the files.
#[derive(Debug, clap::Args)]
pub struct About {
    /// The KV pool, tokens, in place of the files'
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pool: Option<u64>,
    /// The largest share of prompt tokens that can be found, 0 to 1
    #[arg(long, value_name = "SHARE")]
    reuse_ceiling: Option<f64>,
    /// The client keeps a fixed number of sessions, so no backlog can grow
    #[arg(long)]
    closed: bool,
    /// Thresholds, in place of configs/diagnose.yaml
    #[arg(long, value_name = "FILE")]
    rule: Option<PathBuf>,
    /// The engine's calibrated cell: what model F says of a trap is added
    #[arg(long, value_name = "NAME")]
    cell: Option<String>,
    /// Sessions that arrive per second, where the files do not tell (with --cell)
    #[arg(long, value_name = "RATE", requires = "cell")]
    sessions_per_s: Option<f64>,
    /// Folder of cells and workloads
    #[arg(long, value_name = "DIR", default_value = "configs")]
    configs: PathBuf,
}

impl About {
    /// What the answer takes from it.
    ///
    /// # Errors
    /// A share that is none.
    pub fn ask(&self) -> anyhow::Result<Ask> {
        Ok(self.known().ask()?)
    }

    fn known(&self) -> Known {
        Known {
            pool: self.pool,
            reuse_ceiling: self.reuse_ceiling,
            closed: self.closed,
            cell: self.cell.clone(),
            sessions_per_s: self.sessions_per_s,
        }
    }

    /// The thresholds of the file that was named; else the project's, or the built-in ones.
    ///
    /// # Errors
    /// A file that cannot be used.
    pub fn thresholds(&self) -> Result<Thresholds, ConfigError> {
        const NAME: &str = "diagnose.yaml";
        let own = Path::new("configs").join(NAME);
        let path = match &self.rule {
            Some(path) => path.clone(),
            None if own.exists() => own,
            None => Path::new(built_in::FOLDER).join(NAME),
        };
        configs::read(&path, Thresholds::parse)
    }

    /// The theory of the cell that was named.
    ///
    /// # Errors
    /// There is no such cell, or it has no answer.
    pub fn theory(&self) -> anyhow::Result<Option<Theory>> {
        if self.cell.is_none() {
            return Ok(None);
        }
        Ok(self.known().theory(&project::configs(&self.configs)?)?)
    }
}

/// 1 where one engine is trapped or pressed, else 2 where one cannot be told, or none is there.
pub fn exit_code(verdicts: impl Iterator<Item = Verdict>) -> ExitCode {
    let verdicts: Vec<_> = verdicts.collect();
    if verdicts.iter().any(|verdict| verdict.is_bad()) {
        return ExitCode::from(1);
    }
    match verdicts.is_empty() || verdicts.contains(&Verdict::Unmeasurable) {
        true => ExitCode::from(2),
        false => ExitCode::SUCCESS,
    }
}
