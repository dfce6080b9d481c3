use super::*;

fn whole(sessions: usize) -> Pool {
    Pool::new(100, 0, Eviction::Whole, sessions)
}

/// A pool of 100 tokens in blocks of 10.
fn blocks(host_tokens: u64) -> Pool {
    Pool::new(100, host_tokens, Eviction::Tail { block_tokens: 10 }, 4)
}

/// A session runs a request of `tokens` and leaves its KV.
fn play(pool: &mut Pool, who: usize, tokens: u64, reusable: u64) -> Hit {
    let hit = pool.admit(who, tokens, reusable);
    pool.keep(who, tokens);
    assert_eq!(pool.idle(), pool.recount_idle());
    assert!(pool.reserved() + pool.idle() <= pool.capacity());
    hit
}

#[test]
fn the_least_recently_used_session_is_evicted_whole_and_own_kv_is_taken_first() {
    let mut pool = whole(4);
    let is_hit = |pool: &mut Pool, who, tokens| pool.admit(who, tokens, 1).tokens() > 0;
    for who in [0, 1, 2] {
        pool.admit(who, 30, 1);
        pool.keep(who, 30);
    }
    // Session 0 comes back: its own 30 go, and 40 + 60 just fit.
    assert!(is_hit(&mut pool, 0, 40));
    assert_eq!((pool.reserved(), pool.idle()), (40, 60));
    // A new session evicts session 1, the oldest left, whole.
    assert!(!is_hit(&mut pool, 3, 1));
    assert_eq!((pool.idle_of(1), pool.idle_of(2), pool.idle()), (0, 30, 30));
    assert!(!is_hit(&mut pool, 1, 10));
    assert!(is_hit(&mut pool, 2, 30));
}

#[test]
fn use_renews_a_sessions_place() {
    let mut pool = whole(3);
    for who in [0, 1] {
        pool.admit(who, 40, 1);
        pool.keep(who, 40);
    }
    pool.admit(0, 40, 1);
    pool.keep(0, 40);
    pool.admit(2, 50, 1);
    assert_eq!((pool.idle_of(0), pool.idle_of(1)), (40, 0));
}

#[test]
fn idle_kv_never_blocks_an_admission() {
    let mut pool = whole(2);
    pool.admit(0, 100, 1);
    assert!(!pool.has_room(1));
    pool.keep(0, 100);
    assert!(pool.has_room(100));
}

#[test]
fn idle_kv_is_evicted_from_its_tail_and_what_is_left_hits_in_whole_blocks() {
    let mut pool = blocks(0);
    // The last token decoded has no KV, and of the rest whole blocks stay.
    play(&mut pool, 0, 41, 0);
    play(&mut pool, 1, 45, 0);
    assert_eq!((pool.idle_of(0), pool.idle_of(1)), (40, 40));
    // 35 tokens take 4 blocks: 2 of the oldest session's go, the last ones.
    pool.admit(2, 35, 0);
    assert_eq!((pool.idle_of(0), pool.idle_of(1), pool.reserved()), (20, 40, 40));
    pool.release(35);
    assert_eq!(pool.admit(0, 50, 39), Hit { pool_tokens: 20, host_tokens: 0 });
}

#[test]
fn what_a_session_does_not_need_of_its_kv_stays_until_it_is_the_oldest() {
    let mut pool = blocks(0);
    play(&mut pool, 0, 61, 0);
    // Its next prompt repeats 25 tokens: 2 blocks hit, 4 are nobody's.
    assert_eq!(play(&mut pool, 0, 41, 25).pool_tokens, 20);
    assert_eq!((pool.idle_of(0), pool.idle()), (40, 80));
    // They are the oldest, so a request of 60 takes them and leaves the session's own.
    play(&mut pool, 1, 51, 0);
    assert_eq!((pool.idle_of(0), pool.idle_of(1)), (40, 50));
}

#[test]
fn a_touch_makes_others_the_oldest() {
    let mut pool = blocks(0);
    play(&mut pool, 0, 41, 0);
    play(&mut pool, 1, 41, 0);
    pool.touch(0);
    pool.admit(2, 50, 0);
    assert_eq!((pool.idle_of(0), pool.idle_of(1)), (40, 10));
}

#[test]
fn what_is_evicted_is_loaded_from_the_host_tier_behind_the_prefix_in_the_pool() {
    let mut pool = blocks(30);
    play(&mut pool, 0, 61, 0);
    play(&mut pool, 1, 61, 0);
    // 30 of session 0's 60 tokens were evicted to the host.
    assert_eq!((pool.idle_of(0), pool.idle_of(1)), (30, 60));
    assert_eq!(play(&mut pool, 0, 61, 55), Hit { pool_tokens: 30, host_tokens: 20 });
    // Loading evicted session 1 in turn, past what the host holds.
    assert_eq!(pool.idle_of(1), 30);
    assert_eq!(play(&mut pool, 1, 61, 60).host_tokens, 30);
}
