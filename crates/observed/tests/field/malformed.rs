//! Files as they are broken in the field, over each reader: nothing panics, nothing loops, and
//! what is left out is counted.

use trapcheck_observed::answer::Verdict;
use trapcheck_observed::form::{Ended, Observed, Quantity};
use trapcheck_observed::format::Format;
use trapcheck_observed::read::{ReadError, whole};

use crate::corpus::{is_finite, told, whole_ones};
use crate::made::{only, read};

/// Formats with a record per line.
const LINES: [Format; 8] = [
    Format::VllmLog,
    Format::SglangLog,
    Format::Prometheus,
    Format::Csv,
    Format::AiPerf,
    Format::SglangRequests,
    Format::Usage,
    Format::SglangMultiTurn,
];

fn records(observed: &Observed) -> usize {
    let samples = observed.engines.values().map(|e| e.series.samples().len()).sum::<usize>();
    samples + observed.requests.len() + observed.rungs.len()
}

#[test]
fn an_empty_file_and_one_of_blanks_say_so() {
    for text in ["", "\n", " \r\n\t\n", "\u{feff}\n"] {
        for format in Format::ALL.map(Some).into_iter().chain([None]) {
            assert_eq!(whole(text.as_bytes(), format).unwrap_err(), ReadError::Empty, "{text:?}");
        }
    }
}

#[test]
fn utf_16_is_refused_by_name_with_a_byte_order_mark_and_without() {
    let units: Vec<u16> = "ts,running,waiting\n1,2,3\n".encode_utf16().collect();
    let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
    let marked = |mark: [u8; 2], bytes: &[u8]| [&mark[..], bytes].concat();
    for bytes in [marked([0xff, 0xfe], &little), marked([0xfe, 0xff], &big), little, big] {
        assert_eq!(whole(&bytes, None).unwrap_err(), ReadError::Utf16);
    }
}

#[test]
fn what_no_format_knows_is_refused_with_what_was_expected() {
    let error = whole(b"There is nothing here.\n", None).unwrap_err().to_string();
    assert!(error.contains("expected a log or /metrics text"), "{error}");
    assert!(error.contains("--from"), "{error}");
}

#[test]
fn a_byte_order_mark_and_carriage_returns_change_nothing() {
    for (sample, _) in whole_ones() {
        let plain = told(&whole(&sample.bytes, None).unwrap());
        let marked = [&[0xef, 0xbb, 0xbf][..], &sample.bytes].concat();
        assert_eq!(told(&whole(&marked, None).unwrap()), plain, "{}", sample.name);
        let text = String::from_utf8(sample.bytes).unwrap();
        // A text that is one line has none to change; a progress bar's own returns stay.
        let returns = text.replace('\n', "\r\n");
        assert_eq!(told(&read(&returns)), plain, "{}", sample.name);
    }
}

#[test]
fn a_cut_off_end_loses_the_last_record_alone_and_is_counted_where_it_is_torn() {
    for (sample, format) in whole_ones() {
        let all = whole(&sample.bytes, None).unwrap();
        let bytes = &sample.bytes;
        for cut in (bytes.len() / 2..bytes.len()).step_by(3) {
            let Ok(part) = whole(&bytes[..cut], Some(format)) else { continue };
            assert!(records(&part) <= records(&all), "{} at {cut}", sample.name);
            // Requests before the last row are what they are in the whole file.
            if matches!(format, Format::VllmBench | Format::SglangBench) {
                continue;
            }
            let last = part.requests.iter().map(|r| r.row).max();
            for request in part.requests.iter().filter(|r| Some(r.row) < last) {
                let same = all.requests.iter().find(|r| r.row == request.row);
                assert_eq!(Some(request), same, "{} at {cut}", sample.name);
            }
        }
    }
}

#[test]
fn a_torn_record_in_the_middle_is_counted_with_its_line_and_the_others_stay() {
    let good =
        |n: u32| format!("{{\"usage\":{{\"prompt_tokens\":{n},\"completion_tokens\":1}}}}\n");
    for torn in [
        "{\"usage\":{\"prompt_tok\n",
        "{\"usage\":\n",
        "}}\n",
        "not json\n",
        "{\"usage\":{\"prompt_tokens\":7,\"x\n",
    ] {
        let observed = read(&(good(100) + torn + &good(200) + &good(300)));
        let prompts: Vec<_> = observed.requests.iter().filter_map(|r| r.prompt_tokens).collect();
        assert_eq!(prompts, [100, 200, 300], "{torn:?}");
        assert_eq!(observed.dropped.total(), 1, "{torn:?} {:?}", observed.dropped);
        assert!(
            observed.dropped.iter().all(|(_, count)| count.first_line == 2),
            "{torn:?} {:?}",
            observed.dropped
        );
    }
}

