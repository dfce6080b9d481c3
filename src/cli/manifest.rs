//! `trapcheck manifest`: the hashes of the committed data, written or checked.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;

use trapcheck::files::write_beside;
use trapcheck::provenance::manifest::{self, PATH};

use super::output;

/// List the SHA-256 of every file that nothing here makes, or check them
///
/// These are the files of configs/, paper/published/ and results/, and figures/README.md.
/// Files that a folder's own SHA256SUMS lists (results/sim) are compared with that list,
/// which is in this one. Writes SHA256SUMS, which `sha256sum -c SHA256SUMS` checks as well.
/// With --verify: writes nothing, and names files that changed, are missing, or are in no
/// one's list.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck manifest
  trapcheck manifest --verify

Exit codes: 0 all well; 1 with --verify a file differs; 2 bad usage or input")]
pub struct Args {
    /// Compare instead of writing
    #[arg(long)]
    verify: bool,
}

/// Runs the command.
///
/// # Errors
/// A file cannot be read or written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut found = manifest::listing(Path::new("."))?;
    let path = Path::new(PATH);
    if found.is_empty() {
        anyhow::bail!("no configs/ or results/ here; run in the project's folder, or pass -C DIR");
    }
    let pinned = manifest::vouched(Path::new("."), &mut found)?;
    if !args.verify {
        write_beside(path, manifest::render(&found).as_bytes())
            .with_context(|| format!("cannot write {PATH}"))?;
        eprintln!("wrote {PATH}: {} files", found.len());
        return Ok(ExitCode::SUCCESS);
    }
    let text = trapcheck::reading::text(path)
        .with_context(|| format!("cannot read {PATH}; trapcheck manifest writes it"))?;
    // A list that was edited by hand is a list that does not hold.
    let lines = match manifest::parse(path, &text) {
        Ok(recorded) => [pinned, manifest::differences(&recorded, &found)].concat(),
        Err(e) => vec![e.to_string()],
    };
    if lines.is_empty() {
        output::print(&format!("verified: {} files are as {PATH} says\n", found.len()))?;
        return Ok(ExitCode::SUCCESS);
    }
    output::print(&output::lines(&lines))?;
    eprintln!("{} differences; if they are intended, run: trapcheck manifest", lines.len());
    Ok(ExitCode::from(1))
}
