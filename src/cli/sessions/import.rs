//! `trapcheck sessions import`: traces of any format as one table.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};

use super::{Traces, code, tell_left_out, write};
use crate::cli::output::{self, Format, Print};
use trapcheck::sessions::{Import, Kind, Read, Writer, files_of};
use trapcheck::table::Table;
use trapcheck::table::answers::sessions::{examples, files, left_out, total};

/// Read traces and write them as one table, a row per turn
///
/// A session at a time: a trace may be of any size, but for one whose sessions are interleaved
/// and for parquet. What was read, what was left out and why is printed, and kept beside the
/// table in FILE.json.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck sessions import traces --out sessions.parquet
  trapcheck sessions import conversation_trace.jsonl --out sessions.csv.gz
  trapcheck sessions import dialogs.jsonl --inputs new --out sessions.csv

Exit codes: 0 all read; 1 sessions were left out, or a file ends early; 2 bad usage or input,
and nothing is written")]
pub struct Args {
    #[command(flatten)]
    from: Traces,
    /// Where to write them: .csv, .csv.gz or .parquet
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    print: Print,
}

/// Runs the command.
///
/// # Errors
/// An ending that is none of the three, a file that cannot be read to its end, no session at
/// all, or a table that cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let place = &args.out;
    let Some(kind) = Kind::of(place) else {
        bail!("--out {}: expected a .csv, .csv.gz or .parquet file", place.display());
    };
    let cannot = || format!("cannot write {}", place.display());
    let mut writer = Writer::new(place, kind).with_context(cannot)?;
    let mut import = Import::new(args.from.inputs.into());
    for (path, name) in files_of(&args.from.paths)? {
        import.read(&path, &name, &mut |session| writer.push(&session))?;
    }
    tell_left_out(&import.files);
    if total(&import.files).0 == 0 {
        bail!("no session could be read: nothing is written");
    }
    writer.finish().with_context(cannot)?;
    eprintln!("wrote {}", place.display());
    let tables = [files(&import.files), left_out(&import.files), examples(&import.files)];
    let mut beside = place.clone().into_os_string();
    beside.push(".json");
    write(&PathBuf::from(beside), &json(&tables)?)?;
    print(&import.files, &tables, args.print)?;
    Ok(code(&import.files))
}

fn json(tables: &[Table]) -> serde_json::Result<String> {
    output::json("sessions-import", tables.iter().map(|t| (t.name.as_str(), t.to_json())))
}

fn print(read: &[Read], tables: &[Table; 3], how: Print) -> anyhow::Result<()> {
    let [files, left_out, _] = tables;
    match how.format {
        Format::Json => output::print(&json(tables)?)?,
        Format::Csv => output::print(&files.to_csv())?,
        Format::Table => {
            let (sessions, turns) = total(read);
            let beside: u64 = read.iter().map(|file| file.reading.beside.sessions).sum();
            let mut text = format!(
                "{}, {}, of {}; subagents or branches among them: {beside}\n",
                counted(sessions, "session"),
                counted(turns, "turn"),
                counted(read.len() as u64, "file"),
            );
            if left_out.rows.is_empty() {
                text.push_str("nothing was left out\n");
            } else {
                text.push_str(&output::grid_of(left_out, how.width()));
            }
            output::print(&text)?;
        }
    }
    Ok(())
}

fn counted(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
