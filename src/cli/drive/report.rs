//! How a run stands, on one live line or in a log.

use std::fmt::Write as _;
use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use trapcheck_drive::progress::Progress;

use trapcheck::setup::PairedThresholds;

/// Time between two lines of a log, s.
const LOG_S: f64 = 30.0;

/// Tells how a run stands: on a terminal a line that changes, else a line at intervals.
pub struct Report {
    run: String,
    rule: PairedThresholds,
    line: Option<ProgressBar>,
    next_s: f64,
}

impl Report {
    /// Of a run, in the words of a rule.
    pub fn new(run: &str, rule: PairedThresholds) -> Self {
        let line = std::io::stderr().is_terminal().then(|| {
            let plain = ProgressStyle::with_template("{msg}");
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
                .with_style(plain.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Self { run: run.into(), rule, line, next_s: 0.0 }
    }

    /// Tells it.
    pub fn tell(&mut self, progress: &Progress) {
        match &self.line {
            Some(line) => line.set_message(said(&self.run, progress, &self.rule)),
            None if progress.t_s >= self.next_s => {
                self.next_s = progress.t_s + LOG_S;
                eprintln!("{}", said(&self.run, progress, &self.rule));
            }
            None => {}
        }
    }

    /// The run has ended.
    pub fn finish(&self) {
        if let Some(line) = &self.line {
            line.finish_and_clear();
        }
    }
}

fn said(run: &str, now: &Progress, rule: &PairedThresholds) -> String {
    let sessions = now.admitted + now.gated + now.paused;
    let mut text = format!("{run} {:.0}/{:.0} s: {sessions} sessions", now.t_s, now.horizon_s);
    // Writing to a String cannot fail.
    let _ = match now.hit_fraction {
        Some(hits) => write!(text, ", follow-ups hit {hits:.2}"),
        None => write!(text, ", follow-ups hit -"),
    };
    if let Some(waiting) = now.waiting {
        let _ = write!(text, ", {waiting} waiting");
    }
    if now.gated + now.paused > 0 {
        let _ = write!(text, ", {} gated, {} paused", now.gated, now.paused);
    }
    if now.errors > 0 {
        let _ = write!(text, ", {} errors", now.errors);
    }
    let _ = write!(text, "; {}", so_far(now, rule));
    text
}

/// How the last minute would be called by the thresholds of a run's end: no verdict.
fn so_far(now: &Progress, rule: &PairedThresholds) -> &'static str {
    let sessions = u64::from(now.admitted + now.gated + now.paused);
    let few = (sessions as f64) < rule.recovered_outstanding_below;
    match now.hit_fraction {
        None => "nothing to tell yet",
        Some(hits) if hits < rule.stuck_follow_up_hit_below && !few => "stuck so far",
        Some(hits) if hits > rule.recovered_hit_above && few => "good so far",
        Some(_) => "in between so far",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(admitted: u32, hit_fraction: Option<f64>) -> Progress {
        Progress {
            t_s: 120.0,
            horizon_s: 540.0,
            admitted,
            gated: 0,
            paused: 0,
            in_flight: 9,
            waiting: Some(160),
            hit_fraction,
            turns: 100,
            errors: 0,
            max_lag_s: 0.0,
        }
    }

    #[test]
    fn the_line_says_sessions_hits_waiting_and_how_it_stands() {
        let rule = PairedThresholds::default();
        assert_eq!(
            said("burst", &progress(183, Some(0.0)), &rule),
            "burst 120/540 s: 183 sessions, follow-ups hit 0.00, 160 waiting; stuck so far"
        );
        assert_eq!(so_far(&progress(5, Some(1.0)), &rule), "good so far");
        assert_eq!(so_far(&progress(50, Some(1.0)), &rule), "in between so far");
        assert_eq!(so_far(&progress(50, None), &rule), "nothing to tell yet");
    }
}
