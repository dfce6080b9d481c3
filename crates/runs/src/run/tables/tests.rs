use super::*;

#[test]
fn a_time_that_is_a_whole_number_of_its_last_digits_is_written_as_any_other() {
    let written = |t: f64, decimals: usize| {
        let mut line = Vec::new();
        push_time(&mut line, t, decimals);
        String::from_utf8(line).unwrap()
    };
    for n in [0_u32, 1, 9, 10_000, 123_456, 999_999, 1_000_000, 4_294_967_295] {
        for (decimals, per_s) in [(TICKS, 1e4), (MICROSECONDS, 1e6)] {
            let t = f64::from(n) / per_s;
            assert_eq!(whole(t, decimals), Some(n.into()));
            assert_eq!(written(t, decimals), format!("{t:.decimals$}"));
            let other = t + 0.3 / per_s;
            assert_eq!(written(other, decimals), format!("{other:.decimals$}"));
        }
    }
    assert_eq!(written(-0.5, TICKS), "-0.5000");
}
