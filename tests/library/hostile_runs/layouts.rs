//! Runs of another shape: the layouts of `configs/` on runs of theirs, one thing broken.

use std::fs;

use trapcheck::directory::{LoadOptions, RunFiles, find_runs, find_runs_by};

use crate::hostile_runs::fixture::{Fixture, says};
use crate::hostile_runs::theirs::Theirs;

#[test]
fn the_clusters_run_holds_the_same_data_as_format_1_to_the_bit() {
    let (theirs, ours) = (Theirs::cluster().sound(), Fixture::new().sound());
    assert_eq!(theirs.sessions, ours.sessions);
    assert_eq!(theirs.turns, ours.turns);
    assert_eq!(theirs.plan, ours.plan);
    assert_eq!(theirs.engine, ours.engine);
    assert_eq!(theirs.gate, ours.gate);
    let (theirs, ours) = (theirs.meta, ours.meta);
    assert_eq!(theirs.rate, ours.rate);
    assert_eq!((theirs.gate, theirs.counts), (ours.gate, ours.counts));
    assert_eq!((theirs.pool_tokens, theirs.prefix_caching), (30_000, true));
    assert_eq!((theirs.duration_s, theirs.horizon_s), (60.0, 60.0));
    assert_eq!(theirs.start_unix, Some(1_795_954_269.928));
    assert_eq!((theirs.arm.word(), theirs.gpu, theirs.registration), ("capped", None, None));
}

#[test]
fn the_labs_run_holds_what_it_says_and_the_rest_is_unknown() {
    let (theirs, mut ours) = (Theirs::lab().sound(), Fixture::new().sound());
    ours.turns.iter_mut().for_each(|turn| turn.tool_s = None);
    assert_eq!(theirs.turns, ours.turns);
    for (theirs, ours) in theirs.sessions.iter().zip(&mut ours.sessions) {
        ours.id = theirs.id.clone();
    }
    assert_eq!(theirs.sessions, ours.sessions);
    assert_eq!(theirs.meta.counts, ours.meta.counts, "counted from the rows");
    let notes: Vec<_> = theirs.notes.iter().map(|note| note.message.as_str()).collect();
    for words in ["layout lab-summary", "does not report tool_s", "does not count sessions_arrived"]
    {
        assert!(notes.iter().any(|note| note.contains(words)), "{words:?} is not in: {notes:#?}");
    }
}

#[test]
fn the_layout_is_among_the_sources_and_a_changed_one_is_a_changed_input() {
    let theirs = Theirs::cluster();
    let run = theirs.sound();
    let names: Vec<_> = run.sources.iter().filter_map(|s| s.path.file_name()?.to_str()).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    let files = ["arrivals.csv", "cluster-csv.yaml", "conversations.csv", "gauges_node17.csv"];
    assert_eq!(sorted[..4], files);
    assert_eq!(sorted[4..], ["limiter.csv", "requests.csv", "run_info.json"]);
    assert_eq!(run.notes.len(), 1, "{:#?}", run.notes);
    says(&run.notes[0], "limited_4711", 0, "", &["layout cluster-csv", "cluster-csv.yaml"]);
    let read = RunFiles::read(&theirs.dir(), &theirs.layouts());
    assert_eq!(read.sources().len(), run.sources.len());
    theirs.edit_layout("tokens_total: output_total", "tokens_total: prompt_total");
    // What a kept result is found by.
    let changed = RunFiles::read(&theirs.dir(), &theirs.layouts());
    assert_ne!(changed.listing(), read.listing());
    assert_ne!(theirs.sound().sources, run.sources);
}

#[test]
fn runs_of_every_known_layout_are_found_and_others_are_not() {
    let theirs = Theirs::lab();
    let place = [theirs.dir()];
    assert_eq!(find_runs(&place).runs.len(), 0);
    assert_eq!(find_runs_by(&place, &theirs.layouts()).runs, place);
    fs::remove_file(theirs.dir().join("logs/turn_log.csv")).expect("it is there");
    assert_eq!(find_runs_by(&place, &theirs.layouts()).runs.len(), 0);
}

#[test]
fn a_run_of_format_1_stays_one_whatever_else_lies_in_it() {
    let theirs = Theirs::cluster();
    let fixture = Fixture::new();
    let sound = fixture.sound();
    for file in ["run_info.json", "requests.csv", "conversations.csv"] {
        fixture.write(file, fs::read(theirs.dir().join(file)).expect("it is there"));
    }
    let read =
        trapcheck::directory::load_by(fixture.dir(), &theirs.layouts(), &LoadOptions::default());
    let read = read.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((read.meta, read.sources, read.notes), (sound.meta, sound.sources, sound.notes));
    assert_eq!(find_runs_by(&[fixture.dir()], &theirs.layouts()).runs.len(), 1);
}

