//! Laws of Lemma 2, Theorem 1(a), Theorem 2 and Remark 1 over random turn laws and costs.

use proptest::prelude::*;

use super::kendall::{emptying_probability, survival_of_a_session};
use super::premium::{bracket_check, factors, proved_from, rho_of_root};
use super::roots::transient;
use super::sharing::sharing;
use super::*;

/// Model F near rho = 1, to first order in rho - 1 (Prop. 1(c), Theorem 2).
struct NearThreshold {
    /// gamma = (rho - 1) / kbar_c.
    gamma: f64,
    /// alpha = (lambda - lambda_miss) E\[T\] / kbar_c, in sessions/s.
    alpha_per_s: f64,
    /// D / lambda_miss - 1 = (rho - 1)(1 - E\[T\] / kbar_c).
    premium: f64,
}

/// The expansions at a load.
fn expansion(model: &ModelF, lambda_per_s: f64) -> NearThreshold {
    let excess = model.rho(lambda_per_s) - 1.0;
    let share = model.mean_turns() / model.kbar_c();
    NearThreshold {
        gamma: excess / model.kbar_c(),
        alpha_per_s: (lambda_per_s - model.lambda_miss_per_s()) * share,
        premium: excess * (1.0 - share),
    }
}

/// Delta_n of Eq. (1) from h_n alone, for n = 0..`cycles`.
pub(crate) fn recursion(
    model: &ModelF,
    lambda_per_s: f64,
    brought_s: &[f64],
    cycles: usize,
) -> Vec<f64> {
    let mut delta: Vec<f64> = Vec::with_capacity(cycles);
    for n in 0..cycles {
        let renewed: f64 = model
            .costs_s()
            .iter()
            .zip(model.survival())
            .zip(delta.iter().rev())
            .map(|((c, g), d)| lambda_per_s * c * g * d)
            .sum();
        delta.push(renewed + brought_s.get(n).unwrap_or(&0.0));
    }
    delta
}

/// Any turn law and costs: K turns, survival falling by a random share at each.
pub(crate) fn any_model() -> impl Strategy<Value = ModelF> {
    prop::collection::vec((0.01f64..1.0, 0.01f64..20.0), 1..40).prop_map(|turns| {
        let mut g = 1.0;
        let mut survival = Vec::new();
        for (i, (stay, _)) in turns.iter().enumerate() {
            survival.push(g);
            g *= if i % 3 == 0 { 1.0 } else { *stay };
        }
        let costs: Vec<f64> = turns.iter().map(|(_, c)| *c).collect();
        ModelF::new(&costs, &survival).expect("a valid law")
    })
}

fn trapped(model: &ModelF, rho: f64) -> Trap {
    match model.at(rho * model.lambda_miss_per_s()).expect("a positive rate") {
        Regime::Trapped(trap) => trap,
        other => panic!("expected a trap at rho {rho}, found {other:?}"),
    }
}

