//! `trapcheck calibrate`.

use std::fs;

use crate::project::{Project, stderr, stdout, trapcheck};

const E0A: &str = "results/vllm-cpu/cpu_1_pulled_20261129-125700/agentload_e0a";
const CELL: &str = "configs/cells/vllm-cpu-tiny-30k.yaml";

#[test]
fn the_committed_cell_is_what_its_run_gives() {
    let project = Project::copy();
    let output = project.trapcheck(&["calibrate", E0A]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("says so already"), "{}", stderr(&output));
    // The README of these runs: 7,683 tokens/s, 6.87 turns/s, 0.4656 sessions/s by turns.
    let text = stdout(&output);
    assert!(text.contains("7683 tokens/s, 6.873 turns/s, mean prompt 1118 tokens"), "{text}");
    assert!(text.contains("0.4656 by turns"), "{text}");
    // The replays' fit (sim_against_engine: 12.85 ms per iteration), and what it leaves open.
    assert!(text.contains("An iteration costs 12.85 ms + 119.68 us per token"), "{text}");
    assert!(text.contains("not told, and left 0: f0_s, c_p_s_per_pair, c_d_s"), "{text}");
    // Its turns are longer than the workload's: the two rates are 6.8 % apart.
    let warning = "0.4656 by turns and 0.4972 by tokens, 7 % apart";
    assert!(stderr(&output).contains(warning), "{}", stderr(&output));
    assert_eq!(stderr(&output).matches("warning:").count(), 1, "{}", stderr(&output));
}

