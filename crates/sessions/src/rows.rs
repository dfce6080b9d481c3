//! Sessions out of a trace with a row per request, in which they are interleaved: told apart by
//! a name, by the parent that each row names, or by hash ids: a row continues the session whose
//! last prompt's whole blocks it begins with.
//!
//! By hash ids, a prompt of nothing but blocks that were there before (a system prompt) is
//! continued by none, each prompt by at most one, and what was compacted is a new session.
//!
//! Held are the turns of all sessions, the hash ids of the last prompt of each, and each id once.

use std::collections::{BTreeMap, BTreeSet};

use crate::limits;
use crate::reading::{Fault, Receiver, Why};
use crate::row::{Fields, Inputs, Row};
use crate::session::{Format, Gap, Parent, Session, Turn, common_prefix_blocks};

/// Hash ids that are held, of either kind: 256 MiB of them.
const MOST_IDS: usize = 32 << 20;

/// A session that another row may belong to.
struct Open {
    line: u64,
    session: Session,
    fault: Option<String>,
    /// When it began, on the trace's clock.
    began_s: Option<f64>,
    /// The last row's turn, start and hash ids.
    turn: Option<u64>,
    ids: Option<Vec<u64>>,
    /// The last row's last whole block, if that tells the session from others.
    tip: Option<u64>,
}

/// Which session a row belongs to: its place in the list.
enum Of {
    One(usize),
    New { id: String, parent: Option<Parent>, begun_before: bool },
}

/// The sessions of a file so far.
pub(crate) struct Rows<'a, 'r> {
    receiver: &'a mut Receiver<'r>,
    format: Format,
    inputs: Inputs,
    open: Vec<Open>,
    named: BTreeMap<String, usize>,
    /// Each chat's session and turn.
    chats: BTreeMap<String, (usize, u64)>,
    tips: BTreeMap<u64, usize>,
    seen: BTreeSet<u64>,
    turns: usize,
    ids: usize,
}

impl<'a, 'r> Rows<'a, 'r> {
    pub fn new(receiver: &'a mut Receiver<'r>, inputs: Inputs, format: Format) -> Self {
        receiver.reading.format = Some(format);
        Self {
            receiver,
            format,
            inputs,
            open: Vec::new(),
            named: BTreeMap::new(),
            chats: BTreeMap::new(),
            tips: BTreeMap::new(),
            seen: BTreeSet::new(),
            turns: 0,
            ids: 0,
        }
    }

