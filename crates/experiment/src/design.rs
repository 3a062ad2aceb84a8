//! What is run, and in which order: a randomised complete block design.
//!
//! Factors with their levels span a full factorial of cells. After a warm-up come blocks, each with
//! every cell once in random order. Slow changes (the time of day, other traffic, heat) are about
//! the same for all runs of a block and cancel out in their ratio. The rest of them favours either
//! level with the same probability, since the order is random. "All A, then all B" has neither
//! property. (Fisher, The Design of Experiments, 1935, chapter IV; Box, Hunter and Hunter,
//! Statistics for Experimenters, 2005, chapters 4 and 5.)

mod chance;
mod contrast;
mod factor;
mod plan;
mod schedule;

pub(crate) use chance::Chance;
pub use contrast::{Contrast, Side};
pub use factor::{Factor, FactorKind};
pub use plan::{Design, DesignError, Plan};
pub use schedule::{Planned, Schedule, ScheduleError};
