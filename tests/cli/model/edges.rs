//! The models at their edges, and asked of a cell of one's own.

use super::{fact, printed, refused};

/// A workload and load by flags, for cells by flags.
const WORKLOAD: [&str; 10] = [
    "--mean-turns",
    "15",
    "--max-turns",
    "60",
    "--first-prompt",
    "2000",
    "--tool-output",
    "550",
    "--decoded",
    "100",
];

/// The paper's iteration costs (App. E.9), by flags.
const ITERATION: [&str; 10] = [
    "--a-s",
    "0.00924",
    "--f0-s",
    "0.00126",
    "--b-s-per-token",
    "0.0000626",
    "--c-p-s-per-pair",
    "2.24e-9",
    "--c-d-s",
    "0.00031",
];

#[test]
fn a_pool_that_the_models_cannot_speak_of_is_refused_with_the_reason() {
    let on = |ask: &'static str, pool: &'static str| {
        let load: &[&str] = if ask == "curve" { &[] } else { &["--rate", "1.65"] };
        [&[ask, "--cell", "sglang-300k", "--pool", pool], load].concat()
    };
    for ask in ["trap", "curve", "rescue", "burst", "cut", "stop"] {
        refused(&on(ask, "1"), "a pool of 1 tokens cannot hold turn 1, whose KV is 2100 tokens");
        refused(&on(ask, "40449"), "cannot hold turn 60, whose KV is 40450 tokens");
        refused(&on(ask, "100000000000"), "the engine runs at most 256 (max_running)");
    }
    let text = printed(&["curve", "--cell", "sglang-300k", "--pool", "40450"]);
    assert_eq!(fact(&text, "folds"), "0");
}

