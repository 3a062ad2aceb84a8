//! What stands on a wire.

use super::counters::Tally;
use super::{DropReason, Error, Frame, Nanos, Side};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};

/// Something on a wire that frames of both directions go through.
///
/// Times are those at which things happen on the wire, not those at which the thread gets around
/// to them: a frame leaves a link at its time of arrival, and a NIC behind it sees that time however
/// late the thread woke up. Batches are therefore the link's and not the scheduler's.
pub trait Element: Send {
    /// Its name, for counters and captures.
    fn name(&self) -> &str;

    /// A frame arrives. What goes on now is handed to `out`.
    fn frame(&mut self, frame: Frame, toward: Side, at: Nanos, out: &mut Onward<'_>);

    /// When [`tick`](Self::tick) is to be called; nothing if nothing is held. It may have passed.
    fn deadline(&self) -> Option<Nanos> {
        None
    }

    /// The time of the deadline has come. Afterwards the deadline is another one, or none: a wire
    /// calls it until no deadline is left that has passed.
    fn tick(&mut self, at: Nanos, out: &mut Onward<'_>) {
        let _ = (at, out);
    }

    /// What it wants to know of the interfaces at the ends of its wire while it runs.
    fn follows(&self) -> Vec<Follow> {
        Vec::new()
    }

    /// Whether what was set makes sense; called once before the wire begins.
    ///
    /// # Errors
    ///
    /// [`Error::Value`], naming the value.
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    /// The wire has ended: files are to be completed.
    ///
    /// # Errors
    ///
    /// What could not be completed.
    fn finish(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// A property of an interface that an element obeys.
#[derive(Clone, Debug)]
pub struct Follow {
    /// At which end of the wire.
    pub end: Side,
    /// Which property, and where its value goes.
    pub what: Followed,
}

/// What can be followed.
#[derive(Clone, Debug)]
pub enum Followed {
    /// An offload, by the kernel's name: `rx-gro`.
    Feature(&'static str, Arc<AtomicBool>),
    /// The MTU in bytes.
    Mtu(Arc<AtomicU32>),
}

/// Where frames go on from an element, and where it accounts for those that do not.
#[derive(Debug)]
pub struct Onward<'a> {
    passed: Vec<(Side, Frame)>,
    tallies: &'a [Tally; 2],
}

impl<'a> Onward<'a> {
    pub(super) fn new(passed: Vec<(Side, Frame)>, tallies: &'a [Tally; 2]) -> Self {
        Self { passed, tallies }
    }

    pub(super) fn into_passed(self) -> Vec<(Side, Frame)> {
        self.passed
    }

    /// The frame goes on toward a side.
    pub fn pass(&mut self, frame: Frame, toward: Side) {
        self.tallies[toward.index()].frame_out();
        self.passed.push((toward, frame));
    }

    /// A frame on its way toward a side was dropped.
    pub(crate) fn drop_frame(&mut self, toward: Side, reason: DropReason) {
        self.tallies[toward.index()].drop_frame(reason);
    }

    /// A frame made of several segments is to go on toward a side.
    pub fn merged(&mut self, toward: Side, segments: u16) {
        self.tallies[toward.index()].merge(segments);
    }
}

/// Elements by themselves, on a clock that tests set.
#[cfg(test)]
pub(super) mod testing {
    use super::*;
    use crate::path::Counts;

    /// Counters, and what comes out.
    #[derive(Debug, Default)]
    pub(in crate::path) struct Bench([Tally; 2]);

    impl Bench {
        /// Lets a frame arrive; gives what goes on at once.
        pub(in crate::path) fn frame(
            &mut self,
            element: &mut impl Element,
            frame: Frame,
            toward: Side,
            at: Nanos,
        ) -> Vec<(Side, Frame)> {
            let mut out = Onward::new(Vec::new(), &self.0);
            element.frame(frame, toward, at, &mut out);
            out.into_passed()
        }

        /// Lets time pass; gives what comes out, and when.
        pub(in crate::path) fn wait(
            &mut self,
            element: &mut impl Element,
            until: Nanos,
        ) -> Vec<(Nanos, Side, Frame)> {
            let mut all = Vec::new();
            while let Some(at) = element.deadline()
                && at <= until
            {
                let mut out = Onward::new(Vec::new(), &self.0);
                element.tick(at, &mut out);
                let passed = out.into_passed().into_iter();
                all.extend(passed.map(|(side, frame)| (at, side, frame)));
            }
            all
        }

        /// What was counted toward a side.
        pub(in crate::path) fn counts(&self, toward: Side) -> Counts {
            self.0[toward.index()].read()
        }

        /// How often something was dropped.
        pub(in crate::path) fn dropped(&self, toward: Side, why: DropReason) -> u64 {
            self.counts(toward).dropped_for(why)
        }
    }
}
