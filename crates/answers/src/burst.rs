//! Whether a burst leaves a cell stuck, and whether it gets stuck without one (layers H2 and
//! H3, App. E.6, E.9).

use crate::facts::{answers, facts, significant};
use crate::model::curve::layers::h3::{BurstBasin, REMAINING_HORIZON_S};
use crate::model::curve::layers::{demand_cv2, h2};
use crate::model::{ModelError, Theory, positive};
use crate::setup::protocol::Paired;
use crate::table::{Cell, Col, Heading, Table};

/// Bursts shown by default, in shares of the critical one.
const SHARES: [f64; 7] = [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0];

/// A burst that is asked about, in fresh sessions.
struct Asked<'a> {
    burst: f64,
    basin: &'a BurstBasin<'a>,
    horizon_s: f64,
}

/// How long a run goes on after its burst, s: the constant fitted to the paper's BASIN runs
/// for the paper's protocol, else from the burst's end to the run's.
pub fn remaining_horizon_s(paired: &Paired) -> f64 {
    if *paired == Paired::PAPER {
        return REMAINING_HORIZON_S;
    }
    paired.horizon_s - paired.burst.start_s - paired.burst.length_s
}

/// The bursts of fresh sessions that leave the cell stuck at a rate, within `horizon_s` after
/// each. With no `bursts` given, a spread around the critical one.
///
/// # Errors
/// A cell without iteration costs, a burst or horizon that is not positive, or a load without
/// a good and an unstable state, between which a burst decides.
pub fn burst(
    theory: &Theory,
    lambda_per_s: f64,
    horizon_s: f64,
    bursts: &[f64],
) -> Result<Vec<Table>, ModelError> {
    let curve = theory.curve()?;
    positive("time after the burst (s)", horizon_s)?;
    let cv2 = demand_cv2(&theory.means);
    let (_, fresh_tokens) = theory.means.peak_fresh_footprint();
    let states = curve.good_state(lambda_per_s).zip(curve.unstable_state(lambda_per_s));
    let basin = BurstBasin::at(curve, cv2, fresh_tokens, lambda_per_s);
    let ((good, unstable), basin) =
        states.zip(basin).ok_or_else(|| no_basin(theory, lambda_per_s))?;
    let critical = basin.critical_burst();
    let stuck = |sessions: f64| basin.stuck_probability(sessions, horizon_s);
    let escape = h2::Diffusion::of(curve, cv2).escape_probability(lambda_per_s, horizon_s);
    let state = facts(
        "model_burst_basin",
        format!("Bursts on {} at {lambda_per_s:.4} sessions/s", theory.cell.name),
        vec![
            ("good state n_1", Cell::Number(good.population, 1), "sessions"),
            ("unstable state n_2", Cell::Number(unstable.population, 1), "sessions"),
            ("critical burst (H3)", Cell::Number(critical, 1), "fresh sessions"),
            ("a fresh session's peak KV", Cell::Number(fresh_tokens, 0), "tokens"),
            (
                "burst after which half are stuck (H3)",
                Cell::optional(basin.half_point(stuck), 1),
                "fresh sessions",
            ),
            ("stuck without a burst by then (H2)", significant(escape, 3), "probability"),
            ("time after the burst", Cell::Number(horizon_s, 0), "s"),
        ],
    );
    let spread = SHARES.map(|share| libm::round(share * critical).max(1.0));
    let bursts = if bursts.is_empty() { &spread[..] } else { bursts };
    let columns: &[Col<Asked<'_>>] = &[
        Heading("burst", "fresh sessions", "Fresh sessions of the burst").number(0, |of| of.burst),
        Heading(
            "reaches_onset_first",
            "probability",
            "Probability that the population reaches the onset before the good state",
        )
        .new(|of| significant(of.basin.committor(of.burst), 3)),
        Heading("stuck", "probability", "That the run is stuck at the end")
            .new(|of| significant(of.basin.stuck_probability(of.burst, of.horizon_s), 3)),
    ];
    let rows = bursts
        .iter()
        .map(|burst| {
            positive("burst (sessions)", *burst)?;
            Ok(Asked { burst: *burst, basin: &basin, horizon_s })
        })
        .collect::<Result<Vec<_>, ModelError>>()?;
    let title = "By size (H3 is an approximation, one constant fitted to the paper's runs)";
    let table = answers("model_burst", title, columns, rows);
    Ok(vec![state, table])
}

fn no_basin(theory: &Theory, lambda_per_s: f64) -> ModelError {
    let why = if theory.model_f.rho(lambda_per_s) <= 1.0 {
        "below the all-miss capacity no burst leaves a run stuck: its backlog drains"
    } else {
        "this load has no good state that a burst could be added to"
    };
    ModelError::NoSolution { what: "the critical burst", why: why.into() }
}
