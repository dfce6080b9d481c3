//! A layout's rule at work: from the texts in a file of theirs to the text that format 1
//! would have in their place.

use std::borrow::Cow;

use crate::date;
use crate::decimal::Decimal;
use crate::escape::shortened;
use crate::setup::layout::{Others, Rule, Term, Unit};

/// The clock of their absolute times.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clock {
    /// The run's time 0 on it, s.
    pub origin: Option<Decimal>,
    /// How far a date without a zone is ahead of UTC, s.
    pub zone_s: i64,
}

/// A rule, ready to be applied row by row.
#[derive(Debug)]
pub struct Answer {
    constant: Option<String>,
    words: Option<Words>,
    separator: Option<String>,
    arithmetic: Option<Arithmetic>,
}

/// What to do with each word.
#[derive(Debug)]
struct Words {
    /// The words; those that stand for all that begin so without their `*`, longest first.
    whole: Vec<(String, String)>,
    beginnings: Vec<(String, String)>,
    keep_others: bool,
}

/// `factor` x the value + each term x its factor + `add`.
#[derive(Debug)]
struct Arithmetic {
    factor: Decimal,
    terms: Vec<Decimal>,
    add: Decimal,
    /// How far a date without a zone is ahead of UTC, s, where a date can be meant: by an
    /// absolute time, and by what is added or subtracted.
    dates: Option<i64>,
}

/// An input that cannot be converted.
#[derive(Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Which one, in the order of [`inputs`].
    pub input: usize,
    /// What was expected.
    pub message: String,
}

/// The names of theirs that a rule needs: what it starts from, then its terms.
pub fn inputs(rule: &Rule) -> Vec<&str> {
    let terms = rule.plus.iter().chain(&rule.minus).map(|term| term.from.as_str());
    rule.from.as_deref().into_iter().chain(terms).collect()
}

/// How a problem names what answers `name`.
pub fn label(rule: &Rule, name: &str) -> String {
    let Some(from) = &rule.from else { return format!("{name} (a constant)") };
    let plus = rule.plus.iter().map(|term| format!(" + {}", term.from));
    let minus = rule.minus.iter().map(|term| format!(" - {}", term.from));
    named(&plus.chain(minus).fold(from.clone(), |label, term| label + &term), name)
}

/// A name of theirs, with the one of format 1 that it answers.
pub fn named(theirs: &str, name: &str) -> String {
    if theirs == name { name.to_owned() } else { format!("{theirs} ({name})") }
}

impl Answer {
    /// Prepares a rule for absolute times of a clock.
    pub fn new(rule: &Rule, clock: Clock) -> Self {
        let words = (!rule.values.is_empty()).then(|| Words::new(rule));
        let arithmetic = Arithmetic::new(rule, clock);
        let arithmetic = (!arithmetic.changes_nothing() || rule.absolute).then_some(arithmetic);
        Self {
            constant: rule.constant.as_ref().map(|constant| constant.0.clone()),
            words,
            separator: rule.separator.clone(),
            arithmetic,
        }
    }

    /// The value, given the texts of the inputs (`None` where one is empty); `None` where
    /// it is unknown.
    ///
    /// # Errors
    /// An input that is no number where one is needed, or a word that means nothing.
    pub fn value<'v>(
        &'v self,
        input: impl Fn(usize) -> Option<&'v str>,
    ) -> Result<Option<Cow<'v, str>>, Wrong> {
        if let Some(constant) = &self.constant {
            return Ok(Some(Cow::from(constant)).filter(|c| !c.is_empty()));
        }
        let first = match &self.words {
            None => input(0),
            Some(words) => words.meaning(input(0))?,
        };
        let Some(first) = first.filter(|text| !text.is_empty()) else { return Ok(None) };
        match (&self.separator, &self.arithmetic) {
            (Some(separator), arithmetic) => {
                list(first, separator, arithmetic.as_ref()).map(|list| Some(list.into()))
            }
            (None, None) => Ok(Some(first.into())),
            (None, Some(arithmetic)) => arithmetic.value(first, input).map(|v| v.map(Cow::from)),
        }
    }
}

fn list(text: &str, separator: &str, arithmetic: Option<&Arithmetic>) -> Result<String, Wrong> {
    let times = text.split(separator).map(|time| match arithmetic {
        None => Ok(time.to_owned()),
        Some(arithmetic) => arithmetic.value(time, |_| None).map(Option::unwrap_or_default),
    });
    Ok(times.collect::<Result<Vec<_>, _>>()?.join(";"))
}

impl Words {
    fn new(rule: &Rule) -> Self {
        let pairs = rule.values.iter().map(|(theirs, ours)| (theirs.0.clone(), ours.0.clone()));
        let (beginnings, whole): (Vec<_>, Vec<_>) = pairs.partition(|(key, _)| key.ends_with('*'));
        let mut beginnings: Vec<_> = beginnings
            .into_iter()
            .map(|(key, ours)| (key.trim_end_matches('*').to_owned(), ours))
            .collect();
        beginnings.sort_by_key(|(key, _)| std::cmp::Reverse(key.len()));
        Self { whole, beginnings, keep_others: rule.others == Others::Keep }
    }

