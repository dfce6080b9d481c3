//! The statements of sec 3 and App. A on the marched fluid, over random turn laws, costs,
//! loads and starts.

use proptest::prelude::*;

use super::cut::{BurstProtocol, Fate, fate};
use super::orbit::{generations, orbit};
use super::*;
use crate::model::fifo::roots::transient;
use crate::model::fifo::tests::{any_model, recursion};
use crate::model::fifo::threshold::{critical_backlog, critical_gap_s};
use crate::model::fifo::{Regime, Trap};

/// A model, pending sessions by turn (work for at least a moment) and a load.
fn any_start() -> impl Strategy<Value = (ModelF, Vec<f64>, f64)> {
    (any_model(), prop::collection::vec(0.0f64..5.0, 40), 1.02f64..8.0).prop_map(
        |(model, mut pending, rho)| {
            pending.truncate(model.survival().len());
            pending[0] += 0.5;
            let lambda = rho * model.lambda_miss_per_s();
            (model, pending, lambda)
        },
    )
}

/// h_n for n = 0..K: the work that sessions pending at u_0, `pending[k - 1]` of them waiting
/// for turn k, bring in generation n. Sums to V_tot(u_0); zero from n = K on (Lemma 1).
fn brought_work_s(model: &ModelF, pending: &[f64]) -> Vec<f64> {
    let (c, g) = (model.costs_s(), model.survival());
    (0..g.len())
        .map(|n| (n..g.len()).map(|k| c[k] * g[k] * pending[k - n] / g[k - n]).sum())
        .collect()
}

/// u* = V_tot / (rho - 1): the gap grows as if it had started from 0 this long before
/// (Theorem 1(b)). `None` at or below capacity.
fn virtual_origin_s(model: &ModelF, lambda_per_s: f64, work_left_s: f64) -> Option<f64> {
    let excess = model.rho(lambda_per_s) - 1.0;
    (excess > 0.0).then(|| work_left_s / excess)
}

fn fluid(model: &ModelF, pending: &[f64], lambda: f64, end_s: f64) -> Trajectory {
    let start = Start { time_s: 0.0, pending: pending.to_vec() };
    run(model, &start, &Arrivals::constant(lambda).unwrap(), end_s).unwrap()
}

fn trap(model: &ModelF, lambda: f64) -> Trap {
    match model.at(lambda).unwrap() {
        Regime::Trapped(trap) => trap,
        other => panic!("expected a trap, found {other:?}"),
    }
}

fn close(a: f64, b: f64, relative: f64) -> bool {
    (a - b).abs() <= relative * a.abs().max(b.abs())
}

