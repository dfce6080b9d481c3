//! Made-up inputs of every figure: plausible shapes, no results.

pub mod curves;
pub mod populations;
pub mod rescues;
pub mod single_runs;
pub mod stampedes;
pub mod theories;

use trapcheck::figure::closed_curve::closed_curves;
use trapcheck::figure::from_empty::from_empty;
use trapcheck::figure::knee::knee;
use trapcheck::figure::mirror::mirror;
use trapcheck::figure::origin::Source;
use trapcheck::figure::predicted_curve::predicted_curves;
use trapcheck::figure::rescue::rescue;
use trapcheck::figure::run_picture::run_picture;
use trapcheck::figure::session_law::session_law;
use trapcheck::figure::stampede::stampede;
use trapcheck::figure::theorem::theorem;
use trapcheck::figure::tilted_mix::tilted_mix;
use trapcheck::figure::time_scales::time_scales;
use trapcheck::figure::two_engines::two_engines;
use trapcheck::figure::{Figure, Origin};

/// Every figure, by name, from made-up numbers.
pub fn figures() -> Vec<(&'static str, Figure)> {
    vec![
        ("stampede", stampede(&stampedes::two_rates())),
        ("stampede_one", stampede(&stampedes::one_rate())),
        ("theorem", theorem(&theories::theorem_check())),
        ("rescue", rescue(&rescues::three_cells())),
        ("mirror", mirror(&theories::mirror_runs())),
        ("closed_curves", closed_curves(&curves::closed_cells())),
        ("from_empty", from_empty(&curves::from_empty_cells())),
        ("predicted_curves", predicted_curves(&curves::predicted_cells())),
        ("run_picture", run_picture(&single_runs::rescued_run())),
        ("two_engines", two_engines(&single_runs::both_engines())),
        ("time_scales", time_scales(&theories::measured_time_scales())),
        ("tilted_mix", tilted_mix(&theories::mix_at_one_load())),
        ("knee", knee(&populations::knee_with_a_host_tier())),
        ("session_law", session_law(&populations::law_of_one_cell())),
    ]
}

/// A made-up run of the simulator.
pub fn simulated(run: &str) -> Origin {
    Origin::run(run, "made up", Source::Simulated)
}

/// A made-up run of an engine.
pub fn engine(run: &str) -> Origin {
    Origin::run(run, "made up", Source::Engine("Engine 1.0, GPU".to_owned()))
}

/// A number in 0 to 1 that looks random and is the same everywhere.
pub fn noise(seed: u64, step: u64) -> f64 {
    let mixed = (seed.wrapping_mul(0x9e37_79b9) ^ step.wrapping_mul(0x85eb_ca6b)) % 100_003;
    let mixed = (mixed * mixed + 12_345) % 100_003;
    mixed as f64 / 100_003.0
}
