//! The run directory, written while the run goes on.
//!
//! Turns, samples and gate events are appended as they come; the sessions are written anew at
//! intervals, and everything is seen to the disk then. `started.json` says what is known when
//! a run starts; `meta.json` is written last and closes it. A run that is killed has no
//! `meta.json`, and is read as truncated, as it was when its sessions were last written.
//!
//! A thread of its own writes: a slow disk delays no request.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use serde::Serialize;

use crate::client::records::{ClientRun, GateEvent, SessionRecord, Turn};
use crate::lag::LagSummary;
use crate::machine::Machine;
use crate::plan::Plan;
use crate::run::tables::{self, Table, Value};
use crate::run::{EngineSample, Kind, META, Meta, STARTED, Session, SessionStatus};
use crate::sim::directory::{gate_event, session, turn};

/// What the client was like, for `meta.json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClientFacts {
    /// Its version.
    pub version: &'static str,
    /// Why the run ended when it did.
    pub ended: String,
    /// How late its requests were begun.
    pub lag: Option<LagSummary>,
    /// What else the machine did, at the start, every minute and at the end.
    pub machine: Vec<Machine>,
}

/// `meta.json` of a driven run.
#[derive(Serialize)]
struct Closed<'a> {
    #[serde(flatten)]
    meta: &'a Meta,
    client: &'a ClientFacts,
}

/// All of a run that has ended.
#[derive(Debug)]
pub struct Closing {
    /// What the client recorded.
    pub run: ClientRun,
    /// Gate events that are written already.
    pub gate_written: usize,
    /// The lags of the turns that have not ended.
    pub late_s: Vec<Option<f64>>,
    /// `meta.json`.
    pub meta: Meta,
    /// What it says of the client.
    pub client: ClientFacts,
}

enum Message {
    Turn(Turn, Option<f64>),
    Sample(EngineSample),
    Checkpoint(Vec<SessionRecord>, Vec<GateEvent>),
    Close(Box<Closing>),
}

/// A run directory that is being written.
#[derive(Debug)]
pub struct Recorder {
    messages: Sender<Message>,
    writer: Option<JoinHandle<io::Result<()>>>,
    failed: Arc<AtomicBool>,
}

impl Recorder {
    /// Makes the directory, which must not exist, with its plan and what is known of the run
    /// when it starts (of `meta`, all but how it ends).
    ///
    /// # Errors
    /// It is there already, or cannot be written.
    pub fn create(dir: &Path, plan: &Plan, meta: &Meta, config: &str) -> io::Result<Self> {
        let failed = Arc::new(AtomicBool::new(false));
        let mut writer = Writer::create(dir, plan, meta, config)?;
        let (messages, receiver) = channel();
        let has_failed = Arc::clone(&failed);
        let writer = std::thread::spawn(move || {
            let written = writer.run(&receiver);
            has_failed.store(written.is_err(), Ordering::Relaxed);
            written
        });
        Ok(Self { messages, writer: Some(writer), failed })
    }

    /// Whether nothing can be written any more.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// A turn has ended; `late_s` is how late its request was begun.
    pub fn turn(&self, turn: Turn, late_s: Option<f64>) {
        self.say(Message::Turn(turn, late_s));
    }

    /// The engine was sampled.
    pub fn sample(&self, sample: EngineSample) {
        self.say(Message::Sample(sample));
    }

    /// The sessions as they stand, and the gate's events since the last time.
    pub(crate) fn checkpoint(&self, sessions: Vec<SessionRecord>, gate: Vec<GateEvent>) {
        self.say(Message::Checkpoint(sessions, gate));
    }

    /// Closes the run.
    ///
    /// # Errors
    /// Something of the run could not be written.
    pub fn close(mut self, closing: Closing) -> io::Result<()> {
        self.say(Message::Close(Box::new(closing)));
        let writer = self.writer.take();
        writer.map_or(Ok(()), |writer| {
            writer.join().unwrap_or_else(|_| Err(io::Error::other("the writer panicked")))
        })
    }

    /// A writer that has failed listens no more, which [`Recorder::has_failed`] says.
    fn say(&self, message: Message) {
        let _ = self.messages.send(message);
    }
}

struct Writer {
    dir: PathBuf,
    /// All planned sessions, for the names of rows: the client's turns and events are of places
    /// among these.
    names: Vec<Session>,
    planned_s: BTreeMap<(Kind, u32), Option<f64>>,
    turns: File,
    engine: File,
    gate: Option<File>,
    /// Turns that are written.
    written: usize,
}

impl Writer {
    fn create(dir: &Path, plan: &Plan, meta: &Meta, config: &str) -> io::Result<Self> {
        if let Some(folder) = dir.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::create_dir(dir)?;
        let whole = |name: &str, text: &[u8]| write_synced(&dir.join(name), text);
        whole("config.yaml", config.as_bytes())?;
        whole("plan.csv", plan.to_csv().as_bytes())?;
        whole("sessions.csv", &csv(&tables::sessions(&[])))?;
        let begun = |table: &Table<'_>| begin(dir, table);
        let names: Vec<_> = plan.sessions.iter().map(|s| name(s.kind, s.session)).collect();
        let writer = Self {
            turns: begun(&late_turns(&[], &names, &[]))?,
            engine: begun(&tables::engine(&[]))?,
            gate: meta.gate.is_some().then(|| begun(&tables::gate(&[], &[]))).transpose()?,
            planned_s: plan.sessions.iter().map(|s| ((s.kind, s.session), s.t_arrival_s)).collect(),
            names,
            written: 0,
            dir: dir.into(),
        };
        // Last: with it the directory is a run.
        whole(STARTED, &started(meta)?)?;
        File::open(dir)?.sync_all()?;
        Ok(writer)
    }

