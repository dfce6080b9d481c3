//! Made-up inputs of every figure: plausible shapes, no results.

pub mod rescues;
pub mod stampedes;
pub mod theories;

use trapcheck::figure::Figure;
use trapcheck::figure::mirror::mirror;
use trapcheck::figure::rescue::rescue;
use trapcheck::figure::stampede::stampede;
use trapcheck::figure::theorem::theorem;

/// Every figure, by name, from made-up numbers.
pub fn figures() -> Vec<(&'static str, Figure)> {
    vec![
        ("stampede", stampede(&stampedes::two_rates())),
        ("stampede_one", stampede(&stampedes::one_rate())),
        ("theorem", theorem(&theories::theorem_check())),
        ("rescue", rescue(&rescues::three_cells())),
        ("mirror", mirror(&theories::mirror_runs())),
    ]
}

/// A number in 0 to 1 that looks random and is the same everywhere.
pub fn noise(seed: u64, step: u64) -> f64 {
    let mixed = (seed.wrapping_mul(0x9e37_79b9) ^ step.wrapping_mul(0x85eb_ca6b)) % 100_003;
    let mixed = (mixed * mixed + 12_345) % 100_003;
    mixed as f64 / 100_003.0
}
