//! `trapcheck sessions fit`: a workload of quantiles from recorded sessions.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};

use super::{Traces, code, write};
use crate::cli::output::{self, Print};
use trapcheck::name::PlainName;
use trapcheck::table::answers::sessions::distance;
use trapcheck_sessions::description::Description;
use trapcheck_sessions::empirical::fit;

/// Sessions that are drawn to see how far the fit is from the record.
const DRAWN: u64 = 2000;

/// Fit a workload of quantiles to sessions, so that it can be played without them
///
/// The file holds tables of quantiles and no session. What is drawn from it is set beside the
/// record: 2,000 sessions of seed 0. Subagents and branches are left out of the fit.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck sessions fit sessions.csv.gz --source 'our agent, June' --out our-agent.yaml

Exit codes: 0 fitted to all; 1 sessions were left out, or a file ends early; 2 bad usage or input")]
pub struct Args {
    #[command(flatten)]
    from: Traces,
    /// Where to write the workload: its name is the file's
    #[arg(long, value_name = "FILE.yaml")]
    out: PathBuf,
    /// Where the sessions are from, with their licence: stands in the file
    #[arg(long, value_name = "WORDS")]
    source: String,
    /// No gap longer than this, s; it then stands in the file
    #[arg(long, value_name = "SECONDS")]
    gap_limit: Option<f64>,
    #[command(flatten)]
    print: Print,
}

/// Runs the command.
///
/// # Errors
/// Sessions that cannot be read or say too little to be fitted to, or a file that cannot be
/// written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.out.extension().is_none_or(|ending| ending != "yaml") {
        bail!("--out {}: expected a .yaml file", args.out.display());
    }
    let stem = args.out.file_stem().unwrap_or_default().to_string_lossy();
    PlainName::new(&*stem).with_context(|| format!("--out {}", args.out.display()))?;
    let mut loaded = args.from.load()?;
    loaded.sessions.retain(|session| session.parent.is_none());
    let mut fitted = fit(&loaded.sessions, &stem, &args.source)
        .map_err(|message| anyhow!(message))
        .context("cannot fit a workload")?;
    fitted.gap_limit_s = args.gap_limit;
    fitted.check().map_err(|message| anyhow!(message))?;
    if let Some(limit) = args.gap_limit {
        loaded.sessions.iter_mut().for_each(|session| session.limit_gaps(limit));
    }
    let drawn: Vec<_> = (0..DRAWN).map(|index| fitted.session(0, index)).collect();
    let (recorded, drawn) = (Description::of(&loaded.sessions), Description::of(&drawn));
    let comment = format!(
        "Agent sessions by quantiles: `trapcheck sessions fit` made it of {} recorded sessions \
         with {} turns.\nNo session is in it.",
        recorded.sessions, recorded.turns
    );
    write(&args.out, &fitted.to_yaml(&comment))?;
    output::tables("sessions-fit", &[distance(&recorded, &drawn)], args.print)?;
    Ok(code(&loaded.files))
}
