//! The command line of a question: its fields are flags, in the order that help lists them.

use serde_json::Value;
use trapcheck_answers::Refused;
use trapcheck_answers::which::WORKLOAD_FLAGS;
use trapcheck_setup::nearest::unknown;

use crate::question::{Question, flag};

/// A question that one command answers.
struct Command {
    ask: &'static str,
    /// What follows the program's name.
    words: &'static str,
    /// Its fields, group by group.
    fields: &'static [&'static [&'static str]],
}

const CELL: &[&str] = &["cell", "workload", "gap_limit"];
const NUMBERS: &[&str] = &[
    "pool",
    "speed",
    "lambda_ref",
    "fixed_s",
    "per_token_us",
    "a_s",
    "f0_s",
    "b_s_per_token",
    "c_p_s_per_pair",
    "c_d_s",
    "batching",
    "chunk_tokens",
    "block_tokens",
    "max_running",
];
const WORKLOAD: &[&str] = &WORKLOAD_FLAGS;
const LOAD: &[&str] = &["rate", "sessions_per_s", "rho"];
const ENGINE: &[&str] = &[
    "cell",
    "workload",
    "gap_limit",
    "pool_tokens",
    "prefill_rate",
    "decode_s_per_token",
    "running_limit",
    "chunk_tokens",
    "block_tokens",
    "engine",
    "token_cost_factor",
];
const SEARCH: &[&str] = &[
    "population",
    "most",
    "seeds",
    "first_seed",
    "warm_up",
    "window",
    "good",
    "trapped",
    "host_tokens",
    "host_load_rate",
];
/// The options of a simulated engine.
pub(crate) const OPTIONS: &[&str] =
    &["batching", "scheduling", "no_lpm_fallback", "token_cost_factor", "keep_finished", "sample"];
/// The values of an arm.
pub const ARM: &[&str] = &["arm", "burst", "cap", "from", "for", "delay", "cut_to", "population"];
/// What is known beside logs.
pub(crate) const KNOWN: &[&str] =
    &["from", "pool", "reuse_ceiling", "closed", "cell", "sessions_per_s"];

const COMMANDS: &[Command] = &[
    Command {
        ask: "trap",
        words: "model trap",
        fields: &[CELL, NUMBERS, WORKLOAD, LOAD, &["roots"]],
    },
    Command {
        ask: "cut",
        words: "model cut",
        fields: &[CELL, NUMBERS, WORKLOAD, LOAD, &["at", "to", "until"]],
    },
    Command { ask: "stop", words: "model stop", fields: &[CELL, NUMBERS, WORKLOAD, LOAD, &["at"]] },
    Command {
        ask: "curve",
        words: "model curve",
        fields: &[CELL, NUMBERS, WORKLOAD, &["population", "from_empty"]],
    },
    Command {
        ask: "burst",
        words: "model burst",
        fields: &[CELL, NUMBERS, WORKLOAD, LOAD, &["sessions", "horizon"]],
    },
    Command {
        ask: "rescue",
        words: "model rescue",
        fields: &[CELL, NUMBERS, WORKLOAD, LOAD, &["engage_at", "backlog", "hold", "cap"]],
    },
    Command { ask: "knee", words: "knee", fields: &[ENGINE, SEARCH] },
];

/// Fields that have no meaning without another one, each with it.
const NEEDS: &[(&str, &str)] = &[
    ("fixed_s", "per_token_us"),
    ("per_token_us", "fixed_s"),
    ("gap_limit", "workload"),
    ("host_tokens", "host_load_rate"),
    ("host_load_rate", "host_tokens"),
];
/// Fields that exclude each other.
const EXCLUDE: &[(&[&str], &[&str])] = &[
    (&["fixed_s"], &["a_s", "f0_s", "b_s_per_token", "c_p_s_per_pair", "c_d_s"]),
    (&["workload"], WORKLOAD),
    (&["backlog"], &["engage_at"]),
    (&["prefill_rate", "decode_s_per_token"], &["cell"]),
];

/// Fields of no command line.
const OTHER: &[(&str, &[&[&str]])] = &[
    ("lists", &[]),
    ("simulate", &[&["cell", "workload", "rate", "seed", "runs"], OPTIONS]),
    ("time_scales", &[&["cell", "workload", "rate", "seed"], OPTIONS]),
    ("judge", &[&["files"], KNOWN]),
    ("sizes", &[&["files"]]),
    ("command", &[&["question"]]),
];

/// Checks a question's fields, as the command line checks its flags.
///
/// # Errors
/// A question that there is not, a field that it does not have, one that lacks its companion,
/// or two that exclude each other.
pub fn check(question: &Question) -> Result<(), Refused> {
    let asks = || COMMANDS.iter().map(|c| (c.ask, c.fields)).chain(OTHER.iter().copied());
    let Some((_, groups)) = asks().find(|(ask, _)| *ask == question.ask) else {
        return Err(Refused(unknown("question", &question.ask, "", asks().map(|(ask, _)| ask))));
    };
    let known = || groups.iter().flat_map(|group| group.iter().copied());
    if let Some(name) = question.fields.keys().find(|name| !known().any(|k| k == *name)) {
        return Err(Refused(unknown("field", name, &question.ask, known())));
    }
    let both = |a: &str, b: &str| question.has(a) && question.has(b);
    let of_logs = (question.ask == "judge").then_some(("sessions_per_s", "cell"));
    for (name, other) in NEEDS.iter().copied().chain(of_logs) {
        if question.has(name) && !question.has(other) {
            return Err(Refused(format!("--{} needs --{}", flag(name), flag(other))));
        }
    }
    for (some, others) in EXCLUDE {
        let mut pairs = some.iter().flat_map(|a| others.iter().map(move |b| (a, b)));
        if let Some((a, b)) = pairs.find(|(a, b)| both(a, b)) {
            let (a, b) = (flag(a), flag(b));
            return Err(Refused(format!("--{a} and --{b} cannot be given together")));
        }
    }
    Ok(())
}

/// The command line of a question that one command answers.
///
/// # Errors
/// There is none.
pub fn of(question: &Question) -> Result<String, Refused> {
    let Some(command) = COMMANDS.iter().find(|command| command.ask == question.ask) else {
        return Err(Refused(format!("no single command answers {}", question.ask)));
    };
    let names = command.fields.iter().flat_map(|group| group.iter().copied());
    Ok(format!("trapcheck {}{}", command.words, flags(question, names)))
}

/// The flags of the fields that were given, each after a blank.
pub fn flags<'a>(question: &Question, names: impl IntoIterator<Item = &'a str>) -> String {
    let given = names.into_iter().filter_map(|name| Some((name, question.fields.get(name)?)));
    given.map(|(name, value)| one(name, value)).collect()
}

