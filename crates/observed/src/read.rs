//! Reading a source as a stream: bytes in any pieces, one [`Observed`] at the end.
//!
//! The format is told from the first bytes, or forced. Memory is bounded: lines and texts are
//! kept one at a time, series are thinned ([`crate::form::MOST_SAMPLES`]), requests are counted.

mod bench;
mod clock;
mod csv;
mod document;
mod exposed;
mod json;
mod lines;
mod links;
mod prometheus;
mod record;
mod records;
mod run_meta;
mod sglang_log;
mod shape;
mod totals;
mod vllm_log;

use crate::form::Observed;
pub use crate::format::Format;
pub use clock::stamp_of_name;
use lines::{LineReader, Lines};

/// A source that cannot be read at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// Nothing in it.
    #[error("the file is empty")]
    Empty,
    /// Written by a Windows shell.
    #[error("this is UTF-16; expected UTF-8: convert it with iconv")]
    Utf16,
    /// No format knows it.
    #[error(
        "not recognised: expected a log or /metrics text of vLLM or SGLang, a csv table with their \
         metrics' names, or the output of a load generator (docs/diagnose.md lists them; --from \
         names one)"
    )]
    Unknown,
    /// What agents did, in a format of recorded sessions.
    #[error(
        "recorded sessions ({0}), which say nothing about an engine: `trapcheck sessions describe \
         FILE` says what they are like"
    )]
    Recorded(&'static str),
}

/// Bytes by which a format is recognised.
const HEAD: usize = 1 << 18;

/// One format's reader.
trait Parse {
    fn push(&mut self, bytes: &[u8]);
    fn finish(self: Box<Self>) -> Observed;
}

/// Reads one source.
pub struct Reader {
    forced: Option<Format>,
    /// Time of a scrape that tells none, s.
    time_s: Option<f64>,
    head: Vec<u8>,
    parse: Option<(Format, Box<dyn Parse>)>,
    cut_off: bool,
}

impl Reader {
    /// A reader that tells the format itself, unless one is given. `time_s` is when the source
    /// was written, for a scrape that does not say.
    pub const fn new(forced: Option<Format>, time_s: Option<f64>) -> Self {
        Self { forced, time_s, head: Vec::new(), parse: None, cut_off: false }
    }

    /// The next bytes.
    ///
    /// # Errors
    /// What no format knows.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), ReadError> {
        if let Some((_, parse)) = &mut self.parse {
            parse.push(bytes);
            return Ok(());
        }
        self.head.extend_from_slice(bytes);
        if self.head.len() < HEAD { Ok(()) } else { self.start() }
    }

    /// Says that the stream broke off, as a packed file does that was cut.
    pub const fn broke_off(&mut self) {
        self.cut_off = true;
    }

    fn start(&mut self) -> Result<(), ReadError> {
        let head = std::mem::take(&mut self.head);
        let marked = head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]);
        if marked || head.iter().take(4).any(|byte| *byte == 0) {
            return Err(ReadError::Utf16);
        }
        let text = head.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(&head);
        if text.iter().all(u8::is_ascii_whitespace) {
            return Err(ReadError::Empty);
        }
        let format = self.forced.map_or_else(|| recognised(text), Ok)?;
        let mut parse = parser(format, text, self.time_s);
        parse.push(text);
        self.parse = Some((format, parse));
        Ok(())
    }

    /// What was read.
    ///
    /// # Errors
    /// What no format knows, and an empty source.
    pub fn finish(mut self) -> Result<Observed, ReadError> {
        if self.parse.is_none() {
            self.start()?;
        }
        let (format, parse) = self.parse.ok_or(ReadError::Empty)?;
        let mut observed = parse.finish();
        observed.formats = vec![format];
        let clock = observed.clock;
        observed.engines.values_mut().for_each(|engine| engine.clock = clock);
        if self.cut_off {
            observed.notes.add("packed stream cut off: what follows is missing", 0);
        }
        observed.finish();
        Ok(observed)
    }
}

/// Reads a whole source that is in memory.
///
/// # Errors
/// As [`Reader::finish`].
pub fn whole(bytes: &[u8], forced: Option<Format>) -> Result<Observed, ReadError> {
    let mut reader = Reader::new(forced, None);
    reader.push(bytes)?;
    reader.finish()
}

fn parser(format: Format, head: &[u8], time_s: Option<f64>) -> Box<dyn Parse> {
    match format {
        Format::VllmLog => lines(vllm_log::VllmLog::default(), true),
        Format::SglangLog => lines(sglang_log::SglangLog::default(), true),
        Format::Prometheus => lines(prometheus::Scrapes::new(time_s), false),
        Format::Csv => lines(csv::Table::default(), false),
        Format::VllmBench | Format::SglangBench => json(bench::Lists::default(), head),
        Format::SglangMultiTurn | Format::ServerMetrics | Format::AgentX => {
            json(totals::Totals::new(format), head)
        }
        Format::RunMeta => json(run_meta::RunMeta::default(), head),
        _ => Box::new(records::Requests::new(shape::of(format), head)),
    }
}

fn json<T: document::Take + 'static>(taker: T, head: &[u8]) -> Box<dyn Parse> {
    Box::new(document::Json::new(taker, head))
}

fn lines<T: LineReader + 'static>(reader: T, is_log: bool) -> Box<dyn Parse> {
    Box::new(Lines::new(reader, is_log))
}

/// The format that the beginning of a source shows.
fn recognised(head: &[u8]) -> Result<Format, ReadError> {
    let has = |what: &str| memchr::memmem::find(head, what.as_bytes()).is_some();
    let json = match head.trim_ascii_start().first() {
        Some(b'{') => Some(json::paths(head).unwrap_or_default()),
        // A log line may begin with a bracket too.
        Some(b'[') => json::paths(head).filter(|paths| !paths.is_empty()),
        _ => None,
    };
    if let Some(paths) = json {
        let recorded = || shape::recorded(&paths).map_or(ReadError::Unknown, ReadError::Recorded);
        return shape::recognised(&paths).ok_or_else(recorded);
    }
    Ok(match () {
        () if has("Prefill batch") || has("Decode batch") || has("new fill batch") => {
            Format::SglangLog
        }
        () if prometheus::is_scrape(head) => Format::Prometheus,
        () if has("Avg prompt throughput") => Format::VllmLog,
        () if csv::is_sessions(head) => {
            return Err(ReadError::Recorded("a table with reusable_tokens"));
        }
        () if csv::is_table(head) => Format::Csv,
        () if has("max_total_num_tokens=") || has("sglang.launch_server") => Format::SglangLog,
        () if has("KV cache size: ") || has("vllm") || has("vLLM") => Format::VllmLog,
        () => return Err(ReadError::Unknown),
    })
}
