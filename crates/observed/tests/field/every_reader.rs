//! What may not change a number, in every reader: how lines end, where a file is cut but for its
//! last record, and the order of records that carry their own time.

use std::collections::BTreeSet;

use trapcheck_observed::form::Observed;
use trapcheck_observed::format::Format;
use trapcheck_observed::read::whole;

use crate::corpus::{told, whole_ones};
use crate::made::read;

/// A stream of numbers, each below its bound.
fn numbers() -> impl FnMut(usize) -> usize {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as usize % below.max(1)
    }
}

#[test]
fn in_every_reader_lines_may_end_one_way_or_the_other() {
    let mut next = numbers();
    let mut seen = BTreeSet::new();
    for (sample, format) in whole_ones() {
        seen.insert(format);
        let plain = told(&whole(&sample.bytes, None).unwrap());
        let text = String::from_utf8(sample.bytes).unwrap();
        for _ in 0..20 {
            let lines = text.split_inclusive('\n').map(|line| match line.strip_suffix('\n') {
                Some(line) if next(2) == 0 => format!("{line}\r\n"),
                _ => line.to_owned(),
            });
            assert_eq!(told(&read(&lines.collect::<String>())), plain, "{}", sample.name);
        }
    }
    assert_eq!(seen.len(), Format::ALL.len());
}

/// Where a part says something else than the whole does, but for its last record.
fn differs(part: &Observed, all: &Observed) -> Option<String> {
    let last = part.requests.iter().map(|r| r.row).max();
    for request in part.requests.iter().filter(|r| Some(r.row) < last) {
        let same = all.requests.iter().find(|r| r.row == request.row);
        if same != Some(request) {
            return Some(format!("{request:?} is {same:?}"));
        }
    }
    for (name, engine) in &part.engines {
        let of_part = engine.series.samples();
        // Totals over engines are there until the first engine's own line.
        let Some(whole) = all.engines.get(name).filter(|_| name != "aggregated") else { continue };
        let of_all = whole.series.samples();
        let sure = of_part.len().saturating_sub(1);
        for (one, same) in of_part[..sure].iter().zip(of_all) {
            if format!("{one:?}") != format!("{same:?}") {
                return Some(format!("{one:?} is {same:?}"));
            }
        }
        if of_part.len() > of_all.len() {
            return Some(format!("{} samples of {}", of_part.len(), of_all.len()));
        }
    }
    part.rungs.iter().find(|rung| !all.rungs.contains(rung)).map(|rung| format!("{rung:?}"))
}

#[test]
fn in_every_reader_a_cut_changes_the_last_record_alone() {
    let mut read_some = BTreeSet::new();
    for (sample, format) in whole_ones() {
        let all = whole(&sample.bytes, None).unwrap();
        let step = 1 + sample.bytes.len() / 400;
        for cut in (1..=sample.bytes.len()).step_by(step).chain([sample.bytes.len()]) {
            let Ok(part) = whole(&sample.bytes[..cut], Some(format)) else { continue };
            read_some.insert(format);
            assert_eq!(differs(&part, &all), None, "{} at {cut}", sample.name);
            // What is said of the engine is not its last record, once its line has ended.
            if sample.bytes[cut - 1] == b'\n' {
                for (name, engine) in &part.engines {
                    let whole = all.engines.get(name).and_then(|engine| engine.pool_tokens);
                    assert!(
                        engine.pool_tokens.is_none()
                            || whole.is_none()
                            || engine.pool_tokens == whole,
                        "{} at {cut}",
                        sample.name
                    );
                }
            }
        }
    }
    assert_eq!(read_some.len(), Format::ALL.len());
}

/// Records of a text that may be put in another order: lines, but for a header; within one
/// scrape of metrics. None where the order is all the time there is.
fn loose(format: Format, text: &str, observed: &Observed) -> Option<Vec<(usize, usize)>> {
    let lines = text.lines().count();
    let timed = observed.requests.iter().all(|r| r.t_submit_s.is_some());
    let at = |line: &str| text.lines().position(|l| l == line);
    match format {
        Format::Usage | Format::AiPerf | Format::SglangRequests => {
            (timed && !observed.sessions_by_hashes).then(|| vec![(0, lines)])
        }
        Format::Csv => timed.then(|| vec![(1, lines)]),
        Format::SglangMultiTurn | Format::AgentX => Some(vec![(0, lines)]),
        Format::Prometheus => {
            let stamp = |line: &&str| line.trim_matches(['#', ' ']).parse::<u64>().is_ok();
            let mut starts: Vec<usize> = text.lines().filter(stamp).filter_map(at).collect();
            starts.push(lines);
            Some(starts.windows(2).map(|pair| (pair[0] + 1, pair[1])).collect())
        }
        _ => None,
    }
}

#[test]
fn in_every_reader_of_timed_records_their_order_changes_nothing() {
    let mut next = numbers();
    let mut seen = BTreeSet::new();
    for (sample, format) in whole_ones() {
        let plain = whole(&sample.bytes, None).unwrap();
        let text = String::from_utf8(sample.bytes).unwrap();
        let Some(parts) = loose(format, &text, &plain) else { continue };
        seen.insert(format);
        for _ in 0..20 {
            let mut lines: Vec<&str> = text.lines().collect();
            for (from, to) in &parts {
                for i in (1..to - from).rev() {
                    lines.swap(from + i, from + next(i + 1));
                }
            }
            let mixed = whole((lines.join("\n") + "\n").as_bytes(), Some(format)).unwrap();
            assert_eq!(told(&mixed), told(&plain), "{}", sample.name);
        }
    }
    // Logs number their batches by the order of lines, documents are one record or a list.
    let timed = [
        Format::Prometheus,
        Format::Csv,
        Format::AiPerf,
        Format::SglangRequests,
        Format::Usage,
        Format::SglangMultiTurn,
        Format::AgentX,
    ];
    assert_eq!(seen, BTreeSet::from(timed));
}
