//! Each status can be reached, and the one beside it as well.

use super::*;

fn how() -> ComparisonRules {
    let words = [("T".to_owned(), "TRAPPED".to_owned())].into();
    ComparisonRules { words, ..ComparisonRules::of_tests() }
}

fn number(x: f64) -> Values {
    Some(vec![Value::Number(x)])
}

fn words(words: &[&str]) -> Values {
    Some(words.iter().map(|word| Value::Text((*word).to_owned())).collect())
}

/// Ours without a run under it.
fn model(ours: Values) -> Own {
    Own { ours: Ok(ours), draws: Vec::new(), is_simulated: false, runs: OfRuns::default() }
}

/// Ours that rests on simulated runs, with 40 draws.
fn simulated(draw: impl Fn(usize) -> Values) -> Own {
    let draws = (0..40).map(&draw).collect();
    Own { ours: Ok(draw(0)), draws, is_simulated: true, runs: OfRuns::default() }
}

fn asked<'a>(values: &[(f64, usize)], form: Form, binding: &'a Binding) -> Asked<'a> {
    Asked { values: Stated::Numbers(values.to_vec()), form, approx: false, binding }
}

fn scalar(published: f64, digits: usize, own: &Own) -> Compared {
    let binding = Binding::default();
    compare(&asked(&[(published, digits)], Form::Scalar, &binding), own, &how())
}

#[test]
fn a_model_value_is_reproduced_to_its_printed_digits_and_no_farther() {
    assert_eq!(scalar(14.761, 3, &model(number(14.7614))).status, Status::Reproduced);
    let off = scalar(14.761, 3, &model(number(14.7616)));
    assert_eq!((off.status, off.direction), (Status::Differs, Some(Direction::OursAbove)));
    assert_eq!(off.gap, "+0.0 %");
    assert_eq!(scalar(9999.0, 0, &model(number(8700.0))).gap, "-13.0 %");
}

#[test]
fn each_value_is_held_to_its_own_digits() {
    let binding = Binding::default();
    let of = |low: f64, high: f64| {
        let asked = asked(&[(0.96, 2), (1.035, 3)], Form::Range, &binding);
        let ours = Some(vec![Value::Number(low), Value::Number(high)]);
        let compared = compare(&asked, &model(ours), &how());
        (compared.status, compared.ours)
    };
    assert_eq!(of(0.9633, 1.0352), (Status::Reproduced, "0.96 to 1.035".into()));
    assert_eq!(of(0.9633, 1.0362).0, Status::Differs);
    assert_eq!(of(0.9662, 1.0352).0, Status::Differs);
}

#[test]
fn about_allows_the_rounding_of_the_last_digit_that_is_not_0() {
    assert_eq!(half_digit(11100.0, 0, true), 50.0);
    assert_eq!(half_digit(11100.0, 0, false), 0.5);
    assert_eq!(half_digit(0.932, 3, true), 0.0005);
}

#[test]
fn a_bound_of_a_model_holds_or_does_not() {
    let of = |bound, own| {
        let binding = Binding { bound: Some(bound), ..Binding::default() };
        compare(&asked(&[(4.0, 0)], Form::Scalar, &binding), &model(number(own)), &how()).status
    };
    assert_eq!(of(Side::AtMost, 4.4), Status::Reproduced);
    assert_eq!(of(Side::AtMost, 4.6), Status::Differs);
    assert_eq!(of(Side::MoreThan, 4.0), Status::Differs);
    assert_eq!(of(Side::MoreThan, 4.1), Status::Reproduced);
}

#[test]
fn simulated_is_judged_by_the_draws_and_not_by_ours() {
    // Ours, the first draw, is the least of all; the interval is 100 to 139.
    let narrow = simulated(|draw| number(100.0 + draw as f64));
    assert_eq!(scalar(120.0, 0, &narrow).status, Status::Consistent);
    let off = scalar(150.0, 0, &narrow);
    assert_eq!((off.status, off.direction), (Status::Differs, Some(Direction::OursBelow)));
    assert_eq!(off.gap, "value 150, ours 100 to 139");
    assert_eq!(off.ours, "100");
    assert_eq!(scalar(99.6, 1, &narrow).status, Status::Differs, "no slack but its rounding");
    let wide = simulated(|draw| number(10.0 * draw as f64));
    assert_eq!(scalar(200.0, 0, &wide).status, Status::Uninformative);
    let few = Own { draws: vec![number(1.0); 20], ..simulated(|_| number(1.0)) };
    let few = scalar(7.0, 0, &few);
    assert_eq!(few.status, Status::Uninformative);
    assert!(few.because.contains("20 of 20 draws have it, too few"), "{}", few.because);
}

#[test]
fn the_share_that_makes_an_interval_uninformative_is_the_stated_one() {
    let own = simulated(|draw| number(100.0 + draw as f64));
    let binding = Binding::default();
    let asked = asked(&[(120.0, 0)], Form::Scalar, &binding);
    let mut strict = how();
    strict.uninformative.wider_than = 0.3;
    assert_eq!(compare(&asked, &own, &strict).status, Status::Uninformative);
    assert_eq!(compare(&asked, &own, &how()).status, Status::Consistent);
}

