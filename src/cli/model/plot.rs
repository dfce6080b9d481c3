//! `--plot FILE`: the answer as a picture.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use trapcheck::figure::Figure;
use trapcheck::files::write_beside;
use trapcheck::rendering::render;

/// Where to draw the answer.
#[derive(Debug, clap::Args)]
pub struct Plot {
    /// Also draw it, into a .svg, .pdf, .png or .csv (the plotted data) file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

impl Plot {
    /// Draws and writes the picture, if one was asked for.
    ///
    /// # Errors
    /// An ending that is none of the four, a model without an answer, or a file that
    /// cannot be written.
    pub fn write(&self, draw: impl FnOnce() -> anyhow::Result<Figure>) -> anyhow::Result<()> {
        let Some(path) = &self.plot else { return Ok(()) };
        let ending = ending(path)?;
        let figure = draw()?;
        let bytes = if ending == "csv" {
            figure.data.to_csv().into_bytes()
        } else {
            let rendered = render(&figure.drawing)?;
            match ending {
                "svg" => rendered.svg.into_bytes(),
                "pdf" => rendered.pdf,
                _ => rendered.png,
            }
        };
        write_beside(path, &bytes).with_context(|| format!("cannot write {}", path.display()))?;
        eprintln!("wrote {}", path.display());
        Ok(())
    }
}

fn ending(path: &Path) -> anyhow::Result<&'static str> {
    let given = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let known = ["svg", "pdf", "png", "csv"];
    match known.into_iter().find(|ending| ending.eq_ignore_ascii_case(given)) {
        Some(ending) => Ok(ending),
        None => bail!("--plot {}: expected a .svg, .pdf, .png or .csv file", path.display()),
    }
}
