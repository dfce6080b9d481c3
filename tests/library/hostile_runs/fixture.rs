//! A small sound run directory, to be broken in one place, and what is asked of a problem.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use trapcheck::directory::LoadOptions;
use trapcheck::run::{Problem, Problems, Run};

pub const TABLES: [&str; 5] = ["plan", "sessions", "turns", "engine", "gate"];

const META: &str = r#"{
 "format": 1,
 "run_id": "agentload_capped/20261129-120000",
 "source": "engine",
 "cell": "small",
 "engine": {"name": "vllm", "version": "0.32.0"},
 "pool_tokens": 30000,
 "prefix_caching": true,
 "arm": "capped",
 "seed": 7,
 "rate": {"multiple": 1.5, "lambda_ref": 0.4, "lambda": 0.6},
 "duration_s": 60.0,
 "horizon_s": 60.0,
 "status": "completed",
 "start_unix": 1000.0,
 "end_unix": 1060.0,
 "gate": {"n_cap": 2, "engage_s": 0.0, "release_s": null},
 "plan_sha256": null,
 "counts": {
  "sessions_arrived": 3,
  "sessions_completed": 2,
  "sessions_failed": 0,
  "turns": 6,
  "request_errors": 0
 }
}
"#;

const PLAN: &str = "\
session,kind,t_arrival,turns,tool_s
0,base,1.000000,3,1.000000;1.000000
1,base,2.000000,3,2.000000;1.500000
0,burst,3.000000,1,
";

const SESSIONS: &str = "\
session,kind,t_planned,t_admitted,t_end,turns_planned,turns_done,gate_wait_s,pauses,pause_s,status
0,base,1.0000,1.0000,10.0000,3,3,0.0000,0,0.0000,completed
1,base,2.0000,2.0000,,3,1,0.0000,1,54.0000,running
0,burst,3.0000,5.0000,9.0000,1,1,2.0000,0,0.0000,completed
";

const TURNS: &str = "\
session,kind,turn,t_ready,t_submit,t_first,t_end,prompt_tokens,cached_tokens,completion_tokens,tool_s,status
0,base,1,1.0000,1.0000,1.5000,2.0000,2000,0,100,1.0000,ok
1,base,1,2.0000,2.0000,2.5000,3.0000,2000,0,100,2.0000,ok
0,base,2,3.0000,3.0000,3.4000,4.0000,2650,1984,100,1.0000,ok
0,burst,1,5.0000,5.0000,,9.0000,2000,,100,,ok
0,base,3,5.0000,5.1000,5.6000,10.0000,3300,2640,100,,ok
1,base,2,5.0000,59.0000,,,2650,,,,unfinished_at_horizon
";

const ENGINE: &str = "\
t,running,waiting,kv_used_tokens,kv_evictable_tokens,kv_total_tokens,prompt_tokens_total,cached_tokens_total,generation_tokens_total,preemptions_total
0.0000,0,0,0,0,30000,500,100,10,0
20.0000,1,0,2650,9000,30000,12450,4724,510,0
40.0000,0,1,0,9000,30000,12450,4724,510,1
";

const GATE: &str = "\
t,event,kind,session,admitted,gated,paused
0.0000,engage,,,0,0,0
1.0000,admit,base,0,1,0,0
2.0000,admit,base,1,2,0,0
3.0000,queue,burst,0,2,1,0
5.0000,pause,base,1,1,1,1
5.0000,admit,burst,0,2,0,1
59.0000,resume,base,1,1,0,0
60.0000,release,,,1,0,0
";

/// The text of a table of the sound run.
pub fn sound(table: &str) -> &'static str {
    match table {
        "plan" => PLAN,
        "sessions" => SESSIONS,
        "turns" => TURNS,
        "engine" => ENGINE,
        _ => GATE,
    }
}

/// A run directory of its own, sound until a test breaks it.
pub struct Fixture(TempDir);

impl Fixture {
    pub fn new() -> Self {
        let fixture = Self(TempDir::new().expect("a temporary directory"));
        fixture.write("meta.json", META);
        for table in TABLES {
            fixture.write(&format!("{table}.csv"), sound(table));
        }
        fixture
    }

    pub fn dir(&self) -> &Path {
        self.0.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        fs::write(self.path(name), bytes).expect("the fixture is writable");
        self
    }

    pub fn remove(&self, name: &str) -> &Self {
        fs::remove_file(self.path(name)).expect("the file is there");
        self
    }

    /// Replaces the one place where `from` stands in a file.
    pub fn edit(&self, name: &str, from: &str, to: &str) -> &Self {
        let text = fs::read_to_string(self.path(name)).expect("a text");
        assert_eq!(text.matches(from).count(), 1, "{from:?} stands once in {name}");
        self.write(name, text.replace(from, to))
    }

    /// Puts another file in the place of a table's csv.
    pub fn replace(&self, table: &str, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        self.remove(&format!("{table}.csv")).write(name, bytes)
    }

    pub fn load(&self) -> Result<Run, Vec<Problem>> {
        trapcheck::directory::load(self.dir(), &LoadOptions::default())
            .map_err(|Problems(list)| list)
    }

    pub fn load_without_cut_off(&self) -> Result<Run, Vec<Problem>> {
        let options = LoadOptions { drop_cut_off: true };
        trapcheck::directory::load(self.dir(), &options).map_err(|Problems(list)| list)
    }

    pub fn sound(&self) -> Run {
        self.load().unwrap_or_else(|problems| panic!("expected a sound run: {problems:#?}"))
    }

    /// The one and only problem of the run.
    pub fn problem(&self) -> Problem {
        only(self.load().expect_err("expected a problem"))
    }
}

pub fn only(mut problems: Vec<Problem>) -> Problem {
    assert_eq!(problems.len(), 1, "expected one problem: {problems:#?}");
    problems.remove(0)
}

/// The problem names this file, line and column (`""` for none) and these words.
#[track_caller]
pub fn says(problem: &Problem, file: &str, line: u64, column: &str, words: &[&str]) {
    let name = problem.file.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    assert_eq!(name, file, "{problem}");
    assert_eq!(problem.line.unwrap_or(0), line, "{problem}");
    assert_eq!(problem.column.as_deref().unwrap_or(""), column, "{problem}");
    for word in words {
        assert!(problem.message.contains(word), "{word:?} is not in: {problem}");
    }
}

/// Whether two runs hold the same data, wherever and however they are stored.
#[track_caller]
pub fn same_data(a: &Run, b: &Run) {
    assert_eq!(a.meta, b.meta);
    assert_eq!(a.sessions, b.sessions);
    assert_eq!(a.turns, b.turns);
    assert_eq!(a.engine, b.engine);
    assert_eq!(a.gate, b.gate);
    assert_eq!(a.plan, b.plan);
}

#[test]
fn the_unbroken_run_is_sound_and_without_notes() {
    let run = Fixture::new().sound();
    assert_eq!((run.sessions.len(), run.turns.len(), run.plan.len()), (3, 6, 3));
    assert_eq!((run.engine.len(), run.gate.len()), (3, 8));
    assert_eq!(run.notes, Vec::new());
}
