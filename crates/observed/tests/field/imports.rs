//! Runs out of what was observed.

use trapcheck_observed::import::{Imported, NoRun, Told, runs};

use crate::made::{START, Sent, read, scrape, together, turns, usage_lines};
use trapcheck_runs::run::{SessionStatus, TurnStatus};

fn told() -> Told {
    Told {
        run_id: "r".into(),
        cell: "mine".into(),
        arm: "imported".into(),
        pool_tokens: Some(100_000),
        prefix_caching: None,
        population: None,
    }
}

fn one(text: &str) -> Imported {
    let mut runs = runs(&read(text), &told()).unwrap();
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

#[test]
fn what_a_client_says_is_kept_to_the_digit_and_what_it_does_not_say_stays_unknown() {
    let requests =
        turns(3, 4, (1000, 500), (2.5, 20.0), |before, _| (before > 1000).then_some(before));
    let imported = one(&usage_lines(&requests));
    let run = &imported.run;
    assert_eq!((run.sessions.len(), run.turns.len()), (3, 12));
    let turn = &run.turns[4];
    assert_eq!((turn.number, turn.prompt_tokens, turn.cached_tokens), (2, 1500, None));
    assert_eq!(run.turns[7].cached_tokens, Some(1500));
    assert!((turn.t_submit_s - 61.0).abs() < 1e-6, "{}", turn.t_submit_s);
    assert!((turn.t_first_s.unwrap() - turn.t_submit_s - 2.5).abs() < 1e-6);
    assert_eq!(turn.tool_s, None);
    assert_eq!(run.meta.start_unix, Some(f64::from(START) + 60.0));
    assert!(run.meta.prefix_caching, "hits show that there is a cache");
    assert_eq!(run.meta.rate.lambda, None);
    assert_eq!(
        imported
            .notes
            .count("turns whose client does not say when it was ready: taken as when it sent"),
        12
    );
}

#[test]
fn gauges_go_with_the_requests_of_the_same_clock() {
    let at = |i: u32| {
        scrape(
            START + 30 * i,
            &[
                ("vllm:num_requests_running", 2.0),
                ("vllm:num_requests_waiting", 1.0),
                ("vllm:kv_cache_usage_perc", 0.25),
                ("vllm:prefix_cache_queries_total", f64::from(1000 * i)),
                ("vllm:prefix_cache_hits_total", f64::from(900 * i)),
            ],
        )
    };
    let metrics: String = (0..10).map(at).collect();
    let requests = usage_lines(&turns(2, 3, (1000, 500), (1.0, 5.0), |before, _| Some(before)));
    let mut runs = runs(&together(&[&metrics, &requests]), &told()).unwrap();
    let run = runs.remove(0).run;
    assert_eq!((run.engine.len(), run.turns.len(), runs.len()), (10, 6, 0));
    assert_eq!(run.engine[3].prompt_tokens_total, Some(3000));
    assert_eq!(run.engine[3].kv_used_tokens, Some(25_000));
    assert!((run.engine[3].t_s - 90.0).abs() < 1e-6);
    assert!((run.turns[0].t_submit_s - 60.0).abs() < 1e-6);
    assert_eq!(run.meta.engine.name, "vllm");
    // Of another clock they are left out and counted.
    let log = "INFO 09-02 10:00:05 [l.py:1] Engine 000: Avg prompt throughput: 8.0 tokens/s, Running: 1 reqs, Waiting: 2 reqs\n";
    let imported =
        trapcheck_observed::import::runs(&together(&[log, &requests]), &told()).unwrap().remove(0);
    assert_eq!(imported.run.engine.len(), 0);
    assert_eq!(imported.dropped.count("samples of another clock than the requests'"), 1);
}

#[test]
fn each_of_several_engines_becomes_a_run() {
    let at = |i: u32| {
        scrape(
            START + 30 * i,
            &[
                ("vllm:num_requests_running{engine=\"0\"}", 2.0),
                ("vllm:num_requests_running{engine=\"1\"}", 3.0),
            ],
        )
    };
    let told = Told { prefix_caching: Some(true), ..told() };
    let runs = runs(&read(&(0..5).map(at).collect::<String>()), &told).unwrap();
    let found: Vec<_> = runs.iter().map(|r| (r.engine.as_str(), r.run.engine.len())).collect();
    assert_eq!(found, [("engine 0", 5), ("engine 1", 5)]);
    assert_eq!(runs[1].run.engine[0].running, Some(3));
}

#[test]
fn a_session_with_several_requests_at_once_is_as_many_streams_and_counted() {
    let sent = |turn: u32, submit: f64, end: f64| Sent {
        session: 0,
        turn,
        submit,
        first: submit + 1.0,
        end,
        prompt: 100,
        cached: Some(64),
    };
    let text = usage_lines(&[
        sent(1, 0.0, 10.0),
        sent(2, 5.0, 8.0),
        sent(3, 20.0, 30.0),
        sent(4, 22.0, 40.0),
    ]);
    let imported = one(&text);
    let ids: Vec<_> = imported.run.sessions.iter().map(|s| &*s.id).collect();
    assert_eq!(ids, ["s0", "s0+2"]);
    assert_eq!(
        imported.notes.count("further streams of sessions that held several requests at once"),
        1
    );
    let numbers: Vec<_> = imported.run.turns.iter().map(|t| (t.session.0, t.number)).collect();
    assert_eq!(numbers, [(0, 1), (1, 1), (0, 2), (1, 2)]);
}

#[test]
fn requests_without_ids_are_the_sessions_that_the_hash_ids_of_their_prompts_tell() {
    let text = include_str!("../corpus/usage.hash-ids.txt");
    let imported = one(text);
    let run = &imported.run;
    assert_eq!((run.sessions.len(), run.turns.len()), (3, 9));
    let numbers: Vec<_> = run.turns.iter().map(|t| (t.session.0, t.number)).collect();
    assert_eq!(numbers[..6], [(0, 1), (1, 1), (2, 1), (0, 2), (1, 2), (2, 2)]);
    assert_eq!(imported.notes.count("sessions told by the hash ids of their prompts"), 3);
    // Beside ids they tell nothing more.
    let named = text.replace("{\"submit", "{\"session_id\":\"one\",\"submit");
    let of_one = one(&named);
    assert_eq!(of_one.notes.count("sessions told by the hash ids of their prompts"), 0);
    assert!(of_one.run.sessions.iter().all(|s| s.id.starts_with("one")));
    // What the sessions could have found is known, so what they missed is, too.
    let answer = crate::made::only(&text.replace("\"cached_tokens\":96", "\"cached_tokens\":0"));
    assert!(crate::made::proves(&answer, "had been sent before"), "{answer:#?}");
}

#[test]
fn failures_and_what_was_given_up_are_kept_and_what_has_no_place_is_counted() {
    let mut text = usage_lines(&turns(2, 3, (1000, 500), (1.0, 5.0), |before, _| Some(before)));
    text += &format!(
        "{{\"session_id\":\"s0\",\"turn\":4,\"submit_timestamp\":{}.0,\"usage\":{{\"prompt_tokens\":9}},\"error\":\"reset\"}}\n",
        START + 300
    );
    text += &format!(
        "{{\"session_id\":\"s1\",\"turn\":4,\"submit_timestamp\":{}.0,\"usage\":{{\"prompt_tokens\":9}},\"status\":\"cancelled\"}}\n",
        START + 300
    );
    text += "{\"session_id\":\"s1\",\"turn\":5,\"usage\":{\"prompt_tokens\":9}}\n";
    let imported = one(&text);
    let run = &imported.run;
    let status: Vec<_> = run.turns[6..].iter().map(|t| t.status.clone()).collect();
    assert_eq!(status, [TurnStatus::Error("reset".into()), TurnStatus::UnfinishedAtHorizon]);
    let sessions: Vec<_> = run.sessions.iter().map(|s| s.status).collect();
    assert_eq!(sessions, [SessionStatus::Failed, SessionStatus::Running]);
    assert_eq!(run.meta.counts.request_errors, 1);
    assert_eq!(imported.dropped.count("requests without a time"), 1);
}

#[test]
fn what_a_run_needs_and_nobody_tells_is_asked_for_by_name() {
    let requests = usage_lines(&turns(2, 3, (1000, 500), (1.0, 5.0), |_, _| None));
    let why = |text: &str, told: &Told| runs(&read(text), told).unwrap_err();
    assert_eq!(why(&requests, &Told { pool_tokens: None, ..told() }), NoRun::NoPool);
    let zero = requests.replace("\"cached_tokens\":0", "\"cached_tokens\":null");
    assert_eq!(why(&zero, &told()), NoRun::NoCaching);
    let no_times = "{\"session_id\":\"s\",\"turn\":1,\"usage\":{\"prompt_tokens\":9}}\n";
    assert_eq!(why(no_times, &told()), NoRun::NoTimes);
    let no_sessions: String = (0..6)
        .map(|i| format!("{{\"submit_timestamp\":{}.0,\"complete_timestamp\":{}.0,\"usage\":{{\"prompt_tokens\":{}}}}}\n", START + i, START + 60 + i, 100 - i))
        .collect();
    assert_eq!(why(&no_sessions, &told()), NoRun::NoSessions);
}
