//! A small engine on the loopback that speaks vLLM's or SGLang's interface as documented: a
//! prefix cache in blocks, streams of events, metrics, a flush. It can be slow, stuck, dying
//! or lying.
#![allow(dead_code)] // each test program uses a part of it

mod gauges;
mod manner;
pub mod small;
mod wire;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use gauges::Totals;
pub use manner::{Flush, Manner, Report, Trouble};
use wire::{chunk, plain, pour, read_request};

/// Tokens per block.
const BLOCK: usize = 32;

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Seen {
    pub at: Instant,
    pub path: String,
    pub head: String,
    pub prompt: Vec<u32>,
}

/// A running engine; dropped, it takes no more connections.
pub struct Fake {
    pub url: String,
    shared: Arc<Shared>,
}

struct Shared {
    manner: Manner,
    cache: Mutex<HashSet<u64>>,
    seen: Mutex<Vec<Seen>>,
    prompts: AtomicUsize,
    held: AtomicUsize,
    totals: Mutex<Totals>,
    start: Instant,
    connections: AtomicUsize,
    poured: AtomicUsize,
    is_gone: AtomicBool,
    address: std::net::SocketAddr,
}

impl Fake {
    pub fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            manner,
            cache: Mutex::default(),
            seen: Mutex::default(),
            prompts: AtomicUsize::new(0),
            held: AtomicUsize::new(0),
            totals: Mutex::default(),
            start: Instant::now(),
            connections: AtomicUsize::new(0),
            poured: AtomicUsize::new(0),
            is_gone: AtomicBool::new(false),
            address,
        });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if serving.is_gone.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                serving.connections.fetch_add(1, Ordering::SeqCst);
                let shared = Arc::clone(&serving);
                let serve = move || drop(shared.serve(stream));
                let small = thread::Builder::new().stack_size(256 << 10);
                let _ = small.spawn(serve);
            }
        });
        Self { url: format!("http://{address}"), shared }
    }

    /// Requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().unwrap().clone()
    }

    /// Prompts that are neither answered nor given up.
    pub fn held(&self) -> usize {
        self.shared.held.load(Ordering::SeqCst)
    }

    /// The most bytes of an answer without an end that somebody took.
    pub fn poured(&self) -> usize {
        self.shared.poured.load(Ordering::SeqCst)
    }

    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.shared.go();
    }
}

impl Shared {
    /// No more connections: the listener's thread is woken to see it.
    fn go(&self) {
        self.is_gone.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }

    fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let (head, body) = read_request(&mut stream)?;
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let json: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
        let ids = if self.manner.is_sglang { &json["input_ids"] } else { &json["prompt"] };
        let prompt: Vec<u32> = serde_json::from_value(ids.clone()).unwrap_or_default();
        let seen = Seen { at: Instant::now(), path: path.clone(), head, prompt: prompt.clone() };
        let earlier = {
            let mut all = self.seen.lock().unwrap();
            all.push(seen);
            all.iter().filter(|seen| seen.path == path).count() - 1
        };
        if self.manner.endless.is_some_and(|(at, from)| at == path && earlier >= from) {
            if path.ends_with("_cache") {
                self.cache.lock().unwrap().clear();
            }
            let prefix = if self.manner.is_sglang { "sglang" } else { "vllm" };
            return pour(&mut stream, prefix, &self.poured);
        }
        match path.as_str() {
            "/v1/completions" | "/generate" => {
                self.held.fetch_add(1, Ordering::SeqCst);
                let said = self.generate(stream, &json, &prompt);
                self.held.fetch_sub(1, Ordering::SeqCst);
                said
            }
            "/metrics" => plain(stream, "200 OK", &self.metrics()),
            "/reset_prefix_cache" | "/flush_cache" => match self.manner.flush {
                // SGLang refuses; vLLM says that it did.
                Flush::Works if self.is_busy() => {
                    let status = if self.manner.is_sglang { "400 Bad Request" } else { "200 OK" };
                    plain(stream, status, "")
                }
                Flush::Works => {
                    self.cache.lock().unwrap().clear();
                    plain(stream, "200 OK", "")
                }
                Flush::DoesNothing => plain(stream, "200 OK", ""),
                Flush::NotThere => plain(stream, "404 Not Found", "{\"detail\":\"Not Found\"}"),
            },
            "/version" => plain(stream, "200 OK", "{\"version\":\"0.32.0\"}"),
            "/server_info" | "/model_info" if self.manner.is_older => {
                plain(stream, "404 Not Found", "{\"detail\":\"Not Found\"}")
            }
            "/server_info" => plain(stream, "200 OK", "{\"version\":\"0.5.23\"}"),
            "/get_server_info" => plain(stream, "200 OK", "{\"version\":\"0.5.5\"}"),
            "/v1/models" => {
                let model = &self.manner.model;
                plain(stream, "200 OK", &serde_json::json!({"data": [{"id": model}]}).to_string())
            }
            "/model_info" | "/get_model_info" => {
                let model = &self.manner.model;
                plain(stream, "200 OK", &serde_json::json!({"model_path": model}).to_string())
            }
            _ => plain(stream, "404 Not Found", ""),
        }
    }

    fn is_busy(&self) -> bool {
        self.start.elapsed().as_secs_f64() < self.manner.busy_s
    }

    fn generate(
        &self,
        mut stream: TcpStream,
        json: &serde_json::Value,
        prompt: &[u32],
    ) -> std::io::Result<()> {
        let number = self.prompts.fetch_add(1, Ordering::SeqCst);
        let troubled = self.manner.trouble.clone().filter(|(those, _)| those.contains(&number));
        let trouble = troubled.map(|(_, trouble)| trouble);
        let asked = if self.manner.is_sglang {
            &json["sampling_params"]["max_new_tokens"]
        } else {
            &json["max_tokens"]
        };
        let decode = asked.as_u64().unwrap_or(1) as u32;
        let cached = self.cached(prompt);
        let output: Vec<u32> = (0..decode).map(|i| 500 + (prompt.len() as u32 + i) % 97).collect();
        if let Some(trouble) = &trouble
            && self.breaks(&mut stream, trouble)?
        {
            return Ok(());
        }
        thread::sleep(Duration::from_secs_f64(self.manner.answer_s));
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        )?;
        let told = Told { prompt: prompt.len(), cached, output: &output };
        for event in self.events(&told, trouble.as_ref()) {
            chunk(&mut stream, &format!("data: {event}\n\n"))?;
        }
        let whole: Vec<u32> = [prompt, &output].concat();
        if self.manner.prefix_caching {
            self.cache.lock().unwrap().extend(chain(&whole));
        }
        if trouble == Some(Trouble::CutStream) {
            return Ok(());
        }
        self.totals.lock().unwrap().add(prompt.len(), cached, output.len());
        chunk(&mut stream, "data: [DONE]\n\n")?;
        write!(stream, "0\r\n\r\n")
    }

    /// Prompt tokens in the cache, in whole blocks and short of the last token.
    fn cached(&self, prompt: &[u32]) -> usize {
        let cache = self.cache.lock().unwrap();
        let found = chain(prompt).into_iter().take_while(|hash| cache.contains(hash)).count();
        found.min((prompt.len() - 1) / BLOCK) * BLOCK
    }

    fn events(&self, told: &Told<'_>, trouble: Option<&Trouble>) -> Vec<String> {
        let (mut output, mut prompt, mut cached) = (told.output, told.prompt, told.cached);
        match trouble {
            Some(Trouble::NoIds) => output = &[],
            Some(Trouble::FewIds) => output = &output[..output.len() - 1],
            Some(Trouble::MoreCached) => cached = prompt + 1,
            Some(Trouble::OtherPrompt) => prompt += 1,
            Some(Trouble::NotJson) => return vec!["{\"choices\":".into()],
            Some(Trouble::ErrorEvent) => return vec!["{\"error\":{\"message\":\"no\"}}".into()],
            _ => {}
        }
        let reported = match self.manner.report {
            Report::Always => Some(cached),
            Report::NotZero => Some(cached).filter(|cached| *cached > 0),
            Report::Never => None,
        };
        if self.manner.is_sglang {
            // As many as it has written; but it counts ids that it withholds.
            let count = |ids: &[u32]| match trouble {
                Some(Trouble::NoIds) => told.output.len(),
                _ => ids.len(),
            };
            let event = |ids: &[u32], reason: &str| {
                format!(
                    "{{\"text\":\"x\",\"output_ids\":{ids:?},\"meta_info\":{{\"id\":\"r\",\"finish_reason\":{reason},\
                     \"prompt_tokens\":{prompt},\"completion_tokens\":{},\"cached_tokens\":{}}}}}",
                    count(ids),
                    reported.map_or("null".into(), |n| n.to_string())
                )
            };
            let first = output.get(..1).unwrap_or_default();
            return vec![event(first, "null"), event(output, "{\"type\":\"length\",\"length\":1}")];
        }
        let details = reported.map_or("null".into(), |n| format!("{{\"cached_tokens\":{n}}}"));
        let mut events: Vec<String> = output
            .iter()
            .map(|id| format!("{{\"choices\":[{{\"index\":0,\"text\":\"x\",\"token_ids\":[{id}]}}],\"usage\":null}}"))
            .collect();
        events.push(format!(
            "{{\"choices\":[],\"usage\":{{\"prompt_tokens\":{prompt},\"total_tokens\":0,\"completion_tokens\":{},\
             \"prompt_tokens_details\":{details}}}}}",
            told.output.len()
        ));
        events
    }

    /// What ends an answer before it has begun; false where the trouble is within the events.
    fn breaks(&self, stream: &mut TcpStream, trouble: &Trouble) -> std::io::Result<bool> {
        match trouble {
            Trouble::Stuck => drop(stream.read(&mut [0])),
            Trouble::Dies => self.go(),
            Trouble::Status(status) => {
                let status = format!("{status} Error");
                plain(stream.try_clone()?, &status, "Authorization: what you sent")?;
            }
            Trouble::Redirect(to) => {
                write!(
                    stream,
                    "HTTP/1.1 307 Temporary Redirect\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n"
                )?;
            }
            Trouble::EndlessHead => {
                write!(stream, "HTTP/1.1 200 OK\r\n")?;
                loop {
                    write!(stream, "x-more: {}\r\n", "x".repeat(1000))?;
                }
            }
            Trouble::EndlessLine => {
                write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: ")?;
                loop {
                    stream.write_all(&[b'x'; 65_536])?;
                }
            }
            Trouble::EndlessEvents => {
                write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")?;
                loop {
                    stream.write_all(b": nothing\n\n".repeat(1000).as_slice())?;
                }
            }
            Trouble::ShortBody => {
                write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\ndata: [DONE]\n\n")?;
            }
            Trouble::NotHttp => stream.write_all(b"\x16\x03\x01 this is no HTTP\r\n\r\n")?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

struct Told<'a> {
    prompt: usize,
    cached: usize,
    output: &'a [u32],
}

/// Of each whole block, the hash of everything up to its end.
fn chain(ids: &[u32]) -> Vec<u64> {
    let mut hasher = DefaultHasher::new();
    ids.chunks_exact(BLOCK)
        .map(|block| {
            block.hash(&mut hasher);
            hasher.finish()
        })
        .collect()
}
