//! Lines, separators, encodings and headers of text tables.

use trapcheck::run::TurnStatus;

use crate::hostile_runs::fixture::{Fixture, TABLES, only, same_data, says, sound};

const LAST_TURN: &str = "1,base,2,5.0000,59.0000,,,2650,,,,unfinished_at_horizon\n";

#[test]
fn a_cut_off_last_line_is_an_error_with_its_line() {
    let fixture = Fixture::new();
    fixture.edit("turns.csv", LAST_TURN, "1,base,2,5.0000,59.");
    says(&fixture.problem(), "turns.csv", 7, "", &["cut off", "5 of 12", "--drop-cut-off"]);
}

#[test]
fn a_cut_off_last_line_is_left_out_when_asked_and_noted() {
    let fixture = Fixture::new();
    fixture.edit("turns.csv", LAST_TURN, "1,base,2,5.0000,59.");
    let run = fixture.load_without_cut_off().expect("the rest is sound");
    assert_eq!(run.turns.len(), 5);
    says(&run.notes[0], "turns.csv", 7, "", &["left out, as asked", "cut off"]);
    says(&run.notes[1], "turns.csv", 0, "", &["counts 6 as turns, the table has 5"]);
    assert_eq!(run.notes.len(), 2);
}

#[test]
fn no_more_than_the_cut_off_line_is_left_out() {
    let fixture = Fixture::new();
    let cut = sound("turns").find("1,base,2").expect("it is there") - 20;
    fixture.write("turns.csv", &sound("turns")[..cut]);
    let problems = fixture.load_without_cut_off().expect_err("two lines are missing");
    let words = ["counts 6 as turns, the table has 4", "more than the line that was left out"];
    says(&problems[0], "turns.csv", 0, "", &words);
}

#[test]
fn a_cut_off_word_is_not_taken_for_another() {
    let fixture = Fixture::new();
    fixture.edit("sessions.csv", "2.0000,0,0.0000,completed\n", "2.0000,0,0.0000,compl");
    says(&only(fixture.load().expect_err("cut")), "sessions.csv", 4, "status", &["compl"]);
}

#[test]
fn the_beginning_of_a_word_at_the_very_end_is_cut_off_and_no_error_of_a_request() {
    for word in ["u", "unfinished_at_hor", "o"] {
        let cut = LAST_TURN.replace("unfinished_at_horizon\n", word);
        let fixture = Fixture::new();
        fixture.edit("turns.csv", LAST_TURN, &cut);
        let begun = format!("\u{201c}{word}\u{201d} begins");
        says(&fixture.problem(), "turns.csv", 7, "status", &["cut off", &begun, "--drop-cut-off"]);
        let run = fixture.load_without_cut_off().expect("the rest is sound");
        assert_eq!(run.turns.len(), 5);
        says(&run.notes[0], "turns.csv", 7, "status", &["left out, as asked", "cut off"]);
    }
}

#[test]
fn other_words_at_the_very_end_are_the_error_of_a_request() {
    for word in ["refused", "okay", "unfinished_at_horizons"] {
        let fixture = Fixture::new();
        fixture
            .edit("turns.csv", LAST_TURN, &LAST_TURN.replace("unfinished_at_horizon\n", word))
            .edit("meta.json", "\"request_errors\": 0", "\"request_errors\": 1");
        let run = fixture.sound();
        let status = &run.turns.last().expect("six").status;
        assert_eq!(*status, TurnStatus::Error(word.into()));
    }
}

#[test]
fn a_number_cut_off_at_the_end_of_the_file_is_cut_off() {
    let fixture = Fixture::new();
    fixture.edit("engine.csv", "4724,510,1\n", "4724,510,-");
    says(&fixture.problem(), "engine.csv", 4, "", &["cut off", "10 of 10"]);
    assert_eq!(fixture.load_without_cut_off().expect("the rest is sound").engine.len(), 2);
}

