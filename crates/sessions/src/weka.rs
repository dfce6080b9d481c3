//! Sessions as coding agents' proxies publish them (the Weka format): one JSON object a session,
//! with `id`, `block_size`, `tool_tokens`, `system_tokens` and `requests`; a request has `t`,
//! `in`, `out`, `hash_ids`, `think_time`, `api_time`.
//!
//! A request of type `subagent` has requests of its own: a stream beside the session's. Its `t`
//! is when it ended; it began `duration_ms` earlier. Its hash ids are local to it.

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use serde_json::Value;

use crate::limits;
use crate::session::{Format, Gap, Parent, Session, Turn, common_prefix_blocks};

/// Tokens of a block where the file does not say.
const BLOCK_TOKENS: u64 = 64;

/// One object.
#[derive(serde::Deserialize)]
struct File {
    #[serde(default)]
    id: Option<Value>,
    #[serde(default, deserialize_with = "named::block_size")]
    block_size: Option<u64>,
    #[serde(default, deserialize_with = "named::tool_tokens")]
    tool_tokens: Option<u64>,
    #[serde(default, deserialize_with = "named::system_tokens")]
    system_tokens: Option<u64>,
    requests: Requests,
}

/// An entry of `requests`.
#[derive(serde::Deserialize)]
struct Entry {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default, deserialize_with = "named::t")]
    t: Option<f64>,
    #[serde(default, rename = "in", deserialize_with = "named::prompt")]
    prompt: Option<u64>,
    #[serde(default, deserialize_with = "named::out")]
    out: Option<u64>,
    #[serde(default, deserialize_with = "named::hash_ids")]
    hash_ids: Option<Vec<u64>>,
    #[serde(default, deserialize_with = "named::think_time")]
    think_time: Option<f64>,
    #[serde(default, deserialize_with = "named::api_time")]
    api_time: Option<f64>,
    #[serde(default)]
    agent_id: Option<Value>,
    #[serde(default, deserialize_with = "named::duration_ms")]
    duration_ms: Option<f64>,
    #[serde(default, deserialize_with = "named::tool_tokens")]
    tool_tokens: Option<u64>,
    #[serde(default, deserialize_with = "named::system_tokens")]
    system_tokens: Option<u64>,
    #[serde(default)]
    requests: Option<Requests>,
}

/// Values whose error names their key.
mod named {
    use super::{Deserialize, Deserializer, de::Error};

    macro_rules! values {
        ($($function:ident $key:literal $type:ty),* $(,)?) => {$(
            pub fn $function<'de, D: Deserializer<'de>>(d: D) -> Result<Option<$type>, D::Error> {
                let named = |e| D::Error::custom(format!(concat!($key, ": {}"), e));
                Option::<$type>::deserialize(d).map_err(named)
            }
        )*};
    }

    values! {
        block_size "block_size" u64,
        tool_tokens "tool_tokens" u64,
        system_tokens "system_tokens" u64,
        t "t" f64,
        prompt "in" u64,
        out "out" u64,
        hash_ids "hash_ids" Vec<u64>,
        think_time "think_time" f64,
        api_time "api_time" f64,
        duration_ms "duration_ms" f64,
    }
}

/// A request of the session itself.
struct Request {
    t: Option<f64>,
    think_s: Option<f64>,
    service_s: Option<f64>,
    prompt_tokens: u64,
    output_tokens: u64,
    /// Blocks that its prompt has in common with the previous one's, from the start.
    common_blocks: Option<u64>,
}

/// A subagent.
struct Beside {
    /// Its place: requests of the session that stand before it.
    after: usize,
    agent: Option<String>,
    end_s: Option<f64>,
    duration_s: Option<f64>,
    shared_tokens: Option<u64>,
    requests: Requests,
}

/// The requests of a session or a subagent. Only the last hash ids are kept as they are read.
#[derive(Default)]
struct Requests {
    own: Vec<Request>,
    beside: Vec<Beside>,
}

impl<'de> Deserialize<'de> for Requests {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_seq(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Requests;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of requests")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Requests, A::Error> {
        let mut requests = Requests::default();
        let mut previous = None;
        for number in 1.. {
            let named = |e: A::Error| de::Error::custom(format!("request {number}: {e}"));
            let Some(entry) = seq.next_element::<Entry>().map_err(named)? else { break };
            let added = requests.push(entry, &mut previous);
            added.map_err(|m| de::Error::custom(format!("request {number}: {m}")))?;
        }
        Ok(requests)
    }
}

