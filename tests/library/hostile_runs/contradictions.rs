//! Runs that contradict themselves: what cannot be is refused, what is odd is noted.

use crate::hostile_runs::fixture::{Fixture, only, says, sound};

/// Breaks the fixture in these places and gives it.
fn edited(edits: &[(&str, &str, &str)]) -> Fixture {
    let fixture = Fixture::new();
    for (file, from, to) in edits {
        fixture.edit(file, from, to);
    }
    fixture
}

/// The session's row and its turns do not agree, in these words.
#[track_caller]
fn refused(edits: &[(&str, &str, &str)], words: &[&str]) {
    says(&edited(edits).problem(), "sessions.csv", 0, "", words);
}

#[track_caller]
fn stated(edits: &[(&str, &str, &str)], key: &str, words: &[&str]) {
    says(&edited(edits).problem(), "meta.json", 0, key, words);
}

#[test]
fn a_completed_session_ends_with_its_last_turn_to_a_second() {
    let row = "1.0000,1.0000,10.0000";
    for (end, words) in [
        ("12.0000", "completed at 12 s by its row, its last turn ended at 10 s"),
        ("59.0000", "completed at 59 s by its row, its last turn ended at 10 s"),
        ("8.9000", "completed at 8.9 s by its row, its last turn ended at 10 s"),
    ] {
        let to = format!("1.0000,1.0000,{end}");
        refused(&[("sessions.csv", row, &to)], &["session 0 (base)", words]);
    }
    for end in ["10.9000", "9.1000"] {
        let to = format!("1.0000,1.0000,{end}");
        assert_eq!(edited(&[("sessions.csv", row, &to)]).sound().notes, Vec::new());
    }
}

#[test]
fn a_failed_session_does_not_end_before_its_last_turn() {
    let failed = [
        ("turns.csv", "9.0000,2000,,100,,ok", "9.0000,2000,,,,HTTP 500"),
        ("sessions.csv", "1,1,2.0000,0,0.0000,completed", "1,0,2.0000,0,0.0000,failed"),
        ("meta.json", "\"sessions_completed\": 2", "\"sessions_completed\": 1"),
        ("meta.json", "\"sessions_failed\": 0", "\"sessions_failed\": 1"),
        ("meta.json", "\"request_errors\": 0", "\"request_errors\": 1"),
    ];
    edited(&failed).sound();
    let ends = |end| ("sessions.csv", "3.0000,5.0000,9.0000", end);
    let words = ["session 0 (burst): failed at 6 s by its row, its last turn ended at 9 s"];
    refused(&[&failed[..], &[ends("3.0000,5.0000,6.0000")]].concat(), &words);
    // A client may try again before it gives up.
    edited(&[&failed[..], &[ends("3.0000,5.0000,30.0000")]].concat()).sound();
}

#[test]
fn a_session_is_planned_and_admitted_before_its_turns_are_sent() {
    refused(
        &[("sessions.csv", "3.0000,5.0000,9.0000", "3.0000,5.1000,9.0000")],
        &["session 0 (burst): admitted at 5.1 s, after its first turn was sent at 5 s"],
    );
    refused(
        &[
            ("sessions.csv", "1,base,2.0000,2.0000", "1,base,2.5000,"),
            ("plan.csv", "1,base,2.000000", "1,base,2.500000"),
        ],
        &["session 1 (base): planned at 2.5 s, after its first turn was ready at 2 s"],
    );
}

#[test]
fn a_session_that_was_never_let_in_has_no_turns() {
    for status in ["gated", "refused"] {
        let to = format!("54.0000,{status}");
        let words = format!("session 1 (base): {status} by its row, but it sent turns");
        refused(&[("sessions.csv", "54.0000,running", &to)], &[&words]);
    }
}

#[test]
fn no_turn_is_sent_that_was_not_planned() {
    refused(
        &[
            ("sessions.csv", "2.0000,2.0000,,3,1", "2.0000,2.0000,,1,1"),
            ("plan.csv", "1,base,2.000000,3,2.000000;1.500000", "1,base,2.000000,1,"),
        ],
        &["session 1 (base): turn 2 was sent of 1 planned"],
    );
}

#[test]
fn an_arm_without_a_burst_has_none() {
    for arm in ["noburst", "closed", "e0a", "e0b"] {
        let to = format!("\"arm\": \"{arm}\"");
        let words = [arm, "1 burst sessions were planned and 1 arrived"];
        stated(&[("meta.json", "\"arm\": \"capped\"", &to)], "arm", &words);
    }
}