#[test]
fn a_header_of_very_many_columns_is_read() {
    let fixture = Fixture::new();
    let more = (0..20_000).map(|i| format!(",more_{i}")).collect::<String>();
    let commas = ",".repeat(20_000);
    let rows = sound("turns").lines().enumerate();
    let wide = rows.map(|(i, row)| format!("{row}{}\n", if i == 0 { &more } else { &commas }));
    fixture.write("turns.csv", wide.collect::<String>());
    same_data(&fixture.sound(), &Fixture::new().sound());
    fixture.write("turns.csv", sound("turns").replacen("status", "status,x,x,kind", 1));
    let problem = fixture.problem();
    says(&problem, "turns.csv", 1, "kind", &["this column is there twice"]);
}

#[test]
fn a_blank_line_after_a_cut_off_line_hides_nothing() {
    let fixture = Fixture::new();
    fixture.edit("turns.csv", LAST_TURN, "1,base,2,5.0000,59.\n\n");
    says(&fixture.problem(), "turns.csv", 7, "", &["cut off", "5 of 12"]);
}

#[test]
fn a_short_line_in_the_middle_is_never_left_out() {
    let fixture = Fixture::new();
    fixture.edit(
        "turns.csv",
        "0,burst,1,5.0000,5.0000,,9.0000,2000,,100,,ok\n",
        "0,burst,1,5.0000\n",
    );
    let problems = fixture.load_without_cut_off().expect_err("a row is broken");
    says(&only(problems), "turns.csv", 5, "", &["expected 12 fields, found 4"]);
}

#[test]
fn a_complete_last_line_without_a_newline_is_a_row_and_noted() {
    for table in TABLES {
        let (fixture, name) = (Fixture::new(), format!("{table}.csv"));
        fixture.write(&name, sound(table).trim_end_matches('\n'));
        let run = fixture.sound();
        same_data(&run, &Fixture::new().sound());
        let last = sound(table).lines().count() as u64;
        says(&only(run.notes), &name, last, "", &["no newline", "complete"]);
    }
}

#[test]
fn a_note_about_the_newline_excuses_no_missing_row() {
    let fixture = Fixture::new();
    fixture.edit("turns.csv", &format!("\n{LAST_TURN}"), "");
    says(&fixture.problem(), "turns.csv", 0, "", &["counts 6 as turns, the table has 5"]);
}

#[test]
fn two_records_on_one_line_are_an_error() {
    let fixture = Fixture::new();
    fixture.edit("turns.csv", "3.0000,2000,0,100,2.0000,ok\n", "3.0000,2000,0,100,2.0000,ok");
    says(&fixture.problem(), "turns.csv", 3, "", &["expected 12 fields, found 23"]);
}

#[test]
fn a_record_glued_to_a_fragment_is_an_error() {
    let fixture = Fixture::new();
    fixture.edit("turns.csv", "2.5000,3.0000,2000,0,100,2.0000,ok\n", "2.5");
    says(&fixture.problem(), "turns.csv", 3, "", &["expected 12 fields, found 17"]);
}

#[test]
fn only_a_newline_ends_a_line() {
    for odd in ["\u{85}", "\u{2028}", "\u{2029}", "\u{b}", "\u{c}", "\r", "\u{1e}"] {
        let fixture = Fixture::new();
        let status = format!("HTTP 503{odd}retry");
        fixture
            .edit(
                "turns.csv",
                "5.0000,5.0000,,9.0000,2000,,100,,ok",
                &format!("5.0000,5.0000,,9.0000,2000,,,,{status}"),
            )
            .edit(
                "sessions.csv",
                "9.0000,1,1,2.0000,0,0.0000,completed",
                "9.0000,1,0,2.0000,0,0.0000,failed",
            )
            .edit("meta.json", "\"request_errors\": 0", "\"request_errors\": 1")
            .edit("meta.json", "\"sessions_failed\": 0", "\"sessions_failed\": 1")
            .edit("meta.json", "\"sessions_completed\": 2", "\"sessions_completed\": 1");
        let run = fixture.sound();
        assert_eq!(run.turns.len(), 6, "{odd:?}");
        assert!(run.turns.iter().any(|t| t.status == TurnStatus::Error(status.as_str().into())));
        // The lines after it are still counted right.
        fixture.edit("turns.csv", "3300,2640", "3300,x");
        says(&fixture.problem(), "turns.csv", 6, "cached_tokens", &["\u{201c}x\u{201d}"]);
    }
}