/// A horizon with at least `cycles` cycles, found from the recursion itself.
fn horizon_s(model: &ModelF, pending: &[f64], lambda: f64, cycles: usize) -> f64 {
    recursion(model, lambda, &brought_work_s(model, pending), cycles).iter().sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn cycles_of_the_marched_fluid_solve_the_orbit_recursion((model, pending, lambda) in any_start(), at in 0.0f64..1.0) {
        let end_s = horizon_s(&model, &pending, lambda, 50).min(1e9);
        let fluid = fluid(&model, &pending, lambda, end_s);
        let from_s = at * fluid.gap_s(0.0);
        let orbit = orbit(&fluid, from_s, 45);
        let brought = brought_work_s(&model, &fluid.pending(from_s));
        let delta = recursion(&model, lambda, &brought, orbit.len() - 1);
        for (n, (pair, expected)) in orbit.windows(2).zip(&delta).enumerate() {
            prop_assert!(close(pair[1] - pair[0], *expected, 1e-8), "cycle {n}");
        }
    }

    #[test]
    fn what_pending_sessions_bring_sums_to_their_remaining_work((model, pending, lambda) in any_start(), at in 0.0f64..1.0) {
        let first_s: f64 = pending.iter().zip(model.costs_s()).map(|(m, c)| m * c).sum();
        let fluid = fluid(&model, &pending, lambda, 3.0 * first_s);
        let u = at * first_s;
        let brought = brought_work_s(&model, &fluid.pending(u));
        prop_assert!(close(brought.iter().sum(), fluid.work_left_s(u), 1e-9));
        prop_assert!(close(brought[0], fluid.gap_s(u), 1e-9));
        prop_assert_eq!(brought.len(), model.survival().len());
    }

    #[test]
    fn from_the_last_turn_on_the_orbit_obeys_the_exact_identity((model, pending, lambda) in any_start(), at in 0.0f64..1.0) {
        let turns = model.survival().len();
        let end_s = horizon_s(&model, &pending, lambda, turns + 12).min(1e12);
        let fluid = fluid(&model, &pending, lambda, end_s);
        let orbit = orbit(&fluid, at * 0.999 * fluid.gap_s(0.0), turns + 10);
        let work_s = fluid.work_left_s(0.0);
        for n in turns - 1..orbit.len().saturating_sub(1) {
            let renewed: f64 = model
                .costs_s()
                .iter()
                .zip(model.survival())
                .enumerate()
                .map(|(i, (c, g))| lambda * c * g * orbit[n - i])
                .sum();
            prop_assert!(close(orbit[n + 1], work_s + renewed, 1e-9), "n = {n}");
        }
    }

    #[test]
    fn remaining_work_changes_at_rho_less_one((model, pending, lambda) in any_start(), later in 0.0f64..2.0) {
        let start = Start { time_s: 0.0, pending: pending.clone() };
        let change_s = 3.0 * fluid(&model, &pending, lambda, 1e-3).gap_s(0.0);
        let next = later * model.lambda_miss_per_s();
        let rates = Arrivals::constant(lambda).and_then(|r| r.then(change_s, next)).unwrap();
        let fluid = run(&model, &start, &rates, 2.0 * change_s).unwrap();
        let work_s = fluid.work_left_s(0.0);
        let at_change = work_s + (model.rho(lambda) - 1.0) * change_s;
        prop_assert!(close(fluid.work_left_s(change_s), at_change, 1e-9));
        let end_s = change_s + 0.4 * at_change.min(change_s);
        let at_end = at_change + (later - 1.0) * (end_s - change_s);
        prop_assert!(close(fluid.work_left_s(end_s), at_end, 1e-7));
    }

    #[test]
    fn the_gap_is_affine_with_the_virtual_origin((model, pending, lambda) in any_start(), at in 0.0f64..1.0) {
        let trap = trap(&model, lambda);
        let fading = transient(&model, &trap).unwrap();
        prop_assume!(fading.decay < 0.9);
        // Enough generations for the transient to fall below the tolerance.
        let cycles = if fading.decay > 0.0 { (libm::log(1e-9) / libm::log(fading.decay)) as usize + 45 } else { 45 };
        let end_s = horizon_s(&model, &pending, lambda, cycles);
        prop_assume!(end_s < 1e13);
        let fluid = fluid(&model, &pending, lambda, end_s);
        let orbit = orbit(&fluid, at * 0.999 * fluid.gap_s(0.0), cycles - 2);
        let origin_s = virtual_origin_s(&model, lambda, fluid.work_left_s(0.0)).unwrap();
        let u = orbit[orbit.len() - 2];
        prop_assert!(close(fluid.gap_s(u), trap.gamma * (u + origin_s), 1e-6));
        // A session with m turns completes at f^m: centred, z^m times its arrival.
        let joined = orbit[orbit.len() - 5];
        let done = (0..3).fold(joined, |t, _| fluid.completes_s(t));
        let centred = trap.z * trap.z * trap.z * (joined + origin_s);
        prop_assert!(close(done + origin_s, centred, 1e-6));
        let proportional = trap.gamma / (model.rho(lambda) - 1.0) * fluid.work_left_s(u);
        prop_assert!(close(fluid.gap_s(u), proportional, 1e-6));
    }

    #[test]
    fn every_start_reaches_the_tilted_mix_and_the_asymptotic_growth((model, pending, lambda) in any_start()) {
        let trap = trap(&model, lambda);
        prop_assume!(transient(&model, &trap).unwrap().decay < 0.85);
        // The start's share of the time falls as z^-n.
        let cycles = (libm::log(1e5) / libm::log(trap.z)) as usize + 40;
        let end_s = horizon_s(&model, &pending, lambda, cycles);
        let fluid = fluid(&model, &pending, lambda, end_s);
        let mix = fluid.pending(end_s);
        let total: f64 = mix.iter().sum();
        for (m, expected) in mix.iter().zip(&trap.tilted_mix) {
            prop_assert!((m / total - expected).abs() < 1e-3);
        }
        let from_s = 0.5 * end_s;
        let growth = (fluid.backlog(end_s) - fluid.backlog(from_s)) / (end_s - from_s);
        prop_assert!(close(growth, trap.alpha_per_s, 1e-2));
    }

    #[test]
    fn at_capacity_the_fluid_settles((model, pending, _) in any_start()) {
        let lambda = model.lambda_miss_per_s();
        let trap = trap(&model, 1.0001 * lambda);
        prop_assume!(transient(&model, &trap).unwrap().decay < 0.9);
        let end_s = horizon_s(&model, &pending, lambda, 300);
        let fluid = fluid(&model, &pending, lambda, end_s);
        let work_s = fluid.work_left_s(0.0);
        prop_assert!(close(fluid.gap_s(end_s), critical_gap_s(&model, work_s), 1e-6));
        prop_assert!(close(fluid.backlog(end_s), critical_backlog(&model, work_s), 1e-6));
    }

    #[test]
    fn a_cut_below_capacity_empties_when_corollary_3_says((model, pending, lambda) in any_start(), below in 0.0f64..0.9) {
        let cut_s = 2.0 * fluid(&model, &pending, lambda, 1e-3).gap_s(0.0);
        let next = below * model.lambda_miss_per_s();
        let rates = Arrivals::constant(lambda).and_then(|r| r.then(cut_s, next)).unwrap();
        let start = Start { time_s: 0.0, pending };
        let left_s = run(&model, &start, &rates, cut_s + 1e-3).unwrap().work_left_s(cut_s);
        let Fate::Empties { after_s } = fate(&model, left_s, next).unwrap() else { panic!() };
        let fluid = run(&model, &start, &rates, cut_s + 1.5 * after_s).unwrap();
        prop_assert!(fluid.backlog(cut_s + 0.999 * after_s) > 0.0);
        prop_assert!(fluid.backlog(cut_s + 1.001 * after_s).abs() < 1e-9);
        let empty_s = fluid.falls_to_s(cut_s, 1e-12).unwrap();
        prop_assert!(close(empty_s, cut_s + after_s, 1e-6));
    }

    #[test]
    fn a_cut_above_capacity_never_empties((model, pending, lambda) in any_start(), above in 1.001f64..1.5) {
        let cut_s = 2.0 * fluid(&model, &pending, lambda, 1e-3).gap_s(0.0);
        let rates = Arrivals::constant(lambda).and_then(|r| r.then(cut_s, above * model.lambda_miss_per_s())).unwrap();
        let start = Start { time_s: 0.0, pending };
        let fluid = run(&model, &start, &rates, 40.0 * cut_s).unwrap();
        let (lowest, _) = fluid.lowest_backlog(cut_s, 40.0 * cut_s);
        // V >= eta V_tot, and V_tot does not fall (proof of Corollary 3).
        let eta = (1..=model.survival().len())
            .map(|k| model.costs_s()[k - 1] / model.work_left_s(k))
            .fold(f64::INFINITY, f64::min);
        let dearest = model.costs_s().iter().copied().fold(0.0, f64::max);
        prop_assert!(lowest >= eta * fluid.work_left_s(cut_s) / dearest * (1.0 - 1e-9));
    }

    #[test]
    fn from_empty_the_fluid_is_self_similar((model, _, lambda) in any_start()) {
        let trap = trap(&model, lambda);
        let rates = Arrivals::constant(lambda).and_then(|r| r.then(100.0, lambda)).unwrap();
        let fluid = run(&model, &Start::empty(0.0), &rates, 1000.0).unwrap();
        // The change at 100 s changes nothing, but makes the march take over from the closed form.
        for t in [50.0, 100.0, 400.0, 1000.0] {
            prop_assert!(close(fluid.gap_s(t), trap.gamma * t, 1e-8));
            prop_assert!(close(fluid.backlog(t), trap.alpha_per_s * t, 1e-8));
        }
    }

    #[test]
    fn the_gap_is_the_work_of_the_pending_turns_across_rate_changes((model, pending, lambda) in any_start(), at in 0.0f64..3.0, later in 0.0f64..3.0) {
        let first_s = fluid(&model, &pending, lambda, 1e-3).gap_s(0.0);
        let change_s = at * first_s + 1e-6;
        let rates = Arrivals::constant(lambda).and_then(|r| r.then(change_s, later * lambda)).unwrap();
        let start = Start { time_s: 0.0, pending: pending.clone() };
        let fluid = run(&model, &start, &rates, 5.0 * first_s).unwrap();
        for t in [0.5 * change_s, change_s, change_s + 0.3 * first_s, 4.0 * first_s] {
            let work: f64 = fluid.pending(t).iter().zip(model.costs_s()).map(|(m, c)| m * c).sum();
            prop_assert!((work - fluid.gap_s(t)).abs() < 1e-8 * first_s, "at {t}");
        }
    }

    #[test]
    fn sessions_and_turns_are_conserved((model, pending, lambda) in any_start()) {
        let end_s = horizon_s(&model, &pending, lambda, 30).min(1e6);
        let fluid = fluid(&model, &pending, lambda, end_s);
        let left = fluid.pending(end_s);
        prop_assert!(left.iter().all(|m| *m > -1e-9 * fluid.backlog(end_s)));
        prop_assert!(close(left.iter().sum(), fluid.backlog(end_s), 1e-9));
        let first: f64 = pending.iter().sum();
        let completed = fluid.sessions_completed(0.0, end_s);
        prop_assert!(close(first + lambda * end_s, fluid.backlog(end_s) + completed, 1e-9));
        let work: f64 = fluid.turns_completed(0.0, end_s).iter().zip(model.costs_s()).map(|(n, c)| n * c).sum();
        prop_assert!(close(work, end_s, 1e-9), "the server works at unit rate");
    }
}

