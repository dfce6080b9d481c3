//! Lemma 5, Prop. 3 and Prop. 4 over random cells, pools, speeds and tool laws; the layers'
//! limits.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::layers::{demand_cv2, h1, h2, h3, h4, rr};
use super::*;
use crate::model::cost::IterationCosts;
use crate::model::fifo::{ModelF, Regime};
use crate::model::fluid::Arrivals;
use crate::model::session::SessionMeans;
use crate::setup::cell::Engine;
use crate::setup::workload::MixturePart;
use crate::setup::{Batching, Cell, Costs, Scheduling, Speed, ToolTime, TurnLaw, Workload};

fn workload(tool_time: ToolTime) -> Workload {
    Workload {
        name: "test".into(),
        turns: TurnLaw::TruncatedGeometric { mean: 15.0, max: 60 },
        first_prompt_tokens: 2000,
        tool_output_tokens: 550,
        decoded_tokens: 100,
        tool_time,
        sources: BTreeMap::new(),
        recorded: None,
    }
}

fn cell(batching: Batching, pool_tokens: u64, speed: f64) -> Cell {
    Cell {
        name: "test".into(),
        workload: "test".into(),
        protocol: "paper".into(),
        engine: Engine { name: "sglang".into(), version: "0".into() },
        model: "test".into(),
        gpu: "test".into(),
        pool_tokens,
        block_tokens: 1,
        scheduling: Scheduling::Fcfs,
        batching,
        chunk_tokens: 8192,
        max_running: 256,
        lambda_ref_per_s: 0.07,
        all_miss_tokens_per_s: None,
        costs: Costs::Iteration {
            a_s: 9.24e-3,
            f0_s: 1.26e-3,
            b_s_per_token: 62.6e-6,
            c_p_s_per_pair: 2.24e-9,
            c_d_s: 0.31e-3,
        },
        iteration_costs: None,
        speed: Speed::Factor { factor: speed },
        sources: BTreeMap::new(),
    }
}

fn exponential(mean_s: f64) -> ToolTime {
    ToolTime::Exponential { mean_s }
}

fn model(batching: Batching, pool_tokens: u64, speed: f64, tool_time: ToolTime) -> EntryModel {
    EntryModel::new(&cell(batching, pool_tokens, speed), &workload(tool_time)).unwrap()
}

fn any_batching() -> impl Strategy<Value = Batching> {
    prop_oneof![Just(Batching::Separate), Just(Batching::Mixed)]
}

/// A law with mean 1 to scale: exponential, lognormal or a mixture.
fn any_law() -> impl Strategy<Value = fn(f64) -> ToolTime> {
    prop_oneof![
        Just(exponential as fn(f64) -> ToolTime),
        Just((|mean| ToolTime::Lognormal { median_s: mean, sigma: 0.8 }) as fn(f64) -> ToolTime),
        Just(
            (|mean| ToolTime::Mixture {
                parts: vec![
                    MixturePart { weight: 0.7, law: exponential(0.5 * mean) },
                    MixturePart { weight: 0.3, law: exponential(2.0 * mean) },
                ],
            }) as fn(f64) -> ToolTime
        ),
    ]
}