#[test]
fn a_record_glued_to_a_torn_one_is_counted_and_those_after_it_are_read() {
    let text = "{\"usage\":{\"prompt_tokens\":100}}\n{\"usage\":{\"prompt_tok{\"usage\":{\"prompt_tokens\":200}}\n\n{\"usage\":{\"prompt_tokens\":300}}\n";
    let observed = read(text);
    let prompts: Vec<_> = observed.requests.iter().filter_map(|r| r.prompt_tokens).collect();
    assert_eq!(prompts, [100, 300]);
    assert_eq!(observed.dropped.total(), 1);
    // Two whole ones on a line are two.
    let observed = read(
        "{\"usage\":{\"prompt_tokens\":100}}{\"usage\":{\"prompt_tokens\":200}}\n{\"usage\":{\"prompt_tokens\":300}}\n",
    );
    assert_eq!(observed.requests.len(), 3);
}

#[test]
fn garbage_between_the_lines_changes_no_record_and_where_every_line_counts_it_is_counted() {
    for (sample, format) in whole_ones().filter(|(_, format)| LINES.contains(format)) {
        let text = String::from_utf8(sample.bytes).unwrap();
        let plain = read(&text);
        let mut lines: Vec<&str> = text.lines().collect();
        lines.insert(lines.len() / 2, "%%% 12 garbage, here: x");
        let observed = read(&(lines.join("\n") + "\n"));
        assert_eq!(told(&observed), told(&plain), "{}", sample.name);
        let is_log = matches!(format, Format::VllmLog | Format::SglangLog);
        let more = observed.dropped.total() - plain.dropped.total();
        assert_eq!(more, u64::from(!is_log), "{} {:?}", sample.name, observed.dropped);
    }
}

#[test]
fn bytes_that_are_no_utf_8_spoil_their_line_alone() {
    for (sample, format) in whole_ones().filter(|(_, format)| LINES.contains(format)) {
        let mut bytes = sample.bytes.clone();
        bytes.extend_from_slice(b"\xff\xfe\x80 \xc3\x28\n");
        let observed = whole(&bytes, Some(format)).unwrap();
        let plain = whole(&sample.bytes, Some(format)).unwrap();
        if !sample.bytes.ends_with(b"\n") {
            continue;
        }
        assert_eq!(told(&observed), told(&plain), "{}", sample.name);
    }
}

/// Readers that split on every Unicode line break see more lines than there are.
#[test]
fn odd_separators_inside_a_text_end_no_record() {
    let text: String = (1..=9)
        .map(|i| format!("{{\"session_id\":\"a\u{85}b\u{2028}c\u{b}d\",\"turn\":{i},\"usage\":{{\"prompt_tokens\":{i}00}}}}\n"))
        .collect();
    let observed = read(&text);
    assert_eq!((observed.requests.len(), observed.dropped.total()), (9, 0));
    assert_eq!(observed.names.session_id(0), "a\u{85}b\u{2028}c\u{b}d");
}

#[test]
fn numbers_that_are_none_are_unknown_and_never_printed() {
    let row = |prompt: &str, cached: &str| {
        format!(
            "{{\"usage\":{{\"prompt_tokens\":{prompt},\"completion_tokens\":1,\"prompt_tokens_details\":{{\"cached_tokens\":{cached}}}}}}}\n"
        )
    };
    for (cached, known) in [
        ("NaN", None),
        ("Infinity", None),
        ("-Infinity", None),
        ("-4", None),
        ("1e400", None),
        ("null", None),
        ("true", None),
        ("3", Some(3)),
        ("\"4\"", Some(4)),
    ] {
        let observed = read(&(row("100", cached) + &row("10", "1")));
        assert_eq!(observed.requests[0].cached_tokens, known, "{cached}");
        assert!(is_finite(&observed));
    }
    // Without a prompt there is no request, and that is counted.
    for prompt in ["NaN", "Infinity", "-1", "1e300"] {
        let observed = read(&(row(prompt, "1") + &row("10", "1")));
        assert_eq!(observed.requests.len(), 1, "{prompt}");
        assert!(observed.dropped.count("records without prompt tokens") == 1, "{prompt}");
    }
    let observed = read(
        "# 1788343200\nvllm:num_requests_running NaN\nvllm:num_requests_waiting +Inf\nvllm:kv_cache_usage_perc 0.5\n",
    );
    let sample = observed.engines.values().next().unwrap().series.samples()[0];
    assert_eq!((sample.get(Quantity::Running), sample.get(Quantity::Waiting)), (None, None));
    assert_eq!(sample.get(Quantity::Usage), Some(0.5));
}

