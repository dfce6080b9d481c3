//! The metadata of a run of another shape: a JSON or YAML file whose keys a layout maps onto
//! those of `meta.json`.

use std::path::Path;

use serde_json::{Map, Value};

use super::super::answer::{self, Answer, Clock, Wrong};
use super::super::columns::{parse_count, parse_number};
use super::super::format::{Holds, Name, anchor, meta_keys};
use super::super::problem::Problem;
use super::{FORMAT, Meta, json_problem};
use crate::date;
use crate::decimal::Decimal;
use crate::escape::shortened;
use crate::parse_message::in_words;
use crate::setup::layout::{Layout, Rule};
use crate::setup::yaml;

/// Reads and checks it; also the clock of its absolute times.
pub fn read(path: &Path, text: &[u8], layout: &Layout) -> Result<(Meta, Clock), Vec<Problem>> {
    let theirs = parsed(path, text).map_err(|p| vec![p])?;
    let zone_s = layout.zone.as_deref().and_then(date::offset_s).unwrap_or(0);
    let clock = Clock { origin: None, zone_s };
    let origin = origin(path, layout, clock, &theirs).map_err(|p| vec![p])?;
    let clock = Clock { origin, zone_s };
    let mut ours = Map::from_iter([
        ("format".to_owned(), Value::from(FORMAT)),
        ("rate".to_owned(), Value::Object(Map::new())),
    ]);
    let mut problems = Vec::new();
    for mut name in meta_keys() {
        // Counted by their key or, if the layout names none, from the rows: not by half.
        name.needed |= name.name.starts_with("counts.");
        match layout.meta.get(name.name).map(|rule| answered(path, &name, rule, clock, &theirs)) {
            Some(Ok(Some(value))) => insert(&mut ours, name.name, value),
            Some(Err(problem)) => problems.push(problem),
            // What a layout does not count is counted once the tables are read.
            None if name.name.starts_with("counts.") => insert(&mut ours, name.name, 0.into()),
            Some(Ok(None)) | None => {}
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    ours.retain(|group, keys| match (anchor(group), keys.as_object()) {
        (Some(anchor), Some(keys)) => keys.contains_key(anchor),
        _ => true,
    });
    let meta: Meta = serde_json::from_value(Value::Object(ours)).map_err(|e| {
        let message = in_words(&e.to_string());
        vec![Problem::new(path, format!("does not make a meta.json by this layout: {message}"))]
    })?;
    let relabelled = |p: Problem| Problem { column: p.column.map(|c| label(layout, &c)), ..p };
    let problems: Vec<_> = meta.problems(path).into_iter().map(relabelled).collect();
    if problems.is_empty() { Ok((meta, clock)) } else { Err(problems) }
}

/// Their keys and values: YAML by the file's name, else JSON.
fn parsed(path: &Path, text: &[u8]) -> Result<Value, Problem> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if !["yaml", "yml"].iter().any(|yaml| ending.eq_ignore_ascii_case(yaml)) {
        return serde_json::from_slice(text).map_err(|e| json_problem(path, text, &e));
    }
    yaml::from_bytes(path, text).map_err(|e| Problem {
        line: e.line.map(|line| line as u64),
        column: e.column.map(|column| format!("column {column}")),
        ..Problem::new(path, e.message)
    })
}

fn label(layout: &Layout, key: &str) -> String {
    layout.meta.get(key).map_or_else(|| key.to_owned(), |rule| answer::label(rule, key))
}

fn origin(
    path: &Path,
    layout: &Layout,
    clock: Clock,
    theirs: &Value,
) -> Result<Option<Decimal>, Problem> {
    let Some(rule) = &layout.origin else { return Ok(None) };
    let name = Name { name: "origin", holds: Holds::Unix, needed: true };
    let text = text_answered(path, &name, rule, clock, theirs)?.unwrap_or_default();
    let message =
        || format!("expected a number of seconds or a date, found \u{201c}{text}\u{201d}");
    let wrong = || at(path, answer::label(rule, "origin"), message());
    Decimal::parse(&text).map(Some).ok_or_else(wrong)
}

fn at(path: &Path, label: String, message: impl Into<String>) -> Problem {
    Problem::of_key(path, &label, message)
}

/// The value that `meta.json` would have.
fn answered(
    path: &Path,
    name: &Name,
    rule: &Rule,
    clock: Clock,
    theirs: &Value,
) -> Result<Option<Value>, Problem> {
    let Some(text) = text_answered(path, name, rule, clock, theirs)? else { return Ok(None) };
    let value = match &name.holds {
        Holds::Count => parse_count(text.as_bytes()).map(Value::from),
        Holds::Number | Holds::Moment | Holds::Seconds | Holds::Unix => {
            parse_number(text.as_bytes()).map(Value::from)
        }
        Holds::Flag => text.parse::<bool>().map(Value::from).map_err(|_| {
            format!(
                "expected true or false (map their words with values), found \u{201c}{text}\u{201d}"
            )
        }),
        Holds::Words(words) if !words.contains(&text.as_str()) => {
            let words = words.join(", ");
            let text = shortened(&text, 40);
            Err(format!(
                "expected one of {words} (map their words with values), found \u{201c}{text}\u{201d}"
            ))
        }
        Holds::Words(_) | Holds::Text | Holds::SecondsList => Ok(Value::from(text)),
    };
    value.map(Some).map_err(|message| at(path, answer::label(rule, name.name), message))
}

fn text_answered(
    path: &Path,
    name: &Name,
    rule: &Rule,
    clock: Clock,
    theirs: &Value,
) -> Result<Option<String>, Problem> {
    let keys = answer::inputs(rule);
    let problem = |i: usize, message: &str| at(path, answer::named(keys[i], name.name), message);
    let mut texts = Vec::new();
    for (i, key) in keys.iter().enumerate() {
        texts.push(match look_up(theirs, key) {
            None if name.needed => return Err(problem(i, "this key is missing")),
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()).filter(|text| !text.is_empty()),
            Some(value @ (Value::Bool(_) | Value::Number(_))) => Some(value.to_string()),
            Some(Value::Array(_)) => return Err(problem(i, "expected one value, found a list")),
            Some(Value::Object(_)) => {
                return Err(problem(i, "expected one value, found keys; name one of them"));
            }
        });
    }
    let answer = Answer::new(rule, clock);
    let value = answer
        .value(|input| texts[input].as_deref())
        .map_err(|Wrong { input, message }| problem(input, &message))?
        .map(std::borrow::Cow::into_owned);
    // Nothing was to be converted, so it is as they wrote it.
    let seconds =
        |text: &String| date::unix_s(text, clock.zone_s).filter(|_| name.holds == Holds::Unix);
    let value = value.map(|text| seconds(&text).map_or(text, |seconds| seconds.to_string()));
    match value {
        None if name.needed => {
            Err(at(path, answer::label(rule, name.name), "expected a value, found none"))
        }
        value => Ok(value),
    }
}

/// A key whose parts are joined by dots; a key of theirs may itself hold dots.
fn look_up<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    let keys = value.as_object()?;
    let deeper = || {
        let cuts = key.match_indices('.').map(|(at, _)| key.split_at(at));
        cuts.filter_map(|(first, rest)| look_up(keys.get(first)?, &rest[1..])).next()
    };
    keys.get(key).or_else(deeper)
}

/// Puts a value under a key whose parts are joined by a dot.
fn insert(ours: &mut Map<String, Value>, key: &str, value: Value) {
    let Some((group, key)) = key.split_once('.') else {
        ours.insert(key.to_owned(), value);
        return;
    };
    let group = ours.entry(group).or_insert_with(|| Value::Object(Map::new()));
    if let Some(keys) = group.as_object_mut() {
        keys.insert(key.to_owned(), value);
    }
}
