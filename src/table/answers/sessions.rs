//! What recorded sessions are like, what was read of their files, and how far a workload fitted
//! to them is from them.

use super::{answers, facts};
use crate::sessions::{Loaded, Read};
use crate::table::{Cell, Col, Heading, Table};
use trapcheck_sessions::description::{AtTurn, Description, Quantity};
use trapcheck_sessions::reading::{LeftOut, Why};
use trapcheck_sessions::session::GapSource;

/// Turns that stand in the table for people: the others are in the JSON and csv.
const SHOWN_TURNS: [u64; 11] = [1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000];

/// Files with what was read of each.
pub fn files(files: &[Read]) -> Table {
    let format = |of: &Read| of.reading.format.map_or(Cell::Unknown, |f| Cell::text(f.word()));
    let columns: &[Col<Read>] = &[
        Heading("file", "", "The file's name").key(|of| Cell::text(&of.reading.file)),
        Heading("format", "", "What it was read as").new(format),
        Heading("sessions", "", "Sessions read").count(|of| of.reading.read.sessions),
        Heading("turns", "", "Their turns").count(|of| of.reading.read.turns),
        Heading("beside", "", "Subagents and branches among the sessions")
            .count(|of| of.reading.beside.sessions),
        Heading("begun_before", "", "Sessions whose first turns are not in the file")
            .count(|of| of.reading.begun_before),
        Heading("other_spans", "", "Spans that are no requests to a model")
            .count(|of| of.reading.other_spans),
        Heading("left_out_sessions", "", "Sessions left out")
            .count(|of| of.reading.left_out.values().map(|count| count.sessions).sum()),
        Heading("left_out_turns", "", "Their turns, as far as they could be read")
            .count(|of| of.reading.left_out.values().map(|count| count.turns).sum()),
        Heading("cut", "", "Whether the file ends early")
            .new(|of| Cell::yes_no(Some(of.reading.cut))),
        Heading("sha256", "", "SHA-256 of the file").new(|of| Cell::text(&of.source.sha256)),
    ];
    answers("files", "Files of sessions", columns, files.iter().cloned())
}

/// What was left out, by reason.
pub fn left_out(files: &[Read]) -> Table {
    let counts = |why: Why| {
        let found = files.iter().filter_map(|file| file.reading.left_out.get(&why));
        found.fold((why, 0, 0), |(why, s, t), count| (why, s + count.sessions, t + count.turns))
    };
    let columns: &[Col<(Why, u64, u64)>] = &[
        Heading("reason", "", "Why sessions were left out").key(|of| Cell::text(of.0.word())),
        Heading("left_out_sessions", "", "Sessions left out").count(|of| of.1),
        Heading("left_out_turns", "", "Their turns, as far as they could be read").count(|of| of.2),
    ];
    let rows = Why::ALL.into_iter().map(counts).filter(|(_, sessions, _)| *sessions > 0);
    answers("left_out", "Sessions left out", columns, rows)
}

/// The first of what was left out of each file, one by one.
pub fn examples(files: &[Read]) -> Table {
    type Example<'a> = (&'a str, &'a LeftOut);
    let columns: &[Col<Example<'_>>] = &[
        Heading("file", "", "The file's name").key(|of| Cell::text(of.0)),
        Heading("line", "", "The line that it begins at, or that shows the fault")
            .count(|of| of.1.line),
        Heading("session", "", "Its name")
            .new(|of| of.1.session.as_ref().map_or(Cell::Unknown, Cell::text)),
        Heading("reason", "", "Why sessions were left out").new(|of| Cell::text(of.1.why.word())),
        Heading("message", "", "What was expected and found").new(|of| Cell::text(&of.1.message)),
    ];
    let rows = files.iter().flat_map(|file| {
        let name = file.reading.file.as_str();
        file.reading.examples.iter().map(move |example| (name, example))
    });
    answers("left_out_examples", "The first that were left out", columns, rows)
}

/// What a set of sessions is like. `aside` sessions were left aside: subagents and branches, or,
/// where these are described, the others.
pub fn description(title: &str, found: &Description, aside: u64, all_turns: bool) -> Vec<Table> {
    vec![overview(title, found, aside), quantities(found), by_turn(found, all_turns)]
}

fn overview(title: &str, found: &Description, aside: u64) -> Table {
    let gaps = |source: GapSource| {
        let at = GapSource::ALL.iter().position(|s| *s == source);
        Cell::Count(at.map_or(0, |at| found.gap_sources[at]))
    };
    let percent = |share: Option<f64>| Cell::known(share.map(|share| 100.0 * share), 1);
    facts(
        "overview",
        title.to_owned(),
        vec![
            ("sessions", Cell::Count(found.sessions), ""),
            ("sessions left aside", Cell::Count(aside), ""),
            ("turns", Cell::Count(found.turns), ""),
            ("follow-ups", Cell::Count(found.follow_ups), ""),
            ("reuse ceiling, all turns", percent(found.reuse_ceiling), "%"),
            ("reuse ceiling, follow-ups", percent(found.follow_up_reuse_ceiling), "%"),
            ("work ratio, all missing over all hitting", Cell::known(found.work_ratio, 1), ""),
            ("follow-ups whose prompt shrank", Cell::Count(found.shrunk), ""),
            ("follow-ups whose start was changed", Cell::Count(found.broken), ""),
            ("gaps: recorded", gaps(GapSource::Think), ""),
            ("gaps: starts less service", gaps(GapSource::StartsLessService), ""),
            ("gaps: starts, at most this", gaps(GapSource::Starts), ""),
            ("gaps: unknown", gaps(GapSource::Unknown), ""),
        ],
    )
}

