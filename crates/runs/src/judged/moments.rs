//! What happened in a run, and when: its burst, its cap, its window, and each time that hits
//! were gone or back.

use crate::configs::Configs;
use crate::measure::share::Share;
use crate::rule::registration::PairedThresholds;

use super::score::ScoredRun;

/// What happened, each with its time in s from the run's start, in order of time.
///
/// Hits are those of follow-ups, by the thresholds of the rule that judged the run: gone with
/// the first bin below `stuck_follow_up_hit_below`, back with the first one above
/// `recovered_hit_above` after it, and so on as often as they change; a bin that cannot tell
/// changes nothing. Their times are the middles of the bins. When a burst was over is known of
/// a cell that `configs` has.
pub fn moments(run: &ScoredRun, configs: &Configs) -> Vec<(f64, &'static str)> {
    let begins = run.measures.burst_start_s;
    let length_s = configs.of_cell(&run.meta.cell).map(|(_, _, p)| p.paired.burst.length_s);
    let gate = run.meta.gate.as_ref();
    let window = run.measures.window.as_ref().map(|window| window.span);
    let once = [
        (begins, "burst begins"),
        (begins.zip(length_s).map(|(t_s, length_s)| t_s + length_s), "burst over"),
        (gate.and_then(|gate| gate.engage_s), "cap on"),
        (gate.and_then(|gate| gate.release_s), "cap off"),
        (window.map(|span| span.start_s), "window begins"),
        (window.map(|span| span.end_s), "window over"),
    ];
    let once = once.into_iter().filter_map(|(t_s, what)| Some((t_s?, what)));
    let changes = changes(&run.measures.series.follow_up_hits, &run.rule);
    let mut all: Vec<_> = once.chain(changes).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

/// Each time that hits were gone, and back.
fn changes(bins: &[(f64, Share)], rule: &PairedThresholds) -> Vec<(f64, &'static str)> {
    let mut gone = false;
    let mut changes = Vec::new();
    for (t_s, share) in bins {
        let changed = if gone {
            share.is_above(rule.recovered_hit_above)
        } else {
            share.is_below(rule.stuck_follow_up_hit_below)
        };
        if changed == Some(true) {
            gone = !gone;
            changes.push((*t_s, if gone { "hits gone" } else { "hits back" }));
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins(shares: &[(u64, u64, u64)]) -> Vec<(f64, Share)> {
        let share = |&(hits, misses, unknown)| Share { hits, misses, unknown };
        shares.iter().enumerate().map(|(i, s)| (i as f64, share(s))).collect()
    }

    #[test]
    fn hits_are_gone_and_back_as_often_as_they_change() {
        let rule = PairedThresholds::default();
        let (all, none) = ((10, 0, 0), (0, 10, 0));
        let course = bins(&[all, none, (5, 5, 0), none, all, all, (5, 5, 0), none, all]);
        let expected =
            [(1.0, "hits gone"), (4.0, "hits back"), (7.0, "hits gone"), (8.0, "hits back")];
        assert_eq!(changes(&course, &rule), expected);
    }

    #[test]
    fn a_threshold_itself_and_a_bin_that_cannot_tell_change_nothing() {
        let rule = PairedThresholds::default();
        // Exactly a fifth, no turn, and unknown turns that leave it open.
        assert_eq!(changes(&bins(&[(2, 8, 0), (0, 0, 0), (0, 5, 5)]), &rule), []);
        let course = bins(&[(1, 9, 0), (8, 2, 0), (5, 0, 5)]);
        assert_eq!(changes(&course, &rule), [(0.0, "hits gone")]);
    }

    #[test]
    fn the_thresholds_are_the_rules() {
        let rule = PairedThresholds {
            stuck_follow_up_hit_below: 0.6,
            recovered_hit_above: 0.65,
            ..PairedThresholds::default()
        };
        let course = bins(&[(5, 5, 0), (7, 3, 0)]);
        assert_eq!(changes(&course, &rule), [(0.0, "hits gone"), (1.0, "hits back")]);
    }
}
