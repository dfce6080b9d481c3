//! `trapcheck query`: SQL over every table there is.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use serde_json::json;

use trapcheck::analysis::Project;
use trapcheck::analysis::store::Store;
use trapcheck::directory::LoadOptions;
use trapcheck::judged::score::score;
use trapcheck::numbers::ledger::PUBLISHED_NUMBERS;
use trapcheck::query::campaign::with_tests;
use trapcheck::query::{self, Database, listing, tables};
use trapcheck::table::{self, Cell, Table};

use super::output::{self, Format, Print};
use super::{project, runs};

/// Ask the tables a question in SQL
///
/// Every derived table can be asked, as it is made from the runs and not as it was last
/// written, and beside them settings (every value of configs/), published (the numbers that
/// the paper states), and the views of analysis/numbers/views.yaml. With run directories given, runs
/// holds what was measured on them; with a single one there are also its sessions, turns,
/// engine and gate. Numbers are not rounded. What is unknown or does not apply is null.
///
/// Below the answer stands what it rests on: of which tables it took how many rows, and from
/// how many files these come. --format json names the files with their hashes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck query --tables                  what there is
  trapcheck query --tables paper_trap_check its columns
  trapcheck query 'select state, count(*) as runs from paper_runs group by state'
  trapcheck query 'select cell, median(gap_slope) from stuck group by cell'
  trapcheck query 'select run, state, hit_fraction from runs' results/vllm-cpu

