//! The report on the simulator against the paper's numbers ([`crate::sim::fidelity`]),
//! computed in parallel over its runs.

use std::path::Path;

use rayon::prelude::*;

pub use crate::sim::fidelity::{Fidelity, Row, runs};

use crate::configs;
use crate::setup::{ConfigError, Configs};
use crate::sim::{self, SimError};

/// Reads and checks a report's file.
///
/// # Errors
/// As [`configs::read`] and [`Fidelity::parse`].
pub fn load(path: &Path) -> Result<Fidelity, ConfigError> {
    configs::read(path, Fidelity::parse)
}

/// Computes every row. `done` is called once per finished run, from any thread.
///
/// # Errors
/// As [`sim::fidelity::report`].
pub fn report(
    fidelity: &Fidelity,
    configs: &Configs,
    done: &(dyn Fn() + Sync),
) -> Result<Vec<Row>, SimError> {
    sim::fidelity::report(fidelity, configs, |runs| {
        let values = |run: &sim::fidelity::SeedRun<'_>| {
            let values = run.values();
            done();
            values
        };
        runs.par_iter().map(values).collect()
    })
}
