//! A registration's rule in sentences, with its parameters.

use crate::setup::Span;

use super::endpoint::Endpoints;
use super::registration::Registration;
use super::test::Test;
use super::vote::Quorum;

/// What a registration asks of its runs, in sentences that carry its thresholds.
pub fn rule_in_words(registration: &Registration) -> String {
    let paired = &registration.rule;
    match &registration.test {
        Test::Paired(_) => format!(
            "At each rate, in {} of {} seeds: BURST is TRAPPED (arrivals above lambda_ref, uncached \
             token rate within {} % of the all-miss rate, backlog slope above {} times the excess \
             of arrivals over lambda_ref), NOBURST and CAPPED are RECOVERED (hit fraction above {} \
             and fewer than {} sessions outstanding at the end of the window).",
            paired.seeds_passing,
            paired.seeds_at_least,
            percent(paired.token_rate_tolerance),
            paired.slope_factor,
            paired.recovered_hit_above,
            paired.recovered_outstanding_below,
        ),
        Test::Edge(test) => {
            let bracket = test.replicates.map_or(String::new(), |bracket| {
                format!(
                    " Replicated if {} seeds are stable at {} and {} are unstable at {}.",
                    of(bracket.stable),
                    bracket.stable_multiple,
                    of(bracket.unstable),
                    bracket.unstable_multiple
                )
            });
            format!(
                "The largest rate up to which every run from an empty engine is stable: its queue \
                 stays below {} requests at the end and rises by at most {} over the window.{bracket}",
                test.stability.final_queue_below, test.stability.rise_at_most
            )
        }
        Test::Replicate(test) => format!(
            "{} replicates of each of {} plans from an empty engine come out as the original did; \
             stable is a queue below {} requests at the end that rises by at most {}.",
            of(test.replicates),
            test.originals.len(),
            test.stability.final_queue_below,
            test.stability.rise_at_most
        ),
        Test::Endpoints(test) => {
            let (what, unit) = test.dose.words();
            let doses: Vec<String> = test
                .doses
                .iter()
                .filter_map(|dose| {
                    let expected = serde_json::to_value(dose.expect?).ok()?;
                    Some(format!("{} {unit} leave {}", dose.dose, expected.as_str()?))
                })
                .collect();
            format!(
                "Of the arm {}, {what}: {}, in {} seeds each. {}",
                test.arm,
                doses.join(", "),
                of(test.seeds),
                endpoints(&test.endpoints)
            )
        }
        Test::ThreeWay(test) => {
            let (what, unit) = test.dose.words();
            format!(
                "Of the arm {}, {what} {} {unit}: TRAPS if {} seeds are STUCK, NO-TRAP if {} are \
                 GOOD, else MIXED. {}",
                test.arm,
                test.amount,
                of(test.seeds),
                of(test.seeds),
                endpoints(&test.endpoints)
            )
        }
        Test::Rescue(test) => format!(
            "A cap engaged at {} s inside the trap (follow-up hit fraction below {}, more than {} \
             outstanding) is released by {} s and the run stays good: from {} s after the release \
             on, every tile of {} s has a follow-up hit fraction of at least {}, all of it above \
             {}, and the uncached token rate is below {} times the all-miss rate. A rate passes in \
             {} seeds; {} relapses refute the test.",
            test.engage_s,
            test.valid_hit_below,
            test.valid_outstanding_above,
            test.released_by_s,
            test.settle_s,
            test.tile_s,
            test.tile_hit_at_least,
            test.interval_hit_above,
            test.token_rate_below,
            of(test.seeds),
            test.refuted_by_relapses
        ),
        Test::Cut(test) => {
            let arms: Vec<String> =
                test.arms.iter().map(|arm| format!("{} to {}", arm.name, arm.multiple)).collect();
            format!(
                "Arrivals are cut at {} s inside the trap ({}, in lambda_ref): the run stays stuck, \
                 its backlog slope over {} has the sign that model F gives it, and model F's slope \
                 is closer to it than the others', in {} seeds.",
                test.from_s,
                arms.join(", "),
                span(test.slope_window_s),
                of(test.seeds)
            )
        }
        Test::Mirror(test) => format!(
            "The step-capped workload shows what model F says: a blackout over {} (completions at \
             most {} lambda_ref), a wave within {} % of its time, a lull over {} (at most {}), and a \
             backlog slope over {} closer to model F's than to the quasi-static one; in {} seeds \
             at rate {}.",
            span(test.blackout_s),
            test.blackout_at_most,
            percent(test.wave_tolerance),
            span(test.lull_s),
            test.lull_at_most,
            span(test.slope_window_s),
            of(test.seeds),
            test.decisive
        ),
        Test::TrapLaw(test) => format!(
            "Over the stuck runs of each group of at least {}: S1, the mean prompt served is within \
             {} % of the tilted mix's; S2, the gap grows at {} to {} times gamma. The law is refuted \
             for a group where one fails; S3 to S5 are reported.",
            test.group_at_least,
            percent(test.composition_pooled),
            test.gap_at_least,
            test.gap_at_most
        ),
        Test::QueueLimit(test) => format!(
            "BURST runs without the queue limit of {} requests against those of {} with it: does the \
             token hit fraction fall below {} in one and not in the other? {} informative seeds are \
             needed.",
            test.queue_limit,
            test.stock_cell,
            test.collapsed_token_hit_below,
            test.informative_seeds
        ),
        Test::Mechanism(test) => format!(
            "(a) in good arms the median gap is below {} turnover times, under BURST above {}; (b) \
             under BURST at least {} of the pool is in use and is rewritten within {} % of the \
             all-miss rate; (c) a follow-up hit fraction below {} over {} s alarms within {} s of the \
             burst, and in good arms never after {} s; {} good run may fail. (d), an alarm on the time \
             to the first token, is reported.",
            test.good_gap_below,
            test.burst_gap_above,
            test.kv_usage_at_least,
            percent(test.token_rate_tolerance),
            test.detector_hit_below,
            test.detector_over_s,
            test.alarm_within_s,
            test.quiet_after_s,
            test.failing_good_runs
        ),
        Test::Persistence(test) => format!(
            "A trap begins at the first {} s after its trigger with a follow-up hit fraction of at \
             most {}; it has ended by itself once a later {} s have at least {}. How many ended, and \
             the bound on that at {} % confidence.",
            test.window_s,
            test.onset_hit_at_most,
            test.window_s,
            test.escape_hit_at_least,
            percent(test.confidence)
        ),
        Test::Trigger(test) => format!(
            "A run is stuck below a follow-up hit fraction of {} over its window. Its trap outlives its \
             trigger if every session of the trigger has left and no turn has hit since.",
            test.stuck_follow_up_hit_below
        ),
        Test::Goodput(test) => format!(
            "The share of sessions that took at most {} times their unloaded time, against the NOBURST \
             run of the same seed: over {} s after the burst, and over the window.",
            test.slowdown_at_most, test.after_burst_s
        ),
    }
}

