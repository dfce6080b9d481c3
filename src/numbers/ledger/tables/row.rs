//! A row of a published table as a row of the ledger.

use std::collections::BTreeSet;

use crate::digits::Rounded;

use super::super::entry::{Entry, Interval, SETTINGS, StatedCause, Status, chance};
use super::super::predictive::Direction;
use super::Field;

/// It stands as well as the worst of its fields that were compared.
pub fn entry(id: &str, fields: &[Field<'_>]) -> Entry {
    let with = |status: Status| fields.iter().filter(|f| f.compared.status == status).count();
    let compared = fields.iter().filter(|f| f.compared.status.is_compared()).count();
    let order = [
        Status::Differs,
        Status::Consistent,
        Status::Uninformative,
        Status::Reproduced,
        Status::ByConstruction,
        Status::NeedsNova,
    ];
    let status = order.into_iter().find(|status| with(*status) > 0).unwrap_or_default();
    let off: Vec<&Field<'_>> =
        fields.iter().filter(|f| f.compared.status == Status::Differs).collect();
    let gaps: Vec<String> = off
        .iter()
        .map(|f| format!("{} {}", f.name, f.compared.gap).trim_end().to_owned())
        .collect();
    let because = if compared == 0 {
        fields.first().map_or_else(String::new, |f| f.compared.because.clone())
    } else {
        let (agree, all) = (compared - off.len(), fields.len());
        format!("{agree} of {compared} compared fields agree, of {all} in the row")
    };
    let shown_fields = || fields.iter().filter(|f| !f.compared.ours.is_empty() || compared == 0);
    let of = |pick: &dyn Fn(&Field<'_>) -> String| {
        let parts = shown_fields().map(|f| format!("{} {}", f.name, pick(f)));
        parts.collect::<Vec<_>>().join("; ")
    };
    let named = |f: &Field<'_>| -> Vec<Interval> {
        let with_field = |interval: &Interval| Interval {
            what: format!("{} {}", f.name, interval.what).replace(" value", ""),
            ..interval.clone()
        };
        f.compared.intervals.iter().map(with_field).collect()
    };
    let agrees_by_chance: f64 = fields.iter().map(|f| 1.0 - f.compared.by_chance).product();
    let farthest = off.iter().max_by(|a, b| a.compared.apart.total_cmp(&b.compared.apart));
    let directions: BTreeSet<Option<Direction>> =
        off.iter().map(|f| f.compared.direction).collect();
    // What it rests on is what was compared.
    let is_compared = |f: &&Field<'_>| compared == 0 || f.compared.status.is_compared();
    let basis = fields.iter().filter(is_compared).flat_map(|f| f.basis.iter().copied());
    let uses = || fields.iter().filter_map(|f| f.uses);
    let read: BTreeSet<(String, usize, usize)> = uses()
        .flat_map(|uses| &uses.read)
        .filter(|read| read.table != SETTINGS)
        .map(|read| (read.table.clone(), read.rows.len(), read.of))
        .collect();
    let files: BTreeSet<_> = uses().flat_map(|uses| uses.files.iter().cloned()).collect();
    Entry {
        id: id.to_owned(),
        kind: "table".into(),
        published: of(&|f| f.published.clone()),
        ours: if compared == 0 { String::new() } else { of(&|f| f.compared.ours.clone()) },
        basis: basis.collect(),
        status,
        direction: directions.first().filter(|_| directions.len() == 1).copied().flatten(),
        gap: gaps.join("; "),
        apart: farthest
            .filter(|f| f.compared.apart.is_finite())
            .map(|f| Rounded::new(f.compared.apart, 3)),
        intervals: fields.iter().flat_map(named).collect(),
        by_chance: chance(1.0 - agrees_by_chance),
        cause: cause(&off),
        because,
        read: read.into_iter().collect(),
        computed_from: files.into_iter().collect(),
        ..Entry::default()
    }
}

/// What makes its fields differ, each named; of the kind of the one that is the farthest off
/// where they have several. Nothing where one of them has none.
fn cause(off: &[&Field<'_>]) -> Option<StatedCause> {
    let mut causes: Vec<(&Field<'_>, &StatedCause)> =
        off.iter().map(|f| Some((*f, f.cause.as_ref()?))).collect::<Option<_>>()?;
    causes.sort_by(|(a, _), (b, _)| b.compared.apart.total_cmp(&a.compared.apart));
    let (_, first) = *causes.first()?;
    if causes.iter().all(|(_, cause)| *cause == first) {
        return Some(first.clone());
    }
    let told = |pick: fn(&StatedCause) -> &str| {
        let parts = causes.iter().filter(|(_, cause)| !pick(cause).is_empty());
        parts
            .map(|(f, cause)| format!("{}: {}", f.name, pick(cause)))
            .collect::<Vec<_>>()
            .join("; ")
    };
    Some(StatedCause {
        kind: first.kind,
        because: told(|cause| &cause.because),
        checked: told(|cause| &cause.checked),
    })
}
