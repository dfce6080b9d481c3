//! What moves ours nearer is borne out, and nothing else.

use super::super::answers::OfRuns;
use super::super::bindings::{Binding, BoundForm};
use super::super::compare::{Stated, Value, Values};
use super::super::effects::{Effect, table};
use super::super::predictive::Side;
use super::super::published::Form;
use super::*;

/// Forty draws of numbers, or of none.
fn own(draw: impl Fn(usize) -> Option<Vec<f64>>) -> Own {
    let values = |i| -> Values { Some(draw(i)?.into_iter().map(Value::Number).collect()) };
    let draws = (0..40).map(values).collect();
    Own { ours: Ok(values(0)), draws, is_simulated: true, runs: OfRuns::default() }
}

fn asked<'a>(values: &[f64], form: Form, binding: &'a Binding) -> Asked<'a> {
    let values = Stated::Numbers(values.iter().map(|x| (*x, 0)).collect());
    Asked { values, form, approx: false, binding }
}

/// What the engines' ways are said to make of it.
fn of(asked: &Asked<'_>, without: &Own, with: &Own) -> Result<String, String> {
    told(asked, Beside::Ways, without, with, &ComparisonRules::of_tests())
}

#[test]
fn a_bound_that_comes_to_hold_has_to_do_so_in_more_draws_than_it_comes_to_fail() {
    let binding = Binding { bound: Some(Side::AtMost), ..Binding::default() };
    let asked = asked(&[10.0], Form::Scalar, &binding);
    let holding =
        |holds: &dyn Fn(usize) -> bool| own(|i| Some(vec![if holds(i) { 5.0 } else { 20.0 }]));
    let without = holding(&|i| i < 12);
    let more = of(&asked, &without, &holding(&|i| i < 18));
    assert_eq!(more.unwrap(), "with the engines' own ways so in 18 draws, without in 12");
    // As many more, but eight are lost for it: 14 of 22 come by chance.
    let other = of(&asked, &without, &holding(&|i| (8..26).contains(&i)));
    assert_eq!(other.unwrap_err(), "with the engines' own ways so in 18 draws, without in 12");
}

#[test]
fn a_draw_without_the_statistic_keeps_to_no_bound() {
    let binding = Binding { bound: Some(Side::AtMost), ..Binding::default() };
    let asked = asked(&[10.0], Form::Scalar, &binding);
    let without = own(|i| Some(vec![if i < 1 { 5.0 } else { 20.0 }]));
    // So few draws have it that there is no share of them; none of those keeps to the bound.
    let with = own(|i| (i < 36).then(|| vec![20.0]));
    assert_eq!(
        of(&asked, &without, &with).unwrap_err(),
        "with the engines' own ways so in 0 draws, without in 1"
    );
}

#[test]
fn numbers_that_hardly_a_draw_has_come_nearer_where_more_draws_have_them() {
    let binding = Binding::default();
    let asked = asked(&[10.0], Form::Scalar, &binding);
    let having = |has: &dyn Fn(usize) -> bool| own(|i| has(i).then(|| vec![7.0]));
    let with = having(&|i| i < 21);
    assert!(of(&asked, &having(&|i| i < 2), &with).is_ok());
    assert!(of(&asked, &with, &having(&|i| i < 2)).is_err());
}

#[test]
fn that_it_does_not_differ_is_said_only_where_that_was_tested() {
    let binding = Binding::default();
    let asked = asked(&[10.0], Form::Scalar, &binding);
    let without = own(|i| Some(vec![20.0 + i as f64]));
    let all = of(&asked, &without, &own(|i| Some(vec![9.0 + i as f64 / 20.0]))).unwrap();
    assert!(all.ends_with("nearer in 40 of 40 draws, and it does not differ"), "{all}");
    let few = own(|i| (i < 36).then(|| vec![9.0 + i as f64 / 20.0]));
    let few = of(&asked, &without, &few).unwrap();
    assert!(few.ends_with("nearer in 36 of 36 draws"), "{few}");
}

#[test]
fn a_share_has_four_digits_and_draws_of_other_plans_are_not_counted() {
    let binding = Binding { form: Some(BoundForm::KOfN), ..Binding::default() };
    let asked = asked(&[4.0, 5937.0], Form::Of, &binding);
    let without = own(|i| Some(vec![0.0, 5900.0 + i as f64]));
    let with = own(|i| Some(vec![3.0, 6000.0 - i as f64]));
    let row = |which| {
        let both = (which, [&without, &with]);
        let effect = Effect::of(
            "x".into(),
            "sec 2",
            "4 of 5937".into(),
            &asked,
            both,
            &ComparisonRules::of_tests(),
        );
        table(vec![effect.unwrap()], which).to_csv().lines().nth(1).unwrap().to_owned()
    };
    assert!(row(Beside::Ways).ends_with(",share,0.0000,0.0005,40,40"), "{}", row(Beside::Ways));
    let arrivals = row(Beside::Arrivals);
    assert!(arrivals.ends_with(",share,0.0000,0.0005,,"), "{arrivals}");
}
