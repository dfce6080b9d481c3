//! The largest things that are read or made: room for far more than any run of the paper,
//! and a bound on what a small file or a typing error can cost.
//!
//! `docs/limits.md` states them for users; a test holds it to these values.

/// A file as it lies on disk, and a table unpacked, bytes.
pub const FILE_BYTES: u64 = 512 << 20;

/// A file that is read as text in one piece (settings, metadata, lists), bytes, also unpacked.
pub const TEXT_BYTES: u64 = 16 << 20;

/// A YAML file, bytes; also once every alias stands for what it names.
pub const YAML_BYTES: u64 = 4 << 20;

/// Collections within collections in a YAML file.
#[cfg(not(target_family = "wasm"))]
pub(crate) const YAML_DEPTH: usize = 128;

/// The kept statistics of one run, unpacked, bytes.
pub const KEPT_BYTES: u64 = 256 << 20;

/// A row of a text table, bytes.
pub const ROW_BYTES: u64 = 16 << 20;

/// Rows of a table, read or made; turns of a plan.
pub const ROWS: usize = 2_000_000;

/// Values of a parquet file: rows times columns, items of nested columns included.
pub const VALUES: u64 = 32 * ROWS as u64;

/// The end of a parquet file that describes it, bytes.
pub const PARQUET_FOOTER_BYTES: u64 = 256 << 10;

/// A count in a table or a setting: exact as a float, and no sum of two columns of a
/// table leaves 64 bits.
pub const COUNT: u64 = 4_000_000_000_000;

/// The longest run, s: 31 days. A duration in ms is longer.
pub const RUN_S: f64 = 31.0 * 86_400.0;

/// Bins of a run that is as long as its protocol says.
pub const BINS: f64 = 50_000.0;

/// The shortest step that a rule looks at a run by, s.
pub const STEP_S: f64 = 0.1;

/// Turns of a session.
pub const TURNS: usize = 10_000;

/// Prompt and output of a turn, tokens.
pub const TURN_TOKENS: u64 = 1_000_000_000;

/// Ticks of a rescue gate in a run.
pub const TICKS: f64 = 1e6;

/// Iterations of a simulated engine in a run.
pub const ITERATIONS: f64 = 1e9;

/// Runs of a campaign.
pub const RUNS: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_sum_of_two_columns_of_a_table_leaves_64_bits() {
        let sum = 2 * u128::from(COUNT) * ROWS as u128;
        assert!(sum <= u128::from(u64::MAX));
        assert_eq!(COUNT as f64 as u64, COUNT);
    }

    #[test]
    fn the_limits_are_stated_for_users_as_they_are() {
        let page = include_str!("../../../docs/limits.md");
        let mib = |bytes: u64| format!("{} MiB", bytes >> 20);
        let stated = [
            ("file, packed or not", mib(FILE_BYTES)),
            ("table, unpacked", mib(FILE_BYTES)),
            ("metadata or list", mib(TEXT_BYTES)),
            ("YAML file", mib(YAML_BYTES)),
            ("YAML, collections within collections", YAML_DEPTH.to_string()),
            ("kept statistics of a run, unpacked", mib(KEPT_BYTES)),
            ("row of a text table", mib(ROW_BYTES)),
            ("rows of a table", grouped(ROWS as u64)),
            ("values of a parquet file", grouped(VALUES)),
            ("footer of a parquet file", format!("{} KiB", PARQUET_FOOTER_BYTES >> 10)),
            ("count", grouped(COUNT)),
            ("length of a run", format!("{} s", grouped(RUN_S as u64))),
            ("bins of a run", grouped(BINS as u64)),
            ("step of a rule", format!("{STEP_S} s at least")),
            ("turns of a session", grouped(TURNS as u64)),
            ("turns of a plan", grouped(ROWS as u64)),
            ("prompt and output of a turn", format!("{} tokens", grouped(TURN_TOKENS))),
            ("ticks of a rescue gate", grouped(TICKS as u64)),
            ("iterations of a simulated engine", grouped(ITERATIONS as u64)),
            ("runs of a campaign", grouped(RUNS as u64)),
        ];
        for (what, limit) in stated {
            let row = format!("| {what} | {limit} |");
            assert!(page.contains(&row), "docs/limits.md lacks: {row}");
        }
    }

    /// A number as a person writes it: 2,000,000.
    fn grouped(n: u64) -> String {
        let digits = n.to_string();
        let mut text = String::new();
        for (i, digit) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        text
    }
}
