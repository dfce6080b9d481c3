//! A registration's rule in sentences, with its parameters.

use crate::setup::Span;

use super::endpoint::Endpoints;
use super::registration::Registration;
use super::vote::Quorum;

/// What a registration asks of its runs, in sentences that carry its thresholds.
pub fn rule_in_words(registration: &Registration) -> String {
    registration.test.in_words(&registration.rule)
}

/// What its two endpoints are.
pub(super) fn endpoints(of: &Endpoints) -> String {
    format!(
        "STUCK is a hit fraction below {} over the window; GOOD is RECOVERED, or a hit fraction above \
         {} with a backlog slope of at most {} times the excess of arrivals over lambda_ref.",
        of.stuck_hit_below, of.good_hit_above, of.good_slope_factor
    )
}

/// So many of so many.
pub(super) fn of(quorum: Quorum) -> String {
    format!("{} of {}", quorum.needed, quorum.of)
}

/// From when to when.
pub(super) fn span(span: Span) -> String {
    format!("{} to {} s", span.start_s, span.end_s)
}

/// A share in per cent, without the dust of the binary fraction.
pub(super) fn percent(share: f64) -> f64 {
    (share * 1e8).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    use crate::rule::registration::RegistrationFile;

    fn words(rest: &str) -> String {
        let text = format!(
            "{{name: x, status: EXPLORATORY, cell: c, lambda_ref_per_s: 1, all_miss_tokens_per_s: 9, \
             rates: [1.5], {rest}}}"
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
