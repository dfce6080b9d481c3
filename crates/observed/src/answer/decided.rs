//! A decision, before it is put into words.

use super::timeline::Stretch;
use super::{Cause, Verdict};

/// What was decided, before it is put into words.
pub struct Decided {
    pub verdict: Verdict,
    pub cause: Cause,
    /// What the verdict is about.
    pub stretch: Stretch,
    /// Whether the backlog grew over it; unknown where nothing tells.
    pub grew: Option<bool>,
    /// Why, in words.
    pub why: String,
}