#[test]
fn carriage_returns_before_newlines_are_stripped() {
    let fixture = Fixture::new();
    for table in TABLES {
        fixture.write(&format!("{table}.csv"), sound(table).replace('\n', "\r\n"));
    }
    let run = fixture.sound();
    same_data(&run, &Fixture::new().sound());
    fixture.edit("turns.csv", "3300,2640", "3300,x");
    says(&fixture.problem(), "turns.csv", 6, "cached_tokens", &["\u{201c}x\u{201d}"]);
}

#[test]
fn a_byte_order_mark_is_not_part_of_the_first_name() {
    let fixture = Fixture::new();
    for table in TABLES {
        fixture.write(&format!("{table}.csv"), format!("\u{feff}{}", sound(table)));
    }
    same_data(&fixture.sound(), &Fixture::new().sound());
}

#[test]
fn utf_16_is_refused_with_what_to_do() {
    let little = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let big = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<_>>();
    let marked = format!("\u{feff}{}", sound("engine"));
    for bytes in [little(&marked), big(&marked), little(sound("engine")), big(sound("engine"))] {
        let fixture = Fixture::new();
        fixture.write("engine.csv", bytes);
        says(&fixture.problem(), "engine.csv", 0, "", &["UTF-16", "expected UTF-8", "iconv"]);
    }
}

#[test]
fn text_that_is_not_utf_8_is_an_error_where_it_stands() {
    let fixture = Fixture::new();
    let turns = sound("turns").replace("2000,,100,,ok", "2000,,100,,\u{e9}");
    let latin: Vec<u8> = turns.chars().map(|c| c as u8).collect();
    fixture.write("turns.csv", latin);
    says(&fixture.problem(), "turns.csv", 5, "status", &["expected UTF-8"]);
}

#[test]
fn a_quote_that_is_never_closed_is_an_error_and_never_left_out() {
    let fixture = Fixture::new();
    fixture.edit("turns.csv", "3.0000,2000,0,100,2.0000,ok\n", "3.0000,2000,0,100,2.0000,\"ok\n");
    let say = |problem| says(&problem, "turns.csv", 3, "", &["quote", "never closed"]);
    say(fixture.problem());
    say(only(fixture.load_without_cut_off().expect_err("rows are swallowed")));
}

#[test]
fn a_quoted_value_may_span_lines() {
    let fixture = Fixture::new();
    fixture
        .edit(
            "turns.csv",
            LAST_TURN,
            "1,base,2,5.0000,59.0000,,60.0000,2650,,,,\"Traceback:\n  \"\"x\"\"\n\"\n",
        )
        .edit("sessions.csv", "2.0000,2.0000,,3,1", "2.0000,2.0000,60.0,3,1")
        .edit("sessions.csv", "running", "failed")
        .edit("meta.json", "\"request_errors\": 0", "\"request_errors\": 1")
        .edit("meta.json", "\"sessions_failed\": 0", "\"sessions_failed\": 1");
    let run = fixture.sound();
    assert_eq!(run.turns[5].status, TurnStatus::Error("Traceback:\n  \"x\"\n".into()));
}