#[test]
fn below_capacity_an_empty_queue_stays_empty_until_the_rate_rises() {
    let model = ModelF::new(&[1.0, 2.0], &[1.0, 0.5]).unwrap();
    let rates = Arrivals::constant(0.4).and_then(|r| r.then(50.0, 0.6)).unwrap();
    let fluid = run(&model, &Start::empty(0.0), &rates, 200.0).unwrap();
    assert_eq!((fluid.backlog(49.0), fluid.gap_s(49.0)), (0.0, 0.0));
    let trap = trap(&model, 0.6);
    assert!((fluid.backlog(150.0) - 100.0 * trap.alpha_per_s).abs() < 1e-9);
}

#[test]
fn a_burst_into_an_empty_engine_brings_its_work() {
    let model = ModelF::new(&[1.0, 2.0], &[1.0, 0.5]).unwrap();
    let protocol =
        BurstProtocol { burst_s: 10.0, length_s: 5.0, sessions: 20.0, good_sessions: 0.0 };
    let fluid = protocol.run(&model, 0.6, &[(100.0, 0.0)], 300.0).unwrap();
    let expected = 20.0 * 2.0 + (0.6 * 2.0 - 1.0) * (60.0 - 10.0);
    assert!(close(fluid.work_left_s(60.0), expected, 1e-9));
    let empty_s = fluid.falls_to_s(100.0, 1e-12).unwrap();
    assert!(close(empty_s, 100.0 + 40.0 + 0.2 * 90.0, 1e-6), "{empty_s}");
    assert!(generations(&fluid, 15.0, 60.0) >= 1);
}

