//! Everything under `configs/`, once.

mod folder;
mod playing;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::hash::sha256_hex;
use crate::nearest::unknown;
use crate::rule::edge::EdgeTest;
use crate::rule::paired::PairedTest;
use crate::rule::persistence::PersistenceTest;
use crate::rule::registration::{RegistrationFile, Status, Test};
use crate::rule::replicate::ReplicateTest;
use crate::rule::stability::Stability;
use crate::setup::yaml;
use crate::setup::{Cell, ConfigError, Layout, Protocol, RecordedFile, Workload};
use folder::Folder;
use playing::{Playing, name_of};
use trapcheck_sessions::empirical::Empirical;
use trapcheck_sessions::play::Rules;
use trapcheck_sessions::session::Session;
use trapcheck_sessions::workload::{Playable, drawn, recorded};

/// The configuration of a project. Each map is by name.
#[derive(Debug, Clone, Default)]
pub struct Configs {
    /// Cells.
    pub cells: BTreeMap<String, Cell>,
    /// Workloads whose turns follow a law.
    pub workloads: BTreeMap<String, Workload>,
    /// Workloads that consist of sessions.
    pub session_workloads: BTreeMap<String, SessionWorkload>,
    /// Reads the sessions of a recorded workload; without it there are none.
    pub read_sessions: Option<ReadSessions>,
    /// What cells play whose workload consists of sessions, by cell: made when it is first asked
    /// for, as most commands never do.
    played: BTreeMap<String, OnceLock<Result<Playable, String>>>,
    /// Cells that play another workload than their own, by their name; made as the former are.
    playing: BTreeMap<String, OnceLock<Result<Playing, String>>>,
    /// Protocols.
    pub protocols: BTreeMap<String, Protocol>,
    /// Registrations.
    pub registrations: BTreeMap<String, RegistrationFile>,
    /// Layouts of run directories, in order of name.
    pub layouts: Vec<Arc<Layout>>,
    /// SHA-256 over the names and hashes of all files these were read from: whatever is
    /// computed from a run is computed under these.
    pub sha256: String,
}

/// Reads the sessions that a workload of kind `recorded` names, in the order of their record; or
/// says why they are not to be had. Files are the application's.
pub type ReadSessions = fn(&RecordedFile) -> Result<Vec<Session>, String>;

/// A workload that consists of sessions.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionWorkload {
    /// Recorded ones, in a file.
    Recorded(RecordedFile),
    /// Sessions drawn from tables of quantiles.
    Empirical(Empirical),
}

impl SessionWorkload {
    fn name(&self) -> &String {
        match self {
            Self::Recorded(file) => &file.name,
            Self::Empirical(tables) => &tables.name,
        }
    }

    /// The sessions as they are played on a pool of `pool_tokens`, with a limit of gaps in place
    /// of its own if one is given.
    ///
    /// # Errors
    /// They are not to be had, or none of them can be played.
    pub fn playable(
        &self,
        gap_limit_s: Option<f64>,
        pool_tokens: u64,
        read: Option<ReadSessions>,
    ) -> Result<Playable, String> {
        match self {
            Self::Empirical(tables) => drawn(tables, gap_limit_s, pool_tokens),
            Self::Recorded(file) => {
                let from = format!("workload {}", file.name);
                let read =
                    read.ok_or_else(|| format!("{from}: recorded sessions are not read here"))?;
                let gap_limit_s = gap_limit_s.unwrap_or(file.gap_limit_s);
                let rules = Rules {
                    at_most: file.at_most,
                    scale: file.scale,
                    subagents: file.subagents,
                    ..Rules::as_recorded(gap_limit_s, pool_tokens)
                };
                recorded(&from, &file.name, &read(file)?, rules)
            }
        }
    }