impl Requests {
    /// The next entry; `previous` are the hash ids of the last request of the session's own.
    fn push(&mut self, entry: Entry, previous: &mut Option<Vec<u64>>) -> Result<(), String> {
        match entry.kind.as_deref() {
            Some("subagent") => {
                let requests = entry.requests.ok_or("subagent: expected requests, found none")?;
                self.beside.push(Beside {
                    after: self.own.len(),
                    agent: entry.agent_id.as_ref().map(name),
                    end_s: entry.t,
                    duration_s: entry.duration_ms.map(|ms| ms / 1000.0),
                    shared_tokens: sum(entry.tool_tokens, entry.system_tokens),
                    requests,
                });
                return Ok(());
            }
            None | Some("s" | "n") => {}
            Some(kind) => return Err(format!("type: expected s, n or subagent, found {kind:?}")),
        }
        let common = previous.as_ref().zip(entry.hash_ids.as_ref());
        let first = self.own.is_empty();
        // One more than may be, so that the check sees it.
        if self.own.len() <= limits::TURNS {
            self.own.push(Request {
                t: entry.t,
                think_s: entry.think_time,
                service_s: entry.api_time,
                prompt_tokens: entry.prompt.ok_or("in: expected a number, found none")?,
                output_tokens: entry.out.ok_or("out: expected a number, found none")?,
                common_blocks: match common {
                    _ if first => Some(0),
                    common => common.map(|(before, this)| common_prefix_blocks(before, this)),
                },
            });
        }
        *previous = entry.hash_ids;
        Ok(())
    }

    fn turns(&self, began_s: Option<f64>, block_tokens: u64) -> Vec<Turn> {
        let mut turns = Vec::with_capacity(self.own.len());
        let mut previous: Option<&Request> = None;
        for request in &self.own {
            let gap = match previous {
                None => Gap::FIRST,
                Some(p) => Gap::of(request.think_s, p.t.zip(request.t), p.service_s),
            };
            let common = request.common_blocks.map(|blocks| blocks.saturating_mul(block_tokens));
            turns.push(Turn {
                gap,
                prompt_tokens: request.prompt_tokens,
                output_tokens: request.output_tokens,
                reusable_tokens: common.map(|tokens| tokens.min(request.prompt_tokens)),
                start_s: began_s.zip(request.t).map(|(began, t)| began + t),
                service_s: request.service_s,
            });
            previous = Some(request);
        }
        turns
    }
}

fn name(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    Some(a?.saturating_add(b?))
}

/// The session of an object, and after it the streams beside it.
pub(crate) fn sessions(text: &[u8], unnamed: &str) -> serde_json::Result<Vec<Session>> {
    let file: File = serde_json::from_slice(text)?;
    let block_tokens = file.block_size.unwrap_or(BLOCK_TOKENS);
    if block_tokens == 0 {
        return Err(de::Error::custom("block_size: expected at least 1 token, found 0"));
    }
    let id = file.id.as_ref().map_or_else(|| unnamed.to_owned(), name);
    let mut found = Vec::new();
    let began_s = Some(0.0);
    let shared_tokens = sum(file.tool_tokens, file.system_tokens);
    let turns = file.requests.turns(began_s, block_tokens);
    found.push(Session {
        id: id.clone(),
        parent: None,
        format: Format::Weka,
        shared_tokens,
        turns,
    });
    beside(&id, began_s, &file.requests, block_tokens, &mut found);
    Ok(found)
}

fn beside(
    id: &str,
    began_s: Option<f64>,
    requests: &Requests,
    block_tokens: u64,
    found: &mut Vec<Session>,
) {
    for (n, agent) in requests.beside.iter().enumerate() {
        let began = agent.end_s.zip(agent.duration_s).map(|(end, took)| (end - took).max(0.0));
        let after = match began {
            Some(began) => {
                requests.own.iter().take_while(|r| r.t.is_some_and(|t| t <= began)).count()
            }
            None => agent.after,
        };
        let own = agent.agent.clone().unwrap_or_else(|| format!("{}", n + 1));
        let own = format!("{id}/{own}");
        let began_s = began_s.zip(began).map(|(session, agent)| session + agent);
        found.push(Session {
            id: own.clone(),
            parent: Some(Parent { session: id.to_owned(), turn: after as u64 }),
            format: Format::Weka,
            shared_tokens: agent.shared_tokens,
            turns: agent.requests.turns(began_s, block_tokens),
        });
        beside(&own, began_s, &agent.requests, block_tokens, found);
    }
}