/// One flag with its value.
fn one(name: &str, value: &Value) -> String {
    let name = flag(name);
    match value {
        Value::Bool(true) => format!(" --{name}"),
        Value::Bool(false) | Value::Null => String::new(),
        Value::Array(values) if values.is_empty() => String::new(),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(plain).collect();
            format!(" --{name} {}", quoted(&values.join(",")))
        }
        value => format!(" --{name} {}", quoted(&plain(value))),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "-_./,:+=@%".contains(c);
    if !word.is_empty() && word.chars().all(safe) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str) -> String {
        of(&Question::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn the_fields_of_a_question_are_the_flags_of_its_command() {
        assert_eq!(
            command(r#"{"ask":"cut","to":[1.15,0.85],"rate":1.65,"cell":"sglang-300k","at":2400}"#),
            "trapcheck model cut --cell sglang-300k --rate 1.65 --at 2400 --to 1.15,0.85"
        );
        let asked = r#"{"ask":"trap","cell":"a b'c","rho":1.1,"roots":true,"speed":null}"#;
        let expected = r"trapcheck model trap --cell 'a b'\''c' --rho 1.1 --roots";
        assert_eq!(command(asked), expected);
    }

    #[test]
    fn a_field_that_a_question_does_not_have_is_named() {
        let why = |text: &str| check(&Question::parse(text).unwrap()).unwrap_err().to_string();
        let misspelt = why(r#"{"ask":"trap","cell":"sglang-300k","rat":1.65}"#);
        assert!(misspelt.contains("rat") && misspelt.contains("rate"), "{misspelt}");
        assert!(why(r#"{"ask":"tarp"}"#).contains("trap"));
        assert_eq!(why(r#"{"ask":"trap","fixed_s":1}"#), "--fixed-s needs --per-token-us");
        assert_eq!(why(r#"{"ask":"judge","sessions_per_s":1}"#), "--sessions-per-s needs --cell");
        assert_eq!(
            why(r#"{"ask":"rescue","backlog":100,"engage_at":1800}"#),
            "--backlog and --engage-at cannot be given together"
        );
    }
}