#[test]
fn more_cached_than_there_was_is_unknown_and_counted() {
    let observed = read(
        "{\"usage\":{\"prompt_tokens\":10,\"prompt_tokens_details\":{\"cached_tokens\":11}}}\n",
    );
    assert_eq!(observed.requests[0].cached_tokens, None);
    assert_eq!(observed.dropped.total(), 1);
    let observed = read("session_id,turn,prompt_tokens,cached_tokens\na,1,10,11\n");
    assert_eq!(observed.requests[0].cached_tokens, None);
    assert_eq!(observed.dropped.total(), 1);
}

#[test]
fn the_last_of_two_keys_counts_and_that_is_said() {
    let observed = read("{\"usage\":{\"prompt_tokens\":10,\"prompt_tokens\":20}}\n");
    assert_eq!(observed.requests[0].prompt_tokens, Some(20));
    assert_eq!(observed.notes.total(), 1);
}

#[test]
fn rows_that_are_there_twice_stay_and_are_told() {
    let row = "{\"session_id\":\"s\",\"turn\":2,\"submit_timestamp\":1788343200.5,\"usage\":{\"prompt_tokens\":10}}\n";
    let other = row.replace("\"turn\":2", "\"turn\":3").replace("200.5", "201.5");
    let observed = read(&(row.repeat(3) + &other));
    assert_eq!(observed.requests.len(), 4);
    let twice = observed.notes.iter().find(|(what, _)| what.contains("there already")).unwrap();
    assert_eq!(twice.1.count, 2);
}

#[test]
fn times_that_cannot_be_are_unknown_and_counted() {
    let of = |submit: f64, first: f64, end: f64| {
        format!(
            "{{\"info\":{{\"conversation_id\":\"c\",\"status\":\"completed\",\"timings\":{{\"request_start\":{submit:?},\"first_token_iteration\":{first:?},\"request_end\":{end:?}}}}},\"prompt_tokens\":9,\"output_tokens\":1}}"
        )
    };
    let report = |record: &str| {
        read(&format!("{{\"benchmarks\":[{{\"requests\":{{\"successful\":[{record}]}}}}]}}"))
    };
    let observed = report(&of(100.0, 101.0, 99.0));
    assert_eq!((observed.requests[0].t_submit_s, observed.dropped.total()), (None, 1));
    let observed = report(&of(100.0, 90.0, 110.0));
    assert_eq!((observed.requests[0].t_first_s, observed.dropped.total()), (None, 1));
    assert_eq!(observed.requests[0].t_end_s, Some(110.0));
}

#[test]
fn a_counter_that_falls_makes_its_interval_unknown_and_not_nothing() {
    let at = |i: u32, queries: u32, hits: u32| {
        format!(
            "# {}\nvllm:num_requests_running 4.0\nvllm:num_requests_waiting 0.0\nvllm:prefix_cache_queries_total {queries}.0\nvllm:prefix_cache_hits_total {hits}.0\n",
            1_788_343_200 + 30 * i
        )
    };
    let before: String = (0..10).map(|i| at(i, 50_000 + 1000 * i, 40_000 + 900 * i)).collect();
    let after: String = (10..20).map(|i| at(i, 1000 * (i - 9), 900 * (i - 9))).collect();
    let answer = only(&(before + &after));
    assert_eq!(answer.verdict, Verdict::Good);
    assert!(
        answer
            .evidence
            .iter()
            .any(|e| e.quantity == "hit fraction" && (e.value - 0.9).abs() < 1e-9),
        "{answer:#?}"
    );
    assert!(
        answer.contradictions.iter().any(|c| c.contains("counters fell 1 time")),
        "{answer:#?}"
    );
}