#[test]
fn an_arm_with_a_burst_whose_plan_has_none_is_noted() {
    let without = |table: &str| -> String {
        let rows = sound(table).split_inclusive('\n').filter(|row| !row.contains("burst"));
        rows.collect()
    };
    let fixture = edited(&[
        ("meta.json", "\"sessions_arrived\": 3", "\"sessions_arrived\": 2"),
        ("meta.json", "\"sessions_completed\": 2", "\"sessions_completed\": 1"),
        ("meta.json", "\"turns\": 6", "\"turns\": 5"),
    ]);
    for table in ["plan", "sessions", "turns", "gate"] {
        fixture.write(&format!("{table}.csv"), without(table));
    }
    let words = ["capped has a burst, but none was planned"];
    says(&only(fixture.sound().notes), "meta.json", 0, "arm", &words);
    fixture.edit("meta.json", "\"arm\": \"capped\"", "\"arm\": \"toolslow\"");
    assert_eq!(fixture.sound().notes, Vec::new());
}

#[test]
fn without_the_prefix_cache_nothing_is_found_in_it() {
    let off = ("meta.json", "\"prefix_caching\": true", "\"prefix_caching\": false");
    let words = ["false", "4624 by the turns, 4624 by the engine's counter"];
    stated(&[off], "prefix_caching", &words);
    // What the engine counted before the run says nothing about it.
    let fixture = edited(&[
        off,
        ("turns.csv", "2650,1984,100", "2650,0,100"),
        ("turns.csv", "3300,2640,100", "3300,,100"),
    ]);
    fixture.write("engine.csv", sound("engine").replace(",4724,", ",100,"));
    fixture.sound();
}

#[test]
fn a_served_prompt_fits_into_the_pool() {
    stated(
        &[("meta.json", "\"pool_tokens\": 30000", "\"pool_tokens\": 3000")],
        "pool_tokens",
        &["a pool of 3000 tokens, but a prompt of 3300 tokens was served"],
    );
}

#[test]
fn a_pool_that_the_engine_says_otherwise_is_noted() {
    let pool = |tokens: &str| {
        let to = format!("\"pool_tokens\": {tokens}");
        edited(&[("meta.json", "\"pool_tokens\": 30000", &to)]).sound().notes
    };
    let words = ["20000, but the engine's own gauge says 30000"];
    says(&only(pool("20000")), "meta.json", 0, "pool_tokens", &words);
    // Whole blocks.
    assert_eq!(pool("30007"), Vec::new());
}

#[test]
fn a_rate_three_times_that_of_its_arrivals_is_noted() {
    let plan = |step_s: f64| {
        let later = (2..42).map(|i| format!("{i},base,{:.6},1,\n", 10.0 + step_s * f64::from(i)));
        let fixture = Fixture::new();
        fixture.write("plan.csv", sound("plan").to_owned() + &later.collect::<String>());
        fixture.sound().notes
    };
    let words = ["0.6 sessions/s, but its 42 base sessions planned come at 2.5949 sessions/s"];
    says(&only(plan(0.165_854)), "meta.json", 0, "rate.lambda", &words);
    assert_eq!(plan(1.2), Vec::new());
    let slow = plan(20.0);
    says(&only(slow), "meta.json", 0, "rate.lambda", &["come at 0.0495 sessions/s"]);
}

#[test]
fn a_wall_clock_that_ran_otherwise_is_noted() {
    let end = |unix: &str| {
        let to = format!("\"end_unix\": {unix}");
        edited(&[("meta.json", "\"end_unix\": 1060.0", &to)]).sound().notes
    };
    for (unix, words) in [("1005", "5.000 s after start_unix"), ("1120", "120.000 s after")] {
        let words = [words, "the run lasted 60 s"];
        says(&only(end(unix)), "meta.json", 0, "end_unix", &words);
    }
    assert_eq!(end("1060.9"), Vec::new());
}

#[test]
fn a_run_is_not_far_longer_than_what_its_tables_hold() {
    let long = |seconds: &str| {
        let fixture = Fixture::new();
        for key in ["duration_s", "horizon_s"] {
            let from = format!("\"{key}\": 60.0");
            fixture.edit("meta.json", &from, &format!("\"{key}\": {seconds}"));
        }
        fixture.edit("meta.json", "\"end_unix\": 1060.0", "\"end_unix\": null");
        fixture
    };
    let words = ["2600000 s, but the last row of its tables is at 60 s"];
    says(&long("2600000").problem(), "meta.json", 0, "duration_s", &words);
    long("1200").sound();
}
