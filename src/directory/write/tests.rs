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
