//! An engine that is watched: one scrape of its /metrics after the other, an answer after each,
//! and metrics about the answers.

use std::fmt::Write as _;

use crate::answer::{Answer, Ask, Thresholds, Verdict, answers, time_shown};
use crate::digits::fixed;
use crate::form::{Clock, Observed};
use crate::format::Format;
use crate::read::{ReadError, Reader};

/// What was seen of one endpoint.
pub struct Watch {
    ask: Ask,
    rule: Thresholds,
    /// How far back it is judged, s.
    window_s: f64,
    observed: Observed,
    answers: Vec<Answer>,
    up: bool,
    scrapes: u64,
    failures: u64,
}

impl Watch {
    /// Nothing was seen yet.
    pub fn new(ask: Ask, rule: Thresholds, window_s: f64) -> Self {
        let (observed, answers) = Default::default();
        Self { ask, rule, window_s, observed, answers, up: false, scrapes: 0, failures: 0 }
    }

    /// A scrape that was made at a time (Unix, s).
    ///
    /// # Errors
    /// It is no text of metrics; what was seen before stays.
    pub fn scraped(&mut self, at_s: f64, text: &[u8]) -> Result<&[Answer], ReadError> {
        self.scrapes += 1;
        self.up = false;
        let mut reader = Reader::new(Some(Format::Prometheus), Some(at_s));
        let read = reader.push(text).and_then(|()| reader.finish());
        let one = read.inspect_err(|_| self.failures += 1)?;
        self.observed.add(one, "", true);
        for engine in self.observed.engines.values_mut() {
            engine.forget_before(at_s - self.window_s);
        }
        self.up = true;
        self.answers = answers(&self.observed, &self.ask, &self.rule);
        Ok(&self.answers)
    }

    /// There was no scrape.
    pub const fn failed(&mut self) {
        self.scrapes += 1;
        self.failures += 1;
        self.up = false;
    }

    /// The last answers, the worst first; none where the last scrape failed.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        self.answers.iter().filter(|_| self.up).map(|answer| answer.verdict)
    }

    /// A line per engine.
    pub fn lines(&self, at_s: f64) -> Vec<String> {
        let when = time_shown(at_s, Clock::Wall);
        let line = |answer: &Answer| {
            let engine = match answer.engine.as_str() {
                "" => String::new(),
                name => format!("{name}: "),
            };
            let last = answer.timeline.bins.last();
            let hits = last.and_then(|bin| bin.hits());
            let gauges = [
                ("hits", hits.map(|x| fixed(100.0 * x, 1) + " %")),
                ("running", last.and_then(|b| b.running).map(|x| fixed(x, 0))),
                ("waiting", last.and_then(|b| b.waiting).map(|x| fixed(x, 0))),
                ("KV usage", last.and_then(|b| b.usage).map(|x| fixed(100.0 * x, 0) + " %")),
            ];
            let gauges = gauges.into_iter().filter_map(|(name, x)| Some(format!("{name} {}", x?)));
            let gauges: Vec<_> = gauges.collect();
            format!("{when}Z {engine}{} [{}]", answer.headline, gauges.join(", "))
        };
        self.answers.iter().map(line).collect()
    }

    /// All of it as metrics, in the text format that Prometheus scrapes.
    pub fn metrics(&self, at_s: f64) -> String {
        let mut text = String::new();
        let mut family = |name: &str, kind: &str, help: &str, values: Vec<(String, f64)>| {
            if values.is_empty() {
                return;
            }
            let _ =
                writeln!(text, "# HELP trapcheck_{name} {help}\n# TYPE trapcheck_{name} {kind}");
            for (labels, value) in values {
                let _ = writeln!(text, "trapcheck_{name}{labels} {value}");
            }
        };
        let alone = |value: f64| vec![(String::new(), value)];
        family(
            "up",
            "gauge",
            "Whether the last scrape was read.",
            alone(f64::from(u8::from(self.up))),
        );
        family("scrapes_total", "counter", "Scrapes that were tried.", alone(self.scrapes as f64));
        family(
            "scrape_failures_total",
            "counter",
            "Scrapes that failed.",
            alone(self.failures as f64),
        );
        let shown: Vec<&Answer> = self.answers.iter().filter(|_| self.up).collect();
        let each = |of: &dyn Fn(&Answer) -> Option<f64>| {
            let label = |a: &Answer| format!("{{engine=\"{}\"}}", escaped(&a.engine));
            shown.iter().filter_map(|a| Some((label(a), of(a)?))).collect::<Vec<_>>()
        };
        let verdicts = shown.iter().flat_map(|answer| {
            Verdict::ALL.map(|verdict| {
                let engine = escaped(&answer.engine);
                let labels = format!("{{engine=\"{engine}\",verdict=\"{}\"}}", verdict.word());
                (labels, f64::from(u8::from(verdict == answer.verdict)))
            })
        });
        family(
            "verdict",
            "gauge",
            "1 for the verdict on an engine, 0 for the others.",
            verdicts.collect(),
        );
        let since = |a: &Answer| Some(at_s - a.since_s?);
        family("verdict_seconds", "gauge", "How long it has been so.", each(&since));
        let last = |of: fn(&crate::answer::Bin) -> Option<f64>| {
            each(&|a: &Answer| a.timeline.bins.last().and_then(of))
        };
        family(
            "hit_fraction",
            "gauge",
            "Share of the prompt tokens found in the cache.",
            last(crate::answer::Bin::hits),
        );
        family(
            "outstanding_requests",
            "gauge",
            "Requests in the engine.",
            last(|bin| bin.outstanding),
        );
        family("waiting_requests", "gauge", "Requests that wait.", last(|bin| bin.waiting));
        let rise =
            |a: &Answer| a.evidence.iter().find(|e| e.quantity == "backlog rise").map(|e| e.value);
        family(
            "backlog_rise_requests",
            "gauge",
            "By how much the backlog rose meanwhile.",
            each(&rise),
        );
        text
    }
}

