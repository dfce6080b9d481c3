//! Workloads of sessions in cells: plan, simulate, campaign, knee and model take them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use trapcheck_setup::hash::sha256_hex;

use crate::knee::made_up;
use crate::project::{stderr, stdout};

const CELL: &str = "
name: NAME
workload: NAME
protocol: brief
engine: { name: vllm, version: 0.32.0 }
model: m
gpu: none
pool_tokens: 80000
block_tokens: 16
batching: mixed
chunk_tokens: 8192
max_running: 64
lambda_ref_per_s: 0.09
all_miss_tokens_per_s: 11000
costs: { kind: iteration, a_s: 0.01, f0_s: 0, b_s_per_token: 0.00008, c_p_s_per_pair: 0.0, c_d_s: 0.0 }
";

const PROTOCOL: &str = "
name: brief
paired:
  horizon_s: 900
  burst: { start_s: 200, length_s: 20, sessions: 30 }
  window_s: [500, 900]
  last_s: 100
  minimum_window_s: 100
closed: { warm_up_s: 200, window_s: 400 }
e0a: { warm_up_s: 200, window_s: 400 }
e0b: { horizon_s: 600, window_s: [300, 600] }
bins: { backlog_s: 10, hit_s: 50, follow_up_s: 50, gap_s: 100 }
";

const CAMPAIGN: &str = "
name: agents
tables: csv
tests:
  - { test: closed, place: here, cell: agents, arms: [{ arm: closed, population: 4 }], seeds: [0, 1] }
  - { test: burst, place: here, cell: agents, arms: [{ arm: burst }, { arm: capped, cap: 4 }], multiples: [1.2], seeds: [0] }
";

/// Every arm with what it needs.
const ARMS: [&[&str]; 10] = [
    &["noburst", "--rate", "1.2"],
    &["burst", "--rate", "1.2"],
    &["capped", "--rate", "1.2", "--cap", "4"],
    &["rescue", "--rate", "1.2", "--cap", "4", "--from", "400"],
    &["shed", "--rate", "1.2", "--from", "400", "--for", "100"],
    &["toolslow", "--rate", "1.2", "--from", "300", "--for", "100", "--delay", "20"],
    &["cut", "--rate", "1.2", "--from", "400", "--cut-to", "0.5"],
    &["closed", "--population", "8"],
    &["e0a", "--population", "8"],
    &["e0b", "--rate", "1.2"],
];

/// A folder with a cell that plays recorded sessions and one that plays a law.
struct Lab(tempfile::TempDir);

