//! An incident as data: the path it happened on, the workload, what was published about it and what
//! has to be found; and its run on a virtual clock.
//!
//! The same [`Incident`] is built live from namespaces and TAP devices by `coalescope-lab`. Here it is
//! read and checked ([`Incident::parse`]), changed as a control or the remedy asks
//! ([`Incident::built`]), and simulated ([`simulate`]): no rights, any operating system, any rate.
//!
//! ```
//! use coalescope_incident::{Incident, simulate};
//!
//! let incident = Incident::named("openstack-gro").unwrap();
//! let run = simulate(&incident);
//! assert!(run.ratio() > 20.0);
//! ```

mod agreement;
mod built;
mod builtin;
mod check;
mod element;
mod error;
mod model;
mod outcome;
mod path;
mod run;
mod setting;
mod table;
mod uml;

pub use agreement::LabAgreement;
pub use built::{Build, Built, Unsupported};
pub use builtin::RULES;
pub use element::{Bond, Bursts, Decapsulator, Director, Element, Headerless, HyperV2019, Lane};
pub use element::{Link, Nic, Point, Profile, Reorder, Side, Switch};
pub use error::Error;
pub use model::{
    Change, Control, Expect, Incident, Kind, Merging, Nearer, OnUml, Published, Story, Workload,
};
pub use outcome::{Figures, Found, LabControl, Steps};
pub use path::{BRIDGE, Bonded, Does, Ends, Part, Room, Veth, Wire};
pub use run::{Capture, ControlRun, Run, Simulated, simulate, simulate_build};
pub use setting::{Setting, Value};
pub use table::{LabRow, PublishedRow, Row};
