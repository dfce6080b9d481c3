//! `trapcheck model table`: what is published of the models, beside ours.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::ValueEnum;

use super::show;
use crate::cli::output::{Format, Print};
use crate::cli::project;
use trapcheck::published;
use trapcheck::table::model_values::{self, Printed, compare};
use trapcheck::table::theory::{self, Prediction};

/// Every published model value beside ours, or one of the theory's tables
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:
  trapcheck model table                     what matches, and each value that does not
  trapcheck model table --all
  trapcheck model table --format csv > model_values.csv
  trapcheck model table --show corollary-3

Exit codes: 0 all well; 1 a value that rests on the text alone does not come out to its printed
digit; 2 bad usage or input"
)]
pub struct Args {
    /// Which table
    #[arg(long, value_enum, default_value_t)]
    show: Show,
    /// List every value, not only those that do not match
    #[arg(long)]
    all: bool,
    /// Folder of cells and workloads
    #[arg(long, value_name = "DIR", default_value = "configs")]
    configs: PathBuf,
    /// Folder of published values
    #[arg(long, value_name = "DIR", default_value = "paper/published")]
    published: PathBuf,
    #[command(flatten)]
    print: Print,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Show {
    /// Published model values and ours
    #[default]
    Values,
    /// Table 3's predictions
    Traps,
    /// Predictions for the runs stuck from empty (App. B)
    FromEmpty,
    /// Corollary 3 on the 300k cell
    #[value(name = "corollary-3")]
    Corollary3,
    /// MIRROR at its nominal rates
    Mirror,
    /// Peak ratios and from-empty edges (Table 13)
    Windows,
    /// 0.5-hit crossings and onsets (Table 20)
    Crossings,
}

impl Show {
    const fn prediction(self) -> Option<Prediction> {
        match self {
            Self::Values => None,
            Self::Traps => Some(Prediction::Traps),
            Self::FromEmpty => Some(Prediction::FromEmpty),
            Self::Corollary3 => Some(Prediction::Corollary3),
            Self::Mirror => Some(Prediction::Mirror),
            Self::Windows => Some(Prediction::Windows),
            Self::Crossings => Some(Prediction::Crossings),
        }
    }
}

/// Prints the table that is asked for, and says by the exit code whether what rests on the text
/// alone comes out.
///
/// # Errors
/// A published file or a configuration that cannot be used, or a model without an answer.
pub fn table(args: &Args) -> anyhow::Result<ExitCode> {
    let configs = project::configs(&args.configs)?;
    let read = |name: &str| {
        let path = args.published.join(name);
        trapcheck::reading::text(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let printed = Printed::parse(&read("cells.yaml")?, &read("tables.yaml")?)?;
    let theories = model_values::solve(&configs)?;
    if let Some(which) = args.show.prediction() {
        return show(&[theory::predict(which, &theories, &printed)?], &args.print);
    }
    let published = published::model_values(&args.published.join("numbers.yaml"))?;
    let rows = compare(&published, &theories, &printed);
    let full = model_values::table(&rows);
    let summary = model_values::summary(&rows);
    match args.print.format {
        Format::Table if args.all => show(&[summary, full], &args.print)?,
        Format::Table => show(&[summary, model_values::misses(&rows)], &args.print)?,
        Format::Json | Format::Csv => show(&[full], &args.print)?,
    };
    let holds = rows
        .iter()
        .filter(|row| row.published.basis == "text")
        .all(|row| row.matches() == Some(true));
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
