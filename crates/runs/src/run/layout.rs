//! What a layout must say, and what it cannot.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use super::format::{Holds, Name, columns, meta_keys};
use crate::date;
use crate::decimal::Decimal;
use crate::setup::layout::{Layout, Others, Rule, Scalar, TableName, Term};

/// Says what is wrong with a layout, if anything: it maps something that format 1 does not
/// have, leaves out what it needs, or converts what cannot be converted.
///
/// # Errors
/// One sentence naming the key and what was expected.
pub fn check_layout(layout: &Layout) -> Result<(), String> {
    if layout.about.trim().is_empty() {
        return Err("about: expected a sentence: whose shape is it?".into());
    }
    if layout.metadata.contains(['/', '\\', '*']) || layout.metadata.is_empty() {
        return Err(format!("metadata: expected a file's name, found {:?}", layout.metadata));
    }
    layout.with.iter().try_for_each(|file| is_file("with", file))?;
    if let Some(origin) = &layout.origin {
        is_sound("origin", origin, &Holds::Unix, false)?;
    }
    if let Some(zone) = layout.zone.as_ref().filter(|zone| date::offset_s(zone).is_none()) {
        return Err(format!("zone: expected how far it is from UTC, as +02:00, found {zone:?}"));
    }
    rules(layout, "meta", &layout.meta, &meta_keys())?;
    for (table, table_layout) in &layout.tables {
        is_file(&format!("tables.{}.file", table.word()), &table_layout.file)?;
        let place = format!("tables.{}.columns", table.word());
        rules(layout, &place, &table_layout.columns, &columns(*table))?;
        // Of the turns, the sessions and the plan no row has one time alone.
        if table_layout.long.is_some() && *table != TableName::Engine {
            let word = table.word();
            return Err(format!("tables.{word}.long: only an engine table can be of metrics"));
        }
        if let Some((column, _)) = table_layout.only.iter().find(|(_, w)| w.all().is_empty()) {
            let word = table.word();
            return Err(format!("tables.{word}.only.{column}: expected a word, or several"));
        }
    }
    if !layout.tables.contains_key(&TableName::Turns) {
        return Err("tables: format 1 needs a turns table".into());
    }
    Ok(())
}

fn rules(
    layout: &Layout,
    place: &str,
    rules: &BTreeMap<String, Rule>,
    names: &[Name],
) -> Result<(), String> {
    for (name, rule) in rules {
        let Some(known) = names.iter().find(|known| known.name == name) else {
            let there = names.iter().map(|n| n.name).collect::<Vec<_>>().join(", ");
            return Err(format!("{place}: format 1 has no {name} here; it has: {there}"));
        };
        let place = format!("{place}.{name}");
        is_sound(&place, rule, &known.holds, !known.needed)?;
        if rule.absolute && layout.origin.is_none() {
            return Err(format!("{place}: an absolute time needs the layout's origin"));
        }
    }
    match names.iter().find(|name| name.needed && !rules.contains_key(name.name)) {
        None => Ok(()),
        Some(name) => Err(format!("{place}: nothing answers {}, which is needed", name.name)),
    }
}

/// A file of the run's directory or of a folder in it, with at most one `*` in its name.
fn is_file(place: &str, file: &str) -> Result<(), String> {
    let path = Path::new(file);
    let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
    if !inside || name.is_empty() || folder.contains('*') || name.matches('*').count() > 1 {
        return Err(format!(
            "{place}: expected a file of the run's folder, with at most one *, found {file:?}"
        ));
    }
    Ok(())
}

fn is_sound(place: &str, rule: &Rule, holds: &Holds, may_be_empty: bool) -> Result<(), String> {
    let fail = |message: &str| Err(format!("{place}: {message}"));
    if let Some(constant) = &rule.constant {
        if *rule != (Rule { constant: Some(constant.clone()), ..Rule::default() }) {
            return fail("a constant is a value of its own: expected no other key beside it");
        }
        return fits(constant, holds, may_be_empty).map_err(|e| format!("{place}: {e}"));
    }
    if rule.from.as_ref().is_none_or(String::is_empty) {
        return fail("expected from, the name of theirs that answers it, or constant");
    }
    let terms = || rule.plus.iter().chain(&rule.minus);
    let units = [rule.unit].into_iter().chain(terms().map(|t| t.unit));
    let factors: Vec<f64> =
        [rule.factor].into_iter().chain(terms().map(|t| t.factor)).flatten().collect();
    let both = |t: &Term| t.unit.is_some() && t.factor.is_some();
    if rule.unit.is_some() && rule.factor.is_some() || terms().any(both) {
        return fail("expected a unit or a factor, not both");
    }
    if let Some(x) = factors.iter().find(|x| **x <= 0.0 || Decimal::from_f64(**x).is_none()) {
        return fail(&format!("expected a positive factor, found {x}"));
    }
    let time = matches!(holds, Holds::Moment | Holds::Seconds | Holds::Unix | Holds::SecondsList);
    if units.flatten().next().is_some() && !time {
        return fail("it is no time: expected no unit (a factor converts other numbers)");
    }
    if rule.absolute && *holds != Holds::Moment {
        return fail("it is no point in time: expected no absolute");
    }
    let list = *holds == Holds::SecondsList;
    let number = time || matches!(holds, Holds::Count | Holds::Number);
    let sums = terms().next().is_some() || rule.add.is_some();
    if (!number && !factors.is_empty()) || (sums && (!number || list)) {
        return fail("it is no number: expected no factor, plus, minus or add");
    }
    if rule.add.is_some_and(|x| Decimal::from_f64(x).is_none()) {
        return fail("add: a number with too many digits");
    }
    if rule.separator.as_ref().is_some_and(|s| s.is_empty() || !list) {
        return fail("a separator is for a list of times, and not empty");
    }
    if list && rule.separator.is_none() && (rule.unit.is_some() || rule.factor.is_some()) {
        return fail("times of a list are converted one by one: expected their separator");
    }
    if rule.values.is_empty() && rule.others == Others::Keep {
        return fail("others: expected values, of which these are the others");
    }
    // A number is converted after its word is mapped: only then must it fit.
    let mut words = rule.values.values().filter(|_| !number);
    words
        .try_for_each(|word| fits(word, holds, may_be_empty))
        .map_err(|e| format!("{place}.values: {e}"))
}

/// Whether a word written in the layout is a value of format 1.
fn fits(word: &Scalar, holds: &Holds, may_be_empty: bool) -> Result<(), String> {
    let word = word.0.as_str();
    let expected = match holds {
        _ if word.is_empty() => (!may_be_empty).then(|| "a value".to_owned()),
        Holds::Text => None,
        Holds::Words(words) => {
            (!words.contains(&word)).then(|| format!("one of {}", words.join(", ")))
        }
        Holds::Flag => (!matches!(word, "true" | "false")).then(|| "true or false".to_owned()),
        Holds::Count => {
            word.parse::<u64>().is_err().then(|| "a whole number, 0 or more".to_owned())
        }
        Holds::Number | Holds::Moment | Holds::Seconds | Holds::Unix => {
            Decimal::parse(word).is_none().then(|| "a number".to_owned())
        }
        Holds::SecondsList => {
            let sound = word.split(';').all(|time| Decimal::parse(time).is_some());
            (!sound).then(|| "seconds separated by ;".to_owned())
        }
    };
    expected.map_or(Ok(()), |expected| Err(format!("expected {expected}, found {word:?}")))
}
