//! A path with real TCP at both ends and elements of our own in between.
//!
//! Rooms (network namespaces) are joined by wires. The ends of a wire are TAP devices; a thread
//! carries each frame from one to the other through the wire's elements: [`Link`], [`Bond`],
//! [`Nic`], [`Switch`], [`Director`], [`Headerless`], [`Decapsulator`], [`HyperV2019`], [`Point`]. What the kernel has itself (bridges, routers
//! with NAT, VXLAN, IPVS, bonding) is made in a room.
//!
//! ```no_run
//! use coalescope_lab::path::{Lane, Link, Nic, Plan, Side, Wire};
//! use std::time::Duration;
//!
//! // A far server behind 10 ms, and a VM behind the bridge of a box whose NIC merges.
//! let lane = Lane::new(200_000_000, Duration::from_millis(5));
//! let nic = Nic::new("nic", Side::Client, gro::Profile::linux_gro()).losing_segment_size();
//! let mut plan = Plan::new();
//! plan.wire(Wire::new(("box", "uplink"), ("far", "eth0")).with(nic).with(Link::both("wan", lane)))
//!     .veth(("box", "vnet0"), ("vm", "eth0"), 1500)
//!     .bridge("box", "br0", &["uplink", "vnet0"])
//!     .address("far", "eth0", [10, 0, 0, 1], 24)
//!     .address("vm", "eth0", [10, 0, 0, 2], 24);
//! let path = plan.start()?;
//! path.room("vm")?.enter(|| { /* any program in here sees eth0 alone */ })?;
//! # Ok::<(), coalescope_lab::path::Error>(())
//! ```
//!
//! A wire runs from the side of the client to the side of the server, as a path of the simulator
//! does; the words are the simulator's, too.
//!
//! The kernel merges nothing on a TAP that is not polled through NAPI, as these are not: only a
//! [`Nic`] merges there. The `Nic` follows the feature `rx-gro` of the TAP that it feeds, so that
//! `ethtool -K uplink gro off` does what it does to a real card.

mod bond;
mod bonding;
mod bulk;
mod chance;
mod clock;
mod counters;
mod director;
mod element;
mod error;
mod follow;
mod frame;
mod link;
mod names;
mod nic;
mod plan;
mod point;
mod rooms;
mod running;
mod said;
mod steps;
mod switch;
mod tap;
mod veth;
mod wire;

pub use bond::Bond;
pub use bonding::Bonding;
pub use bulk::{Bulk, Transfer};
pub use counters::{Counts, DropReason, ElementCounts};
pub use director::Director;
pub use element::{Element, Follow, Followed, Onward};
pub use error::Error;
pub use frame::{Frame, cut};
pub use link::{Bursts, Lane, Link, Queue, Reorder};
pub use names::{abandon, clean, hide_run};
pub use nic::Nic;
pub use plan::{Plan, Wire};
pub use point::{Point, Recorder};
pub use running::Path;
pub use said::{Decapsulator, Headerless};
pub use switch::{HYPERV_2019_MTU, HyperV2019, Switch};
pub use tap::Tap;

/// Nanoseconds since the path began.
pub type Nanos = u64;

/// An end of a wire, and a direction: frames travel toward one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The end named first.
    Client,
    /// The end named second.
    Server,
}

impl Side {
    /// Both sides.
    pub const BOTH: [Self; 2] = [Self::Client, Self::Server];

    /// The other side.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    /// 0 for the client's side, 1 for the server's.
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::Client => 0,
            Self::Server => 1,
        }
    }
}

/// A duration in nanoseconds, limited to 584 years.
fn nanos(duration: std::time::Duration) -> Nanos {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
