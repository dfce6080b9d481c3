//! What is fixed before a run, as checked values from the bytes of configuration files; and
//! the small things everything here is written with: dates, decimals, digits, hashes, names, limits.
//!
//! Pure: no files, no threads. The application reads the files and hands over their bytes.

pub mod date;
pub mod decimal;
pub mod digits;
pub mod escape;
pub mod hash;
pub mod limits;
pub mod name;
pub mod nearest;
pub mod packing;
pub mod parse_message;
pub mod setup;
