//! The picture of a knee.

use trapcheck::figure::knee::{Knee as Drawn, KneeCurve, KneeKind, KneePoint, knee as draw};
use trapcheck::figure::origin::Source;
use trapcheck::figure::population::Estimate;
use trapcheck::figure::{Figure, Origin};
use trapcheck::knee::{Bracket, Found, Outcome, Question};
use trapcheck::table::answers::knee::Knee;

/// Hits and turns over the population, from both starts, perhaps with a host tier.
pub fn figure(
    question: &Question<'_>,
    knee: &Knee,
    with_host: Option<&Knee>,
    onset_n: Option<f64>,
) -> Figure {
    let of = |kind, found| curve(kind, found, &question.cell.name);
    let mut curves = vec![of(KneeKind::Empty, &knee.empty), of(KneeKind::Trap, &knee.trap)];
    if let Some(knee) = with_host {
        curves.push(of(KneeKind::EmptyWithHost, &knee.empty));
        curves.push(of(KneeKind::TrapWithHost, &knee.trap));
    }
    let Bracket { good_up_to, trapped_from } = knee.empty.bracket();
    draw(&Drawn {
        title: format!("Where {} falls off", question.cell.name),
        curves,
        bracket: good_up_to.zip(trapped_from).map(|(good, bad)| (good.into(), bad.into())),
        onset_n,
        cap: knee.cap(),
        note: format!("Sessions: {}.", question.workload.name),
    })
}

fn curve(kind: KneeKind, found: &Found, cell: &str) -> KneeCurve {
    let point = |(n, outcomes): (&u32, &Vec<Outcome>)| KneePoint {
        n: *n,
        origin: Origin::run(&format!("{} n{n}", kind.word()), cell, Source::Simulated),
        hit_share: estimate(outcomes, |outcome| outcome.hit_share),
        turns_per_s: estimate(outcomes, |outcome| Some(outcome.turns_per_s))
            .unwrap_or(Estimate::exact(0.0)),
    };
    KneeCurve { kind, points: found.populations.iter().map(point).collect() }
}

/// Mean and standard error over seeds; `None` where one of them cannot tell.
fn estimate(outcomes: &[Outcome], of: impl Fn(&Outcome) -> Option<f64>) -> Option<Estimate> {
    let values = outcomes.iter().map(of).collect::<Option<Vec<f64>>>()?;
    let n = values.len() as f64;
    let value = trapcheck::measure::stats::mean(&values)?;
    let squares: f64 = values.iter().map(|x| (x - value) * (x - value)).sum();
    let standard_error = (n > 1.0).then(|| libm::sqrt(squares / (n - 1.0) / n));
    Some(Estimate { value, standard_error })
}