    /// Reads a workload file that names its kind.
    fn parse(path: &Path, bytes: &[u8]) -> Result<Self, ConfigError> {
        if kind_of(path, bytes).as_deref() == Some("empirical") {
            let tables: Empirical = yaml::from_bytes(path, bytes)?;
            tables.check().map_err(|message| ConfigError::new(path, message))?;
            return Ok(Self::Empirical(tables));
        }
        RecordedFile::parse(path, bytes).map(Self::Recorded)
    }
}

/// The kind that a workload file names; `None` for one whose turns follow a law, and for a file
/// that cannot be read, which its own reader says.
fn kind_of(path: &Path, bytes: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Kind {
        #[serde(default)]
        kind: Option<String>,
    }
    yaml::from_bytes::<Kind>(path, bytes).ok()?.kind
}

/// The folders it is in; layouts have one of their own.
pub const FOLDERS: [&str; 4] = ["cells", "workloads", "protocols", "registrations"];

impl Configs {
    /// Everything but the layouts, from the bytes of the `.yaml` files in the [`FOLDERS`] of
    /// `dir`. Checks that every name they refer to is there.
    ///
    /// # Errors
    /// The first file that cannot be used.
    pub fn parse(dir: &Path, files: &BTreeMap<PathBuf, Vec<u8>>) -> Result<Self, ConfigError> {
        Self::with(dir, files, |folder| {
            folder.each(RegistrationFile::parse, |file| &file.registration.name)
        })
    }