/// A label's value as the text format writes it.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn scrape(i: u32) -> String {
        let (hits, waiting) = (9000 * i.min(20), 3 * i.saturating_sub(20));
        format!(
            "vllm:num_requests_running{{engine=\"0\"}} 8.0\nvllm:num_requests_waiting{{engine=\"0\"}} {waiting}.0\nvllm:prefix_cache_queries_total{{engine=\"0\"}} {}.0\nvllm:prefix_cache_hits_total{{engine=\"0\"}} {hits}.0\n",
            10_000 * i
        )
    }

    #[test]
    fn a_trap_is_told_while_it_is_watched_and_long_after_the_last_good_scrape_has_gone() {
        let mut watch = Watch::new(Ask::default(), Thresholds::default(), 900.0);
        let at = |i: u32| 1.788e9 + 30.0 * f64::from(i);
        for i in 0..20 {
            watch.scraped(at(i), scrape(i).as_bytes()).unwrap();
        }
        assert_eq!(watch.verdicts().collect::<Vec<_>>(), [Verdict::Good]);
        for i in 20..120 {
            watch.scraped(at(i), scrape(i).as_bytes()).unwrap();
        }
        assert_eq!(watch.verdicts().collect::<Vec<_>>(), [Verdict::Trap]);
        let line = watch.lines(at(119)).concat();
        assert!(line.contains("engine 0: TRAP since 2026-08-29"), "{line}");
        let metrics = watch.metrics(at(119));
        assert!(
            metrics.contains("trapcheck_verdict{engine=\"engine 0\",verdict=\"trap\"} 1\n"),
            "{metrics}"
        );
        assert!(
            metrics.contains("trapcheck_verdict{engine=\"engine 0\",verdict=\"good\"} 0\n"),
            "{metrics}"
        );
        assert!(metrics.contains("trapcheck_hit_fraction{engine=\"engine 0\"} 0\n"), "{metrics}");
    }

    #[test]
    fn an_endpoint_that_answers_with_something_else_is_down_and_keeps_what_was_seen() {
        let mut watch = Watch::new(Ask::default(), Thresholds::default(), 900.0);
        watch.scraped(1.788e9, scrape(1).as_bytes()).unwrap();
        assert!(watch.scraped(1.788e9 + 30.0, b"").is_err());
        assert_eq!(watch.verdicts().count(), 0);
        assert!(watch.metrics(1.788e9).contains("trapcheck_up 0\n"));
        assert!(watch.metrics(1.788e9).contains("trapcheck_scrape_failures_total 1\n"));
        watch.scraped(1.788e9 + 60.0, scrape(2).as_bytes()).unwrap();
        assert_eq!(watch.verdicts().count(), 1);
    }

    /// The words that begin with `trapcheck_` in a text.
    fn metrics_in(text: &str) -> BTreeSet<&str> {
        let in_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words = text.split(|c: char| !in_name(c));
        words.filter(|word| word.starts_with("trapcheck_")).collect()
    }

    #[test]
    fn the_alert_and_the_panel_of_the_page_ask_for_metrics_that_are_served() {
        let mut watch = Watch::new(Ask::default(), Thresholds::default(), 900.0);
        for i in 0..120 {
            watch.scraped(1.788e9 + 30.0 * f64::from(i), scrape(i).as_bytes()).unwrap();
        }
        let text = watch.metrics(1.788e9 + 3600.0);
        let served: BTreeSet<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
            .collect();
        let page = include_str!("../../docs/diagnose.md");
        let block = |word: &str| {
            let (_, rest) = page.split_once(&format!("```{word}\n")).expect(word);
            rest.split_once("```").expect(word).0
        };
        let rules: serde_yaml::Value = serde_yaml::from_str(block("yaml")).unwrap();
        let rules = rules["groups"][0]["rules"].as_sequence().unwrap();
        let panel: serde_json::Value = serde_json::from_str(block("json")).unwrap();
        let targets = panel["targets"].as_array().unwrap();
        let asked = rules.iter().map(|rule| rule["expr"].as_str().unwrap());
        let asked: Vec<&str> =
            asked.chain(targets.iter().map(|target| target["expr"].as_str().unwrap())).collect();
        assert_eq!(asked.len(), rules.len() + targets.len());
        for expression in asked {
            let names = metrics_in(expression);
            assert!(!names.is_empty() && names.is_subset(&served), "{expression}");
            // The verdicts that it compares with are words of ours.
            let quoted =
                expression.split('"').skip(1).step_by(2).flat_map(|words| words.split('|'));
            for word in quoted {
                assert!(Verdict::ALL.iter().any(|verdict| verdict.word() == word), "{word}");
            }
        }
        assert!(rules.iter().all(|rule| rule["alert"].is_string() && rule["for"].is_string()));
        assert_eq!(panel["type"], "timeseries");
        // The page names all that is served, and nothing else.
        assert_eq!(metrics_in(page), served);
    }
}
