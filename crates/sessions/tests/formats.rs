//! Small invented files of each format: what is read of them, and what is said of bad ones.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use trapcheck_sessions::reading::{Fault, Reading, Why};
use trapcheck_sessions::session::{Format, GapSource, Session};
use trapcheck_sessions::{Inputs, Names, read, table};

const WEKA: &str = r#"{"id":"a","block_size":64,"hash_id_scope":"local","tool_tokens":100,"system_tokens":28,"requests":[
{"t":0.0,"type":"s","in":200,"out":10,"hash_ids":[1,2,3],"api_time":4.0,"think_time":0.0},
{"t":9.0,"type":"subagent","agent_id":"agent_001","duration_ms":4000,"tool_tokens":50,"system_tokens":6,"requests":[
 {"t":0.0,"type":"n","in":130,"out":5,"hash_ids":[1,9],"api_time":1.0},
 {"t":3.0,"type":"n","in":140,"out":5,"hash_ids":[1,9],"api_time":1.0}]},
{"t":12.0,"type":"n","in":300,"out":20,"hash_ids":[1,2,3,4],"api_time":2.0,"think_time":8.0},
{"t":20.0,"type":"n","in":150,"out":1,"hash_ids":[1,7],"api_time":2.0},
{"t":25.0,"type":"n","in":150,"out":1}]}"#;

const TABLE: &str = "session,turn,t_s,prompt_tokens,output_tokens,reusable_tokens,think_s,api_s\n\
    a,1,0.0,200,10,0,0.0,4.0\na,2,12,300,20,192,8.0,2\na,3,20.0,150,1,64,,2\nb,1,,100,1,0,,\n";

const MOONCAKE: &str = "\
    {\"timestamp\":1000,\"input_length\":1600,\"output_length\":50,\"hash_ids\":[1,2,3,4]}\n\
    {\"timestamp\":1500,\"input_length\":1100,\"output_length\":50,\"hash_ids\":[1,2,5]}\n\
    {\"timestamp\":2000,\"input_length\":2100,\"output_length\":50,\"hash_ids\":[1,2,3,6,7]}\n\
    {\"timestamp\":3000,\"input_length\":1200,\"output_length\":50,\"hash_ids\":[1,2,8]}\n\
    {\"timestamp\":9000,\"input_length\":2200,\"output_length\":50,\"hash_ids\":[1,2,3,6,9]}\n";

const BAILIAN: &str = "\
    {\"chat_id\":1,\"parent_chat_id\":-1,\"timestamp\":0.5,\"input_length\":40,\"output_length\":9,\"turn\":1,\"hash_ids\":[1,2,3]}\n\
    {\"chat_id\":2,\"parent_chat_id\":1,\"timestamp\":8.5,\"input_length\":70,\"output_length\":9,\"turn\":2,\"hash_ids\":[1,2,4,5,6]}\n\
    {\"chat_id\":3,\"parent_chat_id\":1,\"timestamp\":9.5,\"input_length\":60,\"output_length\":9,\"turn\":2,\"hash_ids\":[1,2,7,8]}\n\
    {\"chat_id\":4,\"parent_chat_id\":99,\"timestamp\":9.9,\"input_length\":30,\"output_length\":9,\"turn\":3,\"hash_ids\":[9,10]}\n";

const ARRAYS: &str = r#"[{"num_turns":3,"input_prompt_length":100,"assistant_response_length":[10,20,30],"tool_call_output_length":[5,6],"tool_call_latency":[1.5,2.5]}]"#;

fn read_as(text: &[u8], inputs: Inputs) -> (Vec<Session>, Result<Reading, Fault>) {
    let mut sessions = Vec::new();
    let reading = read("file", text, inputs, &mut Names::new(), &mut |session| {
        sessions.push(session);
        Ok(())
    });
    (sessions, reading)
}

fn whole(text: &str) -> Vec<Session> {
    let (sessions, reading) = read_as(text.as_bytes(), Inputs::Whole);
    let reading = reading.unwrap();
    assert!(reading.left_out.is_empty() && !reading.cut, "{:?}", reading.examples);
    sessions
}

fn fault(text: &str) -> String {
    read_as(text.as_bytes(), Inputs::Whole).1.unwrap_err().to_string()
}

