//! `trapcheck page`: a static page of runs, written or served.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;

use anyhow::{Context, bail};

use trapcheck::analysis::store::Store;
use trapcheck::directory::LoadOptions;
use trapcheck::judged::score::score;
use trapcheck::numbers::{JSON_PATH, verify};
use trapcheck::page::places::Places;
use trapcheck::page::serve::{Content, Server};
use trapcheck::page::write::{Written, write};
use trapcheck::page::{Files, Judged, LedgerFile, Whose, figures_of, page};
use trapcheck_setup::hash::sha256_hex;

use super::{numbers, output, project, runs, signals};

/// Write or serve a static page: runs, figures, the law against runs, registered tests, the ledger
///
/// Without runs it is the page of the project in the current folder: every run of its analyses,
/// their figures and the paper's ledger. With runs it is a page of these alone. The page needs
/// no server of its own; --open serves it on the loopback until it is stopped.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck page --out page/built                this project's page
  trapcheck page --out mine results/vllm-cpu     a page of these runs
  trapcheck page --open page/built               serve what was written
  trapcheck page results/vllm-cpu --open         make it and serve it from memory

Exit codes: 0 made, or served until it was stopped; 1 the ledger rests on files that have
changed since; 2 a run could not be read, or bad usage or input")]
pub struct Args {
    /// Run directories, kept statistics of runs, or folders to search for them
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Write the page to this folder: a new or empty one, or one that a page was written to
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Serve on 127.0.0.1 what lies in DIR, or without it the page that is made
    #[arg(long, value_name = "DIR")]
    open: Option<Option<PathBuf>>,
    /// The port to serve on; any free one unless given
    #[arg(long, value_name = "N", default_value_t = 0, requires = "open")]
    port: u16,
    /// Serve without opening a browser
    #[arg(long, requires = "open")]
    no_browser: bool,
    /// Folder of cells, protocols, workloads, registrations and layouts, for runs that are named
    #[arg(long, value_name = "DIR", default_value = "configs", requires = "paths")]
    configs: PathBuf,
    /// Leave out a last line that a crash cut off
    #[arg(long, requires = "paths")]
    drop_cut_off: bool,
    /// Where statistics of runs are kept
    #[arg(long, value_name = "DIR", default_value = project::CACHE)]
    cache: PathBuf,
    /// Keep nothing, and use nothing that was kept
    #[arg(long, conflicts_with = "cache")]
    no_cache: bool,
}

/// A page, and what was the matter with what it is of.
struct MadePage {
    files: Files,
    /// Runs that could not be read and folders that could not be looked at.
    unreadable: usize,
    /// Whether the ledger is that of what is here.
    is_current: bool,
}

/// Runs the command.
///
/// # Errors
/// No runs, a configuration that cannot be used, a folder with something else in it, a file that
/// cannot be written, an address that is taken.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(Some(folder)) = &args.open {
        if args.out.is_some() || !args.paths.is_empty() {
            bail!(
                "--open {0}: a page that is there is served as it is; without {0}, the one that is made",
                folder.display()
            );
        }
        return serve(Content::of_folder(folder)?, args);
    }
    if args.out.is_none() && args.open.is_none() {
        bail!("where to? --out DIR writes the page, --open serves it");
    }
    let made = if args.paths.is_empty() { of_project(args)? } else { of_runs(args)? };
    if !made.files.contains_key("index.html") {
        eprintln!(
            "warning: this program was built without the folder page/: only the data are made"
        );
    }
    if let Some(out) = &args.out {
        let Written { written, same, removed } = write(&made.files, out)?;
        let place = out.display();
        output::print(&output::lines([format!(
            "{place}: {written} files written, {same} as before, {removed} removed"
        )]))?;
    }
    if args.open.is_some() {
        return serve(Content::Made(made.files), args);
    }
    let code = project::code(made.unreadable);
    Ok(if made.is_current || made.unreadable > 0 { code } else { ExitCode::from(1) })
}

impl Args {
    /// Where statistics are kept, if they are.
    fn kept(&self) -> Option<&Path> {
        (!self.no_cache).then_some(&*self.cache)
    }
}

