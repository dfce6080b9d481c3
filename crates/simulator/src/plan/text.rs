//! A plan as the text of `plan.csv` (run directory, format 1) and its SHA-256.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::Plan;
use crate::hash::sha256_hex;

/// The columns of `plan.csv`.
pub const HEADER: &str = "session,kind,t_arrival,turns,tool_s";
/// The column more of a plan of recorded sessions: the session's name in the record.
const RECORDED: &str = ",recorded";
/// The column more of a plan with subagents: what starts each.
const FOLLOWS: &str = ",follows";

impl Plan {
    /// The uncompressed `plan.csv`: times with six digits, `\n` line ends.
    pub fn to_csv(&self) -> String {
        let mut text = String::with_capacity(32 * self.sessions.len() + 10 * self.turns());
        let recorded = self.sessions.iter().any(|session| session.trace.is_some());
        let follows = self.sessions.iter().any(|session| session.started_by.is_some());
        text.push_str(HEADER);
        text.push_str(if recorded { RECORDED } else { "" });
        text.push_str(if follows { FOLLOWS } else { "" });
        text.push('\n');
        for planned in &self.sessions {
            // Writing to a String cannot fail.
            let _ = write!(text, "{},{},", planned.session, planned.kind);
            if let Some(t) = planned.t_arrival_s {
                push_seconds(&mut text, t);
            }
            let _ = write!(text, ",{},", planned.turns());
            for (i, tool) in planned.tool_s.iter().enumerate() {
                text.push_str(if i == 0 { "" } else { ";" });
                push_seconds(&mut text, *tool);
            }
            if recorded {
                let id = planned.trace.as_ref().map_or("", |trace| trace.id.as_str());
                let _ = write!(text, ",{}", quoted(id));
            }
            if follows {
                let by = planned.started_by.map_or_else(String::new, |by| by.to_string());
                let _ = write!(text, ",{by}");
            }
            text.push('\n');
        }
        text
    }

    /// SHA-256 of [`Plan::to_csv`], in lower-case hexadecimal: `plan_sha256` of
    /// `meta.json`.
    pub fn sha256(&self) -> String {
        sha256_hex(self.to_csv().as_bytes())
    }
}

/// A cell of a csv table, in quotes where it has to be.
fn quoted(cell: &str) -> Cow<'_, str> {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\"")).into()
    } else {
        cell.into()
    }
}

/// A time of whole microseconds with six digits: what `{:.6}` prints, and faster.
fn push_seconds(text: &mut String, t_s: f64) {
    let microseconds = libm::round(t_s * 1e6) as u64;
    let (whole, rest) = (microseconds / 1_000_000, microseconds % 1_000_000);
    let _ = write!(text, "{whole}.{rest:06}");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::sample::microseconds;
    use super::*;

    proptest! {
        #[test]
        fn a_time_is_printed_with_six_digits_and_read_back_whole(t_s in 0.0_f64..1e7) {
            let (t_s, mut text) = (microseconds(t_s), String::new());
            push_seconds(&mut text, t_s);
            prop_assert_eq!(&text, &format!("{t_s:.6}"));
            prop_assert_eq!(text.parse::<f64>().unwrap(), t_s);
        }
    }
}
