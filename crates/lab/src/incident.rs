//! Incidents from files, live: real TCP in namespaces, and the path of the file between them.
//!
//! ```no_run
//! use coalescope_incident::{Build, Incident};
//! use coalescope_lab::incident::Live;
//!
//! let incident = Incident::named("openstack-gro")?;
//! let live = Live::start(&incident, Build::AsIs)?;
//! let slow = live.measure()?;
//! live.set(&incident.remedy)?;
//! let fast = live.measure()?;
//! println!("{:.1} times faster, once {}", fast.bps() / slow.bps(), live.setting(&incident.remedy)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod elements;
mod live;
mod measure;
mod paced;
mod plan;
mod settings;

pub use live::{Captured, Live};
pub use measure::Measured;
