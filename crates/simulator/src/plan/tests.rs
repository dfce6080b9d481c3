use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::setup::{ToolTime, TurnLaw};

fn workload() -> Workload {
    Workload {
        name: "standard".into(),
        turns: TurnLaw::TruncatedGeometric { mean: 15.0, max: 60 },
        first_prompt_tokens: 2000,
        tool_output_tokens: 550,
        decoded_tokens: 100,
        tool_time: ToolTime::Exponential { mean_s: 5.0 },
        sources: Default::default(),
        recorded: None,
    }
}

fn open(rate_per_s: f64, horizon_s: f64) -> OpenArrivals {
    OpenArrivals { rate_per_s, horizon_s, cut: None, burst: None }
}

fn burst(sessions: u64) -> Option<Burst> {
    Some(Burst { sessions, start_s: 1200.0, length_s: 60.0 })
}

fn draw(seed: u64, arrivals: OpenArrivals) -> Plan {
    Plan::draw(&workload(), seed, &Arrivals::Open(arrivals)).unwrap()
}

fn of_kind(plan: &Plan, kind: Kind) -> Vec<&DrawnSession> {
    plan.sessions.iter().filter(|s| s.kind == kind).collect()
}

fn times(plan: &Plan, kind: Kind) -> BTreeSet<u64> {
    of_kind(plan, kind).iter().map(|s| s.t_arrival_s.unwrap().to_bits()).collect()
}

/// Specs of the first `n` sessions of a kind, without their arrival times.
fn specs(plan: &Plan, kind: Kind, n: usize) -> Vec<(u32, Vec<f64>)> {
    of_kind(plan, kind).iter().take(n).map(|s| (s.session, s.tool_s.clone())).collect()
}

#[test]
fn the_plan_of_a_seed_never_changes() {
    let arrivals = OpenArrivals { burst: burst(200), ..open(0.1180311, 8700.0) };
    assert_eq!(
        draw(0, arrivals).sha256(),
        "773a402a270be29e889f5e25a111614612cbfce6345c371b3f26ebe8d09cb5b8"
    );
}

#[test]
fn the_text_says_all_of_the_plan() {
    let plan = draw(3, OpenArrivals { burst: burst(20), ..open(0.1, 3000.0) });
    let text = plan.to_csv();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(text::HEADER));
    let read: Vec<DrawnSession> = lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let tool_s: Vec<f64> =
                cells[4].split(';').filter(|c| !c.is_empty()).map(|c| c.parse().unwrap()).collect();
            assert_eq!(cells[3].parse::<usize>().unwrap(), tool_s.len() + 1);
            DrawnSession {
                kind: if cells[1] == "base" { Kind::Base } else { Kind::Burst },
                session: cells[0].parse().unwrap(),
                t_arrival_s: Some(cells[2].parse().unwrap()),
                tool_s,
                trace: None,
                started_by: None,
            }
        })
        .collect();
    assert_eq!(read, plan.sessions);
}

#[test]
fn turns_and_tool_times_follow_their_laws() {
    let plan = Plan::draw(&workload(), 11, &Arrivals::Closed { sessions: 40_000 }).unwrap();
    let turns: f64 = plan.sessions.iter().map(|s| f64::from(s.turns())).sum();
    let tools: Vec<f64> = plan.sessions.iter().flat_map(|s| s.tool_s.iter().copied()).collect();
    let mean_turns = turns / plan.sessions.len() as f64;
    let mean_tool = tools.iter().sum::<f64>() / tools.len() as f64;
    assert!((mean_turns - 14.761).abs() < 0.25, "{mean_turns}");
    assert!((mean_tool - 5.0).abs() < 0.05, "{mean_tool}");
    assert!(plan.sessions.iter().all(|s| (1..=60).contains(&s.turns()) && s.t_arrival_s.is_none()));
}

#[test]
fn arrivals_are_poisson_at_the_rate_asked_for() {
    // 40 seeds of about 1027: the mean count has a standard error of 5.
    let counts: Vec<f64> =
        (0..40).map(|seed| draw(seed, open(0.1180311, 8700.0)).sessions.len() as f64).collect();
    let mean = counts.iter().sum::<f64>() / 40.0;
    let variance = counts.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / 39.0;
    assert!((mean - 1026.9).abs() < 20.0, "{mean}");
    assert!((0.4..2.0).contains(&(variance / mean)), "{variance}");
}

#[test]
fn a_cut_changes_nothing_before_it_and_thins_after_it() {
    let full = draw(5, open(0.118, 8700.0));
    let cut = Some(Cut { from_s: 2400.0, rate_per_s: 0.0608 });
    let thinned = draw(5, OpenArrivals { cut, ..open(0.118, 8700.0) });
    let low = draw(5, open(0.0608, 8700.0));
    let before = |plan: &Plan| -> BTreeSet<u64> {
        times(plan, Kind::Base).into_iter().filter(|t| f64::from_bits(*t) < 2400.0).collect()
    };
    assert_eq!(before(&full), before(&thinned));
    assert!(times(&thinned, Kind::Base).is_subset(&times(&full, Kind::Base)));
    let after = |plan: &Plan| times(plan, Kind::Base).difference(&before(plan)).count();
    assert_eq!(after(&thinned), after(&low));
    assert!(after(&thinned) < after(&full));
}

