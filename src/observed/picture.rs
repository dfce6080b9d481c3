//! An answer's timeline as a picture.

use crate::answer::{Answer, Bin, Thresholds};
use crate::figure::Figure;
use crate::figure::observed::{ObservedPicture, observed_picture};
use crate::figure::origin::{Origin, Source};
use crate::form::Clock;

/// The picture; the levels are the rule's, of what could be found.
pub fn picture(answer: &Answer, name: &str, rule: &Thresholds) -> Figure {
    let bins = &answer.timeline.bins;
    let start = bins.first().map_or(0.0, |bin| bin.from_s);
    let (time_unit, unit) = match answer.timeline.clock {
        Clock::Order => ("sample", 1.0),
        _ => ("min", 60.0),
    };
    let middle = |bin: &Bin| (0.5 * (bin.from_s + bin.to_s) - start) / unit;
    let series = |of: &dyn Fn(&Bin) -> Option<f64>| {
        bins.iter().map(|bin| (middle(bin), of(bin))).collect::<Vec<_>>()
    };
    let ceiling = answer.evidence.iter().find(|e| e.quantity == "reuse ceiling").map(|e| e.value);
    let source = match (answer.identity.simulated, answer.identity.software) {
        (true, _) => Source::Simulated,
        (false, Some(software)) => {
            let version = answer.identity.version.as_deref().unwrap_or("of unknown version");
            Source::Engine(format!("{software} {version}"))
        }
        (false, None) => Source::Engine("an engine".into()),
    };
    let end = bins.last().map(|bin| bin.to_s);
    let stretch = answer.since_s.zip(answer.until_s.or(end));
    observed_picture(&ObservedPicture {
        headline: answer.headline.clone(),
        time_unit,
        hits: series(&Bin::hits),
        outstanding: series(&|bin| bin.outstanding),
        waiting: series(&|bin| bin.waiting),
        usage: series(&|bin| bin.usage),
        levels: ceiling.map(|c| (rule.missed_below * c, rule.found_above * c)),
        stretch: stretch.map(|(from, to)| ((from - start) / unit, (to - start) / unit)),
        origin: Origin::run(name, name, source),
    })
}
