//! The question that `trapcheck knee` answers.

use serde_json::{Value, json};
use trapcheck_answers::engine;
use trapcheck_answers::search::{Answer, InTurn, Search, predicted};
use trapcheck_runs::configs::Configs;

use crate::ladder::{HitState, Start};
use crate::question::Question;
use crate::reply::Reply;
use crate::{Refused, command};
use trapcheck_answers::workload::{Playable, named};

/// Answers `knee`.
///
/// # Errors
/// A cell, workload or value that cannot be used, or a run that cannot be simulated.
pub fn knee(question: &Question, configs: &Configs) -> Result<Reply, Refused> {
    let search: Search = question.part()?;
    search.check()?;
    let engine = question.part::<engine::Asked>()?.engine(configs)?;
    let (limit, pool_tokens) = (question.field("gap_limit")?, engine.cell.pool_tokens);
    let own = || configs.has_workload(&engine.cell.workload).then(|| engine.cell.workload.clone());
    let asked: Option<String> = question.field("workload")?;
    let Some(name) = asked.or_else(own) else {
        return Err(Refused::new("give the sessions: --sessions FILE or --workload NAME"));
    };
    let Playable { workload, mut notes } = named(configs, &name, limit, pool_tokens)?;
    let ladder = search.question(&engine, &workload);
    let found = search.answer(&ladder, &InTurn)?;
    let predicted = predicted(&ladder);
    let tables = search.tables(&ladder, &found, predicted.as_ref().ok().copied());
    let reply = Reply::of_tables("knee", &tables).with("points", points(&search, &found));
    let reply = reply.command(command::of(question)?).with("notes", &notes);
    if let Err(why) = predicted {
        notes.push(format!("no theory beside it: {why}"));
    }
    Ok(reply.with("said", notes))
}

/// Every run of the engine as it is, from both starts.
fn points(search: &Search, found: &Answer) -> Vec<Value> {
    let state = |state: HitState| match state {
        HitState::Good => "good",
        HitState::Between => "between",
        HitState::Trapped => "trapped",
    };
    let of = |start: Start| {
        found.knee.from(start).populations.iter().flat_map(move |(population, outcomes)| {
            outcomes.iter().zip(search.first_seed..).map(move |(outcome, seed)| {
                json!({
                    "start": start.word(),
                    "population": population,
                    "seed": seed,
                    "hit_share": outcome.hit_share,
                    "turns_per_s": outcome.turns_per_s,
                    "state": outcome.state.map(state),
                })
            })
        })
    };
    of(Start::Empty).chain(of(Start::Trap)).collect()
}
