//! The state that a run is bound to have, before its window is over.

use trapcheck_setup::digits::fixed;

use crate::measure::{Range, Reach};

use super::{LAST_HITS, LAST_OUTSTANDING, Load, RunState, SLOPE, State, TOKEN_RATIO, label};
use crate::rule::clause::{Clause, Comparison};
use crate::rule::thresholds::PairedThresholds;

/// The state of a run whatever would still have come, as its clauses hold or fail over all that
/// is in reach; `None` while more than one state is.
pub fn decided(reach: &Reach, load: Load, rule: &PairedThresholds) -> Option<RunState> {
    let over = |range: Range| {
        let per = |tokens: f64| tokens / load.all_miss_tokens_per_s;
        Range { least: per(range.least), most: per(range.most) }
    };
    let ratio = reach.uncached_tokens_per_s.map(over).filter(|ratio| ratio.most.is_finite());
    let judged = label(
        (load, rule),
        |needs| Clause::in_reach(TOKEN_RATIO, "", ratio, needs),
        |needs| Clause::in_reach(SLOPE, "sessions/s", reach.backlog_slope_per_s, needs),
        vec![
            Clause::in_reach(
                LAST_HITS,
                "",
                reach.last_hits,
                Comparison::Above(rule.recovered_hit_above),
            ),
            Clause::in_reach(
                LAST_OUTSTANDING,
                "sessions",
                Some(reach.outstanding_end),
                Comparison::Below(rule.recovered_outstanding_below),
            ),
        ],
    );
    let because = format!(
        "decided at {} s, before its window ended: nothing that its plan allows could change it",
        fixed(reach.at_s, 1)
    );
    let is_decided = judged.state != State::Unmeasurable;
    is_decided.then_some(RunState { because: Some(because), ..judged })
}
