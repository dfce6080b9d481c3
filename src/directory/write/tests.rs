use super::*;

/// Takes nothing.
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_table_has_the_same_bytes_after_one_that_could_not_be_written() {
    let times = (0..200_000).map(|i| Value::Seconds(Some(f64::from(i) * 0.37))).collect();
    let table = Table { name: "turns", columns: vec![("t_end", times)] };
    assert!(write_zstd(&table, Full).is_err());
    let after = write_zstd(&table, Vec::new()).unwrap();
    assert_eq!(write_zstd(&table, Vec::new()).unwrap(), after);
    let mut fresh = Encoder::new(Vec::new(), LEVEL).unwrap();
    fresh.include_checksum(true).unwrap();
    assert!(write_csv(&table, fresh).unwrap().finish().unwrap() == after);
}

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
