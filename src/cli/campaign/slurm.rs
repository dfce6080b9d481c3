//! `--slurm`: the missing runs as a job array.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use trapcheck::campaign::{CampaignRun, Presence};
use trapcheck::files::write_beside;
use trapcheck::slurm::script;

use super::Args;

/// Writes `dir/campaign.sbatch`.
pub fn write(
    args: &Args,
    name: &str,
    runs: &[&CampaignRun<'_>],
    dir: &Path,
) -> anyhow::Result<ExitCode> {
    let mut ids = Vec::new();
    for run in runs {
        if run.presence(&args.out)? != Presence::Made {
            ids.push(run.planned.id.clone());
        }
    }
    if ids.is_empty() {
        eprintln!("all {} runs are made: nothing to submit", runs.len());
        return Ok(ExitCode::SUCCESS);
    }
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let words = |path: &Path| path.display().to_string();
    let program = std::env::current_exe().context("cannot tell where this program lies")?;
    let mut command = vec![words(&program), "campaign".into(), words(&args.file)];
    let mut option = |flag: &str, value: &PathBuf| command.extend([flag.into(), words(value)]);
    option("--out", &args.out);
    option("--configs", &args.configs);
    if args.replace {
        command.push("--replace".into());
    }
    if args.check {
        command.push("--check".into());
    }
    let tables = args.tables.as_ref().and_then(clap::ValueEnum::to_possible_value);
    command.extend(tables.map(|value| format!("--tables={}", value.get_name())));
    command.push("--run".into());
    let folder = std::env::current_dir().context("cannot tell the current folder")?;
    let logs = dir.canonicalize().with_context(|| format!("cannot find {}", dir.display()))?;
    let path = dir.join("campaign.sbatch");
    let text = script(name, &words(&folder), &words(&logs), &command, &ids);
    write_beside(&path, text.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))?;
    eprintln!("wrote {}: {} runs; submit it with: sbatch {0}", path.display(), ids.len());
    Ok(ExitCode::SUCCESS)
}
