//! `trapcheck measure`: measure runs, here or as a job array, and keep what was measured.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};

use trapcheck::analysis::store::Store;
use trapcheck::files::write_beside;
use trapcheck::slurm::script;

use super::output;
use super::project;
use super::runs::{self, Inputs, RunArgs};

/// Measure runs and keep the result, so that a later step only combines
///
/// Each run's statistics go to one small file under --cache, named by the hash of what they
/// were made from. score, verdict and derive take them from there with the same --cache,
/// while the run's files have the same hashes. Where the runs themselves are too large or
/// too far away, give score or verdict the folder of kept files instead of the runs: they
/// then trust what is kept and say so. A kept file that was edited or renamed is refused;
/// one that was forged whole, with its hashes, shows only when the run is measured again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck measure results/nova --cache kept
  trapcheck measure results/nova --cache kept --slurm jobs && sbatch jobs/measure.sbatch
  trapcheck score kept                     judge what was measured, without the runs

Exit codes: 0 every run was measured and kept; 2 one was not, or bad usage or input")]
pub struct Args {
    #[command(flatten)]
    runs: RunArgs,
    /// Write a Slurm job array that measures one run per task to DIR, measure nothing
    #[arg(long, value_name = "DIR")]
    slurm: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// No runs, no folder to keep them in, a configuration that cannot be used.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let Some(cache) = &args.runs.cache else {
        bail!("--cache DIR is missing: where is what was measured to be kept?");
    };
    let configs = project::configs(&args.runs.configs)?;
    let found = runs::find(&args.runs.paths, &configs)?;
    if found.runs.is_empty() {
        bail!("these paths hold kept statistics, and no run to measure");
    }
    if let Some(dir) = &args.slurm {
        let code = write_array(args, cache, &found.runs, dir)?;
        return Ok(if found.problems.is_empty() { code } else { ExitCode::from(2) });
    }
    let store = args.runs.store(Store::new(&configs));
    let only_runs = Inputs { kept: Vec::new(), ..found };
    let measured = runs::measure(&store, &only_runs, "measuring");
    let unusable = measured.iter().filter_map(|m| m.as_ref().err());
    let unusable = unusable.map(|r| (r.dir.as_path(), r.problems.as_slice()));
    runs::tell_unusable(unusable, "not measured");
    let failed = store.not_kept();
    for error in &failed {
        eprintln!("problem: not kept: {error}");
    }
    let good = measured.iter().filter(|m| m.is_ok()).count();
    let kept = good - failed.len();
    let line = format!("{kept} of {} runs are kept in {}", measured.len(), cache.display());
    output::print(&output::lines([line]))?;
    let all = kept == measured.len() && only_runs.problems.is_empty();
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

/// Writes `dir/measure.sbatch`.
fn write_array(
    args: &Args,
    cache: &Path,
    dirs: &[PathBuf],
    dir: &Path,
) -> anyhow::Result<ExitCode> {
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let words = |path: &Path| path.display().to_string();
    let program = std::env::current_exe().context("cannot tell where this program lies")?;
    let mut command = vec![words(&program), "measure".into()];
    command.extend(["--cache".into(), words(cache)]);
    command.extend(["--configs".into(), words(&args.runs.configs)]);
    if args.runs.drop_cut_off {
        command.push("--drop-cut-off".into());
    }
    let folder = std::env::current_dir().context("cannot tell the current folder")?;
    let logs = dir.canonicalize().with_context(|| format!("cannot find {}", dir.display()))?;
    let path = dir.join("measure.sbatch");
    let ids: Vec<String> = dirs.iter().map(|d| words(d)).collect();
    let text = script("measure", &words(&folder), &words(&logs), &command, &ids);
    write_beside(&path, text.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))?;
    eprintln!("wrote {}: {} runs; submit it with: sbatch {0}", path.display(), ids.len());
    Ok(ExitCode::SUCCESS)
}
