//! Values worked out by hand, and how often a draw of the same kind is called different.

use super::*;

/// 1, 2, ... 40, one value per draw.
fn forty() -> Vec<Option<Vec<f64>>> {
    (1..=40).map(|x| Some(vec![f64::from(x)])).collect()
}

fn one(value: f64, rounding: f64) -> Judged {
    let (values, rounding) = ([value], [rounding]);
    let shape = Shape::One;
    judge(&Stated { values: &values, rounding: &rounding, shape, bound: None }, &forty())
}

#[test]
fn forty_draws_reach_from_the_least_to_the_greatest() {
    let judged = one(20.0, 0.5);
    let against = &judged.against[0];
    assert_eq!((against.interval, against.median), ((1.0, 40.0), 20.5));
    assert_eq!(against.rank, 19.5);
    assert_eq!(against.relative_width, Some(39.0 / 20.0));
    assert_eq!(judged.by_chance, 2.0 / 41.0);
    assert_eq!(judged.standing, Standing::Uninformative);
}

#[test]
fn what_is_outside_says_which_way_and_has_no_slack_but_its_rounding() {
    let outside = |value, rounding| one(value, rounding).against[0].outside;
    assert_eq!(outside(0.4, 0.5), Some(Direction::OursAbove));
    assert_eq!(outside(0.6, 0.5), None);
    assert_eq!(outside(40.6, 0.5), Some(Direction::OursBelow));
    assert_eq!(outside(40.4, 0.5), None);
    assert_eq!(one(41.0, 0.5).standing, Standing::Differs);
}

#[test]
fn a_narrow_interval_around_the_value_is_consistent() {
    let draws: Vec<_> = (0..40).map(|i| Some(vec![100.0 + f64::from(i)])).collect();
    let stated = |value: &'static [f64]| Stated {
        values: value,
        rounding: &[0.5],
        shape: Shape::One,
        bound: None,
    };
    assert_eq!(judge(&stated(&[120.0]), &draws).standing, Standing::Consistent);
    assert_eq!(judge(&stated(&[99.0]), &draws).standing, Standing::Differs);
}

#[test]
fn draws_that_are_all_what_is_published_are_consistent_even_at_0() {
    let draws = vec![Some(vec![0.0]); 40];
    let stated = Stated { values: &[0.0], rounding: &[0.0], shape: Shape::One, bound: None };
    let judged = judge(&stated, &draws);
    assert_eq!((judged.standing, judged.against[0].rank), (Standing::Consistent, 20.0));
    let stated = Stated { values: &[1.0], ..stated };
    assert_eq!(judge(&stated, &draws).standing, Standing::Differs);
}

#[test]
fn too_few_draws_with_the_statistic_say_nothing() {
    let mut draws = forty();
    draws[0] = None;
    let stated = Stated { values: &[99.0], rounding: &[0.5], shape: Shape::One, bound: None };
    assert_eq!(judge(&stated, &draws).standing, Standing::Differs);
    draws[1] = Some(vec![f64::NAN]);
    let judged = judge(&stated, &draws);
    assert_eq!((judged.standing, judged.draws), (Standing::Uninformative, 38));
}

#[test]
fn k_of_n_is_a_count_where_all_have_as_many_and_else_a_share() {
    let stated = Stated { values: &[3.0, 3.0], rounding: &[], shape: Shape::Share, bound: None };
    let of =
        |k: &dyn Fn(u32) -> [f64; 2]| -> Vec<_> { (0..40).map(|i| Some(k(i).to_vec())).collect() };
    let all = judge(&stated, &of(&|_| [3.0, 3.0]));
    assert_eq!((all.standing, &*all.against[0].what), (Standing::Consistent, "count"));
    let any = judge(&stated, &of(&|i| [f64::from(i % 4), 3.0]));
    assert_eq!(any.standing, Standing::Uninformative);
    let none = judge(&stated, &of(&|i| [0.0, f64::from(3 + i % 2)]));
    assert_eq!((none.standing, &*none.against[0].what), (Standing::Differs, "share"));
    assert_eq!(none.against[0].outside, Some(Direction::OursBelow));
}

