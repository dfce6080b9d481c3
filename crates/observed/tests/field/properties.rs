//! What may not change a number: how lines end, the order of lines where they carry their own
//! time, where a file is cut but for the last record, and how it comes in pieces.

use std::fmt::Write as _;

use proptest::prelude::*;
use trapcheck_observed::answer::Ask;
use trapcheck_observed::format::Format;
use trapcheck_observed::read::{Reader, whole};

use crate::corpus::told;
use crate::made::{judged, read};

#[derive(Debug, Clone)]
struct MadeRequest {
    session: u8,
    submit_ms: u32,
    length_ms: u32,
    prompt: u32,
    cached: Option<u32>,
}

fn requests() -> impl Strategy<Value = Vec<MadeRequest>> {
    let one =
        (0..5_u8, 0..400_000_u32, 1..60_000_u32, 1..100_000_u32, prop::option::of(0..100_u32));
    let made = one.prop_map(|(session, submit_ms, length_ms, prompt, share)| MadeRequest {
        session,
        submit_ms,
        length_ms,
        prompt,
        cached: share.map(|share| prompt / 100 * share),
    });
    prop::collection::vec(made, 1..40)
}

fn at(ms: u32) -> f64 {
    1_788_343_200.0 + f64::from(ms) / 1000.0
}

/// The requests as JSON lines and as a table. No two are sent at the same moment.
fn written(requests: &[MadeRequest]) -> (Vec<String>, Vec<String>) {
    let mut lines = Vec::new();
    let mut rows = Vec::new();
    for (i, r) in (0_u32..).zip(requests) {
        let submit = at(r.submit_ms) + f64::from(i) * 500.0;
        let end = submit + f64::from(r.length_ms) / 1000.0;
        let details = r.cached.map_or("null".to_owned(), |n| format!("{{\"cached_tokens\":{n}}}"));
        lines.push(format!(
            "{{\"session_id\":\"s{}\",\"submit_timestamp\":{submit:.3},\"complete_timestamp\":{end:.3},\"usage\":{{\"prompt_tokens\":{},\"completion_tokens\":7,\"prompt_tokens_details\":{details}}}}}",
            r.session, r.prompt
        ));
        let cached = r.cached.map_or(String::new(), |n| n.to_string());
        rows.push(format!("s{},{submit:.3},{end:.3},{},{cached},7", r.session, r.prompt));
    }
    (lines, rows)
}

const HEADER: &str = "session_id,t_submit,t_end,prompt_tokens,cached_tokens,output_tokens";

fn joined(lines: &[String], end: &str) -> String {
    lines.iter().fold(String::new(), |mut text, line| {
        let _ = write!(text, "{line}{end}");
        text
    })
}

/// What an answer rests on, without the file's own clock.
fn answered(text: &str) -> String {
    let observed = read(text);
    format!("{:#?}", judged(&observed, &Ask::default()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_of_requests_in_a_file_changes_nothing(requests in requests(), by in any::<u64>()) {
        let (lines, rows) = written(&requests);
        for (lines, header) in [(lines, String::new()), (rows, format!("{HEADER}\n"))] {
            let plain = header.clone() + &joined(&lines, "\n");
            let mut mixed = lines;
            let mut state = by | 1;
            for i in (1..mixed.len()).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                mixed.swap(i, (state >> 33) as usize % (i + 1));
            }
            let mixed = header + &joined(&mixed, "\n");
            prop_assert_eq!(told(&read(&plain)), told(&read(&mixed)));
            prop_assert_eq!(answered(&plain), answered(&mixed));
        }
    }

    #[test]
    fn how_lines_end_changes_nothing(requests in requests()) {
        let (lines, rows) = written(&requests);
        for (lines, header) in [(lines, None), (rows, Some(HEADER))] {
            let of = |end: &str| header.map_or(String::new(), |h| format!("{h}{end}")) + &joined(&lines, end);
            prop_assert_eq!(told(&read(&of("\n"))), told(&read(&of("\r\n"))));
            prop_assert_eq!(told(&read(&of("\n"))), told(&read(of("\n").trim_end())));
        }
    }

    #[test]
    fn a_file_cut_anywhere_keeps_all_but_its_last_record(requests in requests(), share in 0.0..1.0_f64) {
        let (lines, rows) = written(&requests);
        for (lines, header, format) in [(lines, String::new(), Format::Usage), (rows, format!("{HEADER}\n"), Format::Csv)] {
            let text = header.clone() + &joined(&lines, "\n");
            let cut = header.len() + ((text.len() - header.len()) as f64 * share) as usize;
            let whole_lines = text[header.len()..cut].matches('\n').count();
            let Ok(part) = whole(&text.as_bytes()[..cut], Some(format)) else { continue };
            prop_assert!(part.requests.len() == whole_lines || part.requests.len() == whole_lines + 1);
            let kept = header + &joined(&lines[..whole_lines], "\n");
            if whole_lines > 0 {
                let kept = whole(kept.as_bytes(), Some(format)).unwrap();
                prop_assert_eq!(&part.requests[..whole_lines], &kept.requests[..]);
            }
        }
    }

    #[test]
    fn any_bytes_in_any_pieces_never_panic_and_end(
        bytes in prop::collection::vec(any::<u8>(), 0..600),
        pieces in 1..50_usize,
    ) {
        for format in Format::ALL.map(Some).into_iter().chain([None]) {
            let mut reader = Reader::new(format, None);
            let pushed = bytes.chunks(pieces).try_for_each(|piece| reader.push(piece));
            if let (Ok(()), Ok(observed)) = (pushed, reader.finish()) {
                let _ = judged(&observed, &Ask::default());
            }
        }
    }

    #[test]
    fn marks_of_json_in_any_order_never_panic(marks in prop::collection::vec(prop::sample::select(vec![
        "{", "}", "[", "]", "\"", ":", ",", "\n", "\\", "1", "null", "NaN", "usage", "\"usage\":{\"prompt_tokens\":10}", "\r", "\u{85}",
    ]), 0..200)) {
        let text = marks.concat();
        for format in Format::ALL.map(Some) {
            if let Ok(observed) = whole(text.as_bytes(), format) {
                let _ = judged(&observed, &Ask::default());
            }
        }
    }
}
