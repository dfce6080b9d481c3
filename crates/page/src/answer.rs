//! From a question's text to its answer's.

use std::sync::OnceLock;

use serde_json::json;
use trapcheck_answers::built_in;
use trapcheck_runs::configs::Configs;

use crate::Refused;
use crate::dropped::{Source, files, sizes};
use crate::question::Question;
use crate::reply::Reply;
use crate::{command, judge, knee, lists, simulate, theory};

/// Answers a question that needs no bytes of files.
pub fn answer(question: &str) -> String {
    answer_with(question, &|_, _| None)
}

/// Answers a question; `bytes` gives what lies at a place that a dropped file names by `ptr`
/// and `len`.
pub fn answer_with(question: &str, bytes: Source<'_>) -> String {
    told(question, configs, |asked, configs| match asked.ask.as_str() {
        "judge" => judge::judge(asked, bytes, configs),
        _ => of_the_live(asked, configs),
    })
}

/// Answers what needs no files, for a page that has not got any: it loads less.
pub fn answer_live(question: &str, _: Source<'_>) -> String {
    told(question, configs, |asked, configs| match asked.ask.as_str() {
        "judge" => Err(Refused::new("files are not read here")),
        _ => of_the_live(asked, configs),
    })
}

/// Answers what is asked about run directories.
pub fn answer_runs(question: &str, bytes: Source<'_>) -> String {
    told(question, configs, |asked, configs| match asked.ask.as_str() {
        "judge" => judge::runs(asked, &files(asked, bytes)?, configs),
        _ => Err(Refused::new("only run directories are judged here")),
    })
}

/// Answers what is asked about files that are no run directories.
pub fn answer_logs(question: &str, bytes: Source<'_>) -> String {
    told(question, cells, |asked, configs| match asked.ask.as_str() {
        "judge" => judge::logs(asked, files(asked, bytes)?, configs),
        _ => Err(Refused::new("only logs are judged here")),
    })
}

/// What is answered, or why nothing is.
fn told(
    question: &str,
    configs: fn() -> Result<&'static Configs, Refused>,
    reply: impl FnOnce(&Question, &'static Configs) -> Result<Reply, Refused>,
) -> String {
    let answered = Question::parse(question).and_then(|question| {
        command::check(&question)?;
        match question.ask.as_str() {
            "sizes" => sizes(&question),
            _ => reply(&question, configs()?),
        }
    });
    match answered {
        Ok(reply) => json!({"ok": reply.into_json()}),
        Err(why) => json!({"error": why.to_string()}),
    }
    .to_string()
}

fn of_the_live(question: &Question, configs: &Configs) -> Result<Reply, Refused> {
    match question.ask.as_str() {
        "lists" => Ok(lists::lists(configs)),
        "knee" => knee::knee(question, configs),
        "simulate" => simulate::simulate(question, configs),
        "time_scales" => simulate::time_scales(question, configs),
        "command" => of_another(question),
        _ => theory::answer(question, configs),
    }
}

/// The configuration that is carried along, read once. No run of another shape is dropped here.
fn configs() -> Result<&'static Configs, Refused> {
    static READ: OnceLock<Result<Configs, Refused>> = OnceLock::new();
    let read = READ.get_or_init(|| built_in::without_layouts().map_err(Refused::from));
    read.as_ref().map_err(Clone::clone)
}

/// Of it what logs are judged by.
fn cells() -> Result<&'static Configs, Refused> {
    static READ: OnceLock<Result<Configs, Refused>> = OnceLock::new();
    let read = READ.get_or_init(|| built_in::without_registrations().map_err(Refused::from));
    read.as_ref().map_err(Clone::clone)
}

/// The command line of a question that is not answered here.
fn of_another(question: &Question) -> Result<Reply, Refused> {
    let Some(asked) = question.fields.get("question") else {
        return Err(Refused::new("question: expected one"));
    };
    let asked = Question::of(asked.clone())?;
    command::check(&asked)?;
    let line = match asked.ask.as_str() {
        "simulate" => simulate::command(&asked)?,
        "time_scales" => simulate::command(&simulate::both_states(&asked))?,
        "judge" => judge::command(&asked)?,
        _ => command::of(&asked)?,
    };
    Ok(Reply::empty().command(line))
}