#[test]
fn growth_just_above_capacity_is_small_and_not_zero() {
    let at = ["trap", "--cell", "sglang-300k", "--rho", "1.0000001"];
    let text = printed(&at);
    assert_eq!(fact(&text, "load rho"), "1.000000100");
    // gamma = (rho - 1) / kbar_c to first order, kbar_c about 24 turns.
    let growth: f64 = fact(&text, "gap growth, per joining time").parse().unwrap();
    assert!((3e-9..6e-9).contains(&growth), "{growth}");
    let json = printed(&[&at[..], &["--format", "json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let facts = json["model_trap"].as_array().unwrap();
    for name in ["gap growth, per completion time", "backlog growth alpha"] {
        let found = facts.iter().find(|fact| fact["quantity"] == name).unwrap();
        assert!(found["value"].as_f64().unwrap() > 0.0, "{name}");
    }
}

#[test]
fn a_cut_lowers_arrivals_in_a_trap_or_is_refused() {
    let cut = |rest: &[&'static str]| [&["cut", "--cell", "sglang-300k"], rest].concat();
    refused(&cut(&["--rate", "1.65", "--to", "1.15,3"]), "is no cut");
    refused(&cut(&["--rate", "1.65", "--to", "1.65"]), "is no cut");
    refused(&cut(&["--rate", "0.5"]), "no trap: a cut is asked of a load above");
    refused(&cut(&["--rho", "1"]), "no trap");
    refused(&["stop", "--cell", "sglang-300k", "--rate", "0.5"], "no trap: a stop is asked");
    // Of Corollary 3's cuts, those that lower this load.
    let text = printed(&cut(&["--rho", "1.06", "--format", "csv"]));
    let cuts = text.lines().skip_while(|line| !line.starts_with("cut_to")).skip(1);
    assert_eq!(cuts.count(), 4);
}

#[test]
fn a_backlog_is_not_followed_for_ever() {
    let cut = |to: &'static str| {
        ["cut", "--cell", "sglang-300k", "--rate", "1.65", "--until", "1e12", "--to", to]
    };
    let text = printed(&cut("1.2,0.5"));
    assert!(text.contains("grows  ") && text.contains("empties  "), "{text}");
    let critical = ["cut", "--cell", "sglang-300k", "--rate", "1.65", "--until", "1e12"];
    refused(&critical, "cycles");
}

#[test]
fn a_trap_of_ten_thousand_turns_is_answered_and_its_roots_are_on_request() {
    let start = std::time::Instant::now();
    let text =
        printed(&["trap", "--cell", "sglang-300k", "--rate", "1.65", "--max-turns", "10000"]);
    assert!(start.elapsed().as_secs_f64() < 5.0, "{:?}", start.elapsed());
    assert_eq!(fact(&text, "transient per generation theta"), "on request: --roots");
    // The turns beyond 60 add a tenth of the work.
    let rho: f64 = fact(&text, "load rho").parse().unwrap();
    assert!((1.643..1.9).contains(&rho), "{rho}");
    let text = printed(&["trap", "--cell", "sglang-300k", "--rate", "1.65", "--roots"]);
    assert_eq!(fact(&text, "transient per generation theta"), "0.931");
    let (z, r): (f64, f64) = (
        fact(&text, "Perron root z").parse().unwrap(),
        fact(&text, "second root's modulus r").parse().unwrap(),
    );
    assert!((r / z - 0.931).abs() < 5e-4, "{r} {z}");
    let many = ["trap", "--cell", "sglang-300k", "--rate", "1.65", "--max-turns", "10000"];
    refused(&[&many[..], &["--roots"]].concat(), "expected at most 1500 turns");
}

#[test]
fn mixed_batching_with_a_large_fixed_part_says_which_cost_is_at_fault() {
    let flags = ["trap", "--a-s", "1", "--b-s-per-token", "1e-6", "--batching", "mixed"];
    let pool = ["--pool", "3000000", "--max-running", "100000", "--rho", "1.5"];
    let workload = ["--mean-turns", "15", "--max-turns", "60", "--first-prompt", "2000"];
    let decoded = ["--tool-output", "550", "--decoded", "2"];
    let args = [&flags[..], &pool, &workload, &decoded].concat();
    refused(&args, "the turns of an iteration share its fixed part a_s");
    let separate: Vec<&str> =
        args.iter().map(|arg| if *arg == "mixed" { "separate" } else { arg }).collect();
    printed(&separate);
}

#[test]
fn iteration_costs_by_flags_are_those_of_a_cell_file() {
    let by_flags = |rest: &[&'static str]| {
        let pool = ["--pool", "300000", "--lambda-ref", "0.071534"];
        printed(&[&rest[..1], &ITERATION, &WORKLOAD, &pool, &rest[1..]].concat())
    };
    let named = |rest: &[&'static str]| {
        printed(&[&rest[..1], &["--cell", "sglang-300k"], &rest[1..]].concat())
    };
    for ask in [
        &["curve", "--format", "csv"][..],
        &["burst", "--rate", "1.65", "--format", "csv"],
        &["rescue", "--rate", "1.65", "--cap", "20", "--format", "csv"],
    ] {
        assert_eq!(by_flags(ask), named(ask), "{ask:?}");
    }
    // One part of a named cell's costs can be changed alone.
    let slower = printed(&["curve", "--cell", "sglang-300k", "--a-s", "0.02"]);
    let onset: f64 = fact(&slower, "all-miss rate mu_b").parse().unwrap();
    assert!(onset < 0.0718, "{onset}");
}

#[test]
fn the_layers_answer_with_the_published_values() {
    let text = printed(&["curve", "--cell", "sglang-300k"]);
    assert_eq!(fact(&text, "averaged peak (H1)"), "0.2338");
    assert_eq!(fact(&text, "from-empty edge (H2)"), "0.1673");
    let over = |name: &str| {
        let after = text.lines().skip_while(|line| !line.starts_with(name)).nth(1).unwrap();
        after.split_whitespace().last().unwrap().to_owned()
    };
    // Table 13: 3.27 and 2.34 lambda_ref.
    assert_eq!((over("averaged peak"), over("from-empty edge")), ("3.268".into(), "2.338".into()));
    let text = printed(&["burst", "--cell", "sglang-300k", "--rate", "1.65", "--sessions", "25"]);
    // App. E.6: 53.4 fresh sessions; .04 at 25.
    assert_eq!(fact(&text, "critical burst (H3)"), "53.4");
    let stuck = text.lines().last().unwrap().split_whitespace().last().unwrap();
    assert!((stuck.parse::<f64>().unwrap() - 0.04).abs() < 5e-3, "{stuck}");
}

#[test]
fn an_observed_backlog_is_answered_in_the_first_line() {
    let rescue = |rest: &[&'static str]| {
        printed(&[&["rescue", "--cell", "sglang-300k", "--rate", "1.65"], rest].concat())
    };
    let text = rescue(&["--backlog", "240"]);
    let first = text.lines().next().unwrap();
    assert!(first.contains("240 sessions present: cap 11-31; release after about "), "{first}");
    // Below the unstable state n_2 = 31.8 the population returns by itself.
    assert!(rescue(&["--backlog", "15"]).starts_with("sglang-300k"));
    assert!(rescue(&["--backlog", "15"]).lines().next().unwrap().contains("no cap needed"));
    // The model's own backlog, seen, meets the same caps and drains.
    let modelled = rescue(&["--cap", "20"]);
    let present = fact(&modelled, "sessions present when engaged");
    let present: &'static str = Box::leak(present.into_boxed_str());
    let seen = rescue(&["--cap", "20", "--backlog", present]);
    let drain = |text: &str| {
        text.lines().last().unwrap().split_whitespace().nth(3).unwrap().parse::<f64>().unwrap()
    };
    assert!((drain(&modelled) - drain(&seen)).abs() < 2.0, "{modelled}{seen}");
}

#[test]
fn a_calibrated_cell_answers_for_its_curve_its_bursts_and_its_rescue() {
    let text = printed(&["curve", "--cell", "vllm-cpu-tiny-30k"]);
    let crossing: f64 = fact(&text, "half-hit crossing n_1/2").parse().unwrap();
    assert!((25.0..40.0).contains(&crossing), "{crossing}");
    let cell = ["--cell", "vllm-cpu-tiny-30k", "--rate", "1.5"];
    let text = printed(&[&["rescue"], &cell[..], &["--backlog", "160", "--hold", "30"]].concat());
    assert!(text.lines().next().unwrap().contains("release after about"), "{text}");
    let text = printed(&[&["burst"], &cell[..]].concat());
    // The scaled-down protocol's own time after the burst.
    assert_eq!(fact(&text, "time after the burst"), "444");
}
