//! Makes small inputs, and reads them.

use std::fmt::Write as _;

use trapcheck_observed::answer::{Answer, Ask, Thresholds, answers};
use trapcheck_observed::form::Observed;
use trapcheck_observed::read::whole;

pub const START: u32 = 1_788_343_200;

pub fn read(text: &str) -> Observed {
    whole(text.as_bytes(), None).unwrap()
}

/// Several files as views of one service.
pub fn together(texts: &[&str]) -> Observed {
    let mut all = Observed::default();
    for (i, text) in texts.iter().enumerate() {
        all.add(read(text), &format!("file {i}"), true);
    }
    all.finish();
    all
}

pub fn judged(observed: &Observed, ask: &Ask) -> Vec<Answer> {
    answers(observed, ask, &Thresholds::default())
}

pub fn only_of(observed: &Observed, ask: &Ask) -> Answer {
    let mut answers = judged(observed, ask);
    assert_eq!(answers.len(), 1, "{answers:#?}");
    answers.remove(0)
}

pub fn only(text: &str) -> Answer {
    only_of(&read(text), &Ask::default())
}

pub fn says(lines: &[String], what: &str) -> bool {
    lines.iter().any(|line| line.contains(what))
}

pub fn proves(answer: &Answer, what: &str) -> bool {
    answer.evidence.iter().any(|e| e.words.contains(what))
}

/// A line of vLLM's log, one every 10 s.
pub struct Line {
    pub prompt_rate: f64,
    pub running: u32,
    pub waiting: u32,
    pub preemptions: u32,
    pub usage: f64,
    pub hits: f64,
}

pub fn vllm_log(lines: impl IntoIterator<Item = Line>) -> String {
    let mut text = String::from(
        "INFO 09-02 09:59:00 [core.py:1] Initializing a V1 LLM engine (v0.11.0) with config: model='m'\n",
    );
    for (i, l) in lines.into_iter().enumerate() {
        let (m, s) = (i / 6, i % 6 * 10);
        let preempted = if l.preemptions > 0 {
            format!("Preemptions: {}, ", l.preemptions)
        } else {
            String::new()
        };
        let _ = writeln!(
            text,
            "(APIServer pid=7) INFO 09-02 10:{m:02}:{s:02} [loggers.py:259] Engine 000: Avg prompt throughput: {:.1} tokens/s, Avg generation throughput: 96.1 tokens/s, Running: {} reqs, Waiting: {} reqs, {preempted}GPU KV cache usage: {:.1}%, Prefix cache hit rate: {:.1}%",
            l.prompt_rate, l.running, l.waiting, l.usage, l.hits
        );
    }
    text
}

/// A scrape: a comment with its time, then metrics by full name and labels.
pub fn scrape(at: u32, metrics: &[(&str, f64)]) -> String {
    let mut text = format!("# {at}\n");
    for (name, value) in metrics {
        let _ = writeln!(text, "{name} {value:?}");
    }
    text
}

/// A request as a client logs it.
#[derive(Clone, Copy)]
pub struct Sent {
    pub session: u32,
    pub turn: u32,
    pub submit: f64,
    pub first: f64,
    pub end: f64,
    pub prompt: u32,
    pub cached: Option<u32>,
}

pub fn usage_lines(requests: &[Sent]) -> String {
    let mut text = String::new();
    for r in requests {
        let cached = r.cached.map_or("null".into(), |n| format!("{{\"cached_tokens\":{n}}}"));
        let _ = writeln!(
            text,
            "{{\"session_id\":\"s{}\",\"turn\":{},\"submit_timestamp\":{:.3},\"ttft_s\":{:.3},\"complete_timestamp\":{:.3},\"usage\":{{\"prompt_tokens\":{},\"completion_tokens\":50,\"prompt_tokens_details\":{cached}}}}}",
            r.session,
            r.turn,
            f64::from(START) + r.submit,
            r.first - r.submit,
            f64::from(START) + r.end,
            r.prompt
        );
    }
    text
}

/// Sessions that take turns one after the other: each turn 3,000 tokens longer than the one
/// before it, a first token after `wait`, all of it within `length`.
pub fn turns(
    sessions: u32,
    turns: u32,
    each: (u32, u32),
    (wait, length): (f64, f64),
    cached: impl Fn(u32, u32) -> Option<u32>,
) -> Vec<Sent> {
    let mut requests = Vec::new();
    for turn in 1..=turns {
        for session in 0..sessions {
            let submit = f64::from(60 * turn + session);
            let (before, prompt) =
                (each.0 + each.1 * turn.saturating_sub(2), each.0 + each.1 * (turn - 1));
            let cached = if turn == 1 { Some(0) } else { cached(before, prompt) };
            requests.push(Sent {
                session,
                turn,
                submit,
                first: submit + wait,
                end: submit + length,
                prompt,
                cached,
            });
        }
    }
    requests
}
