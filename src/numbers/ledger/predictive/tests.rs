//! Values worked out by hand, and how often a draw of the same kind is called different.

use super::*;

/// 1, 2, ... 40, one value per draw.
fn forty() -> Vec<Option<Vec<f64>>> {
    (1..=40).map(|x| Some(vec![f64::from(x)])).collect()
}

fn one(value: f64, rounding: f64) -> AgainstDraws {
    let (values, rounding) = ([value], [rounding]);
    let shape = Shape::One;
    judge(
        &StatedNumbers { values: &values, rounding: &rounding, shape, bound: None, wide: 0.8 },
        &forty(),
    )
}

#[test]
fn forty_draws_reach_from_the_least_to_the_greatest() {
    let judged = one(20.0, 0.5);
    let against = &judged.against[0];
    assert_eq!((against.interval, against.median), ((1.0, 40.0), 20.5));
    assert_eq!(against.rank, Some(19.5));
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
    let stated = |value: &'static [f64]| StatedNumbers {
        values: value,
        rounding: &[0.5],
        shape: Shape::One,
        bound: None,
        wide: 0.8,
    };
    assert_eq!(judge(&stated(&[120.0]), &draws).standing, Standing::Consistent);
    assert_eq!(judge(&stated(&[99.0]), &draws).standing, Standing::Differs);
}

#[test]
fn draws_that_are_all_what_is_published_are_consistent_even_at_0() {
    let draws = vec![Some(vec![0.0]); 40];
    let stated = StatedNumbers {
        values: &[0.0],
        rounding: &[0.0],
        shape: Shape::One,
        bound: None,
        wide: 0.8,
    };
    let judged = judge(&stated, &draws);
    assert_eq!((judged.standing, judged.against[0].rank), (Standing::Consistent, Some(20.0)));
    let stated = StatedNumbers { values: &[1.0], ..stated };
    assert_eq!(judge(&stated, &draws).standing, Standing::Differs);
}

#[test]
fn too_few_draws_with_the_statistic_say_nothing() {
    let mut draws = forty();
    draws[0] = None;
    let stated = StatedNumbers {
        values: &[99.0],
        rounding: &[0.5],
        shape: Shape::One,
        bound: None,
        wide: 0.8,
    };
    assert_eq!(judge(&stated, &draws).standing, Standing::Differs);
    draws[1] = Some(vec![f64::NAN]);
    let judged = judge(&stated, &draws);
    assert_eq!((judged.standing, judged.draws), (Standing::Uninformative, 38));
}

#[test]
fn k_of_n_is_a_count_where_all_have_as_many_and_else_a_share() {
    let stated = StatedNumbers {
        values: &[3.0, 3.0],
        rounding: &[],
        shape: Shape::Share,
        bound: None,
        wide: 0.8,
    };
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
        let stated = StatedNumbers {
            values,
            rounding: &[0.5, 0.5],
            shape: Shape::Ends,
            bound: None,
            wide: 0.8,
        };
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
        let stated = StatedNumbers {
            values,
            rounding: &[0.5; 3],
            shape: Shape::Seeds,
            bound: None,
            wide: 0.8,
        };
        judge(&stated, &draws)
    };
    assert_eq!(judged(&[120.0, 102.0, 109.0]), judged(&[102.0, 109.0, 120.0]));
    assert_eq!(judged(&[102.0, 109.0, 120.0]).standing, Standing::Consistent);
}

#[test]
fn a_bound_is_judged_by_how_many_draws_keep_to_it() {
    let judged = |value: f64, side| {
        let values = [value];
        let stated = StatedNumbers {
            values: &values,
            rounding: &[0.0],
            shape: Shape::One,
            bound: Some(side),
            wide: 0.8,
        };
        let judged = judge(&stated, &forty());
        (judged.standing, judged.holds_in)
    };
    assert_eq!(judged(40.0, Side::AtMost), (Standing::Consistent, Some(40)));
    assert_eq!(judged(39.0, Side::AtMost), (Standing::Consistent, Some(39)));
    assert_eq!(judged(20.0, Side::AtMost), (Standing::Uninformative, Some(20)));
    assert_eq!(judged(1.0, Side::AtMost), (Standing::Differs, Some(1)));
    assert_eq!(judged(41.0, Side::AtLeast), (Standing::Differs, Some(0)));
}

#[test]
fn a_strict_bound_has_no_slack_and_another_one_that_of_its_rounding() {
    let holds = |side: Side, own: f64| side.holds(own, 4.0, 0.5);
    assert!(holds(Side::AtLeast, 3.6) && holds(Side::AtMost, 4.4));
    assert!(!holds(Side::AtLeast, 3.4) && !holds(Side::AtMost, 4.6));
    assert!(!holds(Side::MoreThan, 4.0) && !holds(Side::LessThan, 4.0));
    assert!(holds(Side::MoreThan, 4.1) && holds(Side::LessThan, 3.9));
}

