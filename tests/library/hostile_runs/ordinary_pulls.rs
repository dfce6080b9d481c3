//! What an ordinary pull of runs has, and a researcher who is new here tries first: nine things
//! that have to work, each beside what is said where it cannot.

use std::fmt::Write as _;
use std::fs;

use trapcheck::run::{Run, SessionStatus};

use crate::hostile_runs::fixture::says;
use crate::hostile_runs::theirs::Theirs;

fn frames() -> Theirs {
    Theirs::new("frames", "night-1")
}

/// Submit, first token and end of each turn, s.
fn times(run: &Run) -> Vec<(f64, Option<f64>, Option<f64>)> {
    run.turns.iter().map(|turn| (turn.t_submit_s, turn.t_first_s, turn.t_end_s)).collect()
}

const TIMES: [(f64, Option<f64>, Option<f64>); 4] = [
    (1.0, Some(1.5), Some(2.0)),
    (2.0, Some(2.5), Some(3.0)),
    (4.0, None, Some(5.000_123_456)),
    (59.0, None, None),
];

#[test]
fn first_metadata_are_yaml() {
    let theirs = frames();
    let run = theirs.sound();
    assert_eq!((run.meta.pool_tokens, run.meta.prefix_caching, run.meta.seed), (30_000, true, 7));
    assert_eq!((run.meta.engine.version.as_str(), run.meta.run_id.as_str()), ("0.32.0", "night-1"));
    theirs.edit("run.yaml", "  seed: 7", "  seed: seven");
    says(&theirs.problem(), "run.yaml", 0, "traffic.seed (seed)", &["expected a whole number"]);
    theirs.edit("run.yaml", "  seed: seven", "  seed: [7");
    let problem = theirs.problem();
    assert!(problem.line.is_some() && problem.file.ends_with("run.yaml"), "{problem}");
}

#[test]
fn second_the_metadata_say_when_by_dates() {
    let run = frames().sound();
    assert_eq!(run.meta.start_unix, Some(1_795_953_600.25));
    assert_eq!(run.meta.end_unix, Some(1_795_953_660.25));
    assert_eq!((run.meta.duration_s, run.meta.horizon_s), (60.0, 60.0));
    let theirs = frames();
    theirs.edit("run.yaml", "started: 2026-11-29 14", "started: 2026-11-31 14");
    let words = ["expected a number of seconds or a date", "2026-11-31"];
    says(&theirs.problem(), "run.yaml", 0, "started (origin)", &words);
}

#[test]
fn third_times_of_a_csv_are_dates_with_zones() {
    assert_eq!(times(&frames().sound()), TIMES);
    let theirs = frames();
    theirs.edit("requests.csv", "T12:00:01.750Z", "T12:00:61.750Z");
    let words = ["expected a number", "2026-11-29T12:00:61.750Z"];
    says(&theirs.problem(), "requests.csv", 2, "first_token (t_first)", &words);
}

#[test]
fn fourth_they_are_dates_without_a_zone() {
    let theirs = frames();
    let csv = fs::read_to_string(theirs.dir().join("requests.csv")).unwrap();
    // All of them in the layout's zone.
    let local = csv.replace("T12:", " 14:").replace('Z', "").replace("T13:", " 14:");
    theirs.write("requests.csv", local.replace("+01:00", ""));
    assert_eq!(times(&theirs.sound()), TIMES);
    theirs.edit_layout("zone: \"+02:00\"", "zone: Europe/Berlin");
    let error = trapcheck::configs::layout(&theirs.yaml("frames")).expect_err("no offset");
    assert!(error.message.contains("expected how far it is from UTC, as +02:00"), "{error}");
}

#[test]
fn fifth_a_date_that_was_taken_for_a_number_says_what_to_write() {
    let theirs = frames();
    theirs.edit_layout("t_submit: {from: sent, absolute: true}", "t_submit: sent");
    let problems = theirs.load().expect_err("no number");
    let words = ["expected a number", "a date is read with absolute: true and an origin"];
    says(&problems[0], "requests.csv", 2, "sent (t_submit)", &words);
    let theirs = frames();
    let with_unit = "t_submit: {from: sent, unit: ms, absolute: true}";
    theirs.edit_layout("t_submit: {from: sent, absolute: true}", with_unit);
    let problems = theirs.load().expect_err("no number");
    says(&problems[0], "requests.csv", 2, "sent (t_submit)", &["found the date", "no unit then"]);
}

/// Written by pandas 3 and pyarrow: `sent` in ms of UTC, `first_token` in us of another zone,
/// `finished` in ns without a zone, `error` a category; the metrics' times in ms of UTC.
const FRAMES: [(&str, &[u8]); 2] = [
    ("requests", include_bytes!("frames/requests.parquet")),
    ("metrics", include_bytes!("frames/metrics.parquet")),
];

