//! Figures: from typed data to a drawing and the text of its SVG document.
//!
//! Pure: no files, no fonts of the system. PDF and PNG are the application's.

use trapcheck_setup::setup;
use trapcheck_tables::table;

pub mod figure;