#[test]
fn an_outcome_in_words_differs_where_hardly_a_draw_has_one_as_rare() {
    let draws =
        |of: &dyn Fn(u32) -> &'static str| -> Vec<_> { (0..40).map(|i| Some(of(i))).collect() };
    let judged = |stated, draws: &[_]| outcome(&Some(stated), draws, 0.8).standing;
    let mostly = draws(&|i| if i < 35 { "PASS" } else { "FAIL" });
    assert_eq!(judged("PASS", &mostly), Standing::Consistent);
    assert_eq!(judged("FAIL", &mostly), Standing::Uninformative, "five of 40 came out so");
    assert_eq!(judged("NONE", &mostly), Standing::Differs);
    let rare = draws(&|i| if i < 39 { "PASS" } else { "FAIL" });
    assert_eq!(judged("FAIL", &rare), Standing::Differs);
    assert_eq!(judged("FAIL", &rare[..30]), Standing::Uninformative, "too few draws");
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
        let stated =
            StatedNumbers { values: &values, rounding: &rounding, shape, bound: None, wide: 0.8 };
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

#[test]
fn what_moves_ours_nearer_is_told_from_chance_by_the_draws_of_the_same_plans() {
    let draws = |of: &dyn Fn(usize) -> f64| (0..40).map(|i| Some(vec![of(i)])).collect::<Vec<_>>();
    let own = draws(&|i| i as f64 / 100.0);
    let stated = StatedNumbers {
        values: &[0.9],
        rounding: &[0.05],
        shape: Shape::One,
        bound: None,
        wide: 0.8,
    };
    let found = moved(&stated, &own, &draws(&|i| i as f64 / 100.0 + 0.2)).unwrap();
    assert_eq!((&*found.what, found.part, found.nearer, found.of), ("value", 0, 40, 40));
    assert!((found.from - 0.195).abs() < 1e-9 && (found.to - 0.395).abs() < 1e-9, "{found:?}");
    // Draws that it leaves as they are say nothing; those that it moves away count against it.
    let found = moved(&stated, &own, &draws(&|i| i as f64 / 100.0 - if i < 9 { 0.1 } else { 0.0 }));
    assert_eq!(found.map(|found| (found.nearer, found.of)), Some((0, 9)));
    assert_eq!(moved(&stated, &own[..30], &own), None, "too few draws");
}

#[test]
fn what_is_as_far_away_but_for_rounding_is_not_moved() {
    let draws = |of: &dyn Fn(usize) -> f64| (0..40).map(|i| Some(vec![of(i)])).collect::<Vec<_>>();
    let stated = StatedNumbers {
        values: &[0.3],
        rounding: &[0.05],
        shape: Shape::One,
        bound: None,
        wide: 0.8,
    };
    // 0.1 + 0.2 is not 0.3 but in its last bit, and 0.2 and 0.4 are as far away.
    let own = draws(&|i| if i < 20 { 0.3 } else { 0.2 });
    let with = draws(&|i| if i < 20 { 0.1 + 0.2 } else { 0.4 });
    assert_ne!(own[0], with[0]);
    assert_eq!(moved(&stated, &own, &with).map(|found| (found.nearer, found.of)), Some((0, 0)));
}

#[test]
fn k_of_n_moves_as_a_share_where_either_side_has_another_n() {
    let draws =
        |k: f64, n: &dyn Fn(usize) -> f64| (0..40).map(|i| Some(vec![k, n(i)])).collect::<Vec<_>>();
    let stated = StatedNumbers {
        values: &[3.0, 4.0],
        rounding: &[],
        shape: Shape::Share,
        bound: None,
        wide: 0.8,
    };
    let (as_many, others) = (draws(1.0, &|_| 4.0), draws(2.0, &|i| 4.0 + (i % 2) as f64));
    assert_eq!(judge(&stated, &as_many).against[0].what, "count");
    let found = moved(&stated, &as_many, &others).unwrap();
    assert_eq!((&*found.what, found.from, found.nearer, found.of), ("share", 0.25, 40, 40));
    let back = moved(&stated, &others, &as_many).unwrap();
    assert_eq!((&*back.what, back.to, back.nearer, back.of), ("share", 0.25, 0, 40));
}

#[test]
fn more_than_half_is_what_even_odds_hardly_give() {
    // 27 of 40 or more come with a probability of 0.0192, 26 of 40 with 0.0403.
    assert!(more_than_half(27, 40) && !more_than_half(26, 40));
    assert!(more_than_half(6, 6) && !more_than_half(5, 5), "1/64 and 1/32");
    assert!(!more_than_half(0, 0));
}
