//! A stated cause is borne out by what is computed, or contradicted.

use super::*;

fn stated(kind: Option<Cause>) -> Binding {
    Binding { cause: kind, because: kind.map(|_| "a reason".into()), ..Binding::default() }
}

/// A difference so many widths outside.
fn outside(beyond: Option<f64>) -> Compared {
    let direction = Some(Direction::OursAbove);
    Compared { status: Status::Differs, beyond, direction, ..Compared::default() }
}

fn kind(found: Result<Option<StatedCause>, String>) -> Option<Cause> {
    found.unwrap().map(|cause| cause.kind)
}

#[test]
fn what_lies_just_outside_is_put_down_to_chance_and_nothing_farther() {
    let of =
        |beyond| cause(&outside(beyond), &stated(None), None, None, &ComparisonRules::of_tests());
    assert_eq!(kind(of(Some(0.25))), Some(Cause::Chance));
    assert_eq!(kind(of(Some(0.26))), None);
    assert_eq!(kind(of(Some(f64::INFINITY))), None);
    assert_eq!(kind(of(None)), None);
    let inside = Compared { status: Status::Consistent, ..outside(Some(0.1)) };
    assert_eq!(
        kind(cause(&inside, &stated(Some(Cause::Plan)), None, None, &ComparisonRules::of_tests())),
        None
    );
}

#[test]
fn the_simulator_is_not_held_to_be_the_cause_where_an_engines_runs_count_too() {
    let of = |has_engine_rows| {
        let compared = Compared { has_engine_rows, ..outside(Some(3.0)) };
        let stated = Binding { ours: Some(Direction::OursBelow), ..stated(Some(Cause::Simulator)) };
        cause(&compared, &stated, None, None, &ComparisonRules::of_tests())
    };
    assert!(of(false).unwrap_err().contains("ours below is what it would make"));
    assert_eq!(kind(of(true)), None);
}

#[test]
fn an_outcome_may_be_chance_if_a_draw_has_it() {
    let of = |holds| {
        let compared = Compared { holds_in: Some((holds, 40)), ..outside(None) };
        cause(&compared, &stated(None), None, None, &ComparisonRules::of_tests())
    };
    assert_eq!(of(1).unwrap().unwrap().checked, "so in 1 of 40 draws");
    assert_eq!(kind(of(0)), None);
}

#[test]
fn a_stated_chance_that_lies_far_outside_is_contradicted() {
    let of = |beyond| {
        cause(
            &outside(beyond),
            &stated(Some(Cause::Chance)),
            None,
            None,
            &ComparisonRules::of_tests(),
        )
    };
    assert!(of(Some(0.2)).is_ok());
    assert!(of(Some(0.3)).unwrap_err().contains("0.30 widths of the interval outside"));
    assert!(of(None).unwrap_err().contains("no draw came out like it"));
}

#[test]
fn a_mechanism_that_would_put_ours_on_the_other_side_is_contradicted() {
    let of = |side, direction| {
        let binding = Binding { ours: Some(side), ..stated(Some(Cause::Simulator)) };
        let compared = Compared { direction, ..outside(Some(3.0)) };
        cause(&compared, &binding, None, None, &ComparisonRules::of_tests())
    };
    let borne_out = of(Direction::OursAbove, Some(Direction::OursAbove)).unwrap().unwrap();
    assert_eq!(borne_out.checked, "ours above, as it would make it");
    assert!(
        of(Direction::OursBelow, Some(Direction::OursAbove))
            .unwrap_err()
            .contains("it is ours above")
    );
    assert!(of(Direction::OursBelow, None).unwrap_err().contains("on no one side"));
}

#[test]
fn what_is_compared_with_no_draw_has_no_cause_in_the_simulator() {
    let of =
        |kind| cause(&outside(None), &stated(Some(kind)), None, None, &ComparisonRules::of_tests());
    assert_eq!(kind(of(Cause::Simulator)), None);
    assert_eq!(kind(of(Cause::Definition)), Some(Cause::Definition));
}

#[test]
fn another_definition_has_to_agree() {
    let of = |other: Compared| {
        cause(
            &outside(None),
            &stated(Some(Cause::Definition)),
            Some(&other),
            None,
            &ComparisonRules::of_tests(),
        )
    };
    let agrees = Compared { status: Status::Reproduced, ours: "251".into(), ..Compared::default() };
    assert_eq!(of(agrees.clone()).unwrap().unwrap().checked, "by it ours is 251");
    let differs = Compared { status: Status::Differs, ours: "252".into(), ..Compared::default() };
    assert!(of(differs).unwrap_err().contains("it is 252"));
    let too_few = Compared { status: Status::Uninformative, ..agrees };
    assert!(of(too_few).is_err());
    assert!(of(Compared::broken("no table x")).unwrap_err().contains("no table x"));
}

#[test]
fn no_more_is_put_down_to_chance_than_chance_makes() {
    let entry = |cause: Option<Cause>| Entry {
        by_chance: Some(Rounded::new(0.5, 3)),
        cause: cause.map(|kind| StatedCause { kind, ..StatedCause::default() }),
        ..Entry::default()
    };
    let [chance, none] = [entry(Some(Cause::Chance)), entry(None)];
    assert_eq!(more_than_chance(&[chance.clone(), none.clone()]), None);
    let more = more_than_chance(&[chance.clone(), chance, none]).unwrap_or_default();
    assert!(more.is_empty(), "2 of 3, and 1.5 is rounded up: {more}");
    let all = vec![entry(Some(Cause::Chance)); 4];
    assert_eq!(
        more_than_chance(&all).unwrap(),
        "4 differences are put down to chance, which makes 2"
    );
}

#[test]
fn an_ensemble_that_does_not_move_ours_nearer_contradicts_the_cause() {
    let of = |with: Result<String, String>| {
        cause(
            &outside(Some(3.0)),
            &stated(Some(Cause::Simulator)),
            None,
            Some(with),
            &ComparisonRules::of_tests(),
        )
    };
    assert_eq!(of(Ok("nearer in 40 of 40".into())).unwrap().unwrap().checked, "nearer in 40 of 40");
    assert_eq!(
        of(Err("nearer in 3 of 40".into())).unwrap_err(),
        "cause simulator: nearer in 3 of 40"
    );
}