#[test]
fn a_layout_whose_metadata_is_called_meta_json_takes_it_only_without_a_format() {
    let theirs = Theirs::cluster();
    theirs.edit_layout("metadata: run_info.json", "metadata: meta.json");
    let text = fs::read_to_string(theirs.dir().join("run_info.json")).expect("a text");
    theirs.write("meta.json", &text);
    assert_eq!(theirs.sound().sessions.len(), 3);
    theirs.write("meta.json", text.replacen('{', "{\"format\": 1,", 1));
    says(&theirs.problem(), "meta.json", 47, "column 1", &["missing field `run_id`"]);
}

#[test]
fn two_layouts_that_fit_are_one_error() {
    let theirs = Theirs::cluster();
    theirs.second_layout("cluster-new");
    let words = ["two layouts fit", "cluster-csv (", "cluster-new (", "`with`"];
    says(&theirs.problem(), "limited_4711", 0, "", &words);
    assert_eq!(find_runs_by(&[theirs.dir()], &theirs.layouts()).runs.len(), 1);
}

#[test]
fn a_column_that_is_missing_is_named_as_theirs_and_ours() {
    let theirs = Theirs::cluster();
    theirs.edit("requests.csv", ",done_ms,", ",finished_ms,");
    let words = ["this column is missing", "finished_ms"];
    says(&theirs.problem(), "requests.csv", 1, "done_ms (t_end)", &words);
    let twice = Theirs::cluster();
    twice.edit("requests.csv", ",think_ms,", ",done_ms,");
    let problems = twice.load().expect_err("two problems");
    says(&problems[0], "requests.csv", 1, "done_ms (t_end)", &["there twice"]);
    says(&problems[1], "requests.csv", 1, "think_ms (tool_s)", &["missing"]);
    let gauge = Theirs::cluster();
    gauge.edit("gauges_node17.csv", ",computed_total,", ",other,");
    let run = gauge.sound();
    assert!(run.engine.iter().all(|sample| sample.cached_tokens_total.is_none()));
    assert!(run.notes.iter().any(|note| note.message.contains("report cached_tokens_total")));
}

#[test]
fn a_word_that_the_layout_does_not_map_names_what_it_maps() {
    let theirs = Theirs::cluster();
    theirs.edit("conversations.csv", ",live", ",zombie");
    let words = ["expected one of", "live", "rejected", "found \u{201c}zombie\u{201d}"];
    says(&theirs.problem(), "conversations.csv", 3, "state (status)", &words);
    let kept = Theirs::cluster();
    kept.edit("requests.csv", ",open", ",503 overloaded").edit(
        "run_info.json",
        "\"errors\": 0",
        "\"errors\": 1",
    );
    assert_eq!(kept.sound().meta.counts.request_errors, 1);
}

#[test]
fn values_that_do_not_convert_name_their_row_and_column() {
    for (from, to, column, words) in [
        (
            ",1795954278928,2000",
            ",soon,2000",
            "done_ms (t_end)",
            "expected a number, found \u{201c}soon\u{201d}",
        ),
        (
            ",1795954278928,2000",
            ",NaN,2000",
            "done_ms (t_end)",
            "expected a number, found \u{201c}NaN\u{201d}",
        ),
        ("0,spike,0,", "0,spike,half,", "round (turn)", "expected a number"),
        ("0,spike,0,", "0,spike,-3,", "round (turn)", "found \u{201c}-2\u{201d} after conversion"),
        ("0,spike,0,", "0,spike,,", "round (turn)", "expected a value, found none"),
        (
            ",2000,,100,,200\n",
            ",2000,7e50,100,,200\n",
            "computed (cached_tokens)",
            "expected a number",
        ),
        (
            ",2000,,100,,200\n",
            ",2000,3000,100,,200\n",
            "prompt - computed (cached_tokens)",
            "found \u{201c}-1000\u{201d} after conversion",
        ),
        (
            "0,spike,0,1795954274928",
            "0,spike,0,1795954269927",
            "ready_ms (t_ready)",
            "-0.001 lies before the run's start",
        ),
        (
            "0,spike,0,1795954274928",
            "0,spike,0,1795954274929",
            "sent_ms (t_submit)",
            "5 lies before t_ready 5.001",
        ),
    ] {
        let theirs = Theirs::cluster();
        theirs.edit("requests.csv", from, to);
        says(&theirs.problem(), "requests.csv", 5, column, &[words]);
    }
    let bytes = Theirs::cluster();
    let text = fs::read(bytes.dir().join("requests.csv")).expect("it is there");
    let broken: Vec<u8> = text.iter().map(|b| if *b == b'o' { 0xff } else { *b }).collect();
    bytes.write("requests.csv", [&text[..text.len() - 10], &broken[broken.len() - 10..]].concat());
    says(&bytes.problem(), "requests.csv", 7, "outcome (status)", &["expected UTF-8"]);
}