    fn run(&mut self, messages: &Receiver<Message>) -> io::Result<()> {
        // Without a close the run stays as it is: truncated.
        while let Ok(message) = messages.recv() {
            match message {
                Message::Turn(row, late_s) => self.turn_rows(&[row], &[late_s])?,
                Message::Sample(sample) => append(&mut self.engine, &tables::engine(&[sample]))?,
                Message::Checkpoint(sessions, gate) => self.checkpoint(&sessions, &gate)?,
                Message::Close(closing) => {
                    let Closing { run, gate_written, late_s, meta, client } = *closing;
                    let left = run.turns.get(self.written..).unwrap_or_default();
                    self.turn_rows(left, &late_s)?;
                    self.checkpoint(
                        &run.sessions,
                        run.gate.get(gate_written..).unwrap_or_default(),
                    )?;
                    return self.close(&meta, &client);
                }
            }
        }
        Ok(())
    }

    fn turn_rows(&mut self, rows: &[Turn], late_s: &[Option<f64>]) -> io::Result<()> {
        let turns: Vec<_> = rows.iter().map(|row| turn(row, row.session)).collect();
        self.written += rows.len();
        append(&mut self.turns, &late_turns(&turns, &self.names, late_s))
    }

    /// The tables that are appended to come first: no session may have a turn that is not there.
    fn checkpoint(&mut self, sessions: &[SessionRecord], gate: &[GateEvent]) -> io::Result<()> {
        let events: Vec<_> = gate.iter().map(|g| gate_event(g, g.session)).collect();
        if let Some(file) = &mut self.gate {
            append(file, &tables::gate(&events, &self.names))?;
            file.sync_data()?;
        }
        self.turns.sync_data()?;
        self.engine.sync_data()?;
        let planned_s = |s: &SessionRecord| self.planned_s.get(&(s.kind, s.session)).copied();
        let rows: Vec<_> = sessions.iter().map(|s| session(s, planned_s(s).flatten())).collect();
        self.replace("sessions.csv", &csv(&tables::sessions(&rows)))
    }

    fn close(&self, meta: &Meta, client: &ClientFacts) -> io::Result<()> {
        let text = serde_json::to_string_pretty(&Closed { meta, client })?;
        self.replace(META, (text + "\n").as_bytes())?;
        fs::remove_file(self.dir.join(STARTED))?;
        File::open(&self.dir)?.sync_all()
    }

    /// Writes a file anew, whole or not at all.
    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let beside = self.dir.join(format!(".{name}.tmp"));
        write_synced(&beside, bytes)?;
        fs::rename(&beside, self.dir.join(name))?;
        File::open(&self.dir)?.sync_all()
    }
}

/// A file that is on the disk.
fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_data()
}

/// `meta.json` without what is only known at the end.
fn started(meta: &Meta) -> io::Result<Vec<u8>> {
    let mut known = serde_json::to_value(meta)?;
    if let Some(known) = known.as_object_mut() {
        for unknown_yet in ["status", "duration_s", "end_unix", "counts"] {
            known.remove(unknown_yet);
        }
    }
    Ok((serde_json::to_string_pretty(&known)? + "\n").into_bytes())
}

/// A session of which only the name is asked.
fn name(kind: Kind, session: u32) -> Session {
    Session {
        id: session.to_string().into(),
        kind,
        t_planned_s: None,
        t_admitted_s: None,
        t_end_s: None,
        turns_planned: 0,
        turns_done: 0,
        gate_wait_s: 0.0,
        pauses: 0,
        pause_s: 0.0,
        status: SessionStatus::Running,
    }
}

/// `turns` with the client's own lag beside it.
fn late_turns<'a>(rows: &'a [Turn], sessions: &'a [Session], late_s: &[Option<f64>]) -> Table<'a> {
    let mut table = tables::turns(rows, sessions);
    let late = (0..rows.len()).map(|row| Value::Seconds(late_s.get(row).copied().flatten()));
    table.columns.push(("late_s", late.collect()));
    table
}

fn csv(table: &Table<'_>) -> Vec<u8> {
    let mut text = Vec::new();
    table.push_header(&mut text);
    push_rows(table, &mut text);
    text
}

fn push_rows(table: &Table<'_>, text: &mut Vec<u8>) {
    (0..table.rows()).for_each(|row| table.push_row(row, text));
}

/// A new file with a table's header.
fn begin(dir: &Path, table: &Table<'_>) -> io::Result<File> {
    let path = dir.join(format!("{}.csv", table.name));
    let mut file = OpenOptions::new().append(true).create_new(true).open(path)?;
    file.write_all(&csv(table))?;
    Ok(file)
}

/// Appends a table's rows in one piece.
fn append(file: &mut File, table: &Table<'_>) -> io::Result<()> {
    let mut text = Vec::new();
    push_rows(table, &mut text);
    file.write_all(&text)
}
