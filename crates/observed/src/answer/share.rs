//! Shares for people.

use crate::digits::fixed;

/// A share for people.
pub fn percent(share: f64) -> String {
    format!("{} %", fixed(100.0 * share, 1))
}
