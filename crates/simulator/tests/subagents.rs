//! The table of docs/sessions.md of what subagents change: the published files that lie beside the
//! project, each as forty sessions under other names, played with their subagents and without.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use trapcheck_model::model::SessionMeans;
use trapcheck_runs::configs::{Configs, FOLDERS};
use trapcheck_sessions::play::Rules;
use trapcheck_sessions::session::{Parent, Session};
use trapcheck_sessions::workload::{GAP_LIMIT_S, recorded};
use trapcheck_sessions::{Inputs, Names, read};
use trapcheck_setup::digits::fixed;
use trapcheck_setup::setup::protocol::WarmUp;
use trapcheck_setup::setup::{Cell, Subagents, Workload};
use trapcheck_simulator::knee::{Bracket, Found, Levels, Question, Rungs, Start};

use trapcheck_simulator::sim::Options;

const COPIES: usize = 40;
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

/// The sessions of the published files, subagents among them.
fn published(folder: &Path) -> Vec<Session> {
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    let (mut sessions, mut names) = (Vec::new(), Names::new());
    for path in paths {
        let mut take = |session| {
            sessions.push(session);
            Ok(())
        };
        read("file", File::open(path).unwrap(), Inputs::Whole, &mut names, &mut take).unwrap();
    }
    sessions
}

/// Each session with its subagents again and again, under other names.
fn copied(sessions: &[Session]) -> Vec<Session> {
    let copy = |session: &Session, i: usize| {
        let mut session = session.clone();
        session.id += &format!(" {i}");
        session.parent = session
            .parent
            .map(|parent| Parent { session: format!("{} {i}", parent.session), ..parent });
        session
    };
    (0..COPIES).flat_map(|i| sessions.iter().map(move |session| copy(session, i))).collect()
}

fn knee(configs: &Configs, cell: &Cell, workload: &Workload) -> Found {
    let question = Question {
        cell,
        workload,
        protocol: &configs.protocols[&cell.protocol],
        options: Options::of_engine(&cell.engine),
        run: WarmUp { warm_up_s: 900.0, window_s: 1800.0 },
        levels: Levels::default(),
    };
    let guess = cell.pool_tokens as f64 / SessionMeans::of(workload).mean_footprint_tokens();
    let rungs = Rungs::Searched { guess: (guess as u32).clamp(1, 60), most: 60 };
    Found::search(&rungs, |populations| {
        let seeds = |n: &u32| {
            (0..SEEDS).map(|seed| question.run(*n, Start::Empty, seed).unwrap()).collect()
        };
        Ok::<_, ()>(populations.iter().map(seeds).collect())
    })
    .unwrap()
}

#[test]
fn what_subagents_change_is_what_the_page_says() {
    let folder = root().join("../shared/traces/kv-cache-tester/raw");
    if !folder.exists() {
        println!("skipped: the published files are not here");
        return;
    }
    let (configs, sessions) = (configs(), copied(&published(&folder)));
    let with: BTreeSet<String> =
        sessions.iter().filter_map(|s| Some(s.parent.as_ref()?.session.clone())).collect();
    let is_of_those = |s: &&Session| {
        with.contains(&s.id) || s.parent.as_ref().is_some_and(|p| with.contains(&p.session))
    };
    let of_those: Vec<Session> = sessions.iter().filter(is_of_those).cloned().collect();
    let page = fs::read_to_string(root().join("docs/sessions.md")).unwrap();
    let mut missing = Vec::new();
    for (what, set) in [("all five", &sessions), ("the two with subagents", &of_those)] {
        for name in ["sglang-300k", "sglang-native"] {
            let cell = &configs.cells[name];
            let answers = [Subagents::LeftOut, Subagents::Played].map(|subagents| {
                let rules =
                    Rules { subagents, ..Rules::as_recorded(GAP_LIMIT_S, cell.pool_tokens) };
                let workload = recorded("the files", "files", set, rules).unwrap().workload;
                let found = knee(&configs, cell, &workload);
                let Bracket { good_up_to, trapped_from } = found.bracket();
                let sessions = |n: Option<u32>| n.map_or("-".to_owned(), |n| n.to_string());
                let crossing = found.half_hit_crossing().map_or("-".into(), |n| fixed(n, 1));
                [sessions(good_up_to), sessions(trapped_from), crossing]
            });
            let row = format!("| {what}, `{name}` | {} |", answers.concat().join(" | "));
            if !page.contains(&row) {
                missing.push(row);
            }
        }
    }
    assert!(missing.is_empty(), "docs/sessions.md lacks\n{}", missing.join("\n"));
}
