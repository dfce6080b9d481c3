//! OpenTelemetry traces, and rows with dates: small invented files.
#![allow(clippy::unwrap_used)]

use trapcheck_sessions::reading::{Fault, Reading, Why};
use trapcheck_sessions::session::{Format, GapSource, Session};
use trapcheck_sessions::{Inputs, Names, read};

/// Two batches, a line each: a conversation of two traces, a trace that names no conversation, a tool
/// call, an agent with the sum of its requests' tokens, and a request that failed. The last request of
/// the conversation comes first.
const OTLP: &str = concat!(
    r#"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"agent"}}]},"scopeSpans":[{"scope":{"name":"x"},"spans":["#,
    r#"{"traceId":"t2","spanId":"5","name":"chat m","startTimeUnixNano":"1767225620000000000","endTimeUnixNano":"1767225623000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.conversation.id","value":{"stringValue":"c"}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":"900"}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":"40"}}]},"#,
    r#"{"traceId":"t1","spanId":"2","name":"execute_tool ls","startTimeUnixNano":"1767225605000000000","endTimeUnixNano":"1767225606000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}}]}]}]}]}"#,
    "\n",
    r#"{"resourceSpans":[{"scopeSpans":[{"spans":["#,
    r#"{"traceId":"t1","spanId":"1","name":"chat m","startTimeUnixNano":"1767225600000000000","endTimeUnixNano":"1767225604500000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.conversation.id","value":{"stringValue":"c"}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":"700"}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":"20"}}]},"#,
    r#"{"traceId":"t1","spanId":"3","name":"invoke_agent","startTimeUnixNano":"1767225600000000000","endTimeUnixNano":"1767225623000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"invoke_agent"}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":"1600"}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":"60"}}]}]},"#,
    r#"{"spans":[{"traceId":"t9","spanId":"9","name":"call","startTimeUnixNano":1767225601000000000,"attributes":[{"key":"gen_ai.usage.input_tokens","value":{"intValue":50}},{"key":"gen_ai.usage.output_tokens","value":{"doubleValue":5.0}}]},"#,
    r#"{"traceId":"t9","spanId":"10","name":"chat m","status":{"code":"STATUS_CODE_ERROR"},"startTimeUnixNano":1767225602000000000,"attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}}]}]}]}]}"#,
    "\n",
);

/// Two files' worth of one trace each, with dates.
const TRACES: &str = r#"{"trace_id":"first","spans":[
 {"span_id":"a","name":"chat m","start_time":"2026-01-01T00:00:00.250Z","end_time":"2026-01-01T00:00:02.250000+00:00","status":{"code":1},
  "attributes":{"gen_ai.usage.input_tokens":300,"gen_ai.usage.output_tokens":12,"gen_ai.input.messages":"[]"}},
 {"span_id":"b","name":"tool","start_time":"2026-01-01T00:00:02.250Z","end_time":"2026-01-01T00:00:05Z","attributes":{}},
 {"span_id":"c","name":"chat m","start_time":"2026-01-01T01:00:05.250+01:00","end_time":"2026-01-01T00:00:06.25",
  "attributes":{"gen_ai.usage.prompt_tokens":380,"gen_ai.usage.completion_tokens":9}}]}
{"trace_id":"second","spans":[{"context":{"trace_id":"own","span_id":"d"},"start_time":"2026-01-01T00:00:00Z",
 "attributes":{"gen_ai.usage.input_tokens":30,"gen_ai.usage.output_tokens":1}}]}
"#;

fn read_all(text: &str) -> (Vec<Session>, Result<Reading, Fault>) {
    let mut sessions = Vec::new();
    let reading = read("file", text.as_bytes(), Inputs::Whole, &mut Names::new(), &mut |session| {
        sessions.push(session);
        Ok(())
    });
    (sessions, reading)
}

fn turns(session: &Session) -> Vec<(u64, u64, Option<f64>, GapSource)> {
    let of = |t: &trapcheck_sessions::session::Turn| {
        (t.prompt_tokens, t.output_tokens, t.gap.seconds, t.gap.source)
    };
    session.turns.iter().map(of).collect()
}

#[test]
fn requests_of_a_conversation_are_in_order_of_their_start_over_batches_and_traces() {
    let (sessions, reading) = read_all(OTLP);
    let reading = reading.unwrap();
    assert!(reading.left_out.is_empty(), "{:?}", reading.examples);
    assert_eq!((reading.format, reading.other_spans), (Some(Format::Spans), 3));
    let ids: Vec<_> = sessions.iter().map(|s| s.id.as_str()).collect();
    assert_eq!(ids, ["c", "t9"]);
    let less = GapSource::StartsLessService;
    assert_eq!(
        turns(&sessions[0]),
        [(700, 20, Some(0.0), GapSource::First), (900, 40, Some(15.5), less)]
    );
    assert_eq!(sessions[0].turns[1].start_s, Some(20.0));
    assert_eq!(turns(&sessions[1]), [(50, 5, Some(0.0), GapSource::First)]);
    // One object that stands over many lines is the same.
    let spread = OTLP.lines().next().unwrap().replace("},{", "},\n{");
    assert_eq!(read_all(&spread).0[0].turns.len(), 1);
}

