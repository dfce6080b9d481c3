//! Rows that contradict each other, and rows in any order.

use crate::hostile_runs::fixture::{Fixture, TABLES, only, same_data, says, sound};

#[test]
fn a_repeated_turn_is_an_error_that_names_both_lines() {
    let fixture = Fixture::new();
    fixture
        .edit("turns.csv", "3.0000,2000,0,100,2.0000,ok\n", "3.0000,2000,0,100,2.0000,ok\n1,base,1,2.0000,2.0000,2.5000,3.0000,2000,0,100,2.0000,ok\n")
        .edit("meta.json", "\"turns\": 6", "\"turns\": 7");
    says(&fixture.problem(), "turns.csv", 4, "turn", &["turn 1", "already on line 3"]);
}

#[test]
fn a_hole_in_the_turn_numbers_is_an_error_where_it_ends() {
    let fixture = Fixture::new();
    fixture.edit("turns.csv", "0,base,2,3.0000", "0,base,4,3.0000");
    let problems = fixture.load().expect_err("turn 2 is missing");
    says(&problems[0], "turns.csv", 6, "turn", &["no turn 2"]);
    assert_eq!(problems.len(), 1, "turn 4 has its turn 3: {problems:#?}");
}

#[test]
fn a_session_without_its_first_turn_is_an_error() {
    let fixture = Fixture::new();
    fixture.edit("turns.csv", "0,burst,1,", "0,burst,2,");
    says(&fixture.problem(), "turns.csv", 5, "turn", &["no turn 1"]);
}

#[test]
fn an_identifier_may_be_used_in_both_kinds() {
    let run = Fixture::new().sound();
    let zeros: Vec<_> =
        run.sessions.iter().filter(|s| &*s.id == "0").map(|s| s.kind.word()).collect();
    assert_eq!(zeros, ["base", "burst"]);
    let turns_of_burst =
        run.turns.iter().filter(|t| run.sessions[t.session.at()].kind.word() == "burst");
    assert_eq!(turns_of_burst.count(), 1);
}

#[test]
fn a_repeated_session_is_an_error() {
    let fixture = Fixture::new();
    fixture.edit("sessions.csv", "0,burst,3.0000", "0,base,3.0000");
    let problems = fixture.load().expect_err("session 0 is there twice");
    says(&problems[0], "sessions.csv", 4, "session", &["session 0 (base)", "twice"]);
    let fixture = Fixture::new();
    fixture.edit("plan.csv", "1,base,2.000000", "0,base,2.000000");
    says(&fixture.problem(), "plan.csv", 3, "session", &["session 0 (base)", "planned twice"]);
}

#[test]
fn a_turn_of_an_unknown_session_is_an_error() {
    for id in ["9", "00", "0.0", " 0"] {
        let fixture = Fixture::new();
        fixture.edit("turns.csv", "0,burst,1,", &format!("{id},burst,1,"));
        says(
            &fixture.problem(),
            "turns.csv",
            5,
            "session",
            &[&format!("session {id} (burst)"), "not in the sessions"],
        );
    }
}

#[test]
fn turns_of_a_session_that_overlap_are_an_error() {
    let fixture = Fixture::new();
    fixture.edit("turns.csv", "0,base,2,3.0000,3.0000", "0,base,2,1.5000,3.0000");
    says(
        &fixture.problem(),
        "turns.csv",
        0,
        "",
        &["session 0 (base)", "turn 2 is ready at 1.5 s", "before turn 1 ends"],
    );
}

#[test]
fn a_turn_after_an_unfinished_one_is_an_error() {
    let fixture = Fixture::new();
    fixture
        .edit(
            "turns.csv",
            "unfinished_at_horizon\n",
            "unfinished_at_horizon\n1,base,3,59.5000,59.5000,,,2650,,,,unfinished_at_horizon\n",
        )
        .edit("meta.json", "\"turns\": 6", "\"turns\": 7");
    says(&fixture.problem(), "turns.csv", 0, "", &["turn 3 follows an unfinished turn"]);
}

#[test]
fn a_row_that_counts_other_turns_than_there_are_is_an_error() {
    let fixture = Fixture::new();
    fixture.edit("sessions.csv", "2.0000,2.0000,,3,1", "2.0000,2.0000,,3,2");
    says(
        &fixture.problem(),
        "sessions.csv",
        0,
        "",
        &["session 1 (base)", "2 turns done", "1 in the turns table"],
    );
}