/// What is left out of a file: (line, session, reason, message).
fn left_out(text: &str) -> Vec<(u64, Option<String>, Why, String)> {
    let reading = read_as(text.as_bytes(), Inputs::Whole).1.unwrap();
    reading.examples.into_iter().map(|e| (e.line, e.session, e.why, e.message)).collect()
}

fn prompts(session: &Session) -> Vec<(u64, Option<u64>)> {
    session.turns.iter().map(|t| (t.prompt_tokens, t.reusable_tokens)).collect()
}

fn gaps(session: &Session) -> Vec<Option<f64>> {
    session.turns.iter().map(|t| t.gap.seconds).collect()
}

#[test]
fn a_weka_session_has_its_turns_and_its_subagents_beside_it() {
    let sessions = whole(WEKA);
    let [main, agent] = sessions.as_slice() else { panic!("{sessions:?}") };
    assert_eq!((main.id.as_str(), main.shared_tokens), ("a", Some(128)));
    // Whole blocks in common with the previous request of the session itself; 3 of 64 cover
    // 192 of 200; the last says nothing.
    assert_eq!(prompts(main), [(200, Some(0)), (300, Some(192)), (150, Some(64)), (150, None)]);
    assert_eq!(gaps(main), [Some(0.0), Some(8.0), Some(6.0), Some(3.0)]);
    let sources: Vec<_> = main.turns.iter().map(|t| t.gap.source).collect();
    let less = GapSource::StartsLessService;
    assert_eq!(sources, [GapSource::First, GapSource::Think, less, less]);
    // It ended at 9 s after 4 s: it began at 5 s, after the first answer.
    let parent = agent.parent.as_ref().unwrap();
    assert_eq!((agent.id.as_str(), parent.session.as_str(), parent.turn), ("a/agent_001", "a", 1));
    assert_eq!(prompts(agent), [(130, Some(0)), (140, Some(128))]);
    assert_eq!(agent.turns[1].start_s, Some(8.0));
}

