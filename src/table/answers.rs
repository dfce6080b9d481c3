//! Answers as tables of facts: those of the theory and the knee, which the page gives too, and
//! what recorded sessions are like.

pub use trapcheck_answers::facts::{answers, facts};
pub use trapcheck_answers::{burst, curve, drain, knee, rescue, trap};

pub mod closed;
pub mod sessions;