#[test]
fn what_hardly_a_draw_has_is_a_difference() {
    let none = scalar(7.0, 0, &simulated(|draw| number(7.0).filter(|_| draw == 3)));
    assert_eq!((none.status, &*none.ours), (Status::Differs, "none"));
    assert!(none.because.contains("ours has none in 39 of 40 draws"), "{}", none.because);
    let some = scalar(7.0, 0, &simulated(|draw| number(7.0).filter(|_| draw < 20)));
    assert_eq!(some.status, Status::Uninformative);
    assert_eq!(scalar(7.0, 0, &model(None)).status, Status::Differs);
}

#[test]
fn by_construction_says_so_only_where_it_agrees() {
    let binding = Binding { by_construction: Some("exact".into()), ..Binding::default() };
    let of = |published: f64, own: &Own| {
        compare(&asked(&[(published, 0)], Form::Scalar, &binding), own, &how())
    };
    let agrees = of(3.0, &simulated(|_| number(3.0)));
    assert_eq!((agrees.status, &*agrees.because), (Status::ByConstruction, "exact"));
    assert_eq!(of(4.0, &simulated(|_| number(3.0))).status, Status::Differs);
    assert_eq!(of(4.0, &model(number(3.0))).status, Status::Differs);
}

#[test]
fn what_rests_on_the_papers_own_plan_needs_nova_and_still_shows_ours() {
    let binding = Binding { paper_plan: Some("8 % above nominal".into()), ..Binding::default() };
    let asked = asked(&[(4.0, 0)], Form::Scalar, &binding);
    let compared = compare(&asked, &simulated(|_| number(3.0)), &how());
    assert_eq!((compared.status, &*compared.ours), (Status::NeedsNova, "3"));
    assert!(compared.because.ends_with("8 % above nominal"), "{}", compared.because);
    assert_eq!(compared.by_chance, 0.0);
    // With the paper's own runs there is nothing to wait for.
    assert_eq!(compare(&asked, &model(number(4.0)), &how()).status, Status::Reproduced);
}

#[test]
fn a_number_of_values_that_is_not_the_papers_is_a_broken_binding_or_an_outcome() {
    let binding = Binding::default();
    let list = asked(&[(25.0, 0), (40.0, 0)], Form::List, &binding);
    let three = Some(vec![Value::Number(25.0), Value::Number(40.0), Value::Number(50.0)]);
    let broken = compare(&list, &model(three.clone()), &how());
    assert_eq!(broken.broken.as_deref(), Some("published are 2 values, ours are 3"));
    // Of simulated runs as many as come out so: which doses trap every seed.
    let draw = |draw: usize| {
        if draw < 30 { Some(vec![Value::Number(25.0), Value::Number(40.0)]) } else { three.clone() }
    };
    assert_eq!(compare(&list, &simulated(draw), &how()).status, Status::Consistent);
    assert_eq!(compare(&list, &simulated(|_| three.clone()), &how()).status, Status::Differs);
}

#[test]
fn words_are_compared_after_the_papers_letters_are_written_out() {
    let binding = Binding::default();
    let values = Stated::Words(vec!["T".into(), "I".into()]);
    let asked = Asked { values, form: Form::List, approx: false, binding: &binding };
    let same = compare(&asked, &model(words(&["TRAPPED", "i"])), &how());
    assert_eq!(same.status, Status::Reproduced);
    assert_eq!(compare(&asked, &model(words(&["TRAPPED"])), &how()).status, Status::Differs);
    // Seeds of a draw have no order.
    let turned = simulated(|_| words(&["I", "TRAPPED"]));
    assert_eq!(compare(&asked, &turned, &how()).status, Status::Consistent);
    let other = simulated(|_| words(&["TRAPPED", "TRAPPED"]));
    assert_eq!(compare(&asked, &other, &how()).status, Status::Differs);
}

#[test]
fn words_are_no_number() {
    let compared = scalar(3.0, 0, &model(words(&["PASS"])));
    assert_eq!(compared.broken.as_deref(), Some("ours is PASS, no number"));
}

#[test]
fn k_of_n_is_judged_by_its_count_and_shown_as_such() {
    let binding = Binding::default();
    let asked = asked(&[(2.0, 0), (3.0, 0)], Form::Of, &binding);
    let of = |k: f64| Some(vec![Value::Number(k), Value::Number(3.0)]);
    let always = compare(&asked, &simulated(|_| of(3.0)), &how());
    assert_eq!((always.status, &*always.ours), (Status::Differs, "3 of 3"));
    assert_eq!(always.apart, 1.0 / 3.0);
    let mixed = compare(&asked, &simulated(|draw| of((draw % 2) as f64 + 1.0)), &how());
    assert_eq!(mixed.status, Status::Consistent);
}
