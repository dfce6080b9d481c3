//! A small cell, its workload and its protocol, and a run of them on a fake engine.
#![allow(dead_code)] // each test program uses a part of it

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use tokio::sync::Notify;
use trapcheck_drive::address::{Address, ApiKey};
use trapcheck_drive::dialect::Dialect;
use trapcheck_drive::engine::Engine;
use trapcheck_drive::http::Http;
use trapcheck_drive::make::{Made, MakeError, make};
use trapcheck_drive::progress::Now;
use trapcheck_drive::prompts::Tokens;
use trapcheck_setup::setup::{ArmSpec, Cell, Protocol, Workload};
use trapcheck_simulator::sim::directory::Label;
use trapcheck_simulator::sim::{Options, RunSpec};

use crate::fake::{Fake, small};

/// A cell and what it names.
pub struct Setup {
    pub cell: Cell,
    pub workload: Workload,
    pub protocol: Protocol,
}

impl Setup {
    /// Of an engine of this name.
    pub fn of(engine: &str) -> Self {
        let cell = small::cell(engine, "0.0.0", 10.0);
        let (workload, protocol) = (small::workload(0.05), small::protocol(2.0, 0.5));
        Self {
            cell: Cell::parse(Path::new("small.yaml"), cell.as_bytes()).unwrap(),
            workload: Workload::parse(Path::new("short.yaml"), workload.as_bytes()).unwrap(),
            protocol: Protocol::parse(Path::new("brief.yaml"), protocol.as_bytes()).unwrap(),
        }
    }

    pub fn spec<'a>(&'a self, arm: &'a ArmSpec) -> RunSpec<'a> {
        RunSpec {
            cell: &self.cell,
            workload: &self.workload,
            protocol: &self.protocol,
            arm,
            multiple: arm.population().is_none().then_some(1.0),
            seed: 1,
            options: Options { sample_s: 0.2, ..Options::default() },
        }
    }
}

/// A run's name.
pub fn label() -> Label {
    Label { run_id: "run".into(), registration: None }
}

/// An engine's address and interface.
pub fn engine(url: &str, dialect: Dialect, key: Option<&str>) -> Engine {
    let key = key.map(|key| ApiKey::new(key).unwrap());
    Engine {
        http: Http::new(Address::parse(url).unwrap(), key),
        dialect,
        model: String::new(),
        zero_is_absent: false,
        timeout_s: 60,
        tokens: Tokens::USUAL,
    }
}

/// A driven run and where it lies.
pub struct Run {
    pub dir: PathBuf,
    pub made: Result<Made, MakeError>,
    pub folder: tempfile::TempDir,
}

impl Run {
    pub fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.dir.join(file)).unwrap()
    }

    /// Rows of a table without its header, split at commas.
    pub fn rows(&self, table: &str) -> Vec<Vec<String>> {
        let text = self.text(&format!("{table}.csv"));
        text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
    }

    /// A column of a table by its name.
    pub fn column(&self, table: &str, name: &str) -> Vec<String> {
        let text = self.text(&format!("{table}.csv"));
        let place = text.lines().next().unwrap().split(',').position(|n| n == name).unwrap();
        self.rows(table).into_iter().map(|row| row[place].clone()).collect()
    }
}

/// Drives a run until `watch` ends it.
pub fn drive_until(
    setup: &Setup,
    arm: &ArmSpec,
    engine: Engine,
    watch: impl FnMut(&Now<'_>) -> ControlFlow<String>,
) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let (spec, label) = (setup.spec(arm), label());
    let made = runtime().block_on(make(&spec, &label, engine, &dir, &Notify::new(), watch));
    Run { dir, made, folder }
}

/// Drives a run to its horizon.
pub fn drive(fake: &Fake, dialect: Dialect, arm: &ArmSpec) -> Run {
    let setup = Setup::of(dialect.word());
    drive_until(&setup, arm, engine(&fake.url, dialect, None), |_| ControlFlow::Continue(()))
}

pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}
