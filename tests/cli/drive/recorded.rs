//! Recorded sessions on the wire.

use std::fs;

use super::{Lab, said};
use crate::fake::{Fake, Manner, small};
use crate::project::stderr;

/// 60 sessions of 3 to 6 turns; the last prompt of each is a compaction.
fn recorded_sessions() -> String {
    let mut text =
        "session,turn,t_s,prompt_tokens,output_tokens,reusable_tokens,think_s,api_s\n".to_owned();
    for i in 0..60 {
        let turns = 3 + i % 4;
        for k in 1..=turns {
            let (prompt, reusable) = match k {
                1 => (320 + i, 0),
                k if k == turns => (150 + i, 96),
                k => (320 + i + 70 * (k - 1), 320 + i + 70 * (k - 2)),
            };
            let think = if k == 1 { 0.0 } else { 0.1 };
            text += &format!("s{i},{k},{k},{prompt},{},{reusable},{think},1\n", 5 + k);
        }
    }
    text
}

#[test]
fn recorded_sessions_are_driven_as_they_were_recorded_in_open_and_closed_arms() {
    let (lab, fake) = (Lab::new(4.0), Fake::start(Manner::vllm()));
    fs::write(lab.at("sessions.csv"), recorded_sessions()).unwrap();
    let sha256 = trapcheck_setup::hash::sha256_hex(recorded_sessions().as_bytes());
    let workload = format!(
        "name: agents\nkind: recorded\npath: sessions.csv\nsha256: {sha256}\ngap_limit_s: 0.2\n"
    );
    fs::write(lab.at("configs/workloads/agents.yaml"), workload).unwrap();
    let cell = small::cell("vllm", "0.32.0", 5.0)
        .replace("name: small\nworkload: short", "name: agents\nworkload: agents");
    fs::write(lab.at("configs/cells/agents.yaml"), cell).unwrap();
    let campaign = "
name: agents
tables: csv
tests:
  - { test: open, place: here, cell: agents, arms: [{ arm: burst }], multiples: [1.0], seeds: [0] }
  - { test: closed, place: here, cell: agents, arms: [{ arm: closed, population: 5 }], seeds: [0] }
";
    fs::write(lab.at("configs/campaigns/agents.yaml"), campaign).unwrap();
    let args = ["--config", "configs/campaigns/agents.yaml", "--sample", "0.5", "--out", "runs"];
    let drive = ["drive", "--url", &fake.url];
    let output = lab.trapcheck(&[&drive[..], &args].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(stderr(&output).contains("agents: 60 of 60 sessions are played"), "{}", said(&output));
    assert_eq!(lab.inspect("runs").0, Some(0));
    for run in [
        "runs/open/agentload_burst/open_agents_burst_x1_s0",
        "runs/closed/agentload_closed/closed_agents_closed-n5_s0",
    ] {
        let read = |file: &str| fs::read_to_string(lab.at(run).join(file)).unwrap();
        let plan = read("plan.csv");
        assert!(plan.starts_with("session,kind,t_arrival,turns,tool_s,recorded\n"), "{plan}");
        let config = read("config.yaml");
        assert!(config.contains("name: agents, gaps up to 0.2 s\n  sessions: 60\n"), "{config}");
        let name_of = |kind: &str, session: &str| {
            let planned = plan.lines().find(|row| row.starts_with(&format!("{session},{kind},")));
            planned.unwrap().rsplit(',').next().unwrap().to_owned()
        };
        let recorded = recorded_sessions();
        let (mut turns, mut shorter, mut hits) = (0, 0, 0);
        for row in read("turns.csv").lines().skip(1) {
            let cells: Vec<&str> = row.split(',').collect();
            let start = format!("{},{},", name_of(cells[1], cells[0]), cells[2]);
            let asked = recorded.lines().find(|row| row.starts_with(&start)).unwrap();
            let asked: Vec<&str> = asked.split(',').collect();
            assert_eq!(cells[7], asked[3], "{row}");
            if cells[11] == "ok" {
                let cached: u64 = cells[8].parse().unwrap();
                assert!(cached <= asked[5].parse().unwrap(), "{row}");
                assert_eq!(cells[9], asked[4], "{row}");
                turns += 1;
                hits += usize::from(cached > 0);
                shorter += usize::from(asked[5] == "96");
            }
        }
        assert!(turns > 30 && shorter > 3 && hits > turns / 3, "{turns} {shorter} {hits}");
    }
}
