//! `trapcheck provenance`: make and check proofs that a registration came before its jobs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use clap::{Subcommand, ValueEnum};

use trapcheck::provenance::export::{Request, export};
use trapcheck::provenance::{
    Jobs, Repository, Verdict, Verified, find_proofs, tag_is_kept, time, verify,
};

use super::output;

/// Prove that a registration was committed and pushed before its jobs
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck provenance export --file configs/registrations/mine.yaml proofs/mine
  trapcheck provenance verify proofs

Exit codes: 0 every proof holds; 1 one does not; 2 bad usage or input")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Verify(VerifyArgs),
    Export(Box<ExportArgs>),
}

/// Check every proof under a folder
///
/// Recomputes git's object names, follows them from tag or commit to the file, compares
/// the file with the one here, and puts the times in order. Names the file whose bytes it
/// compared.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  trapcheck provenance verify proofs          a folder in which export made some

Exit codes: 0 every proof holds; 1 one does not; 2 bad usage or input")]
struct VerifyArgs {
    /// A folder with proofs in it
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Also look up the tags in this repository: were they moved since?
    #[arg(long, value_name = "DIR")]
    repository: Option<PathBuf>,
}

/// Make a proof from a local git repository
///
/// The push time comes from the server's log (GitHub: the repository's activity), the
/// time of the first job from the scheduler's accounting; both with their zone.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  trapcheck provenance export --file configs/registrations/mine.yaml --revision mine-reg \\
    --pushed '2026-11-05 14:07:35 CST' --first-job '2026-11-05 14:50:52 CST' proofs/mine

Exit codes: 0 made, and it holds; 1 made, and it does not; 2 bad usage or input")]
struct ExportArgs {
    /// The proof's new folder
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// The repository
    #[arg(long, default_value = ".", value_name = "DIR")]
    repository: PathBuf,
    /// The registered file's path in the repository
    #[arg(long, value_name = "PATH")]
    file: String,
    /// Where the same bytes lie in this project, if elsewhere
    #[arg(long, value_name = "PATH")]
    published: Option<PathBuf>,
    /// The tag or commit that registers it
    #[arg(long, default_value = "HEAD", value_name = "NAME")]
    revision: String,
    /// When it was first pushed
    #[arg(long, value_name = "TIME")]
    pushed: Option<String>,
    /// What the branch pointed at after that push, if a later commit
    #[arg(long, value_name = "NAME", requires = "pushed")]
    pushed_head: Option<String>,
    /// Where the push time was read
    #[arg(long, value_name = "TEXT", requires = "pushed")]
    push_source: Option<String>,
    /// When the first job was submitted
    #[arg(long, value_name = "TIME")]
    first_job: Option<String>,
    /// The jobs' numbers
    #[arg(long, value_name = "TEXT", requires = "first_job")]
    jobs: Option<String>,
    /// Where the job's time was read
    #[arg(long, value_name = "TEXT", requires = "first_job")]
    jobs_source: Option<String>,
    /// What to claim; verifying fails where the times say less
    #[arg(long, value_enum)]
    claim: Option<Claim>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Claim {
    PreRegistered,
    Registered,
}

/// Runs the command.
///
/// # Errors
/// A folder without proofs, a repository that cannot be read, or a proof that cannot
/// be made.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.command {
        Command::Verify(args) => {
            let repository = args.repository.as_deref().map(Repository::open).transpose()?;
            verify_all(&args.dir, repository.as_ref())
        }
        Command::Export(args) => export_one(args),
    }
}

fn verify_all(dir: &Path, repository: Option<&Repository>) -> anyhow::Result<ExitCode> {
    if !dir.is_dir() {
        bail!("{} is no folder; a proof's folder holds a proof.yaml", dir.display());
    }
    let proofs = find_proofs(dir)?;
    if proofs.is_empty() {
        bail!("no proof under {} (a proof's folder holds a proof.yaml)", dir.display());
    }
    let (mut lines, mut failures) = (Vec::new(), 0);
    for proof in &proofs {
        let kept = |verified| match repository.map(|r| tag_is_kept(&verified, r)) {
            Some(Err(failure)) => Err(vec![failure]),
            _ => Ok(verified),
        };
        match verify(proof, Path::new(".")).and_then(kept) {
            Ok(verified) => lines.push(line(proof, &verified)),
            Err(reasons) => {
                failures += 1;
                let line = |reason| format!("FAILED  {}: {reason}", proof.display());
                lines.extend(reasons.iter().map(line));
            }
        }
    }
    lines.push(format!("{} proofs, {failures} failures", proofs.len()));
    output::print(&output::lines(lines))?;
    Ok(if failures == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// `ok  provenance/x: pre-registered: ... pushed 41 m 17 s before the first job ...`
fn line(dir: &Path, verified: &Verified) -> String {
    let when = |what: &str, t: i64| match verified.first_job_unix {
        None => format!("{what} {}", time::utc(t)),
        Some(job) => {
            let side = if t < job { "before" } else { "after" };
            format!("{what} {}, {} {side} the first job", time::utc(t), time::span(job - t))
        }
    };
    let pushed = verified.pushed_unix.map(|t| when("pushed", t));
    let said = pushed.unwrap_or_else(|| when("committed", verified.committed_unix));
    let (verdict, file) = (verified.verdict.word(), proven(verified));
    format!("ok      {}: {verdict}: {file}, {said}", dir.display())
}

/// The file whose bytes were compared, and the committed path where that is another.
fn proven(verified: &Verified) -> String {
    let (proof, published) = (&verified.proof, verified.proof.published());
    let here = if verified.file_is_here { "the same here" } else { "not in this project" };
    match published == Path::new(&proof.file) {
        true => proof.file.clone(),
        false => format!("{} (committed as {}, {here})", published.display(), proof.file),
    }
}

fn export_one(args: &ExportArgs) -> anyhow::Result<ExitCode> {
    let repository = Repository::open(&args.repository)?;
    let push = |time: &String| (time.clone(), args.pushed_head.clone(), args.push_source.clone());
    let jobs = |time: &String| Jobs {
        first_submitted: time.clone(),
        ids: args.jobs.clone(),
        source: args.jobs_source.clone(),
    };
    let request = Request {
        revision: args.revision.clone(),
        file: args.file.clone(),
        published: args.published.clone(),
        push: args.pushed.as_ref().map(push),
        jobs: args.first_job.as_ref().map(jobs),
        claim: args.claim.map(|claim| match claim {
            Claim::PreRegistered => Verdict::PreRegistered,
            Claim::Registered => Verdict::Registered,
        }),
    };
    export(&repository, &request, &args.dir)?;
    eprintln!("wrote {}", args.dir.display());
    verify_all(&args.dir, Some(&repository))
}
