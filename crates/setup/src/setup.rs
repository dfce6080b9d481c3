//! What is fixed before a run: workloads, cells, protocols, arms, campaigns. And layouts: how runs of another shape are read.
//!
//! Everything here is read from `configs/` and checked once, so that the rest
//! of the library works with values that are known to make sense. Nothing here
//! computes a result.

pub mod arm;
pub mod campaign;
pub mod cell;
pub mod layout;
pub mod protocol;
pub mod recorded;
mod tool_time;
pub mod trace;
mod traces;
pub mod workload;
pub mod yaml;

pub use arm::{Arm, ArmSpec, Schedule};
pub use campaign::Campaign;
pub use cell::{Batching, Cell, Costs, Scheduling, Speed};
pub use layout::Layout;
pub use protocol::{Protocol, Span};
pub use recorded::{AtMost, Recorded, RecordedFile, Scale, Subagents};
pub use trace::{Awaited, Subagent, Trace, TraceTurn};
pub use traces::Stated;
pub use workload::{ToolTime, TurnLaw, Workload};
pub use yaml::ConfigError;
