//! Simulated runs, judged as `trapcheck score` judges them.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use trapcheck_answers::arm;
use trapcheck_runs::configs::Configs;
use trapcheck_setup::name::PlainName;
use trapcheck_simulator::sim::directory::{Label, to_run};

use crate::command::{ARM, OPTIONS, flags};
use crate::judge::Judged;
use crate::judged::ScoredRun;
use crate::question::Question;
use crate::reply::Reply;
use crate::run::Run;
use crate::setup::{Batching, Scheduling};
use crate::sim::{Options, RunSpec, simulate as run_of};
use crate::{Refused, engines};
use trapcheck_runs::judged::statistics::RunStatistics;

/// How the engine is modelled; each field is a flag of `trapcheck simulate`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Engine {
    batching: Option<Batching>,
    scheduling: Option<Scheduling>,
    no_lpm_fallback: bool,
    token_cost_factor: Option<f64>,
    keep_finished: bool,
    sample: Option<f64>,
}

impl Engine {
    fn options(&self, stock: Options) -> Options {
        Options {
            batching: self.batching.unwrap_or(stock.batching),
            scheduling: self.scheduling,
            lpm_fallback: if self.no_lpm_fallback { None } else { stock.lpm_fallback },
            token_cost_factor: self.token_cost_factor,
            keep_finished: self.keep_finished || stock.keep_finished,
            sample_s: self.sample.unwrap_or(stock.sample_s),
            ..stock
        }
    }
}

/// One run that is asked for: its name, its fields, its arm.
struct Asked {
    name: String,
    question: Question,
    arm: arm::Asked,
}

/// Answers `simulate`.
///
/// # Errors
/// A cell, arm or rate that makes no sense.
pub fn simulate(question: &Question, configs: &Configs) -> Result<Reply, Refused> {
    let judged = judged(question, configs)?;
    Ok(judged.reply()?.command(command(question)?))
}

/// Answers `time_scales`: the gap and the turnover of a good run and of one with a burst.
///
/// # Errors
/// As [`simulate`].
pub fn time_scales(question: &Question, configs: &Configs) -> Result<Reply, Refused> {
    let question = both_states(question);
    let judged = judged(&question, configs)?;
    let scales: Vec<Value> = judged.scoring.runs.iter().map(scale).collect();
    Ok(judged.reply()?.command(command(&question)?).with("scales", scales))
}

/// The question of a run without and one with a burst.
pub(crate) fn both_states(question: &Question) -> Question {
    let mut both = Question { ask: "simulate".into(), ..question.clone() };
    both.fields.insert("runs".into(), json!([{"arm": "noburst"}, {"arm": "burst"}]));
    both
}

fn scale(run: &ScoredRun) -> Value {
    let window = run.measures.window.as_ref();
    json!({
        "name": run.dir.display().to_string(),
        "arm": run.meta.arm.word(),
        "source": run.meta.source.word(),
        "gap_s": window.and_then(|w| w.gap_median_s),
        "turnover_s": window.and_then(|w| w.turnover_s),
        "ratio": window.and_then(|w| w.gap_over_turnover),
    })
}

/// The command lines that write and judge the same runs.
///
/// # Errors
/// Runs that cannot be asked for.
pub fn command(question: &Question) -> Result<String, Refused> {
    let asked = asked(question)?;
    let common = flags(
        question,
        ["cell", "workload", "rate", "seed"].into_iter().chain(OPTIONS.iter().copied()),
    );
    let mut lines: Vec<String> = asked
        .iter()
        .map(|run| {
            let own = flags(&run.question, ARM.iter().copied());
            format!("trapcheck simulate{common}{own} --out {}", run.name)
        })
        .collect();
    let names: Vec<&str> = asked.iter().map(|run| run.name.as_str()).collect();
    lines.push(format!("trapcheck score {}", names.join(" ")));
    Ok(lines.join(" && "))
}

fn judged<'a>(question: &Question, configs: &'a Configs) -> Result<Judged<'a>, Refused> {
    let name: String = match question.field("cell")? {
        Some(name) => name,
        None => return Err(Refused::new("give --cell NAME")),
    };
    let other: Option<String> = question.field("workload")?;
    let name = configs.playing(&name, other.as_deref()).map_err(Refused)?;
    let (cell, workload, protocol) = configs.cell(&name).map_err(Refused)?;
    let options = question.part::<Engine>()?.options(Options::stock(cell, workload));
    let (multiple, seed) = (question.field("rate")?, question.field("seed")?.unwrap_or(0));
    let mut measured = Vec::new();
    let mut waiting = Vec::new();
    for asked in asked(question)? {
        let (arm, protocol) = asked.arm.under(protocol)?;
        let protocol = &*protocol;
        let label = Label { run_id: asked.name.clone(), registration: None };
        let spec = RunSpec { cell, workload, protocol, arm: &arm, multiple, seed, options };
        let simulated = run_of(&spec)?;
        let run = to_run(&simulated, &spec, &label).as_read_back();
        let run = Run { dir: PathBuf::from(&asked.name), ..run };
        waiting.push((run.dir.clone(), engines::waiting(&run, protocol)));
        measured.push(RunStatistics::of(run, configs, None).map(Arc::new));
    }
    Ok(Judged::of(measured, waiting, configs))
}

/// The runs that are asked for.
fn asked(question: &Question) -> Result<Vec<Asked>, Refused> {
    let Some(Value::Array(runs)) = question.fields.get("runs") else {
        return Err(Refused::new("runs: expected a list of runs, each with its arm"));
    };
    let mut names = BTreeSet::new();
    let each = runs.iter().map(|run| {
        let Value::Object(fields) = run else {
            return Err(Refused::new("runs: expected objects, each with its arm"));
        };
        let mut fields = fields.clone();
        fields.retain(|_, value| !value.is_null());
        let name = fields.remove("name");
        let arm = arm::Asked::deserialize(Value::Object(fields.clone()))
            .map_err(|e| Refused(format!("runs: {e}")))?;
        let name = match name {
            Some(Value::String(name)) => name,
            Some(_) => return Err(Refused::new("runs: name: expected a word")),
            None => arm.arm.word().to_owned(),
        };
        PlainName::new(name.as_str()).map_err(|e| Refused(format!("runs: name: {e}")))?;
        if !names.insert(name.clone()) {
            return Err(Refused(format!("runs: two are called {name}: name them apart")));
        }
        Ok(Asked { name, question: Question { ask: String::new(), fields }, arm })
    });
    each.collect()
}
