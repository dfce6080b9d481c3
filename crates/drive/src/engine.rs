//! An engine that answers prompts of token ids.

use std::time::Duration;

use hyper::Method;
use hyper::body::Bytes;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};

use crate::dialect::{Dialect, Heard};
use crate::fault::Fault;
use crate::http::{Answer, Http};
use crate::lines::Lines;
use crate::metrics::Scrape;
use crate::prompts::Tokens;

/// Bytes that a line or an answer may have beside its token ids.
const WORDS_BYTES: u64 = 1 << 20;

/// Bytes that an id may take in an answer: ten digits, a comma, a space.
const ID_BYTES: u64 = 12;

/// The most bytes of a page of metrics: fifty times the page of SGLang 0.5.23.
const METRICS_BYTES: u64 = 4 << 20;

/// An engine, and how it is spoken to.
#[derive(Debug, Clone)]
pub struct Engine {
    /// Its address and key.
    pub http: Http,
    /// Whose interface it has.
    pub dialect: Dialect,
    /// The model's name, where the interface asks for it.
    pub model: String,
    /// Whether it leaves out the number of cached tokens where it is 0, as the canary has shown.
    pub zero_is_absent: bool,
    /// How long a request may take, s.
    pub timeout_s: u64,
    /// Ids of its vocabulary that prompts are made of.
    pub tokens: Tokens,
}

/// An answer to a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// When its first token came.
    pub first: Option<Instant>,
    /// When it ended.
    pub end: Instant,
    /// Its tokens.
    pub output: Vec<u32>,
    /// Prompt tokens that were in the cache; `None` where the engine does not say.
    pub cached_tokens: Option<u64>,
}

impl Engine {
    /// Asks for `decode` tokens after `prompt`.
    ///
    /// # Errors
    /// Whatever went wrong; nothing is sent twice.
    pub async fn ask(&self, prompt: &[u32], decode: u64) -> Result<Reply, Fault> {
        let body = self.body(prompt, decode);
        self.ask_with(body, prompt.len() as u64, decode).await
    }

    /// The request's JSON.
    pub(crate) fn body(&self, prompt: &[u32], decode: u64) -> Bytes {
        self.dialect.body(&self.model, prompt, decode).into()
    }

    /// Sends a body made before, of a prompt of so many tokens.
    pub(crate) async fn ask_with(
        &self,
        body: Bytes,
        prompt: u64,
        decode: u64,
    ) -> Result<Reply, Fault> {
        let answering = self.answer(body, prompt, decode);
        let limit = Duration::from_secs(self.timeout_s);
        timeout(limit, answering).await.map_err(|_| Fault::Timeout(self.timeout_s))?
    }

    async fn answer(&self, body: Bytes, prompt: u64, decode: u64) -> Result<Reply, Fault> {
        let mut answer = self.http.send(Method::POST, self.dialect.generate_path(), body).await?;
        if answer.status != 200 {
            return Err(Fault::Status(answer.status));
        }
        // vLLM's first event repeats the prompt; SGLang's events may repeat the output.
        let line = WORDS_BYTES + ID_BYTES * (prompt + decode);
        let all = line + decode * (ID_BYTES * decode).max(4096);
        let mut lines = Lines::new(usize::try_from(line).unwrap_or(usize::MAX));
        let (mut heard, mut first) = (Heard::default(), None);
        while let Some(piece) = answer.piece(all).await? {
            lines.push(&piece);
            while let Some(line) = lines.next_line()? {
                if heard.line(self.dialect, line)? && first.is_none() {
                    first = Some(Instant::now());
                }
            }
            if heard.ids() as u64 > decode * (decode + 1) {
                return Err(Fault::TooLarge(all));
            }
        }
        let said = heard.said(prompt, decode)?;
        let end = Instant::now();
        let cached_tokens = said.cached_tokens.or(self.zero_is_absent.then_some(0));
        Ok(Reply { first, end, output: said.output, cached_tokens })
    }

    /// The engine's metrics. They are read on another thread: a long page holds up nothing.
    ///
    /// # Errors
    /// It does not give them within `limit_s`, or too many.
    pub async fn metrics(&self, limit_s: f64) -> Result<Scrape, Fault> {
        let dialect = self.dialect;
        let read = async {
            let page = self.get("/metrics").await?.whole(METRICS_BYTES).await?;
            let parse = move || Scrape::parse(dialect, &String::from_utf8_lossy(&page));
            spawn_blocking(parse).await.map_err(|_| Fault::Malformed)
        };
        within(limit_s, read).await
    }

    /// A JSON value that the engine gives at `path`.
    ///
    /// # Errors
    /// It does not, or it is no JSON.
    pub async fn json(&self, path: &str) -> Result<serde_json::Value, Fault> {
        let read = async { self.get(path).await?.whole(WORDS_BYTES).await };
        let text = within(30.0, read).await?;
        serde_json::from_slice(&text).map_err(|_| Fault::Malformed)
    }

    async fn get(&self, path: &str) -> Result<Answer, Fault> {
        served(self.http.send(Method::GET, path, Bytes::new()).await?)
    }

    /// Empties the prefix cache. Only the status of the answer is looked at.
    ///
    /// # Errors
    /// The engine does not take it.
    pub async fn flush(&self) -> Result<(), Fault> {
        let flush = self.http.send(Method::POST, self.dialect.flush_path(), Bytes::new());
        served(within(60.0, flush).await?).map(drop)
    }
}

async fn within<T>(
    limit_s: f64,
    asking: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Fault> {
    let limit = Duration::from_secs_f64(limit_s);
    timeout(limit, asking).await.map_err(|_| Fault::Timeout(limit.as_secs()))?
}

fn served(answer: Answer) -> Result<Answer, Fault> {
    if answer.status == 200 { Ok(answer) } else { Err(Fault::Status(answer.status)) }
}