#[test]
fn the_ends_of_a_range_are_held_jointly_and_so_is_their_distance() {
    // The low ends are 100 to 139, the high ends 10 above them.
    let draws: Vec<_> =
        (0..40).map(|i| Some(vec![100.0 + f64::from(i), 110.0 + f64::from(i)])).collect();
    let judged = |values: &[f64]| {
        let stated = Stated { values, rounding: &[0.5, 0.5], shape: Shape::Ends, bound: None };
        judge(&stated, &draws)
    };
    assert_eq!(judged(&[120.0, 130.0]).standing, Standing::Consistent);
    // Each end alone is inside, and they are too far apart.
    let apart = judged(&[110.0, 135.0]);
    assert_eq!(apart.standing, Standing::Differs);
    let outside: Vec<&str> =
        apart.against.iter().filter(|one| one.outside.is_some()).map(|one| &*one.what).collect();
    assert_eq!(outside, ["spread"]);
    assert_eq!(judged(&[20.0, 30.0]).against[0].outside, Some(Direction::OursAbove));
}

#[test]
fn seeds_have_no_order() {
    let draws: Vec<_> = (0..40)
        .map(|i| Some(vec![100.0 + f64::from(i % 7), 120.0, 110.0 - f64::from(i % 3)]))
        .collect();
    let judged = |values: &[f64]| {
        let stated = Stated { values, rounding: &[0.5; 3], shape: Shape::Seeds, bound: None };
        judge(&stated, &draws)
    };
    assert_eq!(judged(&[120.0, 102.0, 109.0]), judged(&[102.0, 109.0, 120.0]));
    assert_eq!(judged(&[102.0, 109.0, 120.0]).standing, Standing::Consistent);
}

#[test]
fn a_bound_is_judged_by_how_many_draws_keep_to_it() {
    let judged = |value: f64, side| {
        let values = [value];
        let stated =
            Stated { values: &values, rounding: &[0.0], shape: Shape::One, bound: Some(side) };
        let judged = judge(&stated, &forty());
        (judged.standing, judged.holds_in)
    };
    assert_eq!(judged(40.0, Side::AtMost), (Standing::Consistent, Some(40)));
    assert_eq!(judged(39.0, Side::AtMost), (Standing::Consistent, Some(39)));
    assert_eq!(judged(20.0, Side::AtMost), (Standing::Uninformative, Some(20)));
    assert_eq!(judged(1.0, Side::AtMost), (Standing::Differs, Some(1)));
    assert_eq!(judged(41.0, Side::AtLeast), (Standing::Differs, Some(0)));
}

/// Numbers in [0, 1) that look random and are the same every time.
fn noise(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1_u64 << 53) as f64
}

/// How often one draw more of the same kind is called different.
fn outside_of(shape: Shape, draw: impl Fn(&mut u64) -> Vec<f64>) -> f64 {
    const TRIALS: usize = 4000;
    let mut state = 20_261_130;
    let differs = |_: &usize| {
        let draws: Vec<_> = (0..40).map(|_| Some(draw(&mut state))).collect();
        let values = draw(&mut state);
        let rounding = vec![0.0; values.len()];
        let stated = Stated { values: &values, rounding: &rounding, shape, bound: None };
        judge(&stated, &draws).standing == Standing::Differs
    };
    (0..TRIALS).filter(differs).count() as f64 / TRIALS as f64
}

/// The least and the greatest of three skewed values.
fn ends(state: &mut u64) -> Vec<f64> {
    let seeds: Vec<f64> = (0..3).map(|_| -libm::log(1.0 - noise(state))).collect();
    let fold = |of: fn(f64, f64) -> f64, from| seeds.iter().copied().fold(from, of);
    vec![10.0 + fold(f64::min, f64::INFINITY), 10.0 + fold(f64::max, 0.0)]
}

#[test]
fn one_draw_more_is_called_different_as_often_as_is_said() {
    // 2/41 is 0.049; of 4,000 trials the standard error is 0.0034.
    let one = outside_of(Shape::One, |state| vec![noise(state)]);
    assert!((one - 2.0 / 41.0).abs() < 0.011, "{one}");
    let range = outside_of(Shape::Ends, ends);
    assert!((range - 2.0 / 41.0).abs() < 0.011, "{range}");
    let list = outside_of(Shape::Each, |state| (0..5).map(|_| noise(state)).collect());
    assert!((list - 2.0 / 41.0).abs() < 0.011, "{list}");
}
