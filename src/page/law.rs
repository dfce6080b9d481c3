//! The law against the runs: the check of Theorem 1 as points, each of which is a run.

use serde_json::{Map, Value, json};

use crate::analysis::draw::theorem::{Asked, check};
use crate::analysis::spec::Draw;
use crate::figure::label::Label;
use crate::figure::theorem::{ModelCurve, Protocol, QUANTITIES, Quantity, Reading, TheoremCheck};

use super::figures::Drawn;
use super::runs::Runs;
use super::series::rounded;
use super::{Judged, commands};

/// Every such figure that has a point; `None` without one.
pub fn law(groups: &[Judged<'_>], runs: &Runs<'_>, drawn: &[Drawn<'_>]) -> Option<Value> {
    let mut figures = Vec::new();
    for group in groups {
        for spec in &group.figures {
            let Draw::Theorem { cells, rho, calibration, published } = &spec.draw else { continue };
            let asked = Asked {
                cells,
                rho: *rho,
                calibration: *calibration,
                published: published.as_ref(),
            };
            let check = check(&group.scoring.runs, spec, &asked, group.configs);
            if check.points.is_empty() {
                continue;
            }
            let shown = drawn.iter().find(|drawn| std::ptr::eq(drawn.spec, spec));
            let points: Vec<Value> = check
                .points
                .iter()
                .zip(&check.input.runs)
                .map(|(run, point)| {
                    let mut line = runs.line(run);
                    line.insert("began".to_owned(), began(point.protocol).into());
                    line.insert("rho".to_owned(), point.reading.rho.into());
                    line.insert(
                        "values".to_owned(),
                        values(|quantity| (quantity.of)(&point.reading).into()),
                    );
                    line.into()
                })
                .collect();
            figures.push(json!({
                "name": &*spec.name,
                "analysis": group.name,
                "title": spec.title,
                "svg": shown.map(Drawn::svg_path),
                "made_by": shown.map(|drawn| drawn.figure.origin.heading()),
                "calibration": calibration.words(),
                "missing": check.input.missing,
                "command": shown.and_then(Drawn::command).or_else(|| {
                    commands::of_each("score", check.points.iter().map(|run| &*run.statistics))
                }),
                "panels": panels(&check.input),
                "curves": check.input.cells.iter().map(curve).collect::<Vec<_>>(),
                "points": points,
            }));
        }
    }
    (!figures.is_empty()).then(|| json!({"figures": figures}))
}

const fn began(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Triggered => "triggered",
        Protocol::FromEmpty => "from empty",
    }
}

/// A value for each quantity, by its name.
fn values(of: impl Fn(&Quantity) -> Value) -> Value {
    let named = |quantity: &Quantity| (quantity.name.to_owned(), of(quantity));
    QUANTITIES.iter().map(named).collect::<Map<_, _>>().into()
}

fn panels(input: &TheoremCheck) -> Value {
    let (low, high) = input.loads();
    let panel = |quantity: &Quantity| {
        let line = quantity
            .quasi_static
            .map(|reading| [low, high].map(|rho| [rounded(rho), rounded(reading(rho))]));
        json!({
            "quantity": quantity.name,
            "title": Label::parse(quantity.title).text(),
            "quasi_static": line,
        })
    };
    QUANTITIES.iter().map(panel).collect()
}

fn curve(of: &ModelCurve) -> Value {
    let along = |value: &dyn Fn(&Reading) -> Option<f64>| -> Value {
        of.points.iter().map(|point| value(point).map_or(Value::Null, rounded)).collect()
    };
    json!({
        "cell": of.cell,
        "rho": along(&|point: &Reading| Some(point.rho)),
        "values": values(|quantity| along(&quantity.of)),
    })
}