proptest! {
    #[test]
    fn the_root_solves_the_perron_equation(model in any_model(), rho in 1.001f64..50.0) {
        let trap = trapped(&model, rho);
        let mut power = 1.0;
        let mut sum = 0.0;
        for (c, g) in model.costs_s().iter().zip(model.survival()) {
            power /= trap.z;
            sum += c * g * power;
        }
        prop_assert!((trap.lambda_per_s * sum - 1.0).abs() < 1e-11);
        let (low, high) = trap.z_bracket;
        prop_assert!(low <= trap.z && trap.z <= high);
        prop_assert!(high - low <= 1e-12 * high);
    }

    #[test]
    fn completions_and_growth_add_up_to_arrivals(model in any_model(), rho in 1.001f64..50.0) {
        let trap = trapped(&model, rho);
        let total = trap.completions_per_s + trap.alpha_per_s;
        prop_assert!((total / trap.lambda_per_s - 1.0).abs() < 1e-11);
    }

    #[test]
    fn the_premium_is_the_product_of_its_factors(model in any_model(), rho in 1.001f64..50.0) {
        let trap = trapped(&model, rho);
        let ratio = trap.completions_per_s / trap.lambda_miss_per_s;
        prop_assert!((trap.turn_factor * trap.cost_factor / ratio - 1.0).abs() < 1e-11);
    }

    #[test]
    fn a_uniform_speed_up_changes_no_ratio(model in any_model(), rho in 1.01f64..20.0, s in 0.1f64..10.0) {
        let faster: Vec<f64> = model.costs_s().iter().map(|c| c / s).collect();
        let faster = ModelF::new(&faster, model.survival()).expect("still valid");
        let (a, b) = (trapped(&model, rho), trapped(&faster, rho));
        prop_assert!((a.slope / b.slope - 1.0).abs() < 1e-9);
        prop_assert!((b.alpha_per_s / (s * a.alpha_per_s) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_gap_grows_with_the_load(model in any_model(), rho in 1.01f64..20.0) {
        prop_assert!(trapped(&model, 1.1 * rho).gamma > trapped(&model, rho).gamma);
    }

    #[test]
    fn near_the_threshold_the_gap_grows_as_the_excess_over_kbar_c(model in any_model()) {
        let trap = trapped(&model, 1.0 + 1e-7);
        prop_assert!((trap.gamma * model.kbar_c() / 1e-7 - 1.0).abs() < 1e-3);
        let expected = model.mean_turns() / model.kbar_c();
        let ratio = trap.alpha_per_s / (1e-7 * model.lambda_miss_per_s());
        prop_assert!((ratio / expected - 1.0).abs() < 1e-3);
    }

    #[test]
    fn expansions_hold_to_first_order(model in any_model()) {
        let lambda = (1.0 + 1e-7) * model.lambda_miss_per_s();
        let (trap, near) = (trapped(&model, 1.0 + 1e-7), expansion(&model, lambda));
        prop_assert!((trap.gamma / near.gamma - 1.0).abs() < 1e-3);
        prop_assert!((trap.alpha_per_s / near.alpha_per_s - 1.0).abs() < 1e-3);
        prop_assert!((trap.premium() - near.premium).abs() < 1e-10);
    }

    #[test]
    fn the_load_of_a_root_is_the_load_it_came_from(model in any_model(), rho in 1.001f64..50.0) {
        let trap = trapped(&model, rho);
        prop_assert!((rho_of_root(&model, trap.gamma) / rho - 1.0).abs() < 1e-10);
        let at = factors(&model, trap.gamma);
        prop_assert!((at.turn_factor / trap.turn_factor - 1.0).abs() < 1e-10);
        prop_assert!((at.cost_factor / trap.cost_factor - 1.0).abs() < 1e-10);
    }

    #[test]
    fn a_truncated_geometric_law_lowers_the_turn_factor_within_its_bounds(
        mean in 1.5f64..40.0, turns in 2usize..80, rho in 1.01f64..20.0,
    ) {
        let stay = 1.0 - 1.0 / mean;
        let survival: Vec<f64> = std::iter::successors(Some(1.0), |g| Some(g * stay)).take(turns).collect();
        let costs: Vec<f64> = (0..turns).map(|k| 1.0 + 0.3 * k as f64).collect();
        let model = ModelF::new(&costs, &survival).expect("a valid law");
        let (a, b) = (trapped(&model, rho), trapped(&model, 1.3 * rho));
        let floor = 1.0 - survival[turns - 1] * stay;
        prop_assert!(a.turn_factor > floor - 1e-12 && a.turn_factor < 1.0 + 1e-12);
        prop_assert!(b.turn_factor <= a.turn_factor + 1e-12);
        // Beyond z_1 the premium is positive; the brackets below it say the same where they do.
        // (Where truncation is beyond rounding, z_1 is 1 and there is nothing below it.)
        if let Some(from) = proved_from(&model).filter(|from| from.gamma > 1e-6) {
            prop_assert!(trapped(&model, from.rho * 1.001).premium() > 0.0);
            prop_assert!(trapped(&model, from.rho * 3.0).premium() > 0.0);
            let check = bracket_check(&model, 1e-9, from.gamma, 60);
            if check.not_positive == 0 {
                let inside = 0.5 * (1.0 + from.rho);
                prop_assert!(trapped(&model, inside).premium() > 0.0);
            }
        }
    }

    #[test]
    fn sharing_grows_like_the_queue_half_a_turn_off(model in any_model()) {
        let excess = 1e-6 * model.lambda_miss_per_s();
        let near = sharing(&model, model.lambda_miss_per_s() + excess).expect("solved").expect("above");
        let expected = model.mean_turns() / (model.kbar_c() - 0.5);
        prop_assert!((near.growth_per_s / excess / expected - 1.0).abs() < 1e-2);
        let far = sharing(&model, 3.0 * model.lambda_miss_per_s()).expect("solved").expect("above");
        let total = far.growth_per_s + far.completions_per_s;
        prop_assert!((total / (3.0 * model.lambda_miss_per_s()) - 1.0).abs() < 1e-12);
        prop_assert!(sharing(&model, 0.9 * model.lambda_miss_per_s()).expect("solved").is_none());
    }

    #[test]
    fn emptying_is_certain_below_capacity_and_ever_rarer_above(model in any_model(), rho in 1.01f64..3.0) {
        let capacity = model.lambda_miss_per_s();
        prop_assert_eq!(emptying_probability(&model, 0.99 * capacity, 10.0).expect("a rate"), 1.0);
        let at = |rho: f64| emptying_probability(&model, rho * capacity, 1e-3 / capacity).expect("a rate");
        prop_assert!(at(rho) < 1.0 && at(1.1 * rho) < at(rho));
    }

    #[test]
    fn growing_costs_make_the_cost_factor_at_least_one(model in any_model(), rho in 1.01f64..20.0) {
        let mut costs = model.costs_s().to_vec();
        costs.sort_by(f64::total_cmp);
        let model = ModelF::new(&costs, model.survival()).expect("still valid");
        let (a, b) = (trapped(&model, rho), trapped(&model, 1.2 * rho));
        prop_assert!(a.cost_factor >= 1.0 - 1e-12);
        prop_assert!(b.cost_factor >= a.cost_factor - 1e-12);
    }
}

#[test]
fn sessions_of_one_turn_grow_at_the_excess_rate() {
    let Regime::Trapped(trap) = regime(&[2.0], &[1.0], 0.75).unwrap() else { panic!("rho is 1.5") };
    assert!((trap.z - 1.5).abs() < 1e-14);
    assert!((trap.completions_per_s - 0.5).abs() < 1e-14);
    assert!((trap.alpha_per_s - 0.25).abs() < 1e-14);
    assert!(trap.premium().abs() < 1e-14);
}

#[test]
fn on_either_side_of_the_capacity_the_regime_changes() {
    let model = ModelF::new(&[1.0, 3.0], &[1.0, 0.5]).unwrap();
    let capacity = model.lambda_miss_per_s();
    assert_eq!(model.at(capacity).unwrap(), Regime::Critical);
    assert!(matches!(model.at(0.999 * capacity).unwrap(), Regime::Drains { rho } if rho < 1.0));
    assert!(matches!(model.at(1.001 * capacity).unwrap(), Regime::Trapped(_)));
}

#[test]
fn a_geometric_law_with_constant_costs_has_no_premium() {
    // K long enough that truncation is below rounding.
    let survival: Vec<f64> =
        std::iter::successors(Some(1.0), |g| Some(g * (14.0 / 15.0))).take(800).collect();
    let model = ModelF::new(&vec![1.0; 800], &survival).unwrap();
    assert!(trapped(&model, 1.7).premium().abs() < 1e-12);
}

#[test]
fn the_root_keeps_its_digits_at_an_enormous_load() {
    let model = ModelF::new(&[1.0, 2.0, 3.0], &[1.0, 0.5, 0.25]).unwrap();
    let trap = trapped(&model, 1e9);
    // The first turn dominates: z = lambda c_1 (1 + O(1/lambda)).
    assert!((trap.z / trap.lambda_per_s - 1.0).abs() < 3e-9);
    assert!(trap.z_bracket.1 - trap.z_bracket.0 <= 1e-12 * trap.z);
}

#[test]
fn two_turns_have_a_transient_in_closed_form() {
    // x^2 = a_1 x + a_2 has the roots z and -a_2/z.
    let model = ModelF::new(&[1.0, 4.0], &[1.0, 0.5]).unwrap();
    let trap = trapped(&model, 1.7);
    let r = transient(&model, &trap).unwrap();
    let second = trap.lambda_per_s * 4.0 * 0.5 / trap.z;
    assert!((r.modulus / second - 1.0).abs() < 1e-12);
    assert!((r.decay - r.modulus / trap.z).abs() < 1e-15);
    let single = ModelF::new(&[1.0], &[1.0]).unwrap();
    assert_eq!(transient(&single, &trapped(&single, 2.0)).unwrap().modulus, 0.0);
}

#[test]
fn a_periodic_kernel_forgets_slowly() {
    // Nearly all work in turn 3: x^3 = a_3 up to a little, so every root has nearly modulus z.
    let model = ModelF::new(&[1e-4, 1e-4, 1.0], &[1.0, 1.0, 1.0]).unwrap();
    let decay = transient(&model, &trapped(&model, 1.5)).unwrap().decay;
    assert!(decay > 0.999 && decay < 1.0, "{decay}");
}

#[test]
fn single_turns_have_the_kendall_root_of_a_single_server() {
    // xi = exp(-rho (1 - xi)).
    let model = ModelF::new(&[2.0], &[1.0]).unwrap();
    let x = survival_of_a_session(&model, 0.75).unwrap();
    assert!((x - (1.0 - libm::exp(-1.5 * x))).abs() < 1e-14);
    assert!((x - 0.582_811_643_866_6).abs() < 1e-10);
}

#[test]
fn slowly_growing_costs_have_no_premium() {
    // The paper's counterexample (sec 3).
    let survival: Vec<f64> =
        std::iter::successors(Some(1.0), |g| Some(g * (14.0 / 15.0))).take(60).collect();
    let costs: Vec<f64> = (0..60).map(|k| 1.0 + 1e-3 * f64::from(k)).collect();
    let model = ModelF::new(&costs, &survival).unwrap();
    for rho in [1.001, 1.1, 2.0, 6.0, 50.0] {
        assert!(trapped(&model, rho).premium() < 0.0, "{rho}");
    }
    let from = proved_from(&model);
    assert!(from.is_none_or(|from| trapped(&model, from.rho * 1.01).premium() > 0.0));
}

#[test]
fn bad_input_is_named() {
    let message = |costs: &[f64], survival: &[f64], rate| {
        regime(costs, survival, rate).unwrap_err().to_string()
    };
    assert_eq!(
        message(&[1.0], &[1.0], 0.0),
        "lambda (sessions/s): expected a positive number, found 0"
    );
    assert_eq!(
        message(&[1.0, -2.0], &[1.0, 0.5], 1.0),
        "turn cost (s): expected a positive number, found -2"
    );
    assert!(message(&[f64::NAN], &[1.0], 1.0).contains("found NaN"));
    assert!(message(&[1.0], &[1.0, 0.5], 1.0).contains("1 turn costs for a turn law with 2 turns"));
    assert!(message(&[], &[], 1.0).contains("at least one turn"));
    assert!(message(&[1.0, 1.0], &[1.0, 1.5], 1.0).contains("P(T >= 2) = 1.5"));
    assert!(message(&[1.0, 1.0], &[1.0, 0.0], 1.0).contains("must be positive"));
    assert!(message(&[1.0], &[0.9], 1.0).contains("P(T >= 1) must be 1"));
}

#[test]
fn the_transient_shrinks_by_theta_per_generation() {
    // The standard workload's law with costs linear in the turn.
    let survival: Vec<f64> = (0..60).map(|k| libm::pow(14.0 / 15.0, f64::from(k))).collect();
    let costs: Vec<f64> = (0..60).map(|k| 0.3 + 0.06 * f64::from(k)).collect();
    let model = ModelF::new(&costs, &survival).unwrap();
    let trap = trapped(&model, 1.5);
    let decay = transient(&model, &trap).unwrap().decay;
    let gaps = recursion(&model, trap.lambda_per_s, &[1.0], 800);
    let scaled: Vec<f64> =
        gaps.iter().zip(0..).map(|(gap, n)| gap * libm::pow(trap.z, -f64::from(n))).collect();
    let limit = scaled[799];
    let largest =
        |from: usize| scaled[from..from + 60].iter().map(|x| (x - limit).abs()).fold(0.0, f64::max);
    let measured = libm::pow(largest(200) / largest(100), 0.01);
    assert!((measured / decay - 1.0).abs() < 2e-3, "{measured} against {decay}");
}

#[test]
fn more_roots_than_can_be_found_are_refused() {
    let survival = vec![1.0; 2000];
    let model = ModelF::new(&vec![1.0; 2000], &survival).unwrap();
    let trap = trapped(&model, 1.5);
    assert!(transient(&model, &trap).is_err());
    assert!(trap.slope > 0.0);
}