#[test]
fn a_trace_with_its_spans_is_a_session_with_dates_of_any_zone() {
    let (sessions, reading) = read_all(TRACES);
    assert_eq!(reading.unwrap().other_spans, 1);
    let ids: Vec<_> = sessions.iter().map(|s| s.id.as_str()).collect();
    assert_eq!(ids, ["own", "first"]);
    let less = GapSource::StartsLessService;
    assert_eq!(
        turns(&sessions[1]),
        [(300, 12, Some(0.0), GapSource::First), (380, 9, Some(3.0), less)]
    );
    assert_eq!(sessions[1].turns[1].service_s, Some(1.0));
}

#[test]
fn a_span_is_one_of_its_trace_and_counts_once_however_often_it_was_exported() {
    // Two traces count their spans alike.
    let alike = OTLP.replace(r#""spanId":"1""#, r#""spanId":"5""#);
    let (sessions, reading) = read_all(&alike);
    assert_eq!((sessions[0].turns.len(), reading.unwrap().other_spans), (2, 3));
    // The first batch came twice: its request and its tool call.
    let twice = format!("{}\n{OTLP}", OTLP.lines().next().unwrap());
    let (sessions, reading) = read_all(&twice);
    let reading = reading.unwrap();
    assert!(reading.left_out.is_empty(), "{:?}", reading.examples);
    assert_eq!((sessions[0].turns.len(), reading.other_spans), (2, 5));
    assert_eq!(sessions, read_all(OTLP).0);
}

#[test]
fn a_request_around_a_request_is_no_turn_of_its_own() {
    // A framework's span and its client's, 1 s inside it; the inner one comes first.
    let outer = r#""spanId":"5","name":"chat m","startTimeUnixNano":"1767225620000000000""#;
    assert!(OTLP.contains(outer));
    for parent in ["parentSpanId", "parent_span_id", "parent_id"] {
        let inner = outer.replace(r#""5""#, &format!(r#""6","{parent}":"5""#));
        let inner = inner.replace("1767225620", "1767225621");
        let request = OTLP.split_once("\"spans\":[").unwrap().1.split_once("]},").unwrap();
        let first = request.0.replace(outer, &inner);
        let text = OTLP.replacen("\"spans\":[", &format!("\"spans\":[{first}]}},"), 1);
        let (sessions, reading) = read_all(&text);
        let reading = reading.unwrap();
        assert!(reading.left_out.is_empty(), "{:?}", reading.examples);
        assert_eq!(reading.other_spans, 4);
        let starts: Vec<_> = sessions[0].turns.iter().map(|turn| turn.start_s).collect();
        assert_eq!(starts, [Some(0.0), Some(21.0)]);
    }
    // The outer one alone names the conversation.
    let conversation = r#"{"key":"gen_ai.conversation.id","value":{"stringValue":"c"}},"#;
    let inner = outer.replace(r#""5""#, r#""6","parentSpanId":"5""#);
    let first = OTLP.split_once("\"spans\":[").unwrap().1.split_once("]},").unwrap().0;
    let first = first.replace(outer, &inner).replace(conversation, "");
    let text = OTLP.replacen("\"spans\":[", &format!("\"spans\":[{first}]}},"), 1);
    let (sessions, _) = read_all(&text);
    let ids: Vec<_> = sessions.iter().map(|s| (s.id.as_str(), s.turns.len())).collect();
    assert_eq!(ids, [("c", 2), ("t9", 1)]);
    // A parent of that name in another trace is another.
    let elsewhere = OTLP.replace(r#""spanId":"5""#, r#""spanId":"5","parentSpanId":"1""#);
    assert_eq!(read_all(&elsewhere).0[0].turns.len(), 2);
}

#[test]
fn rows_may_have_a_field_of_the_name_that_is_no_list_of_spans() {
    let text = r#"{"session_id":"s","input_tokens":9,"output_tokens":1,"spans":3}"#;
    let (sessions, reading) = read_all(text);
    assert_eq!(reading.unwrap().format, Some(Format::Requests));
    assert_eq!(sessions[0].turns.len(), 1);
}

#[test]
fn what_is_wrong_with_a_span_is_named_by_its_line_and_place() {
    let second = |change: &str| {
        let good = r#""startTimeUnixNano":"1767225620000000000""#;
        OTLP.replace(good, &format!("{good},{change}"))
    };
    for (text, line, session, said) in [
        (
            OTLP.replace(r#""intValue":"900""#, r#""intValue":"-9""#),
            1,
            "c",
            "line 1: span 1: gen_ai.usage.input_tokens: expected a whole number, 0 or more, found \"-9\"",
        ),
        (
            OTLP.replace(r#""intValue":"700""#, r#""stringValue":"many""#),
            2,
            "c",
            "line 2: span 1: gen_ai.usage.input_tokens: expected a whole number",
        ),
        (second(r#""turn":4"#).replace(r#""spanId":"1","#, r#""spanId":"1","turn":1,"#), 2, "c", "line 1: turn: expected 2, found 4"),
        (
            OTLP.replace(r#""t2","spanId":"5""#, r#""t1","spanId":"1""#),
            2,
            "c",
            "line 2: span 1: \"1\" is there twice",
        ),
        (
            OTLP.replace("1767225623000000000\",\"attributes\":[{\"key\":\"gen_ai.operation.name\",\"value\":{\"stringValue\":\"chat", "1767225610000000000\",\"attributes\":[{\"key\":\"gen_ai.operation.name\",\"value\":{\"stringValue\":\"chat"),
            2,
            "c",
            "turn 2: expected its service time from 0 s to a year, found -10 s",
        ),
    ] {
        let (sessions, reading) = read_all(&text);
        let reading = reading.unwrap();
        let [example] = &reading.examples[..] else { panic!("{said}: {reading:?}") };
        assert_eq!((example.line, example.session.as_deref()), (line, Some(session)), "{said}");
        assert_eq!(example.why, Why::BadValue);
        assert!(example.message.starts_with(said), "{}", example.message);
        assert_eq!(sessions.len(), 1);
    }
}

#[test]
fn what_is_no_trace_of_spans_is_refused_on_its_line() {
    let one = OTLP.lines().next().unwrap();
    for (text, said) in [
        (
            format!("{one}\n{{\"session_id\":\"a\",\"input_tokens\":1}}"),
            "file:2: expected an object with resourceSpans or spans, as before it",
        ),
        (format!("{one}\n{{\"resourceSpans\":5}}"), "file:2: invalid type: integer `5`"),
        (format!("{one}\n{{\"spans\":[7]}}"), "file:2: span 1: invalid type: integer `7`"),
        (format!("{one}\n{{\"spans\":[}}"), "file:2: span 1: expected value (column 11)"),
        (
            r#"{"spans":[{"gen_ai.usage.input_tokens":3,"gen_ai.usage.output_tokens":3}]}"#.into(),
            "file:1: expected traceId or gen_ai.conversation.id",
        ),
    ] {
        let message = read_all(&text).1.unwrap_err().to_string();
        assert!(message.starts_with(said), "{message}");
    }
}

#[test]
fn a_trace_that_is_cut_keeps_the_batches_before() {
    let (sessions, reading) = read_all(&OTLP[..OTLP.len() - 40]);
    let reading = reading.unwrap();
    assert!(reading.cut);
    assert_eq!((sessions.len(), sessions[0].turns.len()), (1, 1));
    assert_eq!((reading.examples[0].line, reading.examples[0].why), (2, Why::Cut));
}

#[test]
fn rows_of_sessions_have_dates_or_numbers_for_times() {
    let text = "session_id,turn,timestamp,input_tokens,output_tokens,latency_s\n\
        s,1,2026-01-01T00:00:00Z,100,5,2\n\
        s,2,2026-01-01 00:00:09.5,150,5,1\n";
    let (sessions, _) = read_all(text);
    let less = GapSource::StartsLessService;
    assert_eq!(turns(&sessions[0])[1], (150, 5, Some(7.5), less));
    // A number of no stated unit is not read.
    let (sessions, _) = read_all(&text.replace("2026-01-01T00:00:00Z", "5"));
    assert_eq!(turns(&sessions[0])[1].3, GapSource::Unknown);
    // The same name with a unit may hold either.
    let text = r#"{"session_id":"s","start_time":"2026-01-01T00:00:00+02:00","end_time":"2026-01-01T00:00:03+02:00","input_tokens":9,"output_tokens":1}
{"session_id":"s","start_time":"2025-12-31T22:00:10Z","input_tokens":9,"output_tokens":1}"#;
    let (sessions, _) = read_all(text);
    assert_eq!(turns(&sessions[0])[1], (9, 1, Some(7.0), less));
    let (_, reading) = read_all(&text.replace("2025-12-31T22:00:10Z", "2025-12-32T22:00:10Z"));
    let message = &reading.unwrap().examples[0].message;
    assert!(
        message.contains("start_time: expected a finite number, found \"2025-12-32"),
        "{message}"
    );
}