#[test]
fn bad_starts_are_named() {
    let model = ModelF::new(&[1.0], &[1.0]).unwrap();
    let rates = Arrivals::constant(1.0).unwrap();
    let two_turns = Start { time_s: 0.0, pending: vec![1.0, 1.0] };
    assert!(
        run(&model, &two_turns, &rates, 10.0)
            .unwrap_err()
            .to_string()
            .contains("2 turns are pending")
    );
    let negative = Start { time_s: 0.0, pending: vec![-1.0] };
    assert!(run(&model, &negative, &rates, 10.0).is_err());
    assert!(run(&model, &Start::empty(5.0), &rates, 5.0).is_err());
}

#[test]
fn a_cohort_completes_turn_by_turn() {
    use super::sojourn::completed_by_s;
    let model = ModelF::new(&[1.0, 1.0], &[1.0, 0.5]).unwrap();
    // From empty at rho = 1.5 the solution is self-similar: f(u) = z u.
    let fluid = run(&model, &Start::empty(0.0), &Arrivals::constant(1.0).unwrap(), 1000.0).unwrap();
    let z = trap(&model, 1.0).z;
    let half = completed_by_s(&fluid, &model, (100.0, 100.0 + 1e-6), 0.49).unwrap();
    assert!(close(half, 100.0 * z, 1e-6));
    let all = completed_by_s(&fluid, &model, (100.0, 100.0 + 1e-6), 0.999).unwrap();
    assert!(close(all, 100.0 * z * z, 1e-6));
    assert_eq!(completed_by_s(&fluid, &model, (900.0, 901.0), 0.9), None);
}

#[test]
fn a_queue_that_settles_for_ever_is_refused_instead_of_filling_memory() {
    let survival: Vec<f64> = (0..2000).map(|k| 1.0 / f64::from(k + 1)).collect();
    let model = ModelF::new(&vec![0.1; 2000], &survival).unwrap();
    let arrivals = Arrivals::constant(model.lambda_miss_per_s()).unwrap();
    let start = Start::stationary(0.0, 50.0, &model);
    let error = run(&model, &start, &arrivals, 1e12).unwrap_err();
    assert!(matches!(error, ModelError::TooManyCycles { .. }), "{error}");
    assert!(run(&model, &start, &arrivals, 1000.0).is_ok());
}