fn endpoints(of: &Endpoints) -> String {
    format!(
        "STUCK is a hit fraction below {} over the window; GOOD is RECOVERED, or a hit fraction above \
         {} with a backlog slope of at most {} times the excess of arrivals over lambda_ref.",
        of.stuck_hit_below, of.good_hit_above, of.good_slope_factor
    )
}

fn of(quorum: Quorum) -> String {
    format!("{} of {}", quorum.needed, quorum.of)
}

fn span(span: Span) -> String {
    format!("{} to {} s", span.start_s, span.end_s)
}

/// A share in per cent, without the dust of the binary fraction.
fn percent(share: f64) -> f64 {
    (share * 1e8).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    use crate::rule::registration::RegistrationFile;

    fn words(rest: &str) -> String {
        let text = format!(
            "{{name: x, status: EXPLORATORY, cell: c, lambda_ref_per_s: 1, rates: [1.5], {rest}}}"
        );
        let file = RegistrationFile::parse(Path::new("x.yaml"), text.as_bytes()).unwrap();
        rule_in_words(&file.registration)
    }

    #[test]
    fn a_rule_says_its_own_thresholds_not_the_published_ones() {
        assert!(words("cap: 3").contains("within 15 % of the all-miss rate"));
        let own =
            words("cap: 3, rule: {token_rate_tolerance: 0.07, recovered_outstanding_below: 31}");
        assert!(own.contains("within 7 % of") && own.contains("fewer than 31 sessions"), "{own}");
        let dose = "test: {kind: endpoints, arm: burst, dose: burst-sessions, \
                    doses: [{dose: 40, expect: GOOD}, {dose: 50, expect: null}]}";
        let own = words(dose);
        assert!(own.contains("burst: 40 sessions leave GOOD, in 2 of 3 seeds"), "{own}");
    }
}
