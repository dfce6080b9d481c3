//! Words that several tests say of their parameters.

use crate::setup::Span;

use super::endpoint::Endpoints;
use super::vote::Quorum;

/// What the two endpoints are.
pub(super) fn endpoints(of: &Endpoints) -> String {
    format!(
        "STUCK is a hit fraction below {} over the window; GOOD is RECOVERED, or a hit fraction above \
         {} with a backlog slope of at most {} times the excess of arrivals over lambda_ref.",
        of.stuck_hit_below, of.good_hit_above, of.good_slope_factor
    )
}

pub(super) fn of(quorum: Quorum) -> String {
    format!("{} of {}", quorum.needed, quorum.of)
}

pub(super) fn span(span: Span) -> String {
    format!("{} to {} s", span.start_s, span.end_s)
}

/// A share in per cent, without the dust of the binary fraction.
pub(super) fn percent(share: f64) -> f64 {
    (share * 1e8).round() / 1e6
}
