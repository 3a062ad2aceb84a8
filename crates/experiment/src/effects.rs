//! From figures to effects, verdicts and their words.
//!
//! [`Analysis::of`] judges every contrast of a design for every metric; [`decide`] decides after
//! each run whether the experiment goes on. No module here knows a host or a clock.

mod analysis;
mod cells;
mod effect;
mod judge;
mod measured;
mod rules;
mod spoken;
mod stopping;
mod words;

pub use analysis::{Analysis, Outlier};
pub use cells::{Cell, CellTable};
pub use effect::{Direction, Effect, EffectKind, Verdict};
pub use measured::{AnalysisError, Measured, Metric, Sense};
pub use rules::Rules;
pub use spoken::{PEER, at_peer, spoken};
pub use stopping::{Decision, decide};

pub(crate) use words::counted;