Exit codes: 0 answered; 2 no such table or column, no select, or bad usage or input")]
pub struct Args {
    /// One select statement
    #[arg(value_name = "SQL", required_unless_present = "tables")]
    sql: Option<String>,
    /// Run directories, or folders to search for them
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// List the tables and views, or the columns of one with their units and meaning
    #[arg(long, value_name = "TABLE", num_args = 0..=1, default_missing_value = "")]
    tables: Option<String>,
    #[command(flatten)]
    print: Print,
    /// Where statistics of the analyses' runs are kept
    #[arg(long, value_name = "DIR", default_value = project::CACHE)]
    cache: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// A statement that cannot be answered, or a configuration or run that cannot be used.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let views = query::views(Path::new(query::VIEWS))?;
    let mut database = Database::new(views);
    if let Some(name) = &args.tables {
        let named = (!name.is_empty()).then(|| database.table_of(name)).transpose()?;
        let wanted = named.map(|name| BTreeSet::from([name]));
        // Nothing is asked, so what stands first is a path, too.
        let paths: Vec<PathBuf> =
            args.sql.iter().map(PathBuf::from).chain(args.paths.iter().cloned()).collect();
        fill(&mut database, wanted.as_ref(), &paths, args)?;
        return list(&database, name, args.print);
    }
    let sql = args.sql.as_deref().unwrap_or_default();
    let named = query::named(sql)?;
    let wanted = named.iter().map(|name| database.table_of(name)).collect::<Result<_, _>>()?;
    fill(&mut database, Some(&wanted), &args.paths, args)?;
    let answer = database.answer(sql)?;
    let sources = database.sources(&answer.read);
    match args.print.format {
        Format::Table => {
            output::show(&output::grid_of(&shortened(&answer.table), args.print.width()))?;
            let rows = answer
                .read
                .iter()
                .map(|read| format!("{} of {} rows of {}", read.rows.len(), read.of, read.table));
            let rows = rows.collect::<Vec<_>>().join(", ");
            let files = match sources.len() {
                1 => "1 file".to_owned(),
                n => format!("{n} files"),
            };
            output::print(&output::lines([format!("from {rows} ({files})")]))?;
        }
        Format::Csv => output::print(&answer.table.to_csv())?,
        Format::Json => {
            let read = answer
                .read
                .iter()
                .map(|read| json!({ "table": read.table, "rows": read.rows.len(), "of": read.of }));
            let files = sources.iter().map(
                |file| json!({ "path": file.path.display().to_string(), "sha256": file.sha256 }),
            );
            output::print(&output::json(
                "query",
                [
                    ("answer", answer.table.to_json()),
                    ("read", read.collect()),
                    ("files", files.collect()),
                ],
            )?)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// For people: of each number six digits that count.
fn shortened(table: &Table) -> Table {
    let mut table = table.clone();
    for cell in table.rows.iter_mut().flat_map(|row| &mut row.cells) {
        if let Cell::Number(x, digits) = cell {
            let before = if *x == 0.0 { 1.0 } else { libm::log10(x.abs()).floor() + 1.0 };
            *digits = (*digits).min((SIGNIFICANT - before).clamp(0.0, 12.0) as usize);
        }
    }
    table
}

/// Digits of a number that are printed for people.
const SIGNIFICANT: f64 = 6.0;

/// Makes the tables that are wanted, or all; where a wanted one is none that there is, all
/// names are needed to say which was meant.
fn fill(
    database: &mut Database,
    wanted: Option<&BTreeSet<String>>,
    paths: &[PathBuf],
    args: &Args,
) -> anyhow::Result<()> {
    let own: BTreeSet<&str> =
        ["settings", "published", "runs"].into_iter().chain(tables::OF_RUN).collect();
    let is_wanted = |name: &str| wanted.is_none_or(|wanted| wanted.contains(name));
    if !paths.is_empty() {
        of_paths(database, wanted, paths)?;
    }
    if is_wanted("settings") {
        database.add(tables::settings(project::configs_folder(Path::new("configs")))?);
    }
    let numbers = Path::new(PUBLISHED_NUMBERS);
    if is_wanted("published") && numbers.exists() {
        database.add(tables::published(numbers)?);
    }
    let derived = wanted.is_none_or(|wanted| wanted.iter().any(|w| !own.contains(w.as_str())));
    if !derived || !Path::new("analysis").exists() {
        return Ok(());
    }
    let project = project::open()?;
    let stores = project.stores(Some(&args.cache));
    let stems: BTreeSet<String> = stems(&project);
    // Where one is none that there is, all names are needed to say which was meant.
    let is_none = |name: &String| !own.contains(name.as_str()) && !stems.contains(name);
    let all = wanted.is_none_or(|wanted| wanted.iter().any(is_none));
    let (mut made, mut names) = (Vec::new(), std::collections::BTreeMap::new());
    for (path, analysis) in &project.analyses {
        let gives = analysis.tables.iter().any(|kind| is_wanted(&analysis.table_stem(*kind)));
        if analysis.tables.is_empty() || !(all || gives) {
            continue;
        }
        let evaluated = project::evaluate(&project, path, analysis, &stores)?;
        made.extend(evaluated.tables(project.configs_for(analysis))?);
        names.extend(evaluated.names);
    }
    made.into_iter().for_each(|table| database.add(with_tests(table, &names)));
    Ok(())
}

/// The names of all derived tables.
fn stems(project: &Project) -> BTreeSet<String> {
    let analyses = project.analyses.iter().map(|(_, analysis)| analysis);
    analyses.flat_map(|of| of.tables.iter().map(|kind| of.table_stem(*kind))).collect()
}

/// The tables of the run directories that are named.
fn of_paths(
    database: &mut Database,
    wanted: Option<&BTreeSet<String>>,
    paths: &[PathBuf],
) -> anyhow::Result<()> {
    let is_wanted = |name: &str| wanted.is_none_or(|wanted| wanted.contains(name));
    let configs = project::configs(Path::new("configs"))?;
    let found = runs::find(paths, &configs)?;
    if is_wanted("runs") {
        let store = Store::new(&configs);
        let measured = runs::measure(&store, &found, "measuring");
        let scoring = score(measured, &configs, None);
        let unusable = scoring.unreadable.iter().map(|r| (r.dir.as_path(), r.problems.as_slice()));
        runs::tell_unusable(unusable, "not measured");
        if !scoring.unreadable.is_empty() {
            bail!("a run cannot be used: see above");
        }
        database.add(table::runs::table(&scoring.runs));
    }
    let of_run = wanted.is_none_or(|w| tables::OF_RUN.iter().any(|name| w.contains(*name)));
    match found.runs.as_slice() {
        [dir] if of_run => {
            let run =
                trapcheck::directory::load_by(dir, &configs.layouts, &LoadOptions::default())?;
            tables::of_run(&run).into_iter().for_each(|table| database.add(table));
        }
        several if of_run && wanted.is_some() => bail!(
            "{} of a single run can be asked, and these paths hold {}",
            tables::OF_RUN.join(", "),
            several.len()
        ),
        _ => {}
    }
    Ok(())
}

/// Prints what tables there are, or the columns of one.
fn list(database: &Database, name: &str, print: Print) -> anyhow::Result<ExitCode> {
    let table: Table = if name.is_empty() {
        listing::tables(database)
    } else {
        let of = database.table_of(name)?;
        let known = || database.tables().map(|table| table.name.as_str());
        let found = database.tables().find(|table| table.name == of).with_context(|| {
            trapcheck::nearest::unknown("table", name, "the tables and views", known())
        })?;
        listing::columns(found)
    };
    let columns: Vec<(&str, &str)> =
        table.columns.iter().map(|column| (&*column.name, &*column.name)).collect();
    output::table("query-tables", &table, &columns, print)?;
    Ok(ExitCode::SUCCESS)
}
