//! The one place that shows progress: a bar on stderr, only on a terminal.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar over the steps that are known so far; [`ProgressBar::inc_length`] tells it of more.
/// Nothing is drawn where stderr is no terminal, or while there is nothing to do.
pub fn bar(total: usize, what: &'static str) -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let style = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ");
    ProgressBar::with_draw_target(Some(total as u64), target).with_style(style).with_message(what)
}