/// The page of the project in the current folder.
fn of_project(args: &Args) -> anyhow::Result<MadePage> {
    let project = project::open()?;
    let stores = project.stores(args.kept());
    let mut groups = Vec::new();
    for (path, analysis) in &project.analyses {
        // What has neither runs nor figures is tables alone.
        let has_runs = !(analysis.runs.is_empty() && analysis.batches.is_empty());
        if !has_runs && analysis.figures.is_empty() {
            continue;
        }
        let evaluated = project::evaluate(&project, path, analysis, &stores)?;
        groups.push(Judged {
            name: analysis.name.clone(),
            configs: project.configs_for(analysis),
            measured: evaluated.measured,
            scoring: evaluated.scoring,
            figures: analysis.figures.clone(),
            is_tested: !analysis.tables.is_empty(),
        });
    }
    let named: BTreeSet<&PathBuf> = groups
        .iter()
        .flat_map(|group| group.scoring.runs.iter().map(|run| &run.statistics.dir))
        .chain(groups.iter().flat_map(|group| group.scoring.unreadable.iter().map(|run| &run.dir)))
        .collect();
    let others: Vec<PathBuf> =
        project.runs.iter().filter(|dir| !named.contains(dir)).cloned().collect();
    let store = Store::new(&project.configs).kept_in(args.kept());
    let measured = store.runs(&others, || ());
    groups.push(Judged {
        name: String::new(),
        configs: &project.configs,
        scoring: score(measured.clone(), &project.configs, None),
        measured,
        figures: Vec::new(),
        is_tested: true,
    });
    runs::tell_trust(stores.trust());
    let ledger = ledger()?;
    let differences = ledger
        .as_ref()
        .map_or_else(Vec::new, |ledger| verify::changed_files(&ledger.manifest, Path::new(".")));
    for difference in differences.iter().take(MOST_SAID) {
        eprintln!("problem: {difference}");
    }
    if !differences.is_empty() {
        eprintln!("{} files of the ledger have changed: run trapcheck numbers", differences.len());
    }
    let whose = Whose::Project(ledger.as_ref().map(|ledger| (ledger, &*differences)));
    let files = page(&groups, &project.configs, whose, &project.problems)?;
    let unreadable = groups.iter().map(|group| group.scoring.unreadable.len()).sum::<usize>();
    Ok(MadePage {
        files,
        unreadable: unreadable + project.problems.len(),
        is_current: differences.is_empty(),
    })
}

/// So many changed files are named.
const MOST_SAID: usize = 5;

/// The ledger of the project; none without one.
fn ledger() -> anyhow::Result<Option<LedgerFile>> {
    if !Path::new(JSON_PATH).exists() {
        return Ok(None);
    }
    let bytes =
        trapcheck::reading::bytes(JSON_PATH).with_context(|| format!("cannot read {JSON_PATH}"))?;
    Ok(Some(LedgerFile { manifest: numbers::read()?, sha256: sha256_hex(&bytes) }))
}

/// A page of the runs that were named.
fn of_runs(args: &Args) -> anyhow::Result<MadePage> {
    let configs = project::configs(&args.configs)?;
    let found = runs::find(&args.paths, &configs)?;
    let reading = LoadOptions { drop_cut_off: args.drop_cut_off };
    let store = Store::new(&configs).reading(reading).kept_in(args.kept());
    let measured = runs::measure(&store, &found, "reading runs");
    let places = Places::under(&args.paths);
    let measured: Vec<_> = measured.into_iter().map(|run| places.of_measured(run)).collect();
    let scoring = score(measured.clone(), &configs, None);
    let unusable = scoring.unreadable.iter().map(|r| (r.dir.as_path(), r.problems.as_slice()));
    runs::tell_unusable(unusable, "not shown");
    let problems: Vec<_> =
        found.problems.into_iter().map(|problem| places.of_problem(problem)).collect();
    let unreadable = scoring.unreadable.len() + problems.len();
    let figures = figures_of(&scoring)?;
    let group = Judged {
        name: String::new(),
        configs: &configs,
        measured,
        scoring,
        figures,
        is_tested: true,
    };
    let files = page(&[group], &configs, Whose::Runs, &problems)?;
    Ok(MadePage { files, unreadable, is_current: true })
}

/// Serves until an interrupt.
fn serve(content: Content, args: &Args) -> anyhow::Result<ExitCode> {
    let server = Arc::new(Server::open(content, args.port)?);
    let address = server.address().context("a server on the loopback has an address")?;
    let url = format!("http://{address}/");
    output::print(&output::lines([format!("serving {url} until it is stopped (Ctrl-C)")]))?;
    let stopped = Arc::clone(&server);
    signals::on_interrupt(move || stopped.stop());
    if !args.no_browser {
        open_browser(&url);
    }
    server.run();
    Ok(ExitCode::SUCCESS)
}

/// Shows the page in the user's browser, where there is a desktop and a program that does.
fn open_browser(url: &str) {
    let has_desktop =
        ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    let program = match cfg!(target_os = "macos") {
        true => "open",
        false if has_desktop => "xdg-open",
        false => return,
    };
    let quiet = Stdio::null;
    // Without it the address stands on the screen.
    drop(Command::new(program).arg(url).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn());
}