#[test]
fn arrivals_that_make_no_sense_are_named() {
    let refused = |arrivals: Arrivals| Plan::draw(&workload(), 0, &arrivals).unwrap_err();
    let open_error = |o: OpenArrivals| refused(Arrivals::Open(o)).to_string();
    assert!(open_error(open(0.0, 100.0)).starts_with("rate_per_s"));
    assert!(open_error(open(f64::NAN, 100.0)).starts_with("rate_per_s"));
    assert!(open_error(open(1.0, -1.0)).starts_with("horizon_s"));
    assert!(open_error(open(1e9, 1e6)).contains("too large"));
    assert!(open_error(open(1e-300, 1e9)).contains("over 31 days"));
    let late = OpenArrivals { burst: burst(10), ..open(0.1, 1259.0) };
    assert!(open_error(late).contains("does not lie within the run"));
    assert_eq!(
        refused(Arrivals::Open(OpenArrivals { burst: burst(0), ..open(0.1, 8700.0) })),
        PlanError::EmptyBurst
    );
    let cut = Some(Cut { from_s: 10.0, rate_per_s: 0.1 });
    assert!(open_error(OpenArrivals { cut, ..open(0.1, 100.0) }).contains("must be below"));
    let cut = Some(Cut { from_s: 100.0, rate_per_s: 0.05 });
    assert!(open_error(OpenArrivals { cut, ..open(0.1, 100.0) }).starts_with("cut"));
    assert_eq!(refused(Arrivals::Closed { sessions: 0 }), PlanError::NoSessions);
    assert!(refused(Arrivals::Closed { sessions: u32::MAX }).to_string().contains("too large"));
}

#[test]
fn a_burst_that_ends_with_the_run_is_inside_it() {
    let arrivals = OpenArrivals { burst: burst(10), ..open(0.1, 1260.0) };
    assert_eq!(of_kind(&draw(0, arrivals), Kind::Burst).len(), 10);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_lower_rate_arrives_at_a_subset_of_the_times(
        seed in 0_u64..1000, low in 0.01_f64..1.2, more in 0.0_f64..0.9,
    ) {
        let (few, many) = (draw(seed, open(low, 900.0)), draw(seed, open(low + more, 900.0)));
        prop_assert!(times(&few, Kind::Base).is_subset(&times(&many, Kind::Base)));
    }

    #[test]
    fn the_ith_session_is_the_same_at_every_rate_and_in_a_closed_run(
        seed in 0_u64..1000, low in 0.02_f64..0.3, more in 0.0_f64..0.5,
    ) {
        let few = draw(seed, open(low, 600.0));
        let many = draw(seed, open(low + more, 600.0));
        let closed = Plan::draw(&workload(), seed, &Arrivals::Closed { sessions: 5000 }).unwrap();
        let n = few.sessions.len();
        prop_assert_eq!(specs(&few, Kind::Base, n), specs(&many, Kind::Base, n));
        prop_assert_eq!(specs(&few, Kind::Base, n), specs(&closed, Kind::Base, n));
    }

    #[test]
    fn a_burst_of_n_is_the_first_n_of_the_draw_and_touches_no_base_session(
        seed in 0_u64..1000, n in 1_u64..200,
    ) {
        let with = |b| draw(seed, OpenArrivals { burst: b, ..open(0.1, 2000.0) });
        let (some, all, none) = (with(burst(n)), with(burst(200)), with(None));
        let n = n as usize;
        prop_assert!(times(&some, Kind::Burst).is_subset(&times(&all, Kind::Burst)));
        prop_assert_eq!(specs(&some, Kind::Burst, n), specs(&all, Kind::Burst, n));
        prop_assert_eq!(of_kind(&some, Kind::Base), of_kind(&none, Kind::Base));
        let during = |t: &u64| (1200.0..=1260.0).contains(&f64::from_bits(*t));
        prop_assert!(times(&some, Kind::Burst).iter().all(during));
    }

    #[test]
    fn a_longer_run_only_adds_arrivals(seed in 0_u64..1000, horizon in 10.0_f64..2000.0) {
        let short = draw(seed, open(0.2, horizon));
        let long = draw(seed, open(0.2, horizon + 500.0));
        prop_assert_eq!(&short.sessions[..], &long.sessions[..short.sessions.len()]);
    }

    #[test]
    fn sessions_are_numbered_in_order_of_arrival(seed in 0_u64..1000, rate in 0.05_f64..1.0) {
        let plan = draw(seed, OpenArrivals { burst: burst(30), ..open(rate, 1500.0) });
        for kind in [Kind::Base, Kind::Burst] {
            let of = of_kind(&plan, kind);
            prop_assert!(of.iter().enumerate().all(|(i, s)| s.session as usize == i));
            prop_assert!(of.windows(2).all(|w| w[0].t_arrival_s <= w[1].t_arrival_s));
        }
    }
}
