//! How often the verdict is right: scenarios of many families are drawn by seed and simulated, the analysis judges
//! their captures, and the simulator's own truth has the right verdict.

mod analyse;
mod archives;
mod case;
mod clocks;
mod dice;
mod disturb;
mod drawn;
mod families;
mod family;
mod flip;
mod label;
mod parts;
mod plan;
mod reasons;
mod run;
mod score;
mod table;

pub use disturb::{DISTURBANCES, Disturb, Disturbance, PUSHES};
pub use families::families;
pub use family::Family;
pub use plan::Plan;
pub use run::{Judged, run, run_by_archives, run_by_other_clocks};
pub use score::Mark;
pub use table::Table;
