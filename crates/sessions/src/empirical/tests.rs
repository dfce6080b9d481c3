use proptest::prelude::*;

use super::*;
use crate::description::Description;
use crate::session::{Format, Gap, Session, Turn};

/// Sessions whose turns all do the same: 3 turns, 100 new tokens each, 5 s between them.
fn steady() -> Vec<Session> {
    let turn = |k: u64| Turn {
        gap: if k == 0 { Gap::FIRST } else { Gap::of(Some(5.0), None, None) },
        prompt_tokens: 640 + 100 * k,
        output_tokens: 20,
        reusable_tokens: Some(if k == 0 { 0 } else { (640 + 100 * (k - 1)) / 64 * 64 }),
        start_s: None,
        service_s: None,
    };
    let session = |i: u64| Session {
        id: i.to_string(),
        parent: None,
        format: Format::Table,
        shared_tokens: None,
        turns: (0..3).map(turn).collect(),
    };
    (0..10).map(session).collect()
}

#[test]
fn what_never_varies_is_drawn_as_it_was() {
    let fitted = fit(&steady(), "steady", "made up").unwrap();
    let drawn = fitted.session(0, 0);
    assert_eq!(drawn.turns.len(), 3);
    assert_eq!(drawn.turns[1].gap.seconds, Some(5.0));
    // The new tokens of a prompt include the part of a block that the one before it had.
    let prompts: Vec<_> =
        drawn.turns.iter().map(|t| (t.prompt_tokens, t.reusable_tokens)).collect();
    assert_eq!(prompts[..2], [(640, Some(0)), (740, Some(640))]);
    assert_eq!(drawn.check(), Ok(()));
}

#[test]
fn a_session_is_a_function_of_seed_and_index() {
    let fitted = fit(&steady(), "steady", "made up").unwrap();
    assert_eq!(fitted.session(3, 7), fitted.session(3, 7));
    let mut varied = fitted.clone();
    varied.turns.at = vec![1.0; 19];
    varied.turns.at[18] = 9.0;
    let of = |seed, index| varied.session(seed, index).turns.len();
    assert!((0..2000).any(|i| of(0, i) != of(0, 0)));
    assert!((0..2000).any(|i| of(0, i) != of(1, i)));
}

#[test]
fn the_file_says_the_same_as_the_fit() {
    let fitted = fit(&steady(), "steady", "made up: \"x\"").unwrap();
    let text = fitted.to_yaml("Two lines\nof comment");
    assert!(text.starts_with("# Two lines\n# of comment\nname: \"steady\"\nkind: empirical\n"));
    let read: Empirical = serde_yaml::from_str(&text).unwrap();
    assert_eq!(read.check(), Ok(()));
    assert_eq!(read, fitted);
}

#[test]
fn a_table_keeps_the_mean_that_its_tail_makes() {
    let levels = [0.0, 0.5, 0.9, 1.0];
    let table = Quantiles { mean: 14.0, at: vec![0.0, 10.0, 10.0, 1000.0] };
    let n = 100_000;
    let mean =
        (0..n).map(|i| table.at(&levels, (i as f64 + 0.5) / n as f64)).sum::<f64>() / n as f64;
    assert!((mean - 14.0).abs() < 0.05, "{mean}");
    assert_eq!(table.at(&levels, 0.25), 5.0);
}

#[test]
fn nothing_known_is_nothing_fitted() {
    let mut sessions = steady();
    sessions.iter_mut().for_each(|s| s.turns.truncate(1));
    assert!(fit(&sessions, "x", "y").is_err());
    let mut sessions = steady();
    sessions.iter_mut().flat_map(|s| &mut s.turns).for_each(|t| t.reusable_tokens = None);
    assert!(fit(&sessions, "x", "y").is_err());
    let mut sessions = steady();
    sessions.iter_mut().flat_map(|s| &mut s.turns).for_each(|t| t.gap.seconds = None);
    assert!(fit(&sessions, "x", "y").is_err());
}

#[test]
fn a_file_that_makes_no_sense_is_refused_by_field() {
    let fitted = fit(&steady(), "steady", "made up").unwrap();
    let wrong = |change: fn(&mut Empirical)| {
        let mut changed = fitted.clone();
        change(&mut changed);
        changed.check().unwrap_err()
    };
    for (change, field) in [
        ((|e| e.levels[3] = 0.5) as fn(&mut Empirical), "levels"),
        (|e| e.block_tokens = 0, "block_tokens"),
        (|e| e.turns.at[0] = 0.0, "turns"),
        (|e| e.turns.mean = 99.0, "turns"),
        (|e| e.by_turn[1].from_turn = 1, "by_turn: from_turn"),
        (|e| e.by_turn[1].gap_s = None, "by_turn: expected new_tokens and gap_s"),
        (|e| e.by_turn[0].output_tokens.at[2] = f64::NAN, "by_turn: output_tokens"),
        (|e| e.changed_second.share = 0.5, "share"),
        (|e| e.first_prompts.clear(), "first_prompts"),
        (|e| e.gap_limit_s = Some(-1.0), "gap_limit_s"),
    ] {
        let message = wrong(change);
        assert!(message.starts_with(field), "{message}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn a_drawn_session_is_a_session(
        prompts in prop::collection::vec((1..2000_u64, 0..2000_u64, 0.0..100.0_f64), 2..30),
        seed in any::<u64>(),
    ) {
        let turn = |(i, (prompt, reusable, gap)): (usize, &(u64, u64, f64))| Turn {
            gap: if i == 0 { Gap::FIRST } else { Gap::of(Some(*gap), None, None) },
            prompt_tokens: *prompt,
            output_tokens: 1,
            reusable_tokens: Some(if i == 0 { 0 } else { *reusable.min(prompt) }),
            start_s: None,
            service_s: None,
        };
        let sessions: Vec<_> = [2, prompts.len()]
            .map(|n| Session { turns: prompts[..n].iter().enumerate().map(turn).collect(), ..steady()[0].clone() })
            .into();
        // A set so small that a band may lack what it needs is refused, not drawn from.
        if let Ok(fitted) = fit(&sessions, "x", "y") {
            let drawn: Vec<_> = (0..5).map(|i| fitted.session(seed, i)).collect();
            for session in &drawn {
                prop_assert_eq!(session.check(), Ok(()));
            }
            prop_assert!(Description::of(&drawn).turns >= 5);
            let read: Empirical = serde_yaml::from_str(&fitted.to_yaml("")).unwrap();
            prop_assert_eq!(read.check(), Ok(()));
        }
    }
}
