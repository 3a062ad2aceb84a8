//! Elements of a wire.

use super::counters::Tally;
use super::{DropReason, Error, Frame, Nanos, Side};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};

/// An element of a wire; frames of both directions go through it.
///
/// Times are those of events on the wire, not those at which the thread handles them: a frame leaves
/// a link at its time of arrival, and a NIC behind the link gets that time however late the thread
/// woke up. So batches depend on the link and not on the scheduler.
pub trait Element: Send {
    /// The element's name, for counters and captures.
    fn name(&self) -> &str;

    /// Handles a frame that arrives. Frames that go on now are passed to `out`.
    fn frame(&mut self, frame: Frame, toward: Side, at: Nanos, out: &mut Onward<'_>);

    /// When [`tick`](Self::tick) is to be called; `None` if nothing is held. The time may be in the past.
    fn deadline(&self) -> Option<Nanos> {
        None
    }

    /// Handles the deadline, and sets another one or none. A wire calls this until no deadline in
    /// the past is left.
    fn tick(&mut self, at: Nanos, out: &mut Onward<'_>) {
        let _ = (at, out);
    }

    /// Properties of the wire's interfaces that the element follows.
    fn follows(&self) -> Vec<Follow> {
        Vec::new()
    }

    /// Checks the element's values; called once before the wire begins.
    ///
    /// # Errors
    ///
    /// [`Error::Value`], naming the value.
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Completes files after the wire has ended.
    ///
    /// # Errors
    ///
    /// A file that could not be completed.
    fn finish(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// A property of an interface that an element follows.
#[derive(Clone, Debug)]
pub struct Follow {
    /// The end of the wire.
    pub end: Side,
    /// The property, and where its value is stored.
    pub what: Followed,
}

/// Properties that can be followed.
#[derive(Clone, Debug)]
pub enum Followed {
    /// An offload, by the kernel's name: `rx-gro`.
    Feature(&'static str, Arc<AtomicBool>),
    /// The MTU in bytes.
    Mtu(Arc<AtomicU32>),
}

/// The output of an element: frames that go on, and counters of those that do not.
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

    /// Passes a frame on toward a side.
    pub fn pass(&mut self, frame: Frame, toward: Side) {
        self.tallies[toward.index()].frame_out();
        self.passed.push((toward, frame));
    }

    /// Counts a dropped frame that was on its way toward a side.
    pub(crate) fn drop_frame(&mut self, toward: Side, reason: DropReason) {
        self.tallies[toward.index()].drop_frame(reason);
    }

    /// Counts a merged frame that will be passed on toward a side.
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
