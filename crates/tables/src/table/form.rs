//! The forms that a table is written in.

mod csv;
mod json;
mod latex;
mod markdown;
