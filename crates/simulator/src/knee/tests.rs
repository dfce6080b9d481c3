use super::search::Found;
use super::*;

/// Two seeds that fall off at slightly different populations.
fn outcomes(n: u32) -> Vec<Outcome> {
    let share = |edge: f64| 1.0 / (1.0 + libm::exp(2.0 * (f64::from(n) - edge)));
    let outcome = |share| Outcome {
        hit_share: Some(share),
        hit_fraction: Some(share),
        turns_per_s: 1.0,
        sessions_per_s: 0.1,
        uncached_tokens_per_s: 1.0,
        first_token_s: None,
        running: 0.0,
        waiting: 0.0,
        state: Some(Levels::default().state(share)),
    };
    vec![outcome(share(20.3)), outcome(share(22.4))]
}

fn found(rungs: &Rungs) -> (Found, usize) {
    let mut looks = 0;
    let found = Found::search(rungs, |populations| {
        looks += populations.len();
        Ok::<_, ()>(populations.iter().map(|n| outcomes(*n)).collect())
    });
    (found.unwrap(), looks)
}

#[test]
fn the_bracket_is_found_from_any_guess_with_few_populations() {
    for guess in [1, 5, 20, 60, 300] {
        let (found, looks) = found(&Rungs::Searched { guess, most: 1000 });
        let Bracket { good_up_to, trapped_from } = found.bracket();
        assert_eq!((good_up_to, trapped_from), (Some(19), Some(24)), "from {guess}");
        let crossing = found.half_hit_crossing().unwrap();
        assert!((20.3..22.4).contains(&crossing), "{crossing}");
        assert!(looks < 26, "{looks} from {guess}");
    }
}

#[test]
fn where_nothing_falls_off_the_search_ends_at_the_largest_population() {
    let (few, _) = found(&Rungs::Searched { guess: 3, most: 12 });
    assert_eq!(few.bracket(), Bracket { good_up_to: Some(12), trapped_from: None });
    assert_eq!(few.half_hit_crossing(), None);
}

#[test]
fn given_populations_are_looked_at_and_no_others() {
    let (found, looks) = found(&Rungs::Given(vec![8, 16, 32]));
    assert_eq!(looks, 3);
    assert_eq!(found.bracket(), Bracket { good_up_to: Some(16), trapped_from: Some(32) });
}

#[test]
fn a_share_at_a_level_is_good_and_one_at_the_other_is_not_trapped() {
    let levels = Levels::default();
    assert_eq!(levels.state(0.8), HitState::Good);
    assert_eq!(levels.state(0.2), HitState::Between);
    assert_eq!(levels.state(0.199), HitState::Trapped);
}