    /// The same without the registrations, for who judges no run: in a page the rules of all
    /// registered tests are then no part of the program.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn without_registrations(
        dir: &Path,
        files: &BTreeMap<PathBuf, Vec<u8>>,
    ) -> Result<Self, ConfigError> {
        Self::with(dir, files, |_| Ok(BTreeMap::new()))
    }

    fn with(
        dir: &Path,
        files: &BTreeMap<PathBuf, Vec<u8>>,
        registrations: fn(Folder<'_>) -> Result<BTreeMap<String, RegistrationFile>, ConfigError>,
    ) -> Result<Self, ConfigError> {
        let under = |folder| Folder { dir: dir.join(folder), files, counts: |_, _| true };
        let mut configs = Self {
            cells: under("cells").each(Cell::parse, |cell| &cell.name)?,
            workloads: under("workloads")
                .those(|path, bytes| kind_of(path, bytes).is_none())
                .each(Workload::parse, |workload| &workload.name)?,
            session_workloads: under("workloads")
                .those(|path, bytes| kind_of(path, bytes).is_some())
                .each(SessionWorkload::parse, SessionWorkload::name)?,
            protocols: under("protocols").each(Protocol::parse, |protocol| &protocol.name)?,
            registrations: registrations(under("registrations"))?,
            read_sessions: None,
            played: BTreeMap::new(),
            playing: BTreeMap::new(),
            layouts: Vec::new(),
            sha256: sha256_hex(
                FOLDERS.map(|folder| under(folder).listing(folder)).concat().as_bytes(),
            ),
        };
        configs.check_names(dir)?;
        let of_sessions = |cell: &&Cell| configs.session_workloads.contains_key(&cell.workload);
        let playing = configs.cells.values().filter(of_sessions);
        configs.played = playing.map(|cell| (cell.name.clone(), OnceLock::new())).collect();
        let names = configs.cells.values().flat_map(|cell| {
            configs.workload_names().map(|workload| name_of(&cell.name, workload))
        });
        configs.playing = names.map(|name| (name, OnceLock::new())).collect();
        Ok(configs)
    }

    /// Whether there is a workload of this name, of either kind.
    pub fn has_workload(&self, name: &str) -> bool {
        self.workloads.contains_key(name) || self.session_workloads.contains_key(name)
    }

    /// The names of all workloads: laws first, then those that consist of sessions.
    pub(crate) fn workload_names(&self) -> impl Iterator<Item = &String> {
        self.workloads.keys().chain(self.session_workloads.keys())
    }

    /// The name of a cell that plays a workload: its own name if that is its own workload.
    ///
    /// # Errors
    /// There is no such cell or workload: a sentence.
    pub fn playing(&self, cell: &str, workload: Option<&str>) -> Result<String, String> {
        let known = self.cells.keys().map(String::as_str);
        let own = self.cells.get(cell);
        let own = own.ok_or_else(|| unknown("cell", cell, "configs/cells", known))?;
        match workload {
            Some(other) if other != own.workload && !self.has_workload(other) => {
                let known = self.workload_names().map(String::as_str);
                Err(unknown("workload", other, "configs/workloads", known))
            }
            Some(other) if other != own.workload => Ok(name_of(cell, other)),
            _ => Ok(cell.to_owned()),
        }
    }

    /// The cell of a name, also of one that plays another workload (`CELL+WORKLOAD`).
    pub(crate) fn cell_called(&self, name: &str) -> Option<&Cell> {
        let of_file = self.cells.get(name);
        of_file.or_else(|| self.with_another(name)?.as_ref().ok().map(|playing| &playing.cell))
    }

    /// A cell that plays another workload, if that is what the name says.
    fn with_another(&self, name: &str) -> Option<&Result<Playing, String>> {
        let known = self.playing.get(name).filter(|_| !self.cells.contains_key(name))?;
        Some(known.get_or_init(|| {
            let split = |cell: &&String| name.strip_prefix(cell.as_str())?.strip_prefix('+');
            let cell =
                self.cells.keys().find(|cell| split(cell).is_some_and(|w| self.has_workload(w)));
            let other = cell.as_ref().and_then(split);
            let (cell, other) = cell.zip(other).ok_or_else(|| format!("no cell {name}"))?;
            let (cell, own, _) = self.cell(cell)?;
            let played = match self.session_workloads.get(other) {
                Some(sessions) => sessions.playable(None, cell.pool_tokens, self.read_sessions)?,
                None => Playable { workload: self.workloads[other].clone(), notes: Vec::new() },
            };
            Playing::of(cell, own, other, played)
        }))
    }

    /// The workload and the protocol of a cell; `None` where [`Self::cell`] has an error.
    pub fn of_cell(&self, name: &str) -> Option<(&Cell, &Workload, &Protocol)> {
        let is_known = self.cells.contains_key(name) || self.playing.contains_key(name);
        is_known.then(|| self.cell(name).ok()).flatten()
    }

    /// A cell with its workload and its protocol. `CELL+WORKLOAD` is a cell that plays another
    /// workload than its own.
    ///
    /// # Errors
    /// There is none of that name, or its sessions are not to be had: a sentence.
    pub fn cell(&self, name: &str) -> Result<(&Cell, &Workload, &Protocol), String> {
        let none = |what: &str, name: &str, known: Vec<&String>| {
            let known = known.into_iter().map(String::as_str);
            unknown(what, name, &format!("configs/{what}s"), known)
        };
        let (cell, workload) = if let Some(playing) = self.with_another(name) {
            let playing = playing.as_ref().map_err(Clone::clone)?;
            (&playing.cell, &playing.played.workload)
        } else {
            let cell = self.cells.get(name);
            let cell = cell.ok_or_else(|| none("cell", name, self.cells.keys().collect()))?;
            let workload = match self.played(cell) {
                Some(played) => &played.as_ref().map_err(Clone::clone)?.workload,
                None => self.workloads.get(&cell.workload).ok_or_else(|| {
                    none("workload", &cell.workload, self.workloads.keys().collect())
                })?,
            };
            (cell, workload)
        };
        let protocol = self
            .protocols
            .get(&cell.protocol)
            .ok_or_else(|| none("protocol", &cell.protocol, self.protocols.keys().collect()))?;
        Ok((cell, workload, protocol))
    }

    /// What is to be said of the sessions that a cell plays; nothing where its turns follow a law.
    pub fn notes_of(&self, cell: &str) -> &[String] {
        let played = match self.with_another(cell) {
            Some(playing) => playing.as_ref().ok().map(|playing| &playing.played),
            None => self.cells.get(cell).and_then(|cell| self.played(cell)?.as_ref().ok()),
        };
        played.map_or(&[], |played| &played.notes)
    }

    /// What a cell plays whose workload consists of sessions.
    fn played(&self, cell: &Cell) -> Option<&Result<Playable, String>> {
        let workload = self.session_workloads.get(&cell.workload)?;
        let made = || workload.playable(None, cell.pool_tokens, self.read_sessions);
        Some(self.played.get(&cell.name)?.get_or_init(made))
    }

    /// The registrations of the paired test that a cell has, in order of name.
    pub(crate) fn paired_of_cell<'a>(
        &'a self,
        cell: &str,
    ) -> impl Iterator<Item = &'a RegistrationFile> {
        self.registrations.values().filter(move |file| {
            file.registration.cell == cell && PairedTest::of(&file.registration.test).is_some()
        })
    }

    /// The registration that judges a cell's runs where they are bound to none; `None` where
    /// the cell has none. A FILLED one goes before restatements of the same rule.
    ///
    /// # Errors
    /// Several fit: which one judges is the user's choice, not the alphabet's.
    pub fn paired_rule_of_cell(
        &self,
        cell: &str,
    ) -> Result<Option<&RegistrationFile>, Vec<&RegistrationFile>> {
        let fit: Vec<_> = self.paired_of_cell(cell).collect();
        let states = |a: &RegistrationFile| a.registration.states_the_rule_of(&fit[0].registration);
        let mut filled = fit.iter().filter(|file| file.registration.status == Status::Filled);
        match (fit.as_slice(), filled.next(), filled.next()) {
            ([], ..) => Ok(None),
            ([only], ..) => Ok(Some(only)),
            (_, Some(filled), None) if fit.iter().all(|file| states(file)) => Ok(Some(filled)),
            _ => Err(fit),
        }
    }

    /// When a cell's run from empty is stable, and when its trap starts and ends: as its
    /// registered tests of either say, where they agree; else as published.
    pub fn from_empty_rules(&self, cell: &str) -> (Stability, PersistenceTest) {
        let stability = |test: &Test| {
            let edge = EdgeTest::of(test).map(|test| test.stability);
            edge.or_else(|| Some(ReplicateTest::of(test)?.stability))
        };
        let persistence = |test: &Test| PersistenceTest::of(test).copied();
        (
            self.agreed(cell, stability).unwrap_or_default(),
            self.agreed(cell, persistence).unwrap_or_default(),
        )
    }

    /// What the tests of a cell's registrations say of something, if they all say the same.
    fn agreed<T: PartialEq>(&self, cell: &str, of: impl Fn(&Test) -> Option<T>) -> Option<T> {
        let own = self.registrations.values().filter(|file| file.registration.is_about(cell));
        let mut said = own.filter_map(|file| of(&file.registration.test));
        let first = said.next()?;
        said.all(|other| other == first).then_some(first)
    }

    /// The registration whose bytes have this hash.
    pub fn bound_by(&self, sha256: &str) -> Option<&RegistrationFile> {
        self.registrations.values().find(|file| file.sha256 == sha256)
    }

    fn check_names(&self, dir: &Path) -> Result<(), ConfigError> {
        for (name, cell) in &self.cells {
            let path = dir.join("cells").join(format!("{name}.yaml"));
            let missing = |what: &str, value: &str, known: Vec<&String>| {
                let known = known.into_iter().map(String::as_str);
                ConfigError::new(&path, unknown(what, value, &format!("{what}s/"), known))
            };
            if !self.has_workload(&cell.workload) {
                return Err(missing("workload", &cell.workload, self.workload_names().collect()));
            }
            if !self.protocols.contains_key(&cell.protocol) {
                return Err(missing("protocol", &cell.protocol, self.protocols.keys().collect()));
            }
        }
        for file in self.registrations.values() {
            let cell = &file.registration.cell;
            if !self.cells.contains_key(cell) {
                let known = self.cells.keys().map(String::as_str);
                return Err(ConfigError::new(&file.path, unknown("cell", cell, "cells/", known)));
            }
        }
        Ok(())
    }
}