#[test]
fn runs_of_another_speed_in_one_calibration_are_named_with_their_rates() {
    let project = Project::copy();
    let batch = "results/vllm-cpu/cpu_2_pulled_20261129-141500/agentload_e0a";
    let output = project.trapcheck(&["calibrate", "--dry-run", E0A, batch]).output().unwrap();
    let said = stderr(&output);
    for words in ["differ in speed, 28 % apart", "7683 tokens/s in results/", "9807 tokens/s in"] {
        assert!(said.contains(words), "{said}");
    }
    assert!(said.contains("the cell's file has lambda_ref 0.4656, the fit 0.576"), "{said}");
    // Runs of one speed, whose rates agree: 9,600 tokens/s within 5 %.
    let output = project.trapcheck(&["calibrate", "--dry-run", batch]).output().unwrap();
    assert!(!stderr(&output).contains("differ in speed"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("by tokens"), "{}", stderr(&output));
}

#[test]
fn a_run_made_with_another_lambda_ref_is_named() {
    let project = Project::copy();
    let meta = project.path(&format!("{E0A}/20261129-115514_n32/meta.json"));
    let text = fs::read_to_string(&meta).unwrap();
    let mut keys: serde_json::Value = serde_json::from_str(&text).unwrap();
    keys["rate"]["lambda_ref"] = 0.38.into();
    fs::write(&meta, keys.to_string()).unwrap();
    let output = project.trapcheck(&["calibrate", "--dry-run", E0A]).output().unwrap();
    for whose in ["the fit has 0.4656, 23 % apart", "the cell's file has 0.4656, 23 % apart"] {
        let warning = format!("20261129-115514_n32 was run with lambda_ref 0.38, {whose}");
        assert!(stderr(&output).contains(&warning), "{}", stderr(&output));
    }
}

#[test]
fn a_new_cell_is_made_from_scratch_with_the_names_it_needs() {
    let project = Project::copy();
    let committed = fs::read_to_string(project.path(CELL)).unwrap();
    fs::remove_file(project.path(CELL)).unwrap();
    fs::remove_dir_all(project.path("configs/registrations")).unwrap();
    let output = project.trapcheck(&["calibrate", E0A]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--workload NAME"), "{}", stderr(&output));
    let names = [
        "--workload",
        "standard-tenth",
        "--protocol",
        "vllm-cpu",
        "--chunk-tokens",
        "2048",
        "--block-tokens",
        "32",
    ];
    let args = [&["calibrate", E0A], &names[..]].concat();
    project.trapcheck(&args).assert().success();
    assert_eq!(fs::read_to_string(project.path(CELL)).unwrap(), committed);
}

#[test]
fn another_calibration_is_not_written_over_the_first() {
    let project = Project::copy();
    let other = "results/vllm-cpu/cpu_2_pulled_20261129-141500/agentload_e0a";
    let before = fs::read(project.path(CELL)).unwrap();
    let output = project.trapcheck(&["calibrate", other]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--force replaces it"), "{}", stderr(&output));
    assert_eq!(fs::read(project.path(CELL)).unwrap(), before);
    project.trapcheck(&["calibrate", "--force", other]).assert().success();
    assert_ne!(fs::read(project.path(CELL)).unwrap(), before);
}

#[test]
fn separate_batching_leaves_the_iterations_untold_and_says_what_to_give() {
    let project = Project::copy();
    let cell = fs::read_to_string(project.path(CELL)).unwrap();
    fs::write(project.path(CELL), cell.replace("batching: mixed", "batching: separate")).unwrap();
    let output = project.trapcheck(&["calibrate", "--dry-run", E0A]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("do not share iterations (batching: separate)"), "{text}");
    assert!(text.contains("--a-s and --b-s-per-token"), "{text}");
    assert!(!text.contains("iteration_costs"), "{text}");
}

#[test]
fn only_a_cache_off_run_calibrates() {
    let project = Project::copy();
    let closed = E0A.replace("e0a", "closed/20261129-120826_n48");
    let output = project.trapcheck(&["calibrate", "--dry-run", &closed]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("the prefix cache was on"), "{}", stderr(&output));
}

#[test]
fn a_log_of_iterations_gives_the_whole_cost_of_one_with_its_residuals() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("server.log");
    let line = |i: u64| {
        let tokens = 1 + (i * 37) % 2000;
        let ms = 11.0 + 0.1 * tokens as f64;
        format!(
            "INFO [loggers.py:202] Engine 000: Iteration({i}): 1 context requests, {} context \
             tokens, 1 generation requests, 1 generation tokens, iteration elapsed time: {ms:.2} \
             ms, CPU KV cache usage: 10.0%\nINFO something else\n",
            tokens - 1
        )
    };
    std::fs::write(&log, (1..200).map(line).collect::<String>()).unwrap();
    let runs = "results/vllm-cpu/cpu_1_pulled_20261129-125700/agentload_e0a";
    let log = log.to_str().unwrap();
    let output =
        trapcheck(&["calibrate", "--dry-run", "--iterations", log, runs]).output().unwrap();
    let said = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(said.contains("An iteration costs 11.0"), "{said}");
    assert!(said.contains("100.00 us per token"), "{said}");
    assert!(said.contains("fitted to 199 logged iterations, residual 0.0 % rms"), "{said}");
    assert!(said.contains("b_s_per_token: 0.0001\n"), "{said}");
    let empty = trapcheck(&["calibrate", "--dry-run", "--iterations", "README.md", runs]).output();
    let output = empty.unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--enable-logging-iteration-details"), "{}", stderr(&output));
}

#[test]
fn sglangs_prefill_and_decode_lines_give_an_iterations_cost_with_its_residuals() {
    const DECODES: f64 = 40.0;
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("sglang.log");
    let mut text = String::from("[2026-09-02 10:00:00] server_args={'decode_log_interval': 40}\n");
    for i in 0..90_u32 {
        let (prefills, running) = (i % 5, 8.0);
        for k in 0..prefills {
            text += &format!(
                "[2026-09-02 10:00:05 TP0] Prefill batch, #new-seq: 1, #new-token: {}, \
                 #cached-token: 0, token usage: 0.20, #running-req: 8, #queue-req: 0, \
                 #pending-token: 0, cpu graph: False, input throughput (token/s): 118.40\n",
                500 + 100 * (i % 7) + k
            );
        }
        let prefilled: u32 = (0..prefills).map(|k| 500 + 100 * (i % 7) + k).sum();
        let decoded = DECODES * running;
        // 9 ms an iteration and 0.2 ms a token.
        let elapsed_s =
            9e-3 * (DECODES + f64::from(prefills)) + 2e-4 * (decoded + f64::from(prefilled));
        text += &format!(
            "[2026-09-02 10:00:06 TP0] Decode batch, #running-req: {running}, #token: 6000, \
             token usage: 0.20, cpu graph: False, gen throughput (token/s): {:.2}, #queue-req: 0\n",
            decoded / elapsed_s
        );
    }
    fs::write(&log, text).unwrap();
    let args = ["calibrate", "--dry-run", "--iterations", log.to_str().unwrap(), E0A];
    let output = trapcheck(&args).output().unwrap();
    let said = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(said.contains("An iteration costs 9.0"), "{said}");
    assert!(said.contains("and 200.0") && said.contains(" us per token"), "{said}");
    assert!(said.contains("fitted to 89 intervals of "), "{said}");
    assert!(
        said.contains("residual 0.0 % rms, 0 % at most; not told, and left 0: f0_s, c_p"),
        "{said}"
    );
    assert!(said.contains("b_s_per_token: 0.000200"), "{said}");
}

#[test]
fn model_rescue_and_curve_are_answered_for_a_cell_that_calibrate_wrote() {
    let project = Project::copy();
    fs::remove_file(project.path(CELL)).unwrap();
    fs::remove_dir_all(project.path("configs/registrations")).unwrap();
    let names =
        "--workload standard-tenth --protocol vllm-cpu --chunk-tokens 2048 --block-tokens 32";
    let words: Vec<&str> = ["calibrate", E0A].into_iter().chain(names.split(' ')).collect();
    project.trapcheck(&words).assert().success();
    for (question, answer) in
        [("rescue --rate 1.5 --cap 20", "rescuing caps, in sessions"), ("curve", "peak")]
    {
        let words = ["model"].into_iter().chain(question.split(' '));
        let words: Vec<&str> = words.chain(["--cell", "vllm-cpu-tiny-30k"]).collect();
        let output = project.trapcheck(&words).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", stderr(&output));
        assert!(stdout(&output).contains(answer), "{}", stdout(&output));
    }
}