impl Lab {
    fn new() -> Self {
        let lab = Self(tempfile::tempdir().unwrap());
        let law = "
name: short
turns: { law: truncated-geometric, mean: 4, max: 8 }
first_prompt_tokens: 200
tool_output_tokens: 55
decoded_tokens: 10
tool_time: { law: exponential, mean_s: 2 }
";
        for (file, text) in [
            ("configs/cells/agents.yaml", CELL.replace("NAME", "agents")),
            ("configs/cells/short.yaml", CELL.replace("NAME", "short")),
            ("configs/workloads/short.yaml", law.into()),
            ("configs/protocols/brief.yaml", PROTOCOL.into()),
            ("configs/campaigns/agents.yaml", CAMPAIGN.into()),
        ] {
            let path = lab.at(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::create_dir_all(lab.at("configs/registrations")).unwrap();
        let traces = made_up(lab.0.path(), 300);
        lab.recorded(&sha256_hex(&fs::read(traces).unwrap()));
        lab
    }

    /// Writes the workload of recorded sessions.
    fn recorded(&self, sha256: &str) {
        let text = format!(
            "name: agents\nkind: recorded\npath: made-up.csv\nsha256: {sha256}\ngap_limit_s: 10\n\
             sources: {{ path: the shelf }}\n"
        );
        fs::write(self.at("configs/workloads/agents.yaml"), text).unwrap();
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    /// Exit code, stdout and stderr.
    fn trapcheck(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("trapcheck"));
        let output = command.args(args).current_dir(self.0.path()).output().unwrap();
        (output.status.code(), stdout(&output), stderr(&output))
    }

    fn good(&self, args: &[&str]) -> (String, String) {
        let (code, said, notes) = self.trapcheck(args);
        assert_eq!(code, Some(0), "{args:?}: {said}{notes}");
        (said, notes)
    }
}

#[test]
fn every_arm_plans_and_simulates_recorded_sessions_and_the_runs_load() {
    let lab = Lab::new();
    for arm in ARMS {
        let plan = ["plan", "--cell", "agents", "--out", "-", "--arm"];
        let (plan, notes) = lab.good(&[&plan[..], arm].concat());
        assert!(plan.starts_with("session,kind,t_arrival,turns,tool_s,recorded\n"), "{plan}");
        assert!(notes.contains("8 sessions left out: a turn larger than the pool"), "{notes}");
        let out = format!("runs/{}", arm[0]);
        let run = ["simulate", "--cell", "agents", "--tables", "csv", "--out", &out, "--arm"];
        lab.good(&[&run[..], arm].concat());
        let written = fs::read_to_string(lab.at(&out).join("plan.csv")).unwrap();
        assert_eq!(written, plan, "{arm:?}");
        let config = fs::read_to_string(lab.at(&out).join("config.yaml")).unwrap();
        assert!(config.contains("name: agents, gaps up to 10 s\n"), "{config}");
        assert!(
            config.contains("  sessions: 292\n") && config.contains("hits: prefix\n"),
            "{config}"
        );
        let turns = fs::read_to_string(lab.at(&out).join("turns.csv")).unwrap();
        assert!(turns.lines().count() > 200, "{arm:?}");
    }
    let (table, _) = lab.good(&["inspect", "--wide", "runs"]);
    assert_eq!(table.matches("simulator").count(), ARMS.len(), "{table}");
    lab.good(&["score", "runs"]);
    // The same question has the same answer, and is not asked twice of one folder.
    let again = ["simulate", "--cell", "agents", "--tables", "csv", "--out", "again", "--arm"];
    lab.good(&[&again[..], ARMS[1]].concat());
    for file in ["turns.csv", "sessions.csv", "engine.csv"] {
        assert_eq!(
            fs::read(lab.at("again").join(file)).unwrap(),
            fs::read(lab.at("runs/burst").join(file)).unwrap()
        );
    }
}

#[test]
fn a_campaign_a_knee_and_a_model_take_the_sessions_of_their_cell() {
    let lab = Lab::new();
    let campaign = ["campaign", "configs/campaigns/agents.yaml", "--out", "runs"];
    let (_, notes) = lab.good(&campaign);
    assert!(
        notes.contains("4 runs made") && notes.contains("agents: 292 of 300 sessions"),
        "{notes}"
    );
    let (_, notes) = lab.good(&campaign);
    assert!(notes.contains("0 runs made, 4 were there"), "{notes}");
    let knee = ["knee", "--cell", "agents", "--population", "2", "--seeds", "1", "--window", "300"];
    let (said, _) = lab.good(&knee);
    assert!(said.contains("agents, gaps up to 10 s"), "{said}");
    let (said, _) = lab.good(&[&knee[..], &["--gap-limit", "5"]].concat());
    assert!(said.contains("agents, gaps up to 5 s"), "{said}");
    let model = ["model", "trap", "--cell", "agents", "--rho", "1.5"];
    let (wide, notes) = lab.good(&model);
    assert!(notes.contains("292 of 300 sessions are played"), "{notes}");
    // A larger pool holds the sessions that are left out else.
    let (_, notes) = lab.good(&[&model[..], &["--pool", "200000"]].concat());
    assert!(notes.contains("300 of 300 sessions are played"), "{notes}");
    let asked = ["model", "trap", "--cell", "short", "--workload", "agents", "--rho", "1.5"];
    assert_eq!(lab.good(&asked).0.lines().count(), wide.lines().count());
    let (code, _, error) = lab.trapcheck(&[&model[..], &["--mean-turns", "5"]].concat());
    assert_eq!(code, Some(2));
    assert!(error.contains("consists of sessions"), "{error}");
}

#[test]
fn sessions_drawn_from_quantiles_are_a_cells_workload_without_any_trace() {
    let lab = Lab::new();
    let fit = ["sessions", "fit", "made-up.csv", "--source", "made up"];
    lab.good(&[&fit[..], &["--out", "configs/workloads/drawn.yaml"]].concat());
    fs::write(lab.at("configs/cells/drawn.yaml"), CELL.replace("NAME", "drawn")).unwrap();
    fs::remove_file(lab.at("made-up.csv")).unwrap();
    let run = ["simulate", "--cell", "drawn", "--out", "run", "--arm", "burst", "--rate", "1.2"];
    let (_, notes) = lab.good(&run);
    assert!(notes.contains("1000 sessions drawn from quantiles of: made up"), "{notes}");
    lab.good(&["score", "run"]);
}

#[test]
fn sessions_that_are_not_to_be_had_are_one_clear_error_and_hurt_nobody_else() {
    let lab = Lab::new();
    let run = ["simulate", "--cell", "agents", "--out", "run", "--arm", "burst", "--rate", "1.2"];
    lab.good(&run);
    let plan = ["plan", "--cell", "agents", "--arm", "closed", "--population", "4"];
    let campaign = ["campaign", "configs/campaigns/agents.yaml", "--out", "runs"];
    let model = ["model", "trap", "--cell", "agents", "--rho", "1.5"];
    let refused = |said: &str| {
        for args in [&plan[..], &campaign, &model] {
            let (code, out, error) = lab.trapcheck(args);
            assert_eq!((code, out.as_str()), (Some(2), ""), "{args:?}: {error}");
            for words in [said, "they are from the shelf", "kind empirical", "needs no file"] {
                assert!(error.contains(words), "{args:?}: {error}");
            }
        }
        assert!(!lab.at("runs").exists());
    };
    lab.recorded(&"0".repeat(64));
    refused("other sessions are another workload");
    fs::remove_file(lab.at("made-up.csv")).unwrap();
    refused("made-up.csv");
    lab.good(&["plan", "--cell", "short", "--arm", "closed", "--population", "4"]);
    // A run that is there is read and judged; what only its sessions could say is unknown.
    lab.good(&["score", "run"]);
}
