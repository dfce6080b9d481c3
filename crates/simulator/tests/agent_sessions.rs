//! The tables of docs/sessions.md about agent sessions: the recorded set, where it lies beside the
//! project, and those drawn from its quantiles, on the same questions.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use trapcheck_model::model::cost::IterationCosts;
use trapcheck_model::model::{AllMiss, ModelF, Regime, SessionMeans, Theory};
use trapcheck_runs::configs::{Configs, FOLDERS, SessionWorkload};
use trapcheck_sessions::play::Rules;
use trapcheck_sessions::session::Session;
use trapcheck_sessions::workload::{GAP_LIMIT_S, recorded};
use trapcheck_sessions::{Inputs, Names, read};
use trapcheck_setup::digits::fixed;
use trapcheck_setup::setup::protocol::WarmUp;
use trapcheck_setup::setup::{Cell, Trace, TraceTurn, Workload};
use trapcheck_simulator::knee::{Found, Levels, Question, Rungs, Start};
use trapcheck_simulator::sim::Options;

/// The load at which a trap is asked about.
const RHO: f64 = 1.5;
const SEEDS: u64 = 5;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn configs() -> Configs {
    let dir = root().join("configs");
    let listed = FOLDERS.iter().flat_map(|folder| fs::read_dir(dir.join(folder)).unwrap());
    let paths = listed.map(|entry| entry.unwrap().path());
    let files = paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    Configs::parse(&dir, &files).unwrap()
}

/// The sessions of the record.
fn record(path: &Path) -> Vec<Session> {
    let mut sessions = Vec::new();
    let text = MultiGzDecoder::new(File::open(path).unwrap());
    read("turns", text, Inputs::Whole, &mut Names::new(), &mut |session| {
        sessions.push(session);
        Ok(())
    })
    .unwrap();
    sessions
}

/// The two pools of the tables.
fn pools(configs: &Configs) -> [&Cell; 2] {
    ["sglang-300k", "sglang-native"].map(|name| &configs.cells[name])
}

/// The recorded set and the drawn one as a pool plays them; the first only where it is.
fn workloads(configs: &Configs, pool_tokens: u64) -> [Option<Workload>; 2] {
    let path = root().join("../shared/traces/kv-cache-tester/turns.csv.gz");
    let of_record = || {
        let sessions = record(&path);
        let rules = Rules::as_recorded(GAP_LIMIT_S, pool_tokens);
        recorded("the record", "record", &sessions, rules).unwrap().workload
    };
    if !path.exists() {
        println!("skipped: the recorded sessions are not here");
    }
    let tables: &SessionWorkload = &configs.session_workloads["agent-sessions"];
    let drawn = tables.playable(None, pool_tokens, None).unwrap().workload;
    [path.exists().then(of_record), Some(drawn)]
}

/// Model F with some costs, at [`RHO`]: capacity, z - 1 and premium as printed.
fn law(costs_s: &[f64], means: &SessionMeans) -> [String; 3] {
    let model = ModelF::new(costs_s, &means.survival).unwrap();
    let capacity = model.lambda_miss_per_s();
    let Regime::Trapped(trap) = model.at(RHO * capacity).unwrap() else { panic!("no trap") };
    [fixed(1e6 * capacity, 1), fixed(trap.gamma, 5), fixed(100.0 * trap.premium(), 1)]
}

/// Tokens to prefill if every turn misses, over those if every follow-up hits all it can.
fn work_ratio(workload: &Workload) -> f64 {
    let traces = &workload.recorded.as_ref().unwrap().traces;
    let sum = |of: fn(&TraceTurn) -> u64| -> u64 {
        traces.iter().flat_map(|trace| &trace.turns).map(of).sum()
    };
    sum(|turn| turn.prompt_tokens) as f64 / sum(|turn| turn.new_tokens()) as f64
}

fn knee(configs: &Configs, cell: &Cell, workload: &Workload) -> Found {
    let question = Question {
        cell,
        workload,
        protocol: &configs.protocols["paper"],
        options: Options::of_engine(&cell.engine),
        run: WarmUp { warm_up_s: 900.0, window_s: 1800.0 },
        levels: Levels::default(),
    };
    let guess = cell.pool_tokens as f64 / SessionMeans::of(workload).mean_footprint_tokens();
    let rungs = Rungs::Searched { guess: (guess as u32).max(1), most: 200 };
    let look = |populations: &[u32]| {
        let seeds = |n: &u32| {
            (0..SEEDS).map(|seed| question.run(*n, Start::Empty, seed).unwrap()).collect()
        };
        Ok::<_, ()>(populations.iter().map(seeds).collect())
    };
    Found::search(&rungs, look).unwrap()
}

