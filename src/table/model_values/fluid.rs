//! The exact fluid: cuts, stops, Kendall's probabilities and the registered window
//! (App. A, sec 4, 5).

use super::question::{Answer, Question, Unanswered};
use crate::model::Theory;
use crate::model::fifo::kendall;
use crate::model::fifo::threshold::critical_backlog;
use crate::model::fluid::cut::{BurstProtocol, Fate, fate};
use crate::model::fluid::{Trajectory, orbit};

/// When Corollary 3's illustration cuts, and how long it runs (App. A).
const CUT_S: f64 = 5000.0;
const CUT_END_S: f64 = 30_000.0;
/// When SHED stops arrivals (sec 5).
const STOP_S: f64 = 1800.0;
/// When CUT cuts (App. C).
const ARM_CUT_S: f64 = 2400.0;
/// What CUT cuts to, in multiples of lambda_ref (App. C).
const ARMS: [(&str, f64); 2] = [("CUT-A rho'", 1.15), ("CUT-B rho'", 0.85)];
/// The registered window and its bins (App. E.5).
const WINDOW_S: (f64, f64) = (5700.0, 8700.0);
const BIN_S: f64 = 10.0;
/// End of the burst.
const BURST_END_S: f64 = 1260.0;
/// How long after the burst Kendall's remaining work is taken (App. A).
const KENDALL_AFTER_S: f64 = 3000.0;

pub(super) fn answer(q: &Question) -> Option<Answer> {
    let after_cut = |value: fn(&Trajectory) -> f64| Ok(value(&cut_fluid(q)?));
    Some(match q.quantity {
        "minimum backlog" => after_cut(|t| t.lowest_backlog(CUT_S, CUT_END_S).0),
        "dip (%)" => {
            after_cut(|t| 100.0 * (t.lowest_backlog(CUT_S, CUT_END_S).0 / t.backlog(CUT_S) - 1.0))
        }
        "backlog at 30,000 s" => after_cut(|t| t.backlog(CUT_END_S)),
        "backlog at 5000 s" => after_cut(|t| t.backlog(CUT_S)),
        "settles at lam_miss E[T] V_tot/kbar_c" => cut_fluid(q)
            .and_then(|t| Ok(critical_backlog(&q.theory()?.model_f, t.work_left_s(CUT_S)))),
        "empty at, cut 0.90 (s)" => {
            empties_at(q, CUT_S, |t| Ok(q.number_after("cut ")? * t.model_f.lambda_miss_per_s()))
        }
        "CUT-B nominal empty time (about)" => empties_at(q, ARM_CUT_S, |t| {
            let later = q.subject.later.ok_or_else(|| Unanswered::new("no later rate"))?;
            Ok(t.rate_per_s(later))
        }),
        "SHED: time from stop to n_b (s)" => stopped(q).and_then(|(t, onset)| {
            let reached = t.falls_to_s(STOP_S, onset);
            reached.map(|at| at - STOP_S).ok_or_else(|| Unanswered::new("never reached"))
        }),
        "SHED: time to empty = V_tot(1800) (s)" => stopped(q).map(|(t, _)| t.work_left_s(STOP_S)),
        "Kendall emptying probability" => kendall_probability(q),
        "window slope/alpha - 1 (4-12%)" => undisturbed(q).and_then(|t| {
            let slope = t.backlog_slope_per_s(WINDOW_S.0, WINDOW_S.1, BIN_S);
            Ok(slope / q.trap()?.alpha_per_s - 1.0)
        }),
        "window composition/asymptote - 1 (about 1%)" => undisturbed(q).and_then(|t| {
            let prompts = &q.theory()?.means.prompt_tokens;
            let served = t.served_mean(WINDOW_S.0, WINDOW_S.1, prompts);
            Ok(served / q.trap()?.served_mean(prompts) - 1.0)
        }),
        "generations from the burst to 5700 s (about)" => {
            undisturbed(q).map(|t| orbit::generations(&t, BURST_END_S, WINDOW_S.0) as f64)
        }
        quantity => {
            let (_, multiple) = ARMS.iter().find(|(arm, _)| *arm == quantity)?;
            q.theory().map(|t| t.model_f.rho(t.rate_per_s(*multiple)))
        }
    })
}

/// The burst at the question's rate, with later rate changes.
fn burst(q: &Question, changes: &[(f64, f64)], end_s: f64) -> Result<Trajectory, Unanswered> {
    let (theory, lambda) = (q.theory()?, q.rate_per_s()?);
    Ok(theory.burst(lambda).run(&theory.model_f, lambda, changes, end_s)?)
}

fn undisturbed(q: &Question) -> Result<Trajectory, Unanswered> {
    burst(q, &[], WINDOW_S.1)
}

/// The fluid of Corollary 3's illustration, cut to the question's multiple of lambda_miss.
fn cut_fluid(q: &Question) -> Result<Trajectory, Unanswered> {
    let cut = q.subject.cut.ok_or_else(|| Unanswered::new("the row names no cut"))?;
    let next = cut * q.theory()?.model_f.lambda_miss_per_s();
    burst(q, &[(CUT_S, next)], CUT_END_S)
}

/// The fluid with arrivals stopped, and n_b.
fn stopped(q: &Question) -> Result<(Trajectory, f64), Unanswered> {
    let onset = q.theory()?.curve()?.model().onset().population();
    Ok((burst(q, &[(STOP_S, 0.0)], STOP_S + 7200.0)?, onset))
}

/// When the queue is empty after a cut, by Prop. 1(a).
fn empties_at(q: &Question, cut_s: f64, rate: impl Fn(&Theory) -> Answer) -> Answer {
    let theory = q.theory()?;
    let work_s = burst(q, &[], cut_s + 1.0)?.work_left_s(cut_s);
    match fate(&theory.model_f, work_s, rate(theory)?)? {
        Fate::Empties { after_s } => Ok(cut_s + after_s),
        Fate::Settles { .. } | Fate::Grows { .. } => Err(Unanswered::new("it does not empty")),
    }
}

/// A burst into an empty engine, its remaining work some time later taken as realized.
fn kendall_probability(q: &Question) -> Answer {
    let model = &q.theory()?.model_f;
    let rho = q.subject.rho.ok_or_else(|| Unanswered::new("the row names no load"))?;
    let lambda = rho * model.lambda_miss_per_s();
    let protocol = BurstProtocol::of(q.theory()?.paired.burst, 0.0);
    let at_s = protocol.burst_s + KENDALL_AFTER_S;
    let work_s = protocol.run(model, lambda, &[], at_s + 1.0)?.work_left_s(at_s);
    Ok(kendall::emptying_probability(model, lambda, work_s)?)
}
