//! A published table over the ensembles beside the campaign's.

use super::super::answers::Answers;
use super::super::beside::Beside;
use super::super::bindings::Binding;
use super::super::comparison::ComparisonRules;
use super::super::effects::Effect;
use super::super::published::{Form, shown};
use super::{AskedField, AskedRow, AskedTable};

impl AskedTable<'_> {
    /// Those of its queries that are asked of an ensemble beside the campaign's.
    pub(crate) fn queries_beside(&self, which: Beside) -> Vec<String> {
        let of_row = |row: &AskedRow<'_>| -> Vec<String> {
            let named = row
                .fields
                .iter()
                .filter(|field| field.given() == Some(which) || field.with() == Some(which));
            let of_field = |field: &AskedField<'_>| match &field.query {
                Some(query) => query.as_ref().ok().cloned().into_iter().collect(),
                None => row.blocks.iter().filter_map(|block| block.query.clone()).collect(),
            };
            named.flat_map(|field| -> Vec<String> { of_field(field) }).collect()
        };
        self.rows.iter().flat_map(of_row).collect()
    }

    /// What an ensemble beside the campaign's makes of each field that is drawn.
    pub fn effects(&self, answers: &Answers, which: Beside, how: &ComparisonRules) -> Vec<Effect> {
        let of_field = |(row, field): (&AskedRow<'_>, &AskedField<'_>)| {
            let none = Binding::default();
            let [(own, _, form), (with, ..)] =
                [row.own(field, None, answers, how)?, row.own(field, Some(which), answers, how)?];
            let asked = field.asked(form.unwrap_or(Form::List), field.binding.unwrap_or(&none));
            let id = format!("{}/{}", row.id, field.name);
            let published = shown(field.value);
            let own = (which, [&own, &with]);
            Effect::of(id, &self.section, published, &asked, own, how)
        };
        let fields = self.rows.iter().flat_map(|row| row.fields.iter().map(move |f| (row, f)));
        fields.filter_map(of_field).collect()
    }
}