fn peak_ratio(model: &EntryModel) -> f64 {
    Curve::of(model).unwrap().highest_mu_per_s() / model.onset().mu_b_per_s
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn running_kv_grows_with_the_rate_and_falls_with_hits(
        batching in any_batching(), share in 0.05f64..0.9, hit in 0.0f64..0.9,
    ) {
        let model = model(batching, 300_000, 1.0, exponential(5.0));
        let server = model.server();
        let nu = share * server.capacity_per_s(hit);
        let here = server.at(nu, hit).unwrap();
        let faster = server.at(1.05 * nu, hit).unwrap();
        let luckier = server.at(nu, hit + 0.05).unwrap();
        prop_assert!(faster.reserved_tokens > here.reserved_tokens);
        prop_assert!(faster.decode_s > here.decode_s);
        prop_assert!(luckier.reserved_tokens < here.reserved_tokens);
        prop_assert!(server.at(server.capacity_per_s(hit), hit).is_none());
    }

    #[test]
    fn every_age_balances_the_pool(
        batching in any_batching(), pool in 60_000u64..2_000_000, age in 0.001f64..100.0, law in any_law(),
    ) {
        let model = model(batching, pool, 1.0, law(5.0));
        let state = model.state_at_age(age);
        let idle = state.mu_per_s * model.idle_tokens(age);
        prop_assert!(((state.reserved_tokens + idle) / pool as f64 - 1.0).abs() < 1e-9);
        let little = state.in_service + state.mu_per_s * model.mean_turns() * model.tool_per_turn_s();
        prop_assert!((little / state.population - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_faster_gpu_moves_the_onset_out_by_the_tool_calls(
        batching in any_batching(), pool in 60_000u64..2_000_000, speed in 0.3f64..6.0, mean in 0.1f64..60.0,
    ) {
        let slow = model(batching, pool, 1.0, exponential(mean));
        let fast = model(batching, pool, speed, exponential(mean));
        let (a, b) = (slow.onset(), fast.onset());
        prop_assert!((b.nu_b_per_s / (speed * a.nu_b_per_s) - 1.0).abs() < 1e-9);
        prop_assert!((b.service_footprint_tokens / a.service_footprint_tokens - 1.0).abs() < 1e-9);
        let expected = a.population() + (speed - 1.0) * a.nu_b_per_s * slow.tool_per_turn_s();
        prop_assert!((b.population() / expected - 1.0).abs() < 1e-9);
    }

    #[test]
    fn all_miss_states_exist_exactly_from_the_onset_on(pool in 60_000u64..2_000_000, more in 0.01f64..500.0) {
        let model = model(Batching::Separate, pool, 1.0, exponential(5.0));
        let onset = model.onset().population();
        prop_assert!(model.all_miss_state(onset * 0.999).is_none());
        let state = model.all_miss_state(onset + more).unwrap();
        prop_assert!((state.queued - more).abs() < 1e-9);
        prop_assert!((state.population - onset - more).abs() < 1e-6);
        prop_assert!((state.reserved_tokens / pool as f64 - 1.0).abs() < 1e-9);
    }
}

proptest! {
    // Each case traces two curves.
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn speed_and_tool_time_enter_the_peak_ratio_only_through_their_product(
        batching in any_batching(), pool in 100_000u64..1_000_000, speed in 0.5f64..4.0, law in any_law(),
    ) {
        let faster = peak_ratio(&model(batching, pool, speed, law(5.0)));
        let slower_tools = peak_ratio(&model(batching, pool, 1.0, law(5.0 * speed)));
        prop_assert!((faster / slower_tools - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_faster_gpu_never_raises_the_peak_ratio(
        pool in 100_000u64..1_000_000, speed in 0.5f64..4.0, law in any_law(),
    ) {
        let slow = peak_ratio(&model(Batching::Separate, pool, speed, law(5.0)));
        let fast = peak_ratio(&model(Batching::Separate, pool, 1.3 * speed, law(5.0)));
        prop_assert!(fast <= slow * (1.0 + 1e-9));
        prop_assert!(fast < slow || slow <= 1.0 + 1e-9, "strictly while above 1");
    }

    #[test]
    fn with_ever_slower_tools_the_peak_ratio_tends_to_one(law in any_law()) {
        let ratio = peak_ratio(&model(Batching::Separate, 300_000, 1.0, law(5000.0)));
        prop_assert!((1.0..1.02).contains(&ratio), "{ratio}");
    }

    #[test]
    fn the_good_state_lies_before_the_peak_and_the_unstable_one_behind(
        pool in 150_000u64..1_000_000, share in 0.1f64..0.95,
    ) {
        let curve = Curve::of(&model(Batching::Separate, pool, 1.0, exponential(5.0))).unwrap();
        let (peak, onset) = (curve.peak(), *curve.model().onset());
        let lambda = onset.mu_b_per_s + share * (peak.mu_per_s - onset.mu_b_per_s);
        let (good, unstable) = (curve.good_state(lambda).unwrap(), curve.unstable_state(lambda).unwrap());
        prop_assert!(good.population < peak.population && peak.population < unstable.population);
        prop_assert!(unstable.population < onset.population());
        prop_assert!((good.mu_per_s / lambda - 1.0).abs() < 1e-9);
        prop_assert!((unstable.mu_per_s / lambda - 1.0).abs() < 1e-9);
        prop_assert!((curve.mu_per_s(good.population) / lambda - 1.0).abs() < 1e-4);
        prop_assert!((curve.state(good.population).mu_per_s / lambda - 1.0).abs() < 1e-9);
        prop_assert!(curve.good_state(1.01 * peak.mu_per_s).is_none());
        prop_assert!(curve.unstable_state(0.99 * onset.mu_b_per_s).is_none());
        prop_assert!(curve.good_state(0.99 * onset.mu_b_per_s).is_some());
    }
}

#[test]
fn dispersed_tool_times_fold_the_curve_and_the_fold_is_reported() {
    let bursty = ToolTime::Mixture {
        parts: vec![
            MixturePart { weight: 0.9, law: exponential(0.05) },
            MixturePart { weight: 0.1, law: exponential(60.0) },
        ],
    };
    let curve = Curve::of(&model(Batching::Separate, 300_000, 1.0, bursty)).unwrap();
    let folds = curve.folds();
    assert!(!folds.is_empty());
    let inside = 0.5 * (folds[0].from_population + folds[0].to_population);
    let states = curve.states_at(inside);
    assert!(states.len() >= 3, "{folds:?} {states:?}");
    assert!(states.iter().all(|s| (s.population / inside - 1.0).abs() < 1e-6));
    // The good branch is the one reached from small populations: the most hits.
    assert!((curve.state(inside).mu_per_s / states[0].mu_per_s - 1.0).abs() < 1e-6);
}

#[test]
fn exponential_tool_times_do_not_fold() {
    let curve = Curve::of(&model(Batching::Separate, 300_000, 1.0, exponential(5.0))).unwrap();
    assert_eq!(curve.folds(), []);
    for population in [5.0, 20.0, 31.0] {
        assert_eq!(curve.states_at(population).len(), 1);
    }
    assert_eq!(curve.mu_per_s(0.0), 0.0);
    assert_eq!(curve.mu_per_s(500.0), curve.model().onset().mu_b_per_s);
}

#[test]
fn a_measured_sample_of_tool_times_gives_nearly_the_curve_of_its_law() {
    // Quantiles of Exp(5).
    let values_s = (0..4000).map(|i| -5.0 * libm::log1p(-(f64::from(i) + 0.5) / 4000.0)).collect();
    let sample =
        Curve::of(&model(Batching::Separate, 300_000, 1.0, ToolTime::Sample { values_s })).unwrap();
    let law = Curve::of(&model(Batching::Separate, 300_000, 1.0, exponential(5.0))).unwrap();
    assert!((sample.peak().mu_per_s / law.peak().mu_per_s - 1.0).abs() < 2e-3);
    assert!((sample.mu_per_s(15.0) / law.mu_per_s(15.0) - 1.0).abs() < 2e-3);
}

#[test]
fn a_slowdown_moves_the_good_state_and_ends_it_at_the_largest_delay() {
    let model = model(Batching::Separate, 300_000, 1.0, exponential(5.0));
    let lambda = 1.3 * model.onset().mu_b_per_s;
    let most = slowdown::largest_delay_s(&model, lambda).unwrap().unwrap();
    let peak =
        |delay| Curve::of(&slowdown::slowed(&model, delay).unwrap()).unwrap().highest_mu_per_s();
    assert!(peak(0.99 * most) > lambda && peak(1.01 * most) < lambda);
    assert_eq!(slowdown::largest_delay_s(&model, 0.9 * model.onset().mu_b_per_s).unwrap(), None);
    let curve = Curve::of(&model).unwrap();
    let rest = slowdown::population_after(&curve, lambda, 0.0, 1e4);
    assert!((rest - curve.good_state(lambda).unwrap().population).abs() < 1e-3);
}

#[test]
fn averaging_over_no_fluctuation_gives_the_curve_back() {
    let model = model(Batching::Separate, 300_000, 1.0, exponential(5.0));
    let curve = Curve::of(&model).unwrap();
    for population in [5.0, 20.0, 28.0, 40.0] {
        let averaged = h1::averaged_mu_per_s(&model, 1e-12, population).unwrap();
        assert!((averaged / curve.mu_per_s(population) - 1.0).abs() < 1e-3, "{population}");
    }
    let cv2 = demand_cv2(&SessionMeans::of(&workload(exponential(5.0))));
    assert!(h1::averaged_peak(&model, cv2).unwrap().mu_per_s < curve.peak().mu_per_s);
}

#[test]
fn the_passage_time_of_a_driftless_diffusion_is_known() {
    // With lambda = mu everywhere the diffusion has no drift: tau = int_0^b int_0^y 2/variance.
    let curve = Curve::of(&model(Batching::Separate, 300_000, 1.0, exponential(5.0))).unwrap();
    let diffusion = h2::Diffusion::of(&curve, 0.5);
    let fast = diffusion.mean_passage_s(100.0);
    assert!((fast * 100.0 / diffusion.onset() - 1.0).abs() < 0.05, "a huge drift crosses directly");
    assert!(diffusion.mean_passage_s(0.1) > diffusion.mean_passage_s(0.15));
    let edge = diffusion.edge_per_s(3000.0).unwrap();
    assert!((diffusion.escape_probability(edge, 3000.0) - 0.5).abs() < 1e-9);
}

#[test]
fn a_burst_is_stuck_more_often_the_larger_it_is() {
    let curve = Curve::of(&model(Batching::Separate, 300_000, 1.0, exponential(5.0))).unwrap();
    let lambda = 1.6 * curve.model().onset().mu_b_per_s;
    let basin = h3::BurstBasin::at(&curve, 0.5654, 4331.0, lambda).unwrap();
    let stuck: Vec<f64> =
        [0.0, 20.0, 40.0, 60.0, 300.0].map(|b| basin.stuck_probability(b, 5050.0)).to_vec();
    assert!(stuck.windows(2).all(|pair| pair[0] <= pair[1]));
    assert_eq!(basin.committor(0.0), 0.0);
    assert_eq!(stuck[4], 1.0);
    assert!(h3::BurstBasin::at(&curve, 0.5654, 4331.0, 10.0 * lambda).is_none());
}

#[test]
fn the_demand_of_the_paper_s_sessions_varies_as_published_layers_need() {
    let cv2 = demand_cv2(&SessionMeans::of(&workload(exponential(5.0))));
    assert_eq!((cv2 * 1e4).round(), 5654.0);
}

#[test]
fn in_the_long_run_the_round_robin_grows_as_model_f() {
    let model_f = ModelF::new(&[1.0, 2.0, 4.0], &[1.0, 0.6, 0.3]).unwrap();
    let lambda = 1.8 * model_f.lambda_miss_per_s();
    let Regime::Trapped(trap) = model_f.at(lambda).unwrap() else { panic!("rho is 1.8") };
    let arrivals = Arrivals::constant(lambda).unwrap();
    let at = |end_s: f64| {
        let window_s = (end_s - 1.0, end_s);
        rr::window_means(&model_f, &arrivals, 0.0, &[1.0; 3], window_s).unwrap()
    };
    let (early, late) = (at(3000.0), at(6000.0));
    let growth = (late.final_backlog - early.final_backlog) / 3000.0;
    assert!((growth / trap.alpha_per_s - 1.0).abs() < 1e-3, "{growth}");
    assert!((late.cycle_tokens / late.backlog - 1.0).abs() < 1e-12);
    for (n, share) in late.by_turn.iter().zip(&trap.tilted_mix) {
        assert!((n / late.backlog - share).abs() < 1e-3);
    }
    assert!(rr::window_means(&model_f, &arrivals, 0.0, &[0.0; 3], (5.0, 5.0)).is_err());
    let none = Arrivals::constant(0.0).unwrap();
    assert!(rr::window_means(&model_f, &none, 0.0, &[0.0; 3], (5.0, 6.0)).is_err());
}

#[test]
fn a_release_waits_for_both_phases_and_the_hold() {
    let (cell, load) = (cell(Batching::Separate, 300_000, 1.0), workload(exponential(5.0)));
    let curve = Curve::of(&EntryModel::new(&cell, &load).unwrap()).unwrap();
    let lambda = 1.4 * curve.model().onset().mu_b_per_s;
    let released = |cap: f64, present: f64| {
        let rescue = h4::Rescue { engage_s: 1800.0, cap, hold_s: 300.0 };
        let waiting = [present * 0.5, present * 0.5];
        h4::release(&curve, &cell, &load, &rescue, &waiting, lambda).unwrap()
    };
    let release = released(20.0, 100.0).unwrap();
    let parts = release.first_phase_s + release.second_phase_s;
    assert!((release.release_s - 1800.0 - parts - 300.0).abs() < 1e-9);
    assert!(release.resumed_mu_per_s < curve.mu_per_s(20.0), "the first turns all miss");
    assert!(released(20.0, 200.0).unwrap().release_s > release.release_s);
    assert_eq!(released(2.0, 100.0), None, "a cap too small for the load");
    let rescue = h4::Rescue { engage_s: 1800.0, cap: 20.0, hold_s: 300.0 };
    assert!(h4::release(&curve, &cell, &load, &rescue, &[], lambda).is_err());
}

#[test]
fn a_cell_with_costs_per_turn_has_no_curve() {
    let mut cell = cell(Batching::Separate, 300_000, 1.0);
    cell.costs = Costs::PerTurn { fixed_s: 0.1, per_token_s: 1e-4 };
    let error = EntryModel::new(&cell, &workload(exponential(5.0))).unwrap_err();
    assert!(error.to_string().contains("the entry model needs iteration costs"));
    assert!(IterationCosts::of(&cell, "x").is_err());
}

#[test]
fn a_pool_of_nothing_is_refused() {
    let cell = cell(Batching::Separate, 0, 1.0);
    assert!(EntryModel::new(&cell, &workload(exponential(5.0))).is_err());
}

/// Ten sessions of one length each as a record of the workload of that turn law.
#[test]
fn recorded_sessions_that_follow_a_law_have_its_models() {
    use crate::setup::{Trace, TraceTurn};
    let at_least: Vec<f64> = (0..10).map(|k| 1.0 - f64::from(k) / 10.0).collect();
    let law = Workload {
        turns: TurnLaw::Survival { at_least },
        ..workload(ToolTime::Sample { values_s: vec![2.0, 8.0] })
    };
    let turn = |i: usize, k: usize| TraceTurn {
        // One half of the gaps is short, the other long.
        gap_s: if k == 1 {
            0.0
        } else if (i + k).is_multiple_of(2) {
            2.0
        } else {
            8.0
        },
        ..law.turn(k)
    };
    let trace = |copy: usize, turns: usize| Trace {
        id: format!("{copy} {turns}"),
        turns: (1..=turns).map(|k| turn(copy, k)).collect(),
        subagents: Vec::new(),
    };
    let traces = (0..2).flat_map(|copy| (1..=10).map(move |turns| (copy, turns)));
    let traces = traces.map(|(copy, turns)| trace(copy, turns)).collect();
    let recorded = Workload::of_traces("recorded", traces).unwrap();
    let cell = cell(Batching::Separate, 300_000, 1.0);
    let (by_law, by_record) =
        [&law, &recorded].map(|workload| crate::model::Theory::of(&cell, workload).unwrap()).into();
    let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    close(by_law.model_f.lambda_miss_per_s(), by_record.model_f.lambda_miss_per_s());
    let onset =
        |theory: &crate::model::Theory| theory.curve().unwrap().model().onset().population();
    close(onset(&by_law), onset(&by_record));
    let crossing = |theory: &crate::model::Theory| {
        theory.curve().unwrap().half_hit_crossing().unwrap().population
    };
    close(crossing(&by_law), crossing(&by_record));
}