/// What is asked of a set of sessions on a pool, in the order of the first table.
fn questions(configs: &Configs, cell: &Cell, workload: &Workload) -> Vec<(&'static str, String)> {
    let means = SessionMeans::of(workload);
    let [capacity, growth, premium] = law(&AllMiss::of(cell, workload).unwrap().costs_s, &means);
    let theory = Theory::of(cell, workload).unwrap();
    let curve = theory.curve().unwrap();
    let found = knee(configs, cell, workload);
    let bracket = found.bracket();
    let sessions = |n: Option<u32>| n.map_or("-".to_owned(), |n| n.to_string());
    let played = workload.recorded.as_ref().unwrap().traces.len();
    vec![
        ("sessions that fit", played.to_string()),
        ("work ratio", fixed(work_ratio(workload), 1)),
        ("all-miss capacity, sessions in a million s", capacity),
        ("gap growth z - 1", growth),
        ("premium, %", premium),
        ("theory: n_1/2", curve.half_hit_crossing().map_or("-".into(), |s| fixed(s.population, 1))),
        ("theory: n_b", fixed(curve.model().onset().population(), 1)),
        ("good up to", sessions(bracket.good_up_to)),
        ("trapped from", sessions(bracket.trapped_from)),
        ("half-hit crossing", found.half_hit_crossing().map_or("-".into(), |n| fixed(n, 1))),
    ]
}

/// Model F by the mean of costs, by the cost at the mean prompt, and how much more work a session
/// has than the product of the means says, in the order of the second table.
fn dependence(cell: &Cell, workload: &Workload) -> Vec<(&'static str, String)> {
    let means = SessionMeans::of(workload);
    let all_miss = AllMiss::of(cell, workload).unwrap();
    assert_eq!(all_miss.speed, 1.0);
    let costs = IterationCosts::of(cell, "a test").unwrap();
    let at_mean: Vec<f64> = means
        .prompt_tokens
        .iter()
        .map(|tokens| costs.prefill_s(*tokens, 0.0) + all_miss.delta_s)
        .collect();
    let traces = &workload.recorded.as_ref().unwrap().traces;
    let n = traces.len() as f64;
    let cost_s = |trace: &Trace| -> f64 {
        let prefills = trace.turns.iter().map(|t| costs.prefill_s(t.prompt_tokens as f64, 0.0));
        prefills.map(|s| s + all_miss.delta_s).sum()
    };
    let work_s = traces.iter().map(|trace| cost_s(trace)).sum::<f64>() / n;
    let turns = traces.iter().map(|trace| trace.turns.len() as f64).sum::<f64>() / n;
    let per_turn_s =
        traces.iter().map(|trace| cost_s(trace) / trace.turns.len() as f64).sum::<f64>() / n;
    let [capacity, growth, premium] = law(&all_miss.costs_s, &means);
    let [capacity_at, growth_at, premium_at] = law(&at_mean, &means);
    vec![
        ("all-miss capacity, mean of costs", capacity),
        ("all-miss capacity, cost at the mean prompt", capacity_at),
        ("gap growth z - 1, mean of costs", growth),
        ("gap growth z - 1, cost at the mean prompt", growth_at),
        ("premium, %, mean of costs", premium),
        ("premium, %, cost at the mean prompt", premium_at),
        ("work of a session over mean turns x mean cost", fixed(work_s / (turns * per_turn_s), 3)),
    ]
}

/// The cells of the page's table rows, by their first cell.
fn page() -> BTreeMap<String, Vec<String>> {
    let text = fs::read_to_string(root().join("docs/sessions.md")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let cells = rows.map(|row| row.split(" | ").map(str::to_owned).collect::<Vec<_>>());
    cells.map(|cells| (cells[0].trim().to_owned(), cells[1..].to_vec())).collect()
}

/// Compares columns with the page's table, each (place, its rows); all that differs is told.
fn compare(columns: &[(usize, Vec<(&'static str, String)>)]) {
    let page = page();
    let mut differ = Vec::new();
    for (place, rows) in columns {
        for (what, value) in rows {
            let said = page.get(*what).and_then(|cells| cells.get(*place));
            if said != Some(value) {
                differ.push(format!("{what}, column {place}: {said:?}, computed {value}"));
            }
        }
    }
    assert_eq!(differ, Vec::<String>::new());
}

#[test]
fn drawn_sessions_are_as_far_from_the_record_as_the_page_says() {
    let configs = configs();
    let mut columns = Vec::new();
    for (pool, cell) in pools(&configs).into_iter().enumerate() {
        for (set, workload) in workloads(&configs, cell.pool_tokens).into_iter().enumerate() {
            let Some(workload) = workload else { continue };
            columns.push((2 * pool + set, questions(&configs, cell, &workload)));
        }
    }
    compare(&columns);
}

#[test]
fn what_dependence_makes_of_the_law_is_what_the_page_says() {
    let configs = configs();
    let [_, cell] = pools(&configs);
    let [of_record, _] = workloads(&configs, cell.pool_tokens);
    let column = of_record.map(|workload| (0, dependence(cell, &workload)));
    compare(&column.into_iter().collect::<Vec<_>>());
}
