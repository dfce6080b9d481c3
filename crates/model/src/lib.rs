//! The theory: what the models say of a cell and a workload. Pure: values in, values out.

use trapcheck_setup::setup;

pub mod model;