fn quantities(found: &Description) -> Table {
    fn at(of: &Quantity, q: f64) -> Cell {
        Cell::known(of.sample.quantile(q), if of.unit == "s" { 1 } else { 0 })
    }
    let columns: &[Col<Quantity>] = &[
        Heading("quantity", "", "What the value is of").key(|of| Cell::text(of.name)),
        Heading("median", "", "Half are at most this").new(|of| at(of, 0.5)),
        Heading("mean", "", "Their mean").new(|of| Cell::known(of.sample.mean(), 1)),
        Heading("p10", "", "A tenth are at most this").new(|of| at(of, 0.1)),
        Heading("p90", "", "Nine tenths are at most this").new(|of| at(of, 0.9)),
        Heading("p99", "", "Of a hundred, 99 are at most this").new(|of| at(of, 0.99)),
        Heading("greatest", "", "The greatest").new(|of| at(of, 1.0)),
        Heading("least", "", "The least").new(|of| at(of, 0.0)),
        Heading("p25", "", "A quarter are at most this").new(|of| at(of, 0.25)),
        Heading("p75", "", "Three quarters are at most this").new(|of| at(of, 0.75)),
        Heading("known", "", "Values that are known").count(|of| of.sample.known()),
        Heading("unknown_values", "", "Values that the record does not say")
            .count(|of| of.sample.unknown),
        Heading("unit", "", "Unit of the values in the same row").new(|of| Cell::text(of.unit)),
        Heading("per", "", "What there is one value for").new(|of| Cell::text(of.per)),
    ];
    answers("quantities", "Quantities", columns, found.quantities.iter().cloned())
}

fn by_turn(found: &Description, all: bool) -> Table {
    let columns: &[Col<AtTurn>] = &[
        Heading("turn", "", "k").key(|of| Cell::Count(of.turn)),
        Heading("sessions", "", "Sessions with a k-th turn").count(|of| of.sessions),
        Heading("survival", "", "Their share: P(T >= k)").number(4, |of| of.survival),
        Heading("mean_prompt_tokens", "tokens", "Mean prompt of the k-th turn")
            .number(0, |of| of.mean_prompt_tokens),
        Heading("mean_new_tokens", "tokens", "Mean of its tokens that are new")
            .known(0, |of| of.mean_new_tokens),
    ];
    let shown = found.by_turn.iter().filter(|of| all || SHOWN_TURNS.contains(&of.turn));
    answers("by_turn", "Turn by turn", columns, shown.copied())
}

/// What is drawn from a fitted workload beside what it was fitted to.
pub fn distance(recorded: &Description, drawn: &Description) -> Table {
    /// A measure of both.
    struct Pair {
        what: String,
        recorded: Option<f64>,
        drawn: Option<f64>,
        digits: usize,
    }
    let mean = |found: &Description, name: &str| {
        found.quantities.iter().find(|q| q.name == name).and_then(|q| q.sample.mean())
    };
    let prompt = |found: &Description, k: u64| {
        let at = found.by_turn.iter().find(|at| at.turn == k);
        at.map(|at| at.mean_prompt_tokens)
    };
    let mut rows = Vec::new();
    let mut push = |what: String, of: &dyn Fn(&Description) -> Option<f64>, digits| {
        rows.push(Pair { what, recorded: of(recorded), drawn: of(drawn), digits });
    };
    for name in ["turns", "first_prompt_tokens", "prompt_tokens", "new_tokens", "output_tokens"] {
        push(format!("mean {name}"), &|d| mean(d, name), 1);
    }
    for name in ["gap_s", "footprint_tokens", "prefill_tokens"] {
        push(format!("mean {name}"), &|d| mean(d, name), 1);
    }
    push("reuse ceiling".into(), &|d| d.reuse_ceiling, 4);
    push("work ratio".into(), &|d| d.work_ratio, 2);
    for k in [2, 10, 50, 100, 200] {
        push(format!("mean prompt of turn {k}"), &|d| prompt(d, k), 0);
    }
    let columns: &[Col<Pair>] = &[
        Heading("measure", "", "What is compared").key(|of| Cell::text(&of.what)),
        Heading("recorded", "", "Of the recorded sessions")
            .new(|of| Cell::known(of.recorded, of.digits)),
        Heading("drawn", "", "Of sessions drawn from the fit")
            .new(|of| Cell::known(of.drawn, of.digits)),
        Heading("ratio", "", "Drawn over recorded")
            .known(3, |of| Some(of.drawn? / of.recorded.filter(|x| *x > 0.0)?)),
    ];
    answers("distance", "How far the fit is from the record", columns, rows)
}

/// How many sessions and turns were read, and of how many files.
pub fn total(loaded: &[Read]) -> (u64, u64) {
    let read = loaded.iter().map(|file| file.reading.read);
    read.fold((0, 0), |(sessions, turns), count| (sessions + count.sessions, turns + count.turns))
}

/// Whether anything was left out, or a file ends early.
pub fn lacks_something(files: &[Read]) -> bool {
    files.iter().any(|file| file.reading.cut || !file.reading.left_out.is_empty())
}

/// Whose sessions these are: the first three files.
pub fn source_words(loaded: &Loaded) -> String {
    let names: Vec<&str> = loaded.files.iter().map(|f| f.reading.file.as_str()).collect();
    match names.len() {
        0..=3 => names.join(", "),
        n => format!("{} and {} more files", names[..3].join(", "), n - 3),
    }
}
