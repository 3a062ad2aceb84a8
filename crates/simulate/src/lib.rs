//! TCP, links, merging NICs and faulty hops on a virtual clock.
//!
//! A [`Scenario`] is run by [`run`], which returns the capture files of its points and the [`Truth`] about what
//! happened. Runs are deterministic: the same scenario with the same seed gives the same bytes on every platform.
//! Nothing here touches a clock, a file or a network.
//!
//! ```
//! use coalescope_simulate::{Side, run, story};
//!
//! let scenario = story("hyperv-rsc-jumbo").unwrap();
//! let outcome = run(&scenario);
//! let hop = outcome.truth.hop("CAP-02", "VM-01").unwrap();
//! assert_eq!(hop.merged.arrived, 0);
//! assert_eq!(hop.single.lost, 0);
//! ```

mod app;
mod chance;
mod checksum;
mod elements;
mod packet;
mod path;
mod pcap;
mod point;
mod ranges;
mod render;
mod scenario;
mod schedule;
mod side;
mod stories;
mod tcp;
mod truth;
mod world;

pub use path::{
    Begin, Bursts, Cut, Element, Format, Hop, Lane, Link, Merge, MergeKind, Point, Reorder, Timing,
    Which, Wrap,
};
pub use pcap::rotated;
pub use scenario::{Cause, Congestion, Content, Host, IpIds, Other, Push, Reader, Scenario, Turn};
pub use schedule::{MICROSECOND, MILLISECOND, Nanos, SECOND};
pub use side::Side;
pub use stories::{Story, stories, story};
pub use truth::{
    ConnectionTruth, DropTruth, FlowTruth, HopTruth, LaneTruth, MergedTruth, PointTruth,
    SingleTruth, Truth,
};
pub use world::run;

/// The results of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The capture of each point, in path order from the client.
    pub points: Vec<PointCapture>,
    /// What really happened.
    pub truth: Truth,
}

/// A point's capture file.
#[derive(Clone, Debug)]
pub struct PointCapture {
    /// The point's name.
    pub name: String,
    /// The file, in the format that the point asked for.
    pub bytes: Vec<u8>,
    point: Point,
    records: Vec<pcap::Record>,
}

impl Outcome {
    /// The capture of the point of that name.
    #[must_use]
    pub fn point(&self, name: &str) -> Option<&PointCapture> {
        self.points.iter().find(|point| point.name == name)
    }

    /// All points in one pcapng file, an interface for each.
    #[must_use]
    pub fn combined(&self) -> Vec<u8> {
        let points = self
            .points
            .iter()
            .map(|capture| (&capture.point, &capture.records[..]));
        pcap::pcapng(&points.collect::<Vec<_>>())
    }
}

impl PointCapture {
    /// Frames in the file.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.records.len()
    }
}
