//! Single values that cannot be.

use crate::hostile_runs::fixture::{Fixture, says};

/// Breaks one value of a table and names what the reader must say about it.
#[track_caller]
fn broken(file: &str, from: &str, to: &str, line: u64, column: &str, words: &[&str]) {
    let fixture = Fixture::new();
    fixture.edit(file, from, to);
    says(&fixture.problem(), file, line, column, words);
}

#[test]
fn nan_and_infinity_are_no_times() {
    for word in ["NaN", "nan", "inf", "-inf", "Infinity", "-Infinity", "1e999"] {
        let to = format!("3.0000,3.0000,{word},4.0000");
        broken(
            "turns.csv",
            "3.0000,3.0000,3.4000,4.0000",
            &to,
            4,
            "t_first",
            &["finite number", word, "empty"],
        );
        broken("engine.csv", "20.0000,1,0", &format!("{word},1,0"), 3, "t", &["finite number"]);
    }
}

#[test]
fn nan_and_infinity_are_no_counts() {
    for word in ["NaN", "inf", "-Infinity"] {
        let to = format!("2650,{word},100");
        broken("turns.csv", "2650,1984,100", &to, 4, "cached_tokens", &["whole number", word]);
    }
}

#[test]
fn a_count_may_be_written_as_a_whole_float() {
    let fixture = Fixture::new();
    fixture.edit("turns.csv", "2650,1984,100", "2650.0,1984.0,1e2");
    crate::hostile_runs::fixture::same_data(&fixture.sound(), &Fixture::new().sound());
}

#[test]
fn a_count_with_a_fraction_a_sign_or_separators_is_an_error() {
    for word in
        ["1984.5", "-1984", "\"1,984\"", "1_984", "1 984", "1984 ", "0x7c0", "99999999999999999999"]
    {
        let bare = word.trim_matches('"');
        broken(
            "turns.csv",
            "2650,1984,100",
            &format!("2650,{word},100"),
            4,
            "cached_tokens",
            &["whole number", bare],
        );
    }
}

#[test]
fn thousands_separators_without_quotes_are_one_field_too_many() {
    broken(
        "turns.csv",
        "2650,1984,100",
        "2650,1,984,100",
        4,
        "",
        &["expected 12 fields, found 13"],
    );
}

#[test]
fn a_decimal_comma_is_no_number() {
    broken(
        "turns.csv",
        "3.0000,3.0000,3.4000",
        "3.0000,\"3,0\",3.4000",
        4,
        "t_submit",
        &["expected a number", "3,0"],
    );
}

#[test]
fn a_needed_value_that_is_empty_is_an_error() {
    broken("turns.csv", "2650,1984,100", ",1984,100", 4, "prompt_tokens", &["expected a value"]);
    broken("engine.csv", "20.0000,1,0", ",1,0", 3, "t", &["expected a value"]);
    broken("plan.csv", "1,base,2.000000,3", "1,base,2.000000,", 3, "turns", &["expected a value"]);
}

#[test]
fn more_cached_tokens_than_the_prompt_has_is_an_error() {
    broken(
        "turns.csv",
        "2650,1984,100",
        "2650,2651,100",
        4,
        "cached_tokens",
        &["2651 cached", "2650"],
    );
    broken(
        "engine.csv",
        "12450,4724,510,0",
        "12450,12451,510,0",
        3,
        "cached_tokens_total",
        &["12451", "12450"],
    );
    let fixture = Fixture::new();
    fixture.edit("turns.csv", "2650,1984,100", "2650,2650,100");
    fixture.sound();
}

#[test]
fn more_tokens_than_the_pool_holds_is_an_error() {
    broken(
        "engine.csv",
        "1,0,2650,9000,30000",
        "1,0,30001,9000,30000",
        3,
        "kv_used_tokens",
        &["30001", "30000"],
    );
}

#[test]
fn a_time_before_the_start_of_the_run_is_an_error() {
    broken(
        "turns.csv",
        "0,base,1,1.0000",
        "0,base,1,-1.0000",
        2,
        "t_ready",
        &["-1 lies before the run's start"],
    );
    broken("engine.csv", "20.0000,1,0", "-20.0000,1,0", 3, "t", &["before the run's start"]);
    broken(
        "gate.csv",
        "1.0000,admit,base,0",
        "-1.0000,admit,base,0",
        3,
        "t",
        &["before the run's start"],
    );
    broken(
        "sessions.csv",
        "0,base,1.0000",
        "0,base,-1.0000",
        2,
        "t_planned",
        &["before the run's start"],
    );
    broken("plan.csv", "0,base,1.000000", "0,base,-1.000000", 2, "t_arrival", &["-1"]);
}

#[test]
fn a_time_before_the_one_that_causes_it_is_an_error() {
    broken(
        "turns.csv",
        "3.0000,3.0000,3.4000,4.0000",
        "3.0000,2.9999,3.4000,4.0000",
        4,
        "t_submit",
        &["2.9999 lies before t_ready 3"],
    );
    broken(
        "turns.csv",
        "3.0000,3.0000,3.4000,4.0000",
        "3.0000,3.0000,2.9000,4.0000",
        4,
        "t_first",
        &["before t_submit"],
    );
    broken(
        "turns.csv",
        "3.0000,3.0000,3.4000,4.0000",
        "3.0000,3.0000,3.4000,3.3000",
        4,
        "t_end",
        &["before t_first"],
    );
    broken(
        "sessions.csv",
        "3.0000,5.0000,9.0000",
        "3.0000,5.0000,4.0000",
        4,
        "t_end",
        &["before t_admitted"],
    );
}