#[test]
fn a_session_that_differs_from_its_plan_is_an_error() {
    let differs = |from: &str, to: &str, words: &[&str]| {
        let fixture = Fixture::new();
        fixture.edit("plan.csv", from, to);
        says(&fixture.problem(), "sessions.csv", 0, "", words);
    };
    differs("1,base,2.000000", "5,base,2.000000", &["session 1 (base) is not in the plan"]);
    differs("1,base,2.000000", "1,base,2.500000", &["at 2 s by its row, at 2.5 s by the plan"]);
    differs(
        "1,base,2.000000,3,2.000000;1.500000",
        "1,base,2.000000,2,2.000000",
        &["3 turns planned by its row, 2 by the plan"],
    );
}

#[test]
fn a_counter_that_falls_is_noted_where_it_falls() {
    let fixture = Fixture::new();
    fixture.edit("engine.csv", "30000,12450,4724,510,1", "30000,40,0,510,1");
    let run = fixture.sound();
    says(
        &run.notes[0],
        "engine.csv",
        4,
        "prompt_tokens_total",
        &["falls from 12450 to 40", "restarted", "unknown"],
    );
    says(&run.notes[1], "engine.csv", 4, "cached_tokens_total", &["falls from 4724 to 0"]);
    assert_eq!(run.notes.len(), 2);
}

#[test]
fn a_prompt_that_shrinks_is_noted() {
    let fixture = Fixture::new();
    fixture.edit("turns.csv", "3300,2640", "640,640");
    says(&only(fixture.sound().notes), "turns.csv", 0, "", &["shorter at 1 turns", "compacted"]);
}

/// The rows of a table in another order: seeded, and different for each seed.
fn shuffled(text: &str, seed: u64) -> String {
    let (header, rows) = text.split_once('\n').expect("a header");
    let mut rows: Vec<&str> = rows.lines().collect();
    let mut state = seed;
    for i in (1..rows.len()).rev() {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        rows.swap(i, (state >> 33) as usize % (i + 1));
    }
    format!("{header}\n{}\n", rows.join("\n"))
}

#[test]
fn the_order_of_rows_says_nothing() {
    let ordered = Fixture::new().sound();
    for seed in 0..50 {
        let fixture = Fixture::new();
        for table in TABLES.iter().filter(|table| **table != "gate") {
            fixture.write(&format!("{table}.csv"), shuffled(sound(table), seed));
        }
        same_data(&fixture.sound(), &ordered);
    }
}

#[test]
fn tied_times_have_one_order_whatever_the_rows() {
    let tied = || {
        let fixture = Fixture::new();
        // Two submissions, two arrivals and two samples at one time.
        fixture
            .edit("turns.csv", "1,base,1,2.0000,2.0000", "1,base,1,1.0000,1.0000")
            .edit("sessions.csv", "1,base,2.0000,2.0000", "1,base,1.0000,1.0000")
            .edit("plan.csv", "1,base,2.000000", "1,base,1.000000")
            .edit("engine.csv", "20.0000,1,0,2650", "40.0000,1,0,2650");
        fixture
    };
    let (fixture, turned) = (tied(), tied());
    for table in ["plan", "sessions", "turns", "engine"] {
        let name = format!("{table}.csv");
        let text = std::fs::read_to_string(turned.path(&name)).expect("a text");
        let (header, rows) = text.split_once('\n').expect("a header");
        let rows: Vec<&str> = rows.lines().rev().collect();
        turned.write(&name, format!("{header}\n{}\n", rows.join("\n")));
    }
    let (a, b) = (fixture.sound(), turned.sound());
    same_data(&a, &b);
    assert_eq!(b.notes, Vec::new(), "no counter falls between tied samples");
    assert_eq!(a.engine[1].t_s.to_bits(), a.engine[2].t_s.to_bits());
}

#[test]
fn gate_events_at_one_time_keep_their_order() {
    let events: Vec<_> = Fixture::new().sound().gate.iter().map(|g| g.event.word()).collect();
    let expected = ["engage", "admit", "admit", "queue", "pause", "admit", "resume", "release"];
    assert_eq!(events, expected);
}
