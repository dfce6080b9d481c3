//! Intervals of iterations out of a log of SGLang.
//!
//! SGLang writes a line for each batch that it prefills and one for every so many iterations
//! that decode (`--decode-log-interval`, 40 unless its arguments, which it logs, say otherwise).
//! From one decode line to the next are that many iterations, and one for each prefill line
//! between them; their tokens are those that were decoded, by the requests that ran at both
//! ends, and those that were prefilled. The time is the decoded tokens over the line's
//! throughput, which is finer than the line's clock. An interval in which a prefill found
//! nothing running may hold idle time and is left out.
//!
//! Left out: speculative decoding, where an iteration decodes several tokens of a request
//! (`accept len` above 1).

use super::Logged;

/// Iterations that decode from one line to the next, where the log does not say.
const DECODES: f64 = 40.0;

/// Reads a log line by line.
#[derive(Debug, Default)]
pub struct Intervals {
    /// Rank and the like of the first batch's line: another's are of another engine.
    tag: Option<String>,
    decodes: Option<f64>,
    /// Requests that ran at the last decode line.
    running: Option<f64>,
    prefills: f64,
    prefilled: f64,
    was_idle: bool,
}

impl Intervals {
    /// The interval that a line ends; `None` of any other line.
    pub fn line(&mut self, line: &str) -> Option<Logged> {
        if let Some(decodes) = argument(line, "decode_log_interval") {
            self.decodes = Some(decodes);
        }
        let (head, said) = line.split_once(" batch")?;
        let (head, kind) = head.rsplit_once(' ')?;
        let tag = tag(head);
        let said = Said(said);
        match kind {
            "Prefill" if self.is_of(tag) => {
                self.prefills += 1.0;
                self.prefilled += said.number("#new-token")?;
                self.was_idle |= said.number("#running-req") == Some(0.0);
                None
            }
            "Decode" if self.is_of(tag) => self.ended(&said),
            _ => None,
        }
    }

    fn is_of(&mut self, tag: &str) -> bool {
        self.tag.get_or_insert_with(|| tag.to_owned()) == tag
    }

    fn ended(&mut self, said: &Said<'_>) -> Option<Logged> {
        let running = said.number("#running-req")?;
        let before = self.running.replace(running);
        let (prefills, prefilled) = (self.prefills, self.prefilled);
        let was_idle = self.was_idle;
        (self.prefills, self.prefilled, self.was_idle) = (0.0, 0.0, false);
        let before = before.filter(|_| !was_idle)?;
        if said.number("accept len").is_some_and(|tokens| tokens > 1.0) {
            return None;
        }
        let decodes = self.decodes.unwrap_or(DECODES);
        // The last iteration is the line's; those before it lie between the two lines.
        let decoded = running + (decodes - 1.0) * 0.5 * (before + running);
        let elapsed_s = decoded / said.number("gen throughput (token/s)")?;
        let used = said.number("token usage").or_else(|| said.number("full token usage"))?;
        let sound = decoded > 0.0 && elapsed_s > 0.0 && elapsed_s.is_finite() && used.is_finite();
        sound.then_some(Logged {
            iterations: decodes + prefills,
            tokens: decoded + prefilled,
            decode_share: used * decodes,
            elapsed_s,
        })
    }
}

/// What a line says, as `name: value` between commas.
struct Said<'a>(&'a str);

impl Said<'_> {
    fn number(&self, name: &str) -> Option<f64> {
        let pair = |part: &str| {
            let (key, value) = part.trim().split_once(':')?;
            (key == name).then(|| value.trim().parse::<f64>().ok()).flatten()
        };
        self.0.split(',').find_map(pair).filter(|x| *x >= 0.0)
    }
}

/// What stands beside the time in a line's brackets, such as `TP0`.
fn tag(head: &str) -> &str {
    let inside = head.rsplit_once('[').map_or("", |(_, inside)| inside).trim_end_matches(']');
    inside.splitn(3, ' ').nth(2).unwrap_or("")
}

/// A whole number among an engine's arguments, `name=40` or `'name': 40`.
fn argument(line: &str, name: &str) -> Option<f64> {
    let (_, after) = line.split_once(name)?;
    let digits = after.trim_start_matches(['\'', '=', ':', ' ']);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse::<f64>().ok().filter(|decodes| *decodes >= 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREFILL: &str = "[2026-09-02 10:00:05 TP0] Prefill batch, #new-seq: 2, #new-token: 512, \
        #cached-token: 0, token usage: 0.10, #running-req: 8, #queue-req: 4, #pending-token: 0, \
        cuda graph: False, input throughput (token/s): 11873.40";
    const DECODE: &str = "[2026-09-02 10:00:06 TP0] Decode batch, #running-req: 10, #token: 3000, \
        token usage: 0.10, cuda graph: True, gen throughput (token/s): 200.00, #queue-req: 0";

    #[test]
    fn an_interval_has_its_decode_iterations_and_those_that_prefilled() {
        let mut log = Intervals::default();
        assert_eq!(log.line(DECODE), None, "nothing is known of what was before");
        assert_eq!(log.line(PREFILL), None);
        let found = log.line(&DECODE.replace("-req: 10", "-req: 12")).unwrap();
        let decoded = 12.0 + 39.0 * 11.0;
        assert_eq!((found.iterations, found.tokens), (41.0, decoded + 512.0));
        assert_eq!((found.decode_share, found.elapsed_s), (40.0 * 0.1, decoded / 200.0));
    }

    #[test]
    fn the_interval_is_as_long_as_the_engines_arguments_say() {
        for arguments in [
            "server_args={'x': 1, 'decode_log_interval': 1, 'y': 2}",
            "ServerArgs(decode_log_interval=1)",
        ] {
            let mut log = Intervals::default();
            log.line(arguments);
            log.line(DECODE);
            let found = log.line(DECODE).unwrap();
            assert_eq!((found.iterations, found.tokens, found.elapsed_s), (1.0, 10.0, 0.05));
        }
    }

    #[test]
    fn idle_intervals_other_ranks_and_cut_lines_are_passed_over() {
        let mut log = Intervals::default();
        log.line(DECODE);
        log.line(&PREFILL.replace("#running-req: 8", "#running-req: 0"));
        assert_eq!(log.line(DECODE), None);
        log.line(&PREFILL.replace("TP0", "DP1 TP0"));
        assert_eq!(log.line(&DECODE.replace("TP0", "DP1 TP0")), None);
        assert_eq!(log.line(DECODE).unwrap().iterations, 40.0);
        for cut in 0..DECODE.len() {
            log.line(&DECODE[..cut]);
        }
        assert_eq!(log.line(&DECODE.replace("200.00", "0.00")), None);
    }

    #[test]
    fn several_tokens_of_a_request_in_an_iteration_make_no_interval() {
        let speculated =
            |len: &str| DECODE.replace("cuda graph", &format!("accept len: {len}, cuda graph"));
        let mut log = Intervals::default();
        log.line(DECODE);
        assert_eq!(log.line(&speculated("2.50")), None);
        assert!(log.line(&speculated("1.00")).is_some(), "one token each");
        assert!(log.line(DECODE).is_some());
    }
}
