//! The questions that `trapcheck model` answers.

use serde_json::{Value, json};
use trapcheck_answers::rescue::Backlog;
use trapcheck_answers::which::{Load, Which};
use trapcheck_answers::{burst, curve, drain, lines, rescue, trap, workload};

use crate::model::Theory;
use crate::question::Question;
use crate::reply::Reply;
use crate::{Refused, command};
use trapcheck_runs::configs::Configs;

/// Answers `trap`, `cut`, `stop`, `curve`, `burst` and `rescue`.
///
/// # Errors
/// A cell, workload or rate that makes no sense, or a model without an answer.
pub fn answer(question: &Question, configs: &Configs) -> Result<Reply, Refused> {
    let (theory, notes) = solved(question, configs)?;
    let reply = match question.ask.as_str() {
        "trap" => the_trap(question, &theory)?,
        "cut" => a_cut(question, &theory)?,
        "stop" => a_stop(question, &theory)?,
        "curve" => the_curve(question, &theory)?,
        "burst" => a_burst(question, &theory)?,
        _ => a_rescue(question, &theory)?,
    };
    Ok(reply.command(command::of(question)?).with("notes", notes))
}

/// The cell that is asked about, solved, and what is to be said of its workload.
fn solved(question: &Question, configs: &Configs) -> Result<(Theory, Vec<String>), Refused> {
    let which: Which = question.part()?;
    let chosen = which.chosen(configs)?;
    let limit = question.field("gap_limit")?;
    let asked_for = match which.workload_named(&chosen, configs, limit)? {
        None => None,
        Some(name) => Some(workload::named(configs, &name, limit, chosen.cell.pool_tokens)?),
    };
    let (workload, notes) =
        asked_for.map_or((None, Vec::new()), |made| (Some(made.workload), made.notes));
    Ok((which.theory(chosen, workload)?, notes))
}

fn rate(question: &Question, theory: &Theory) -> Result<f64, Refused> {
    question.part::<Load>()?.per_s(theory)
}

fn the_trap(question: &Question, theory: &Theory) -> Result<Reply, Refused> {
    let lambda = rate(question, theory)?;
    let tables = trap::trap(theory, lambda, question.field("roots")?.unwrap_or(false))?;
    let here = theory.trap(lambda)?;
    let premium = lines::traps(theory, here.as_ref())?;
    let premium: Vec<_> = premium.iter().map(|(_, t)| lines::Premium::of(theory, t)).collect();
    Ok(Reply::of_tables("model", &tables)
        .with("mix", here.as_ref().map_or_else(Vec::new, |trap| lines::mix(theory, trap)))
        .with("premium", premium)
        .with("at", here.as_ref().map(|trap| lines::Premium::of(theory, trap))))
}

fn a_cut(question: &Question, theory: &Theory) -> Result<Reply, Refused> {
    let lambda = rate(question, theory)?;
    let to: Vec<f64> = question.field("to")?.unwrap_or_default();
    let at_s = question.field("at")?.unwrap_or(drain::CUT_AT_S);
    let times = (at_s, question.field("until")?.unwrap_or(drain::FOLLOWED_UNTIL_S));
    let rates = drain::cuts(theory, lambda, &to);
    let tables = drain::cut(theory, lambda, times, &rates)?;
    let paths = lines::after_change(theory, lambda, times, &rates)?;
    Ok(Reply::of_tables("model", &tables).with("paths", paths))
}

fn a_stop(question: &Question, theory: &Theory) -> Result<Reply, Refused> {
    let lambda = rate(question, theory)?;
    let at_s = question.field("at")?.unwrap_or(drain::STOP_AT_S);
    let tables = drain::stop(theory, lambda, at_s)?;
    let until_s = at_s + theory.burst(lambda).work_left_s(&theory.model_f, lambda, at_s)?;
    let paths = lines::after_change(theory, lambda, (at_s, until_s), &[0.0])?;
    Ok(Reply::of_tables("model", &tables).with("paths", paths))
}

fn the_curve(question: &Question, theory: &Theory) -> Result<Reply, Refused> {
    let populations: Vec<f64> = question.field("population")?.unwrap_or_default();
    let populations =
        if populations.is_empty() { curve::populations(theory)? } else { populations };
    let from_empty_s = question.field("from_empty")?.unwrap_or(theory.from_empty_s);
    let tables = curve::curve(theory, &populations, from_empty_s)?;
    let most = populations.iter().copied().fold(0.0, f64::max);
    Ok(Reply::of_tables("model", &tables).with("path", curve_line(theory, most)?))
}

/// The curve's states along populations, lowest branch first where there are several.
fn curve_line(theory: &Theory, most: f64) -> Result<Value, Refused> {
    let curve = theory.curve()?;
    let share = curve.model().followup_share();
    let states: Vec<_> =
        lines::populations(theory, most)?.iter().flat_map(|n| curve.states_at(*n)).collect();
    let hits: Vec<f64> = states.iter().map(|s| share * s.hit_probability).collect();
    Ok(json!({
        "population": states.iter().map(|s| s.population).collect::<Vec<_>>(),
        "mu_per_s": states.iter().map(|s| s.mu_per_s).collect::<Vec<_>>(),
        "turns_that_hit": hits,
    }))
}

fn a_burst(question: &Question, theory: &Theory) -> Result<Reply, Refused> {
    let lambda = rate(question, theory)?;
    let remaining_s = burst::remaining_horizon_s(&theory.paired);
    let horizon_s = question.field("horizon")?.unwrap_or(remaining_s);
    let bursts: Vec<f64> = question.field("sessions")?.unwrap_or_default();
    Ok(Reply::of_tables("model", &burst::burst(theory, lambda, horizon_s, &bursts)?))
}

fn a_rescue(question: &Question, theory: &Theory) -> Result<Reply, Refused> {
    let lambda = rate(question, theory)?;
    let engage_s = question.field("engage_at")?.unwrap_or(rescue::ENGAGE_AT_S);
    let backlog = match question.field("backlog")? {
        Some(sessions) => Backlog::Seen { sessions },
        None => Backlog::AfterTheBurst { engage_s },
    };
    let hold_s = question.field("hold")?.unwrap_or(rescue::HOLD_S);
    let caps: Vec<f64> = question.field("cap")?.unwrap_or_default();
    Ok(Reply::of_tables("model", &rescue::rescue(theory, lambda, backlog, hold_s, &caps)?))
}
