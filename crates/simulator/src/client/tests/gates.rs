//! Laws of gates over random plans.

use proptest::prelude::*;

use super::*;
use crate::plan::{Arrivals, OpenArrivals};

/// An open plan, busy enough for gates to matter.
fn busy(seed: u64) -> Plan {
    let arrivals = OpenArrivals { rate_per_s: 0.5, horizon_s: 900.0, cut: None, burst: None };
    Plan::draw(&workload(), seed, &Arrivals::Open(arrivals)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_gate_never_admits_more_than_its_cap_and_serves_arrivals_in_order(
        seed in 0_u64..500, cap in 1_u32..30,
    ) {
        let run = drive(&busy(seed), gated(GateRule::Capped { cap }), 2.0, 900.0).unwrap();
        prop_assert!(run.gate.iter().all(|row| row.admitted <= cap.into()));
        let admitted: Vec<f64> = run.sessions.iter().filter_map(|s| s.t_admitted_s).collect();
        prop_assert!(admitted.windows(2).all(|w| w[0] <= w[1]));
        let never = run.sessions.iter().filter(|s| s.t_admitted_s.is_none());
        prop_assert!(never.into_iter().all(|s| s.status == SessionStatus::Gated));
    }

    #[test]
    fn a_rescue_pauses_only_over_its_cap_and_loses_nobody(
        seed in 0_u64..500, cap in 1_u32..30, engage_s in 0.0_f64..500.0,
    ) {
        let plan = busy(seed);
        let run = drive(&plan, gated(rescue(cap, engage_s)), 2.0, 2500.0).unwrap();
        let pairs = run.gate.windows(2);
        for pair in pairs {
            let (before, event) = (pair[0], pair[1]);
            match event.event {
                GateEventKind::Pause => prop_assert!(event.admitted >= cap.into()),
                GateEventKind::Admit | GateEventKind::Resume => prop_assert!(event.admitted <= cap.into()),
                _ => {}
            }
            prop_assert!(before.t_s <= event.t_s);
        }
        // Everybody who arrived is somewhere, and every turn follows the one before.
        prop_assert_eq!(run.sessions.len(), plan.sessions.len());
        for session in &run.sessions {
            let turns: Vec<_> = run.turns.iter().filter(|t| t.session.0 == session.session).collect();
            prop_assert!(turns.iter().enumerate().all(|(i, t)| t.number as usize == i + 1));
            prop_assert!(turns.iter().all(|t| t.t_ready_s <= t.t_submit_s));
            prop_assert!(turns.windows(2).all(|w| w[0].t_end_s <= Some(w[1].t_ready_s)));
            prop_assert!(session.gate_wait_s >= 0.0 && session.pause_s >= 0.0);
        }
    }

    #[test]
    fn until_it_engages_a_rescue_run_is_the_burst_run(seed in 0_u64..500, cap in 1_u32..10) {
        let plan = busy(seed);
        let until = |run: ClientRun| -> Vec<Turn> {
            run.turns.into_iter().filter(|t| t.t_end_s.is_some_and(|t| t < 400.0)).collect()
        };
        let free = until(drive(&plan, Behaviour::PLAIN, 2.0, 900.0).unwrap());
        let rescued = until(drive(&plan, gated(rescue(cap, 400.0)), 2.0, 900.0).unwrap());
        prop_assert_eq!(free, rescued);
    }
}