#[test]
fn their_plan_is_read_as_a_list_in_their_unit() {
    let theirs = Theirs::cluster();
    theirs.edit("arrivals.csv", "2000|1500", "2000|x");
    let words = ["expected a number, found \u{201c}x\u{201d}"];
    says(&theirs.problem(), "arrivals.csv", 3, "think_ms (tool_s)", &words);
    let theirs = Theirs::cluster();
    theirs.edit("arrivals.csv", "2000|1500", "2000");
    says(&theirs.problem(), "arrivals.csv", 3, "think_ms (tool_s)", &["1 tool times for 3 turns"]);
}

#[test]
fn their_metadata_are_checked_key_by_key() {
    for (from, to, column, words) in [
        ("\"seed\": 7", "\"seeds\": 7", "experiment.seed (seed)", "this key is missing"),
        ("\"seed\": 7", "\"seed\": null", "experiment.seed (seed)", "expected a value, found none"),
        ("\"seed\": 7", "\"seed\": 7.5", "experiment.seed (seed)", "expected a whole number"),
        ("\"seed\": 7", "\"seed\": [7]", "experiment.seed (seed)", "found a list"),
        ("\"seed\": 7", "\"seed\": {\"a\": 7}", "experiment.seed (seed)", "found keys"),
        (
            "\"finished\",",
            "\"gone\",",
            "result (status)",
            "expected one of crashed, finished, stopped",
        ),
        ("\"on\"", "\"maybe\"", "server.prefix_cache (prefix_caching)", "expected one of off, on"),
        (
            "\"kv_pool_ktokens\": 30",
            "\"kv_pool_ktokens\": 0",
            "server.kv_pool_ktokens (pool_tokens)",
            "expected a positive number",
        ),
        (
            "\"start_ms\": 1795954269928",
            "\"start_ms\": \"noon\"",
            "clock.start_ms (origin)",
            "expected a number, found \u{201c}noon\u{201d}",
        ),
        (
            "\"start_ms\": 1795954269928",
            "\"begin_ms\": 1795954269928",
            "clock.start_ms (origin)",
            "this key is missing",
        ),
        (
            "\"arrivals_per_s\": 0.6",
            "\"arrivals_per_s\": 0.7",
            "experiment.arrivals_per_s (rate.lambda)",
            "multiple x lambda_ref",
        ),
    ] {
        let theirs = Theirs::cluster();
        theirs.edit("run_info.json", from, to);
        says(&theirs.problem(), "run_info.json", 0, column, &[words]);
    }
    let broken = Theirs::cluster();
    broken.edit("run_info.json", "\"seed\": 7", "\"seed\": NaN");
    says(&broken.problem(), "run_info.json", 6, "column 11", &["not JSON"]);
    let uncounted = Theirs::cluster();
    uncounted.edit("run_info.json", "\"requests\": 6", "\"requests\": null");
    let column = "totals.requests (counts.turns)";
    says(&uncounted.problem(), "run_info.json", 0, column, &["expected a value, found none"]);
    let miscounted = Theirs::cluster();
    miscounted.edit("run_info.json", "\"requests\": 6", "\"requests\": 7");
    says(
        &miscounted.problem(),
        "requests.csv",
        0,
        "",
        &["run_info.json counts 7 as turns", "has 6"],
    );
}

#[test]
fn a_table_that_is_missing_or_there_twice_is_named_by_what_was_looked_for() {
    let theirs = Theirs::lab();
    fs::remove_file(theirs.dir().join("logs/session_log.csv")).expect("it is there");
    let words = ["has no sessions table", "logs/session_log.csv, .csv.gz"];
    says(&theirs.problem(), "07", 0, "", &words);
    let theirs = Theirs::cluster();
    theirs.write("gauges_node18.csv", "at_ms\n");
    let words = ["gauges_node18.csv is there too", "engine table"];
    says(&theirs.problem(), "gauges_node17.csv", 0, "", &words);
}

#[test]
fn a_cut_off_line_of_theirs_is_left_out_only_when_asked() {
    let theirs = Theirs::cluster();
    let text = fs::read_to_string(theirs.dir().join("requests.csv")).expect("a text");
    theirs.write("requests.csv", &text[..text.len() - 12]);
    says(&theirs.problem(), "requests.csv", 7, "", &["cut off", "--drop-cut-off"]);
    let run = theirs.load_with(&LoadOptions { drop_cut_off: true }).expect("the rest is sound");
    assert_eq!(run.turns.len(), 5);
}
