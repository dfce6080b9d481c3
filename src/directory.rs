//! Run directories: found, read, unpacked and written.
//!
//! [`find_runs`] finds them under any path, [`load`] reads and checks one, [`write::write`]
//! makes one. [`find_runs_by`] and [`load_by`] take also runs of other shapes, which a layout
//! maps onto format 1 as they are read. The rows themselves are [`crate::run`]'s.

mod discover;
mod files;
mod parquet;
mod shape;
mod source;
pub mod write;

pub use discover::{Found, find_runs, find_runs_by};
pub use files::{RunFiles, load, load_by};
pub use parquet::{THREAD as PARQUET_THREAD, columns as parquet_columns};
pub use shape::layout_of;

pub use crate::run::load::{LoadOptions, load_files};