    /// What a word means; an empty one is unknown unless the layout says otherwise.
    fn meaning<'v>(&'v self, word: Option<&'v str>) -> Result<Option<&'v str>, Wrong> {
        let text = word.unwrap_or_default();
        let whole = self.whole.iter().find(|(theirs, _)| theirs == text);
        let begins = || self.beginnings.iter().find(|(theirs, _)| text.starts_with(theirs));
        match whole.or_else(|| word.and_then(|_| begins())) {
            Some((_, ours)) => Ok(Some(ours)),
            None if word.is_none() || self.keep_others => Ok(word),
            None => {
                let known: Vec<String> = self
                    .whole
                    .iter()
                    .map(|(theirs, _)| theirs.clone())
                    .chain(self.beginnings.iter().map(|(theirs, _)| format!("{theirs}*")))
                    .collect();
                let message = format!(
                    "expected one of {} (the layout's values), found {}",
                    known.join(", "),
                    quoted(text)
                );
                Err(Wrong { input: 0, message })
            }
        }
    }
}

fn quoted(text: &str) -> String {
    format!("\u{201c}{}\u{201d}", shortened(text, 40))
}

impl Arithmetic {
    fn new(rule: &Rule, clock: Clock) -> Self {
        let term = |t: &Term| factor(t.unit, t.factor);
        let minus = rule.minus.iter().map(|t| term(t).negative());
        let add = rule.add.and_then(Decimal::from_f64).unwrap_or(Decimal::ZERO);
        let since = clock.origin.filter(|_| rule.absolute).unwrap_or(Decimal::ZERO);
        let terms: Vec<Decimal> = rule.plus.iter().map(term).chain(minus).collect();
        let dates = rule.absolute || !terms.is_empty();
        Self {
            factor: factor(rule.unit, rule.factor),
            terms,
            add: add.plus(since.negative()).unwrap_or(Decimal::ZERO),
            dates: dates.then_some(clock.zone_s),
        }
    }

    fn changes_nothing(&self) -> bool {
        self.factor == Decimal::ONE && self.terms.is_empty() && self.add == Decimal::ZERO
    }

    fn value<'v>(
        &self,
        first: &str,
        input: impl Fn(usize) -> Option<&'v str>,
    ) -> Result<Option<String>, Wrong> {
        let too_long = || Wrong { input: 0, message: "too many digits to be converted".into() };
        let first = self.number(0, first, self.factor)?;
        let first = first.times(self.factor).ok_or_else(too_long)?;
        let mut sum = first.plus(self.add).ok_or_else(too_long)?;
        for (i, factor) in (1..).zip(&self.terms) {
            let Some(text) = input(i) else { return Ok(None) };
            let term = self.number(i, text, *factor)?.times(*factor).ok_or_else(too_long)?;
            sum = sum.plus(term).ok_or_else(too_long)?;
        }
        Ok(Some(sum.to_string()))
    }

    /// A number, or the Unix seconds of a date where one can be meant.
    fn number(&self, input: usize, text: &str, factor: Decimal) -> Result<Decimal, Wrong> {
        if let Some(number) = Decimal::parse(text) {
            return Ok(number);
        }
        let found = quoted(text);
        let in_seconds = factor == Decimal::ONE || factor == Decimal::ONE.negative();
        let message = match (date::unix_s(text, self.dates.unwrap_or(0)), self.dates) {
            (Some(seconds), Some(_)) if in_seconds => return Ok(seconds),
            (Some(_), Some(_)) => {
                format!("expected a number, found the date {found}: no unit then")
            }
            (Some(_), None) => format!("expected a number, found the date {found}{A_DATE}"),
            (None, _) => format!("expected a number, found {found}"),
        };
        Err(Wrong { input, message })
    }
}

/// Ends a message about a date where a number is expected.
pub(crate) const A_DATE: &str = ": a date is read with absolute: true and an origin";

