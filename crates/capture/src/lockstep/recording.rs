//! The second reading: of a few connections, frame by frame.

use crate::connection::{Connection, Tracked};
use crate::hop::Hop;
use crate::point::Point;
use crate::reader::Item;

use super::intake::{Input, Intake};
use super::{Opened, Options, Progress, Run, TraceError, check, open};

/// Receives a few connections frame by frame.
pub(crate) trait Observer {
    /// Whether a frame may be of one of these connections. All other frames are passed over.
    fn wants(&self, point: usize, item: &Item) -> bool;

    /// Called with a frame that its connection has just processed.
    fn saw(
        &mut self,
        point: usize,
        item: &Item,
        tracked: &(u32, Tracked),
        after: Option<&Connection>,
    );

    /// Called to ask a hop between two points what became of frames.
    fn ask(&mut self, ends: [usize; 2], hop: &mut Hop);

    /// Called with all points when everything was read.
    fn know(&mut self, points: &[Point]);
}

/// Reads only the connections that an observer wants, and passes them to it frame by frame.
pub(crate) fn observe(
    inputs: Vec<Input>,
    options: &Options,
    observer: &mut dyn Observer,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), TraceError> {
    check(&inputs, options)?;
    std::thread::scope(|scope| {
        let Opened {
            names,
            intake,
            over,
            ..
        } = open(inputs, options, scope);
        let mut run = Run::new((intake, &over), options, Some(observer));
        run.read(progress);
        run.finish_observed(&names)
    })
}

impl Run<'_> {
    /// Whether a frame is to be followed: all are, unless an observer wants few.
    pub(super) fn is_wanted(&self, point: usize, item: &Item) -> bool {
        let observer = self.observer.as_ref();
        observer.is_none_or(|observer| observer.wants(point, item))
    }

    /// Passes to the observer, if there is one, what a frame did.
    pub(super) fn show(&mut self, point: usize, item: &Item, tracked: Option<&(u32, Tracked)>) {
        if let (Some(observer), Some(tracked)) = (&mut self.observer, tracked) {
            let after = self.points[point].table.get(tracked.0);
            observer.saw(point, item, tracked, after);
        }
    }

    /// Lets the observer, if there is one, ask what became of frames.
    pub(super) fn notify_observer(&mut self) {
        if let Some(observer) = &mut self.observer {
            for placed in self.hops.iter_mut() {
                observer.ask(placed.ends, &mut placed.hop);
            }
        }
    }

    /// Judges the rest, for the observer.
    fn finish_observed(mut self, names: &[String]) -> Result<(), TraceError> {
        let read = std::mem::replace(&mut self.intake, Intake::Feeds(Vec::new()));
        read.ends(names)?;
        self.points.iter_mut().for_each(Point::settle);
        self.notify_observer();
        let hops = std::mem::take(&mut self.hops);
        for mut placed in hops.settled(&self.points) {
            placed.hop.round(placed.points(&self.points), true);
            if let Some(observer) = &mut self.observer {
                observer.ask(placed.ends, &mut placed.hop);
            }
        }
        if let Some(observer) = &mut self.observer {
            observer.know(&self.points);
        }
        Ok(())
    }
}