#[test]
fn usage_in_percent_is_read_as_percent_and_one_that_fits_neither_is_not_read() {
    let table = |usage: f64| {
        format!(
            "ts,kv_cache_usage_perc,running,waiting\n1788343200,{usage},1,0\n1788343210,{usage},1,0\n"
        )
    };
    let last = |text: &str| {
        let observed = read(text);
        observed.engines[""].series.last(Quantity::Usage)
    };
    assert_eq!(last(&table(97.3)), Some(0.973));
    assert_eq!(last(&table(0.973)), Some(0.973));
    assert_eq!(
        last("# 1788343200\nvllm:kv_cache_usage_perc 97.3\nvllm:num_requests_running 1.0\n"),
        None
    );
}

#[test]
fn lines_and_texts_longer_than_memory_allows_are_counted_or_cut_but_end_nothing() {
    let long = "x".repeat(3 << 20);
    let log = format!(
        "{long}\nINFO 09-02 10:00:05 [l.py:1] Engine 000: Avg prompt throughput: 8.0 tokens/s, Running: 1 reqs, Waiting: 2 reqs\n"
    );
    let observed = whole(log.as_bytes(), Some(Format::VllmLog)).unwrap();
    assert_eq!(observed.dropped.count("lines longer than 1 MiB"), 1);
    assert_eq!(observed.engines["engine 0"].series.last(Quantity::Waiting), Some(2.0));
    let text = format!(
        "{{\"text\":\"{long}\",\"usage\":{{\"prompt_tokens\":10}}}}\n{{\"usage\":{{\"prompt_tokens\":20}}}}\n"
    );
    assert_eq!(read(&text).requests.len(), 2);
}

#[test]
fn containers_within_containers_without_end_are_refused_and_not_followed() {
    for open in ["[", "{\"a\":"] {
        let text = format!("{}\n{{\"usage\":{{\"prompt_tokens\":10}}}}\n", open.repeat(200_000));
        let observed = whole(text.as_bytes(), Some(Format::Usage)).unwrap();
        assert_eq!(observed.dropped.count("records nested too deeply"), 1, "{open}");
        assert_eq!(observed.requests.len(), 1);
    }
}

#[test]
fn a_status_that_is_a_failure_is_kept_as_one() {
    let text = "session_id,turn,status,prompt_tokens\na,1,200,10\na,2,503,20\na,3,cancelled,30\na,4,timeout,40\n";
    let observed = read(text);
    let served = observed.requests.iter().filter(|r| r.ended == Ended::Served).count();
    let cancelled = observed.requests.iter().filter(|r| r.ended == Ended::Cancelled).count();
    assert_eq!((served, cancelled, observed.requests.len()), (1, 1, 4));
}

#[test]
fn recorded_sessions_are_refused_with_the_command_that_reads_them() {
    let traces = [
        (
            "{\"timestamp\":27482,\"input_length\":6955,\"output_length\":52,\"hash_ids\":[46,47]}\n",
            "Mooncake",
        ),
        (
            "{\"chat_id\":9,\"parent_chat_id\":-1,\"timestamp\":61.1,\"input_length\":521,\"output_length\":132,\"type\":\"text\",\"turn\":1,\"hash_ids\":[1089]}\n",
            "Bailian",
        ),
        (
            "{\"id\":\"a\",\"block_size\":64,\"requests\":[{\"t\":0.0,\"type\":\"s\",\"in\":14,\"out\":6,\"hash_ids\":[1]}]}\n",
            "Weka",
        ),
        (
            "[{\"id\":\"one\",\"num_turns\":2,\"input_prompt_length\":10,\"assistant_response_length\":[1,2]}]",
            "num_turns",
        ),
        (
            "session,turn,t_s,prompt_tokens,output_tokens,reusable_tokens\na,1,0.0,100,5,0\n",
            "reusable_tokens",
        ),
    ];
    for (text, what) in traces {
        let error = whole(text.as_bytes(), None).unwrap_err().to_string();
        assert!(error.contains("`trapcheck sessions describe FILE`"), "{error}");
        assert!(error.contains(what), "{error}");
    }
    // A client's own table of requests is not one.
    assert_eq!(read("session_id,turn,prompt_tokens\na,1,10\n").requests.len(), 1);
}
