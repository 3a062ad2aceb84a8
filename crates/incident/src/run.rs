//! An incident on a virtual clock.

mod scenario;

use crate::built::{Build, Unsupported};
use crate::model::{Control, Incident};
use crate::outcome::ratio;
use coalescope_simulate::{Side, Truth, run};

/// All measurements of an incident, simulated. Deterministic: the same file gives the same figures
/// and captures on every platform.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// As it was.
    pub slow: Run,
    /// With the remedy.
    pub fast: Run,
    /// The controls, in the order of the file.
    pub controls: Vec<ControlRun>,
}

/// One measurement.
#[derive(Clone, Debug)]
pub struct Run {
    /// Payload bits per second that arrived, from the connection's being made to the last of them.
    pub bps: f64,
    /// The same as segments a round trip, of one stream.
    pub effective_window_segments: f64,
    /// The incident's points, in the order of the path.
    pub captures: Vec<Capture>,
    /// Settings that the simulator's TCP does not have; they were passed over.
    pub unsupported: Vec<Unsupported>,
    /// What really happened.
    pub truth: Truth,
}

/// A point's capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// The point's name.
    pub point: String,
    /// A pcapng file.
    pub bytes: Vec<u8>,
}

/// A control's measurement.
#[derive(Clone, Debug)]
pub struct ControlRun {
    /// The control's name.
    pub name: String,
    /// Its measurement.
    pub run: Run,
}

impl Simulated {
    /// How many times faster it is with the remedy.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        ratio(self.slow.bps, self.fast.bps)
    }

    /// Segments a round trip, as it was.
    #[must_use]
    pub fn effective_window_segments(&self) -> f64 {
        self.slow.effective_window_segments
    }

    /// A control's measurement.
    #[must_use]
    pub fn control(&self, name: &str) -> Option<&Run> {
        let mut controls = self.controls.iter();
        let found = controls.find(|control| control.name == name);
        found.map(|control| &control.run)
    }
}

impl Run {
    /// Frames of several segments that did not get from one captured point to the next.
    #[must_use]
    pub fn merged_lost(&self) -> u64 {
        self.truth.hops.iter().map(|hop| hop.merged.lost).sum()
    }
}

/// Makes all measurements of an incident.
#[must_use]
pub fn simulate(incident: &Incident) -> Simulated {
    let control = |control: &Control| ControlRun {
        name: control.name.clone(),
        run: simulate_build(incident, Build::Control(control)),
    };
    Simulated {
        slow: simulate_build(incident, Build::AsIs),
        fast: simulate_build(incident, Build::Remedied),
        controls: incident.controls.iter().map(control).collect(),
    }
}

/// Makes one measurement.
#[must_use]
pub fn simulate_build(incident: &Incident, build: Build<'_>) -> Run {
    let built = incident.built(build);
    let (scenario, unsupported) = scenario::of(&built);
    let mut outcome = run(&scenario);
    let toward = if built.workload().upload {
        Side::Server
    } else {
        Side::Client
    };
    let bps = outcome.truth.throughput_bps(toward);
    outcome
        .points
        .retain(|point| incident.points.contains(&point.name));
    let captures = outcome.points.into_iter().map(|point| Capture {
        point: point.name,
        bytes: point.bytes,
    });
    Run {
        bps,
        effective_window_segments: built.effective_window(bps),
        captures: captures.collect(),
        unsupported,
        truth: outcome.truth,
    }
}
