//! What the sessions hold against the pool.

use super::requests::Client;
use super::series::Over;
use super::share::percent;
use crate::digits::fixed;
use crate::sessions::By;

/// What the sessions hold against the pool.
pub(crate) struct Occupancy {
    /// What they hold together over the pool.
    pub over_pool: f64,
    /// How many of them fit.
    pub fit: f64,
    how: String,
}

impl Occupancy {
    /// By the sessions' prompts and the pool; where the pool is not known, by what the usage
    /// gauge says of each running request.
    pub fn of(client: Option<&Client>, over: Option<&Over>, pool: Option<u64>) -> Option<Self> {
        let client = client.filter(|c| c.by != By::Nothing)?;
        let sessions = client.sessions_present.filter(|n| *n > 0.0)?;
        let at_once = if client.has_times { "" } else { " (no times: all counted at once)" };
        if let (Some(pool), Some(held)) = (pool.filter(|p| *p > 0), client.footprints_tokens) {
            let over_pool = held / pool as f64;
            let how = format!(
                "{} sessions hold {} tokens together, {} times the pool of {pool}{at_once}",
                fixed(sessions, 0),
                fixed(held, 0),
                fixed(over_pool, 2),
            );
            return Some(Self { over_pool, fit: (sessions / over_pool).floor(), how });
        }
        let each = over?.usage_per_running?;
        let how = format!(
            "{} sessions hold {} times the pool, if each holds {} of it as a running request does{at_once}",
            fixed(sessions, 0),
            fixed(sessions * each, 2),
            percent(each)
        );
        Some(Self { over_pool: sessions * each, fit: (1.0 / each).floor(), how })
    }

    pub fn words(&self) -> String {
        let fit = fixed(self.fit, 0);
        format!("{}; about {fit} fit, those in tool calls counted", self.how)
    }
}