#[test]
fn sixth_they_are_timestamps_of_parquet_with_units_and_zones() {
    let csv = frames().sound();
    let theirs = frames();
    for (table, bytes) in FRAMES {
        fs::remove_file(theirs.dir().join(format!("{table}.csv"))).unwrap();
        theirs.write(&format!("{table}.parquet"), bytes);
    }
    let run = theirs.sound();
    assert_eq!((&run.turns, &run.sessions, &run.engine), (&csv.turns, &csv.sessions, &csv.engine));
    // In format 1 itself a time is a number of seconds.
    let with_unit = "t_submit: {from: sent, unit: ms, absolute: true}";
    theirs.edit_layout("t_submit: {from: sent, absolute: true}", with_unit);
    let problems = theirs.load().expect_err("no number");
    let words = ["2026-11-29T12:00:01.250Z", "no unit then"];
    says(&problems[0], "requests.parquet", 1, "sent (t_submit)", &words);
}

#[test]
fn seventh_nobody_wrote_down_sessions() {
    let theirs = frames();
    let run = theirs.sound();
    let sessions: Vec<_> = run.sessions.iter().map(|s| (&*s.id, s.status, s.t_end_s)).collect();
    let ended = Some(5.000_123_456);
    let expected = [("c1", SessionStatus::Completed, ended), ("c2", SessionStatus::Running, None)];
    assert_eq!(sessions, expected);
    assert_eq!((run.meta.counts.sessions_arrived, run.meta.counts.turns), (2, 4));
    let note = "2 sessions made of their turns";
    assert!(run.notes.iter().any(|n| n.message.contains(note)), "{:#?}", run.notes);
    // Who waited at a gate and sent nothing is in no turn.
    theirs.edit_layout("  start_unix: started", "  start_unix: started\n  gate.n_cap: minutes");
    says(&theirs.problem(), "night-1", 0, "", &["has a gate but no sessions table"]);
}

#[test]
fn eighth_metrics_come_one_by_one_of_several_engines() {
    let theirs = frames();
    let run = theirs.sound();
    let told: Vec<_> = run
        .engine
        .iter()
        .map(|e| (e.t_s, e.running, e.waiting, e.prompt_tokens_total, e.cached_tokens_total))
        .collect();
    let first = (0.0, Some(0), Some(0), Some(500), Some(100));
    assert_eq!(told, [first, (20.0, Some(1), None, Some(7150), Some(2084))]);
    theirs.edit_layout("    only: {instance: \"gpu-3:8000\"}\n", "");
    let problems = theirs.load().expect_err("two engines");
    let words = ["num_requests_running is there twice at", "line 2 too", "say with only"];
    says(&problems[0], "metrics.csv", 6, "metric", &words);
    let theirs = frames();
    theirs.edit(
        "metrics.csv",
        "gpu-3:8000,vllm:prefix_cache_hits_total,2084.0",
        "gpu-3:8000,vllm:prefix_cache_hits_total,many",
    );
    let words = ["expected a whole number", "many"];
    let column = "vllm:prefix_cache_hits_total (cached_tokens_total)";
    says(&theirs.problem(), "metrics.csv", 8, column, &words);
    let theirs = frames();
    theirs.edit_layout("only: {instance:", "only: {pod:");
    says(&theirs.problem(), "metrics.csv", 1, "pod", &["this column is missing", "instance"]);
    let theirs = frames();
    theirs
        .edit_layout("    file: requests\n", "    file: requests\n    long: {name: a, value: b}\n");
    let error = trapcheck::configs::layout(&theirs.yaml("frames")).expect_err("no metrics");
    assert!(error.message.contains("only an engine table can be of metrics"), "{error}");
}

#[test]
fn ninth_of_thousands_of_problems_all_are_counted() {
    let theirs = frames();
    let mut csv = fs::read_to_string(theirs.dir().join("requests.csv")).unwrap();
    for row in 0..5768 {
        let _ = writeln!(csv, "d{row},0,yesterday,,,2000,0,100,");
    }
    theirs.write("requests.csv", csv);
    let problems = theirs.load().expect_err("no dates");
    assert_eq!(problems.len(), 1001);
    // Neither of the two columns that are of this one is a date.
    assert_eq!(trapcheck::run::Problem::count(&problems), 2 * 5768);
    says(&problems[0], "requests.csv", 6, "sent (t_ready)", &["found \u{201c}yesterday\u{201d}"]);
    says(&problems[1000], "requests.csv", 0, "", &["10536 more problems, which are not listed"]);
}

#[test]
fn a_rate_and_counts_that_nobody_told_need_no_rule() {
    let theirs = frames();
    for key in
        ["multiple: traffic.load", "lambda_ref: traffic.all_miss_per_s", "lambda: traffic.per_s"]
    {
        theirs.edit_layout(&format!("  rate.{key}\n"), "");
    }
    let run = theirs.sound();
    assert_eq!((run.meta.rate.lambda, run.meta.counts.turns), (None, 4));
}
