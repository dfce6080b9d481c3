//! Figures in print quality, each from tables: one drawing that becomes SVG, PDF and PNG.
//!
//! A figure takes typed tables, never run directories, and gives its drawing and the data it
//! plots. Nothing here touches a file. Where the data come from and what is missing is said in
//! the figure; unknown values are gaps. Diagrams and interactive pages are left out.

mod arms;
mod axis;
pub mod canvas;
mod clip;
pub mod closed_curve;
pub mod cuts;
pub mod drawing;
pub mod font;
pub mod from_empty;
pub mod knee;
pub mod label;
mod legend;
mod mark;
pub mod mirror;
mod names;
pub mod observed;
pub mod origin;
pub mod page;
mod panel;
mod plot;
pub mod population;
pub mod predicted_curve;
pub mod rescue;
pub mod run_picture;
pub mod session_law;
pub mod sessions;
pub mod stampede;
pub mod style;
pub mod svg;
pub mod theorem;
mod ticks;
pub mod tilted_mix;
pub mod time_scales;
pub mod timeline;
pub mod two_engines;

pub use drawing::Drawing;
pub use origin::Origin;

use crate::table::Table;

/// A figure: what is drawn, and the data it was drawn from.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The drawing, for [`svg::write`].
    pub drawing: Drawing,
    /// What it plots, a row per value.
    pub data: Table,
    /// Where all of it together comes from.
    pub origin: Origin,
}

/// Why a figure could not be made.
#[derive(Debug, thiserror::Error)]
pub enum FigureError {
    /// The shapes could not be drawn.
    #[error("cannot draw the figure: {0}")]
    Canvas(String),
    /// The drawing could not be turned into this format.
    #[error("cannot write the figure as {format}: {reason}")]
    Output {
        /// SVG, PDF or PNG.
        format: &'static str,
        /// What its writer said.
        reason: String,
    },
}

impl FigureError {
    pub(crate) fn canvas(reason: impl ToString) -> Self {
        Self::Canvas(reason.to_string())
    }

    /// A format could not be written, by what its writer said.
    pub fn output(format: &'static str, reason: impl ToString) -> Self {
        Self::Output { format, reason: reason.to_string() }
    }
}