fn factor(unit: Option<Unit>, factor: Option<f64>) -> Decimal {
    let unit = unit.map(|unit| Decimal::power_of_ten(unit.exponent()));
    unit.or_else(|| factor.and_then(Decimal::from_f64)).unwrap_or(Decimal::ONE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::setup::layout::Scalar;

    fn of(yaml: &str) -> Rule {
        serde_yaml::from_str(yaml).unwrap_or_else(|e| panic!("{e}"))
    }

    fn value(yaml: &str, inputs: &[&str]) -> Result<Option<String>, Wrong> {
        let clock = Clock { origin: Decimal::parse("1788300000"), zone_s: 7200 };
        let text = |i: usize| inputs.get(i).copied().filter(|text| !text.is_empty());
        Answer::new(&of(yaml), clock).value(text).map(|v| v.map(Cow::into_owned))
    }

    #[test]
    fn units_factors_sums_and_origins_are_exact() {
        for (yaml, inputs, expected) in [
            ("a", &["0.5"][..], "0.5"),
            ("{from: a, unit: us}", &["1"], "0.000001"),
            ("{from: a, factor: 1000}", &["9.1"], "9100"),
            ("{from: a, add: 1}", &["0"], "1"),
            ("{from: a, plus: [b, c]}", &["1", "20", "300"], "321"),
            ("{from: a, minus: [b]}", &["0.3", "0.1"], "0.2"),
            ("{from: a, unit: ns, absolute: true}", &["1788300003900100000"], "3.9001"),
            (
                "{from: a, plus: [{from: b, unit: ms}], absolute: true}",
                &["1788300000.40", "690.0"],
                "1.09",
            ),
            ("{from: a, separator: \" \", unit: ms}", &["500 1250"], "0.5;1.25"),
        ] {
            assert_eq!(value(yaml, inputs), Ok(Some(expected.into())), "{yaml}");
        }
    }

    #[test]
    fn a_value_with_an_unknown_part_is_unknown() {
        for inputs in [["", "1"], ["1", ""]] {
            assert_eq!(value("{from: a, plus: [b]}", &inputs), Ok(None));
        }
        assert_eq!(value("{from: a, values: {x: y}}", &[""]), Ok(None));
        assert_eq!(value("{from: a, values: {-1: null}, others: keep}", &["-1"]), Ok(None));
        assert_eq!(value("{constant: null}", &[]), Ok(None));
    }

    #[test]
    fn words_are_mapped_whole_before_by_their_longest_beginning() {
        let yaml = "{from: a, values: {200: ok, 2*: odd, 20*: odder, '': none}}";
        for (word, ours) in [("200", "ok"), ("201", "odder"), ("2", "odd"), ("", "none")] {
            assert_eq!(value(yaml, &[word]), Ok(Some(ours.into())), "{word}");
        }
        let wrong = value(yaml, &["404"]).unwrap_err();
        assert!(wrong.message.contains("200, 20*, 2* (the layout's values)"), "{}", wrong.message);
    }

    #[test]
    fn the_input_that_is_no_number_is_the_one_named() {
        assert_eq!(value("{from: a, plus: [b]}", &["1", "x"]).unwrap_err().input, 1);
        assert_eq!(value("{from: a, add: 1}", &["inf"]).unwrap_err().input, 0);
        let long = "9".repeat(38);
        assert!(value("{from: a, add: 0.5}", &[&long]).unwrap_err().message.contains("too many"));
    }

    #[test]
    fn dates_are_read_where_a_point_in_time_is_meant_and_named_where_not() {
        let absolute = "{from: a, absolute: true}";
        for text in ["2026-09-01T22:00:05.25Z", "2026-09-02 00:00:05,250", "1788300005.25"] {
            assert_eq!(value(absolute, &[text]), Ok(Some("5.25".into())), "{text}");
        }
        let between = ["2026-09-02T00:00:05Z", "2026-09-02 02:00:00.5"];
        assert_eq!(value("{from: a, minus: [b]}", &between), Ok(Some("4.5".into())));
        let message = |yaml: &str| value(yaml, &["2026-09-02T00:00:05Z"]).unwrap_err().message;
        assert!(message("{from: a, add: 1}").contains("a date is read with absolute: true"));
        assert!(message("{from: a, unit: ms, absolute: true}").ends_with("no unit then"));
        assert_eq!(value("a", &["2026-09-02T00:00:05Z"]), Ok(Some("2026-09-02T00:00:05Z".into())));
    }

    #[test]
    fn a_label_shows_theirs_and_ours() {
        let rule = of("{from: a, plus: [b], minus: [c]}");
        assert_eq!(label(&rule, "t_end"), "a + b - c (t_end)");
        assert_eq!(label(&of("t_end"), "t_end"), "t_end");
        let constant = Rule { constant: Some(Scalar("base".into())), ..Rule::default() };
        assert_eq!(label(&constant, "kind"), "kind (a constant)");
    }

    proptest! {
        /// A time of 0.1 ms ticks reads as the same float, bit for bit, in every unit.
        #[test]
        fn a_time_in_another_unit_is_the_float_that_seconds_would_be(ticks in 0..u64::from(u32::MAX)) {
            let seconds = format!("{}.{:04}", ticks / 10_000, ticks % 10_000);
            let absolute = 17_883_000_000_000 + ticks;
            for (unit, text) in [
                ("s", format!("{}.{:04}", absolute / 10_000, absolute % 10_000)),
                ("ms", format!("{}.{}", absolute / 10, absolute % 10)),
                ("us", format!("{}", absolute * 100)),
                ("ns", format!("{}", absolute * 100_000)),
            ] {
                let yaml = format!("{{from: a, unit: {unit}, absolute: true}}");
                let read = value(&yaml, &[&text]).unwrap().unwrap();
                let float = |text: &str| fast_float2::parse::<f64, _>(text).unwrap().to_bits();
                prop_assert_eq!(float(&read), float(&seconds));
            }
        }
    }
}