    /// Who takes the sessions.
    pub fn receiver(&mut self) -> &mut Receiver<'r> {
        self.receiver
    }

    /// The next row. One with a value that makes no sense spoils its session.
    pub fn push(&mut self, line: u64, fields: &Fields) -> Result<(), Fault> {
        match fields.format() {
            Some(format) if format == self.format => {}
            found => {
                let found = found.map_or("something else", Format::word);
                let message = format!("expected a row of {}, found {found}", self.format);
                return Err(self.receiver.malformed(line, message));
            }
        }
        self.take(line, fields.session(), fields.row(self.format))
    }

    /// A row of the session of this name, or what is wrong with it.
    pub fn take(
        &mut self,
        line: u64,
        name: Option<String>,
        row: Result<Row, String>,
    ) -> Result<(), Fault> {
        match row {
            Ok(row) => self.add(line, row)?,
            Err(fault) => match name.as_ref().and_then(|name| self.named.get(name).copied()) {
                Some(at) => self.spoil(at, line, fault),
                None => {
                    // Later rows of that name find it spoiled.
                    let id = name.clone().unwrap_or_default();
                    let at = self.begin(line, id.clone(), None);
                    self.spoil(at, line, fault);
                    if name.is_some() {
                        self.named.insert(id, at);
                    }
                }
            },
        }
        self.check_size(self.turns, line)
    }

    /// Refuses more rows, or hash ids, than are held.
    pub(crate) fn check_size(&self, turns: usize, line: u64) -> Result<(), Fault> {
        let too_many = turns > limits::ROWS || self.ids.max(self.seen.len()) > MOST_IDS;
        if too_many {
            let message = format!(
                "expected at most {} rows with {MOST_IDS} different hash ids in a trace whose \
                 sessions are interleaved, found more",
                limits::ROWS
            );
            return Err(self.receiver.malformed(line, message));
        }
        Ok(())
    }

    fn spoil(&mut self, at: usize, line: u64, fault: String) {
        self.open[at].fault.get_or_insert_with(|| format!("line {line}: {fault}"));
    }

    fn begin(&mut self, line: u64, id: String, parent: Option<Parent>) -> usize {
        let turns = Vec::new();
        let session = Session { id, parent, format: self.format, shared_tokens: None, turns };
        self.open.push(Open {
            line,
            session,
            fault: None,
            began_s: None,
            turn: None,
            ids: None,
            tip: None,
        });
        self.open.len() - 1
    }

    fn add(&mut self, line: u64, row: Row) -> Result<(), Fault> {
        let of = self.session_of(line, &row)?;
        let at = match of {
            Of::One(at) => at,
            Of::New { id, parent, begun_before } => {
                self.receiver.reading.begun_before += u64::from(begun_before);
                self.begin(line, id, parent)
            }
        };
        if let Some(name) = &row.session {
            self.named.entry(name.clone()).or_insert(at);
        }
        let expected = self.open[at].turn.map(|turn| turn + 1);
        if let Some((expected, found)) = expected.zip(row.turn).filter(|(a, b)| a != b) {
            self.spoil(at, line, format!("turn: expected {expected}, found {found}"));
        }
        let turn = self.turn(at, &row);
        let open = &mut self.open[at];
        open.turn = row.turn;
        open.began_s = open.began_s.or(row.start_s);
        // One more than may be, so that the check sees it.
        if open.session.turns.len() <= limits::TURNS {
            open.session.turns.push(turn);
            self.turns += 1;
        }
        let turns = open.session.turns.len() as u64;
        if let Some((chat, _)) = row.chat.clone() {
            self.chats.insert(chat, (at, turns));
        }
        self.keep_ids(at, row);
        Ok(())
    }

    fn session_of(&self, line: u64, row: &Row) -> Result<Of, Fault> {
        if let Some(name) = &row.session {
            return Ok(match self.named.get(name) {
                Some(at) => Of::One(*at),
                None => {
                    let begun_before = row.turn.is_some_and(|turn| turn > 1);
                    Of::New { id: name.clone(), parent: None, begun_before }
                }
            });
        }
        if let Some((chat, parent)) = &row.chat {
            let new = |parent, begun_before| Of::New { id: chat.clone(), parent, begun_before };
            let Some(parent) = parent else { return Ok(new(None, false)) };
            return Ok(match self.chats.get(parent) {
                None => new(None, true),
                Some((at, turn)) if *turn == self.open[*at].session.turns.len() as u64 => {
                    Of::One(*at)
                }
                Some((at, turn)) => {
                    let session = self.open[*at].session.id.clone();
                    new(Some(Parent { session, turn: *turn }), false)
                }
            });
        }
        let Some(ids) = &row.hash_ids else {
            let message = match self.format {
                Format::Spans => {
                    "expected traceId or gen_ai.conversation.id: nothing says whose span this is"
                }
                _ => "expected session_id or hash_ids: nothing says whose row this is",
            };
            return Err(self.receiver.malformed(line, message));
        };
        let continued = (1..=ids.len()).rev().find_map(|n| {
            let at = *self.tips.get(&ids[n - 1])?;
            let last = self.open[at].ids.as_deref()?;
            (last.get(..n)? == &ids[..n]).then_some(at)
        });
        Ok(match continued {
            Some(at) => Of::One(at),
            None => {
                let id = format!("{}:{line}", self.receiver.reading.file);
                Of::New { id, parent: None, begun_before: false }
            }
        })
    }

    fn turn(&self, at: usize, row: &Row) -> Turn {
        let open = &self.open[at];
        let previous = open.session.turns.last();
        let began_s = open.began_s.or(row.start_s);
        let start_s = row.start_s.zip(began_s).map(|(start, began)| start - began);
        let (mut prompt_tokens, mut reusable_tokens) = (row.input_tokens, Some(0));
        let mut gap = Gap::FIRST;
        if let Some(previous) = previous {
            gap = Gap::of(row.think_s, previous.start_s.zip(start_s), previous.service_s);
            reusable_tokens = match self.inputs {
                Inputs::New => {
                    let before = previous.prompt_tokens.saturating_add(previous.output_tokens);
                    prompt_tokens = before.saturating_add(row.input_tokens);
                    Some(previous.prompt_tokens)
                }
                Inputs::Whole => {
                    let ids = open.ids.as_ref().zip(row.hash_ids.as_ref());
                    let common = ids.map(|(before, this)| common_prefix_blocks(before, this));
                    let tokens = common.zip(row.block_tokens);
                    tokens.map(|(blocks, size)| blocks.saturating_mul(size).min(prompt_tokens))
                }
            };
        }
        Turn {
            gap,
            prompt_tokens,
            output_tokens: row.output_tokens,
            reusable_tokens,
            start_s,
            service_s: row.service_s,
        }
    }

    /// The last row's hash ids are those that the next is compared with.
    fn keep_ids(&mut self, at: usize, row: Row) {
        let open = &mut self.open[at];
        self.ids -= open.ids.as_ref().map_or(0, Vec::len);
        self.ids += row.hash_ids.as_ref().map_or(0, Vec::len);
        if row.session.is_none() && row.chat.is_none() {
            let whole = row.block_tokens.map_or(0, |size| row.input_tokens / size) as usize;
            let ids = row.hash_ids.as_deref().unwrap_or_default();
            let last = whole.min(ids.len()).checked_sub(1).map(|last| ids[last]);
            let tells = |id: &u64| !self.seen.contains(id) || open.tip == Some(*id);
            let tip = last.filter(tells);
            if let Some(before) = open.tip {
                self.tips.remove(&before);
            }
            if let Some(tip) = tip {
                self.tips.insert(tip, at);
            }
            open.tip = tip;
            self.seen.extend(ids);
        }
        open.ids = row.hash_ids;
    }

    /// The file ends inside a row.
    pub fn cut(&mut self, line: u64) {
        self.receiver.reading.cut = true;
        self.receiver.leave_out(line, None, 1, Why::Cut, "the file ends inside this row");
    }

    /// All rows are read.
    pub fn end(self) -> Result<(), Fault> {
        for Open { line, session, fault, .. } in self.open {
            match fault {
                Some(fault) => {
                    let name = Some(session.id).filter(|id| !id.is_empty());
                    let turns = session.turns.len();
                    self.receiver.leave_out(line, name, turns, Why::BadValue, fault);
                }
                None => drop(self.receiver.offer(line, session)?),
            }
        }
        Ok(())
    }
}