#[test]
fn an_overlong_line_is_a_line_like_any_other() {
    let fixture = Fixture::new();
    let long = "x".repeat(3 << 20);
    fixture
        .edit("turns.csv", LAST_TURN, &LAST_TURN.replace("1,base", &format!("{long},base")))
        .edit("turns.csv", "1,base,1", &format!("{long},base,1"))
        .edit("sessions.csv", "1,base", &format!("{long},base"))
        .edit("plan.csv", "1,base", &format!("{long},base"))
        .edit("gate.csv", "admit,base,1", &format!("admit,base,{long}"))
        .edit("gate.csv", "pause,base,1", &format!("pause,base,{long}"))
        .edit("gate.csv", "resume,base,1", &format!("resume,base,{long}"));
    assert_eq!(fixture.sound().turns.len(), 6);
    fixture.edit("turns.csv", "2000,0,100,2.0000,ok", &format!("{long},0,100,2.0000,ok"));
    let problem = fixture.problem();
    says(&problem, "turns.csv", 3, "prompt_tokens", &["whole number", "xxx\u{2026}"]);
    assert!(problem.message.len() < 300, "the message is short");
}

#[test]
fn a_column_that_is_there_twice_is_an_error() {
    let fixture = Fixture::new();
    fixture.edit("engine.csv", "t,running,waiting", "t,running,running");
    says(&fixture.problem(), "engine.csv", 1, "running", &["twice"]);
}

#[test]
fn a_missing_or_renamed_column_is_an_error_that_lists_what_is_there() {
    let fixture = Fixture::new();
    fixture.edit("turns.csv", "cached_tokens", "cached");
    says(
        &fixture.problem(),
        "turns.csv",
        1,
        "cached_tokens",
        &["missing", "prompt_tokens, cached,"],
    );
}

#[test]
fn a_gauge_the_engine_does_not_report_is_unknown_and_noted() {
    let fixture = Fixture::new();
    fixture.edit("engine.csv", "kv_evictable_tokens", "something_else");
    let run = fixture.sound();
    assert!(run.engine.iter().all(|e| e.kv_evictable_tokens.is_none()));
    says(&only(run.notes), "engine.csv", 0, "", &["does not report kv_evictable_tokens"]);
}

#[test]
fn unknown_columns_are_ignored_and_their_order_says_nothing() {
    let fixture = Fixture::new();
    let turned: String = sound("turns")
        .lines()
        .map(|line| line.split(',').rev().collect::<Vec<_>>().join(",") + ",extra\n")
        .collect();
    fixture.write("turns.csv", turned);
    same_data(&fixture.sound(), &Fixture::new().sound());
}

#[test]
fn an_empty_file_is_an_error_that_names_it() {
    for table in TABLES {
        for text in ["", "\n\n", "\u{feff}", "\r\n"] {
            let (fixture, name) = (Fixture::new(), format!("{table}.csv"));
            fixture.write(&name, text);
            says(&fixture.problem(), &name, 0, "", &["empty", "header"]);
        }
    }
}

#[test]
fn a_header_without_rows_contradicts_the_counts() {
    let fixture = Fixture::new();
    fixture.write("turns.csv", sound("turns").lines().next().expect("a header"));
    let problems = fixture.load().expect_err("six turns are missing");
    assert!(problems.iter().any(|p| p.message.contains("counts 6 as turns, the table has 0")));
}

#[test]
fn a_run_in_which_nothing_happened_is_sound() {
    let fixture = Fixture::new();
    for table in TABLES {
        fixture.write(
            &format!("{table}.csv"),
            format!("{}\n", sound(table).lines().next().expect("a header")),
        );
    }
    fixture
        .edit("meta.json", "\"sessions_arrived\": 3", "\"sessions_arrived\": 0")
        .edit("meta.json", "\"sessions_completed\": 2", "\"sessions_completed\": 0")
        .edit("meta.json", "\"turns\": 6", "\"turns\": 0");
    let run = fixture.sound();
    assert!(run.turns.is_empty() && run.sessions.is_empty() && run.engine.is_empty());
}
