//! Which columns of an answer hold the values of a field, and how these belong together.

use crate::table::Table;

use super::super::published::Form;

/// Which value of a field a column holds, and how its values belong together: `FIELD`,
/// `FIELD_least` and `FIELD_most`, `FIELD_k` and `FIELD_n`, `FIELD_1` and so on.
pub(crate) fn column_form(column: &str, field: &str) -> Option<(usize, Option<Form>)> {
    let rest = column.strip_prefix(field)?;
    match rest {
        "" => return Some((0, None)),
        "_least" => return Some((0, Some(Form::Range))),
        "_most" => return Some((1, Some(Form::Range))),
        "_k" => return Some((0, Some(Form::Of))),
        "_n" => return Some((1, Some(Form::Of))),
        _ => {}
    }
    let place: usize = rest.strip_prefix('_')?.parse().ok()?;
    Some((place.checked_sub(1)?, Some(Form::List)))
}

/// Where an answer holds the values of a field, in order.
pub(crate) fn places_of(answer: &Table, field: &str) -> Option<(Vec<usize>, Option<Form>)> {
    let of = |(place, name): (usize, &str)| {
        let (order, form) = column_form(name, field)?;
        Some((order, place, form))
    };
    let names = answer.columns.iter().map(|column| &*column.name).enumerate();
    let mut found: Vec<_> = names.filter_map(of).collect();
    found.sort_by_key(|(order, ..)| *order);
    let form = found.first()?.2;
    Some((found.into_iter().map(|(_, place, _)| place).collect(), form))
}

/// How the two values of an answer belong together, by the endings of its columns.
pub(crate) fn form_of_columns(answer: &Table) -> Option<Form> {
    let names: Vec<&str> = answer.columns.iter().map(|column| &*column.name).collect();
    let [first, second] = names[..] else { return None };
    let ends = |name: &str, end: &str| name == end || name.ends_with(&format!("_{end}"));
    if ends(first, "least") && ends(second, "most") {
        Some(Form::Range)
    } else if ends(first, "k") && ends(second, "n") {
        Some(Form::Of)
    } else {
        None
    }
}
