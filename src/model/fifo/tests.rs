//! Laws of Lemma 2, Theorem 1(a), Theorem 2 and Remark 1 over random turn laws and costs.

use proptest::prelude::*;

use super::*;

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
        let (low, high) = trap.slope_bracket;
        prop_assert!(low <= trap.slope && trap.slope <= high);
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