#[test]
fn milliseconds_for_seconds_lie_after_the_end_of_the_run() {
    broken(
        "turns.csv",
        "5.6000,10.0000,3300",
        "5.6000,10000,3300",
        6,
        "t_end",
        &["10000 lies after the run's end at 60 s"],
    );
    broken("engine.csv", "20.0000,1,0", "20000,1,0", 3, "t", &["after the run's end"]);
    broken("gate.csv", "59.0000,resume", "59000,resume", 8, "t", &["after the run's end"]);
    broken("sessions.csv", "5.0000,9.0000", "5.0000,9000", 4, "t_end", &["after the run's end"]);
}

#[test]
fn waits_and_tool_calls_are_not_negative() {
    broken("turns.csv", "0,100,1.0000,ok", "0,100,-1.0000,ok", 2, "tool_s", &["-1 s"]);
    broken("sessions.csv", "1,1,2.0000", "1,1,-2.0000", 4, "gate_wait_s", &["-2 s"]);
    broken("sessions.csv", "54.0000", "-54.0000", 3, "pause_s", &["-54 s"]);
    broken("plan.csv", "2.000000;1.500000", "2.000000;-1.500000", 3, "tool_s", &["-1.5"]);
}

#[test]
fn waits_are_no_longer_than_the_run_and_tool_calls_than_a_year() {
    for long in ["61.0000", "1e308"] {
        let words = &[long.trim_end_matches(".0000"), " s is longer than the run"];
        broken("sessions.csv", "1,1,2.0000", &format!("1,1,{long}"), 4, "gate_wait_s", words);
        broken("sessions.csv", "54.0000", long, 3, "pause_s", words);
    }
    let (long, words) = ("0,100,1e308,ok", &["longer than a year"]);
    broken("turns.csv", "0,100,1.0000,ok", long, 2, "tool_s", words);
    broken("plan.csv", "1,base,2.000000", "1,base,1e308", 3, "t_arrival", words);
    let words = &["a year at most", "1e308"];
    broken("plan.csv", "2.000000;1.500000", "2.000000;1e308", 3, "tool_s", words);
}

#[test]
fn nothing_has_zero_turns_tokens_or_a_turn_zero() {
    broken("turns.csv", "0,burst,1,", "0,burst,0,", 5, "turn", &["numbered from 1"]);
    broken("turns.csv", "9.0000,2000,,100", "9.0000,0,,100", 5, "prompt_tokens", &["at least 1"]);
}

#[test]
fn tool_times_are_as_many_as_turns_less_one() {
    broken("plan.csv", "2.000000;1.500000", "2.000000", 3, "tool_s", &["1 tool times for 3 turns"]);
    broken(
        "plan.csv",
        "2.000000;1.500000",
        "2.000000;NaN",
        3,
        "tool_s",
        &["seconds separated by ;", "NaN"],
    );
    broken(
        "plan.csv",
        "2.000000;1.500000",
        "2.000000,1.500000",
        3,
        "",
        &["expected 5 fields, found 6"],
    );
}

#[test]
fn words_the_format_does_not_know_are_errors_that_list_those_it_does() {
    broken("turns.csv", "0,burst,1,", "0,bursts,1,", 5, "kind", &["base or burst", "bursts"]);
    broken(
        "sessions.csv",
        "running",
        "Running",
        3,
        "status",
        &["completed, running, gated", "Running"],
    );
    broken("gate.csv", "3.0000,queue", "3.0000,enqueue", 5, "event", &["engage, admit", "enqueue"]);
    broken("gate.csv", "queue,burst,0", "queue,,0", 5, "kind", &["base or burst"]);
    broken("plan.csv", "0,burst", "0,", 4, "kind", &["expected a value"]);
}

#[test]
fn a_gate_event_concerns_a_session_or_the_gate() {
    broken(
        "gate.csv",
        "queue,burst,0",
        "queue,burst,",
        5,
        "session",
        &["which one does queue concern"],
    );
    broken("gate.csv", "engage,,", "engage,base,0", 2, "session", &["no session for engage"]);
    broken(
        "gate.csv",
        "queue,burst,0",
        "queue,burst,4",
        5,
        "session",
        &["session 4 (burst) is not in"],
    );
}

#[test]
fn an_end_that_contradicts_the_status_is_an_error() {
    broken(
        "turns.csv",
        "2.0000,ok\n",
        "2.0000,unfinished_at_horizon\n",
        3,
        "t_end",
        &["unfinished turn has no end"],
    );
    broken(
        "turns.csv",
        "5.6000,10.0000,3300",
        "5.6000,,3300",
        6,
        "t_end",
        &["served turn needs its end"],
    );
    broken(
        "sessions.csv",
        "3.0000,5.0000,9.0000",
        "3.0000,5.0000,",
        4,
        "t_end",
        &["completed session needs its end"],
    );
}

#[test]
fn unknown_cached_tokens_stay_unknown() {
    let run = Fixture::new().sound();
    let unknown = run.turns.iter().filter(|t| t.cached_tokens.is_none()).count();
    let zero = run.turns.iter().filter(|t| t.cached_tokens == Some(0)).count();
    assert_eq!((unknown, zero), (2, 2));
}
