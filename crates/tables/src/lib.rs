//! Tables, derived and behind figures: typed cells under columns that are declared once.
//!
//! Pure: what a table's cells mean and how they come about is said where it is declared.

use trapcheck_setup::{digits, escape, hash};

pub mod table;