#[test]
fn weka_sessions_come_a_file_each_or_a_line_each() {
    let line = WEKA.replace('\n', "");
    let lines = format!("{line}\n{}\n", line.replace(r#""id":"a""#, r#""id":"b""#));
    let ids: Vec<_> = whole(&lines).into_iter().map(|s| s.id).collect();
    assert_eq!(ids, ["a", "a/agent_001", "b", "b/agent_001"]);
}

#[test]
fn hash_ids_that_two_sessions_have_in_common_mean_nothing() {
    let line = |id: &str| {
        format!(
            r#"{{"id":"{id}","block_size":64,"requests":[{{"t":0,"in":640,"out":1,"hash_ids":[1,2]}}]}}"#
        )
    };
    let sessions = whole(&[line("a"), line("b")].join("\n"));
    assert!(sessions.iter().all(|s| prompts(s) == [(640, Some(0))]));
}

#[test]
fn reusable_tokens_are_at_most_the_prompt() {
    let text = r#"{"id":"a","block_size":64,"requests":[{"t":0,"in":200,"out":1,"hash_ids":[1,2,3,4]},{"t":1,"in":190,"out":1,"hash_ids":[1,2,3]}]}"#;
    assert_eq!(prompts(&whole(text)[0]), [(200, Some(0)), (190, Some(190))]);
}

#[test]
fn the_table_is_read_and_written_the_same() {
    let sessions = whole(TABLE);
    assert_eq!(prompts(&sessions[0]), [(200, Some(0)), (300, Some(192)), (150, Some(64))]);
    assert_eq!(gaps(&sessions[0]), [Some(0.0), Some(8.0), Some(6.0)]);
    for text in [TABLE, WEKA, MOONCAKE, BAILIAN, ARRAYS] {
        let sessions = whole(text);
        let mut written = table::Text::new(Vec::new()).unwrap();
        sessions.iter().for_each(|session| written.push(session).unwrap());
        let written = String::from_utf8(written.finish().unwrap()).unwrap();
        assert_eq!(whole(&written).iter().map(formatless).collect::<Vec<_>>(), {
            sessions.iter().map(formatless).collect::<Vec<_>>()
        });
    }
}

/// A table of a table says `table`; all else is the same.
fn formatless(session: &Session) -> Session {
    Session { format: Format::Table, ..session.clone() }
}

#[test]
fn mooncake_rows_are_linked_by_their_whole_blocks() {
    let sessions = whole(MOONCAKE);
    // The second and the fourth are blocks that were there before, and less than one of their
    // own: neither continues the other. The last begins with all whole blocks of the third.
    assert_eq!(sessions.len(), 3);
    assert_eq!(prompts(&sessions[0]), [(1600, Some(0)), (2100, Some(1536)), (2200, Some(2048))]);
    assert_eq!(gaps(&sessions[0]), [Some(0.0), Some(1.0), Some(7.0)]);
    assert_eq!(sessions[0].turns[1].gap.source, GapSource::Starts);
    assert_eq!((sessions[0].id.as_str(), sessions[1].id.as_str()), ("file:1", "file:2"));
}

#[test]
fn mooncake_rows_with_a_session_have_whole_prompts_or_what_is_new() {
    let text = "{\"session_id\":\"x\",\"timestamp\":0,\"input_length\":100,\"output_length\":10}\n\
        {\"session_id\":\"y\",\"timestamp\":5,\"input_length\":70,\"output_length\":10}\n\
        {\"session_id\":\"x\",\"delay\":2000,\"input_length\":150,\"output_length\":20}\n";
    assert_eq!(prompts(&whole(text)[0]), [(100, Some(0)), (150, None)]);
    let (sessions, _) = read_as(text.as_bytes(), Inputs::New);
    assert_eq!(prompts(&sessions[0]), [(100, Some(0)), (260, Some(100))]);
    assert_eq!(gaps(&sessions[0]), [Some(0.0), Some(2.0)]);
    assert_eq!(sessions[1].id, "y");
}

#[test]
fn bailian_rows_follow_their_parents_and_a_second_child_is_a_branch() {
    let (sessions, reading) = read_as(BAILIAN.as_bytes(), Inputs::Whole);
    let ids: Vec<_> = sessions.iter().map(|s| s.id.as_str()).collect();
    assert_eq!(ids, ["1", "3", "4"]);
    assert_eq!(prompts(&sessions[0]), [(40, Some(0)), (70, Some(32))]);
    let parent = sessions[1].parent.as_ref().unwrap();
    assert_eq!((parent.session.as_str(), parent.turn), ("1", 1));
    let reading = reading.unwrap();
    assert_eq!((reading.beside.sessions, reading.begun_before), (1, 1));
}

#[test]
fn turn_arrays_grow_by_answer_and_tool_output() {
    let session = &whole(ARRAYS)[0];
    assert_eq!(prompts(session), [(100, Some(0)), (115, Some(100)), (141, Some(115))]);
    assert_eq!(gaps(session), [Some(0.0), Some(1.5), Some(2.5)]);
    assert_eq!(session.turns[2].output_tokens, 30);
}

#[test]
fn requests_need_a_session_and_an_order() {
    let text = "session_id,round_index,input_tokens,output_tokens,arrival_time_us\n\
        s,0,100,5,1000000\nt,0,50,5,2000000\ns,1,160,5,4000000\n";
    let sessions = whole(text);
    assert_eq!(sessions[0].format, Format::Requests);
    assert_eq!(prompts(&sessions[0]), [(100, Some(0)), (160, None)]);
    assert_eq!(gaps(&sessions[0]), [Some(0.0), Some(3.0)]);
    let skipped = text.replace("s,1,160", "s,2,160");
    let found = left_out(&skipped);
    assert_eq!(found[0].3, "line 4: turn: expected 1, found 2");
}

#[test]
fn a_session_with_a_value_that_makes_no_sense_is_left_out_and_named() {
    let weka = |change: &str| {
        let entry = r#""t":1,"in":20,"out":1,"hash_ids":[1]"#;
        format!(
            "{{\"id\":\"good\",\"requests\":[{{{entry}}}]}}\n\
             {{\"id\":\"bad\",\"block_size\":64,\"requests\":[{{{entry}}},{{{change}}}]}}\n"
        )
    };
    for (change, said) in [
        (r#""t":-1,"in":20,"out":1"#, "turn 2: expected its start from 0 s to a year, found -1 s"),
        (r#""t":0.5,"in":20,"out":1"#, "turn 2: starts at 0.5 s, before the previous (1 s)"),
        (r#""t":2,"in":20,"out":1,"think_time":-3"#, "turn 2: expected a gap before it from 0 s"),
        (r#""t":2,"in":0,"out":1"#, "turn 2: expected a prompt of at least 1 token, found 0"),
        (r#""t":2,"in":20,"out":1,"hash_ids":["x"]"#, "request 2: hash_ids: invalid type: string"),
        (
            r#""t":2,"in":20,"out":1,"hash_ids":[1.5]"#,
            "request 2: hash_ids: invalid type: floating",
        ),
        (r#""t":2,"in":-5,"out":1"#, "request 2: in: invalid value: integer `-5`"),
        (r#""t":2,"in":20"#, "request 2: out: expected a number, found none"),
        (r#""t":2,"type":"x","in":20,"out":1"#, "request 2: type: expected s, n or subagent"),
        (r#""t":2,"t":3,"in":20,"out":1"#, "request 2: duplicate field `t`"),
    ] {
        let found = left_out(&weka(change));
        let [(line, session, why, message)] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((*line, session.as_deref(), *why), (2, Some("bad"), Why::BadValue));
        assert!(message.starts_with(said), "{message}");
    }
    let zero = weka(r#""t":2,"in":20,"out":1"#).replace(":64", ":0");
    assert_eq!(left_out(&zero)[0].3, "block_size: expected at least 1 token, found 0");
}

#[test]
fn empty_and_doubled_sessions_are_left_out_and_counted() {
    let text = r#"{"id":"a","requests":[{"t":0,"in":20,"out":1}]}
{"id":"b","requests":[]}
{"id":"a","requests":[{"t":0,"in":30,"out":1},{"t":3,"in":30,"out":1}]}"#;
    let (sessions, reading) = read_as(text.as_bytes(), Inputs::Whole);
    let reading = reading.unwrap();
    assert_eq!((sessions.len(), reading.read.sessions, reading.read.turns), (1, 1, 1));
    let counts: Vec<_> = reading.left_out.iter().map(|(w, c)| (*w, c.sessions, c.turns)).collect();
    assert_eq!(counts, [(Why::Duplicate, 1, 2), (Why::NoTurns, 1, 0)]);
    assert_eq!((reading.examples[1].line, reading.examples[1].session.as_deref()), (3, Some("a")));
}

#[test]
fn a_table_with_rows_out_of_order_says_which() {
    let with = |row: &str| format!("{TABLE}{row}\n");
    let message = |row: &str| left_out(&with(row)).pop().unwrap().3;
    assert_eq!(message("b,1,,100,1,0,,"), "line 6: turn: expected 2, found 1");
    assert_eq!(
        message("b,2,,100,1,200,,"),
        "turn 2: reusable tokens (200) exceed its prompt (100)"
    );
    assert_eq!(
        message("b,2,,x,1,0,,"),
        "line 6: prompt_tokens: expected a whole number, 0 or more, found \"x\""
    );
    assert_eq!(
        message("b,2,,100,1,0,inf,"),
        "line 6: think_s: expected a finite number, found \"inf\""
    );
    assert_eq!(
        fault(&with("a,4,30,100,1,0,,")),
        "file:6: session \"a\": its rows do not stand together"
    );
    assert_eq!(fault(&with("c,1\nd,1,,9,1,0,,")), "file:6: expected 8 fields, found 2");
    assert_eq!(fault(&with(",1,,9,1,0,,")), "file:6: session: expected a name, found none");
    assert_eq!(fault("session,turn,prompt_tokens\n"), "file:1: expected a column t_s, found none");
}

#[test]
fn what_is_no_trace_is_refused_on_its_line() {
    let text = WEKA.replace('\n', "");
    for (text, said) in [
        (String::new(), "file:1: expected sessions, found an empty file"),
        ("a,b\n1,2\n".into(), "file:1: expected JSON objects, or a header"),
        ("{\"x\":1}".into(), "file:1: expected sessions (objects with requests or num_turns)"),
        (format!("{text}\n{{\"id\":\"b\",}}"), "file:2: not readable as JSON: "),
        (format!("{text}\nhello"), "file:2: expected a JSON object, found 'h'"),
        (
            format!("{text}\n{{\"chat_id\":1,\"input_length\":3}}"),
            "file:2: expected a session of weka",
        ),
        (format!("{BAILIAN}{text}"), "file:5: expected a row of bailian, found something else"),
        (
            "{\"id\":\"a\",\"requests\":[{\"t\":0,,\n{\"id\":\"b\"}".into(),
            "file:1: not readable as JSON",
        ),
        (
            "{\"input_length\":3,\"output_length\":1}".into(),
            "file:1: expected session_id or hash_ids",
        ),
    ] {
        let message = fault(&text);
        assert!(message.starts_with(said), "{message}");
    }
    assert!(fault("\u{feff}a,b\n").starts_with("file:1: expected JSON objects"));
    let utf16 = read_as(b"\xff\xfe{\0", Inputs::Whole).1.unwrap_err();
    assert_eq!(utf16.to_string(), "file:1: UTF-16: write it as UTF-8");
}

#[test]
fn nan_is_unknown() {
    let text =
        r#"{"id":"a","requests":[{"t":0,"in":9,"out":1},{"t":5,"in":9,"out":1,"think_time":NaN}]}"#;
    assert_eq!(whole(text)[0].turns[1].gap.source, GapSource::Starts);
}

#[test]
fn a_file_that_ends_inside_a_session_says_so_and_keeps_what_came_before() {
    let line = WEKA.replace('\n', "");
    let text = format!("{line}\n{}", &line.replace(r#""id":"a""#, r#""id":"b""#)[..200]);
    let (sessions, reading) = read_as(text.as_bytes(), Inputs::Whole);
    let reading = reading.unwrap();
    assert_eq!((sessions.len(), reading.cut), (2, true));
    let example = &reading.examples[0];
    assert_eq!((example.line, example.session.as_deref(), example.why), (2, Some("b"), Why::Cut));
}

/// A stream that fails as a packed file does that is cut.
struct Cut<'a>(&'a [u8]);

impl std::io::Read for Cut<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(std::io::ErrorKind::UnexpectedEof.into()),
            n => Ok(n),
        }
    }
}

#[test]
fn a_packed_stream_that_ends_early_is_cut_even_between_rows() {
    let mut ids = Vec::new();
    let reading = read("file", Cut(TABLE.as_bytes()), Inputs::Whole, &mut Names::new(), &mut |s| {
        ids.push(s.id);
        Ok(())
    });
    let reading = reading.unwrap();
    assert_eq!((ids, reading.cut), (vec!["a".to_owned()], true));
    assert_eq!(reading.examples[0].session.as_deref(), Some("b"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cutting_a_file_anywhere_changes_no_session_before_the_cut(
        which in 0..3_usize,
        at in 0.0..1.0_f64,
    ) {
        let line = WEKA.replace('\n', "");
        let lines = format!("{line}\n{}\n", line.replace(r#""id":"a""#, r#""id":"b""#));
        let (text, separate) = [(lines, true), (TABLE.to_owned(), true), (BAILIAN.into(), false)]
            [which].clone();
        let cut = (at * text.len() as f64) as usize;
        let all = whole(&text);
        let (some, reading) = read_as(&text.as_bytes()[..cut], Inputs::Whole);
        for (session, of_all) in some.iter().zip(&all) {
            if separate && Some(session) != some.last() {
                prop_assert_eq!(session, of_all);
            } else {
                // The last of a table, cut between rows, and interleaved ones are begun alike.
                prop_assert_eq!(&session.id, &of_all.id);
                let n = session.turns.len() - 1;
                prop_assert_eq!(&session.turns[..n], &of_all.turns[..n]);
            }
        }
        prop_assert!(some.len() <= all.len());
        // An empty file, or one without a whole header or object, is refused; nothing else is.
        if let Err(fault) = reading {
            prop_assert!(some.is_empty(), "{}", fault);
        }
    }

    #[test]
    fn bytes_of_any_kind_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        drop(read_as(&bytes, Inputs::Whole));
        drop(read_as(&[b"{\"requests\":[{", bytes.as_slice()].concat(), Inputs::Whole));
        drop(read_as(&[TABLE.as_bytes(), bytes.as_slice()].concat(), Inputs::Whole));
        drop(read_as(&[MOONCAKE.as_bytes(), bytes.as_slice()].concat(), Inputs::New));
    }

    #[test]
    fn a_damaged_trace_is_read_or_refused(
        which in 0..5_usize, at in 0.0..1.0_f64, byte in any::<u8>()
    ) {
        let text = [WEKA, TABLE, MOONCAKE, BAILIAN, ARRAYS][which];
        let mut bytes = text.as_bytes().to_vec();
        let at = (at * bytes.len() as f64) as usize;
        bytes[at] = byte;
        let (sessions, _) = read_as(&bytes, Inputs::Whole);
        for session in sessions {
            prop_assert_eq!(session.check(), Ok(()));
        }
    }
}
