//! The files that tables and figures are written to, in memory, and where they lie.

use std::path::{Path, PathBuf};

use crate::figure::{Figure, FigureError};
use crate::rendering::render;
use crate::run::SourceFile;
use crate::table::Table;

/// Folders of a project, relative to it.
pub(crate) const RESULTS: &str = "results";
/// Where analyses are declared.
pub(crate) const ANALYSES: &str = "analysis";
/// Where derived tables go.
pub(crate) const DERIVED: &str = "paper/derived";
/// Where figures go.
pub const FIGURES: &str = "figures";

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// Where, relative to the project's folder.
    pub path: PathBuf,
    /// What.
    pub bytes: Vec<u8>,
}

/// A figure's files and where its data come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FigureFiles {
    /// Its file stem.
    pub name: String,
    /// svg, pdf, png and csv.
    pub files: Vec<OutputFile>,
    /// The files its data were read from.
    pub sources: Vec<SourceFile>,
}

/// A figure's svg, pdf, png and csv under `figures/`.
///
/// # Errors
/// It cannot be drawn.
pub fn figure_files(name: &str, figure: &Figure) -> Result<Vec<OutputFile>, FigureError> {
    let rendered = render(&figure.drawing)?;
    let csv = figure.data.to_csv();
    let file = |ending: &str, bytes: Vec<u8>| OutputFile {
        path: Path::new(FIGURES).join(format!("{name}.{ending}")),
        bytes,
    };
    Ok(vec![
        file("svg", rendered.svg.into_bytes()),
        file("pdf", rendered.pdf),
        file("png", rendered.png),
        file("csv", csv.into_bytes()),
    ])
}

/// A table's files under `paper/derived/`: csv, and where people read it, Markdown and
/// LaTeX of the same cells.
pub fn table_files(table: &Table) -> Vec<OutputFile> {
    let file = |ending: &str, text: String| OutputFile {
        path: Path::new(DERIVED).join(format!("{}.{ending}", table.name)),
        bytes: text.into_bytes(),
    };
    let mut files = vec![file("csv", table.to_csv())];
    if table.rows.len() <= MOST_ROWS_TO_READ {
        files.push(file("md", table.to_markdown()));
        files.push(file("tex", table.to_latex()));
    }
    files
}

/// A longer table is data, not reading: it is written as csv only.
const MOST_ROWS_TO_READ: usize = 60;
