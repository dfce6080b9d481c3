//! The library, from outside: one file or folder per promise.
#![allow(clippy::unwrap_used)] // a test that cannot go on fails

mod decided;
mod dependencies;
mod figures;
mod hostile_runs;
mod iteration_costs;
mod layers;
mod model_values;
mod paper_cells;
mod provenance;
mod quantities;
mod real_figures;
mod registered_tests;
mod registrations;
mod simulated_campaign;
