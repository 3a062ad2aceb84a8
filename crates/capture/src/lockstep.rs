//! Reads all points side by side, each about as far as the others by the clock of the first, so
//! that a frame is found again at the next point while it is still remembered.

mod describe;
mod error;
mod hops;
mod intake;
mod path;
mod recording;
mod shared;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::Scope;

use crate::datagrams;
use crate::facts::trace::Trace;
use crate::feed::Feed;
use crate::file::Source;
use crate::point::Point;
use crate::reader::{Batch, End, Item};
use crate::revised;
pub(crate) use describe::alone;
use describe::describe;
pub use error::TraceError;
use hops::Hops;
use intake::Intake;
pub(crate) use intake::{Input, of_files};
use path::Over;
pub(crate) use recording::{Observer, observe};
use shared::Shared;

/// Captures that begin further apart than this by their clocks are taken to have clocks that were never set alike: they
/// are read as if they had begun together, until a connection shows the offset.
const UNRELATED_NS: i64 = 3_600_000_000_000;

/// One observation point to read.
pub struct PointInput {
    /// Its name.
    pub name: String,
    /// Its captures, in order of time, each with the name to call it by.
    pub sources: Vec<(String, Source)>,
}

/// How to read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Threads to use; with 1 everything happens in the caller's.
    pub threads: usize,
    /// Each interface of the one input is a point.
    pub points_by_interface: bool,
    /// The inputs show different transfers: connections of one are not looked for in another.
    pub separate: bool,
    /// Connections kept of a point, if enough of them are over that the oldest can be summed up; 0
    /// keeps all. Where points are compared with each other, all are kept.
    pub max_connections: usize,
    /// Called before there is room for more connections of a point: returns whether memory is short. From then on the
    /// oldest closed connections are summed up at once. Where points are compared with each other, it is not called.
    pub is_short: Option<fn() -> bool>,
    /// Set from elsewhere (a signal), ends reading; what was read is then reported.
    pub stop: Arc<AtomicBool>,
}

/// How far reading is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Bytes of all files consumed so far.
    pub consumed_bytes: u64,
    /// Frames read.
    pub frames: u64,
}

/// Reads all captures once and returns the facts.
///
/// # Errors
///
/// If there is nothing to read, or the options contradict the inputs. Damage inside a capture is
/// not an error: it is in the point's warnings.
pub fn trace(
    inputs: Vec<PointInput>,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Trace, TraceError> {
    follow(of_files(inputs, options), options, progress)
}

/// Like [`trace()`], for frames from anywhere.
pub(crate) fn follow(
    inputs: Vec<Input>,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Trace, TraceError> {
    check(&inputs, options)?;
    std::thread::scope(|scope| {
        let Opened {
            names,
            intake,
            over,
            is_sorted,
        } = open(inputs, options, scope);
        let mut run = Run::new((intake, &over), options, None);
        run.read(progress);
        let mut trace = run.finish(names)?;
        if is_sorted {
            describe::warn_of_order(&mut trace);
        }
        Ok(trace)
    })
}

fn check(inputs: &[Input], options: &Options) -> Result<(), TraceError> {
    match inputs.len() {
        0 => Err(TraceError::NoInput),
        given if options.points_by_interface && given > 1 => Err(TraceError::OneInput { given }),
        _ => Ok(()),
    }
}

/// Inputs of which the first frames were read.
struct Opened<'scope> {
    /// The points' names, and their inputs, in path order.
    names: Vec<String>,
    intake: Intake<'scope>,
    /// Hops over points.
    over: Vec<Over>,
    /// Whether the order is not the given one.
    is_sorted: bool,
}

fn open<'scope>(
    inputs: Vec<Input>,
    options: &Options,
    scope: &'scope Scope<'scope, '_>,
) -> Opened<'scope> {
    let feed = |input: Input| {
        let feed = Feed::new(input.frames, options.threads > 1, scope);
        (input.name, feed)
    };
    let (names, mut feeds): (Vec<_>, Vec<_>) = inputs.into_iter().map(feed).unzip();
    if options.points_by_interface
        && let Some(feed) = feeds.pop()
    {
        let (shared, over) = Shared::new(feed);
        return Opened {
            names,
            intake: Intake::Shared(shared),
            over,
            is_sorted: false,
        };
    }
    let path = path::path(&mut feeds).filter(|_| !options.separate);
    let is_sorted = path.as_ref().is_some_and(|path| path.is_another);
    let (order, over) = path.map_or((None, Vec::new()), |path| (path.order, path.over));
    let order = order.unwrap_or_else(|| (0..feeds.len()).collect());
    Opened {
        names: in_order(names, &order),
        intake: Intake::Feeds(in_order(feeds, &order)),
        over,
        is_sorted,
    }
}

fn in_order<T>(given: Vec<T>, order: &[usize]) -> Vec<T> {
    let mut given: Vec<_> = given.into_iter().map(Some).collect();
    order.iter().filter_map(|&at| given[at].take()).collect()
}

/// The points and hops while they are read.
struct Run<'scope> {
    intake: Intake<'scope>,
    points: Vec<Point>,
    hops: Hops,
    /// Nanoseconds to subtract from each point's times to align them with the first point's.
    starts_ns: Vec<i64>,
    by_interface: bool,
    separate: bool,
    frames: u64,
    /// Set in a second reading: takes each frame of the connections that it wants.
    observer: Option<&'scope mut dyn Observer>,
}

impl<'scope> Run<'scope> {
    fn new(
        (intake, over): (Intake<'scope>, &[Over]),
        options: &Options,
        observer: Option<&'scope mut dyn Observer>,
    ) -> Self {
        let mut run = Self {
            points: Vec::new(),
            hops: Hops::new(observer.is_some()),
            starts_ns: intake.starts(),
            by_interface: options.points_by_interface,
            separate: options.separate,
            frames: 0,
            observer,
            intake,
        };
        run.grow(run.intake.points());
        run.hops.add_over(over);
        if run.hops.is_empty() && !run.by_interface && run.observer.is_none() {
            let limit = |point: &mut Point| {
                let Options {
                    max_connections,
                    is_short,
                    ..
                } = *options;
                point.table.set_limit(max_connections, is_short);
            };
            run.points.iter_mut().for_each(limit);
        }
        run
    }

    /// Makes room for so many points.
    fn grow(&mut self, points: usize) {
        self.points
            .resize_with(points.max(self.points.len()), Point::default);
        if self.separate {
            return;
        }
        self.hops.grow(self.points.len());
        if !self.hops.is_empty() && self.observer.is_none() {
            let remember = |point: &mut Point| {
                point.datagrams.get_or_insert_default();
            };
            self.points.iter_mut().for_each(remember);
        }
    }

    /// Reads everything.
    fn read(&mut self, progress: &mut dyn FnMut(Progress)) {
        while let Some(feed) = self.choose() {
            if self.take(feed) {
                progress(self.progress());
                self.notify_observer();
            }
        }
    }

    fn progress(&self) -> Progress {
        Progress {
            consumed_bytes: self.intake.consumed_bytes(),
            frames: self.frames,
        }
    }

    /// The point to read next: the one that is furthest behind, but not one whose frames wait for
    /// another point already.
    fn choose(&self) -> Option<usize> {
        let all = || (0..self.intake.points()).filter(|point| self.intake.next(*point).is_some());
        all()
            .filter(|point| !self.hops.make_wait(*point))
            .min_by_key(|point| self.aligned_ns(*point))
            .or_else(|| all().min_by_key(|point| self.aligned_ns(*point)))
    }

    /// The time of a point's next frame by the first point's clock, as far as known.
    fn aligned_ns(&self, point: usize) -> i64 {
        let next = self.intake.next(point);
        let next_ns = next.map_or(i64::MAX, |item| item.frame.time_ns);
        next_ns.saturating_sub(self.hops.offset_ns(point, &self.starts_ns))
    }

    /// Processes the frames that a point has, and reads more for it when none are left; true in that case. With several
    /// points only the next frame is processed before the choice is made anew, so that the result does not depend on
    /// the size of batches.
    fn take(&mut self, point: usize) -> bool {
        match &mut self.intake {
            Intake::Feeds(feeds) => {
                let batch = std::mem::take(&mut feeds[point].batch);
                self.take_batch(point, batch)
            }
            Intake::Shared(shared) => {
                let Some((item, read)) = shared.take(point) else {
                    return false;
                };
                self.frames += 1;
                self.take_item(point, &item);
                read
            }
        }
    }

    fn take_batch(&mut self, feed: usize, mut batch: Batch) -> bool {
        let in_lockstep = self.points.len() > 1 && !self.hops.is_empty();
        let items = if in_lockstep {
            &batch.items()[..1]
        } else {
            batch.items()
        };
        let taken = items.len();
        self.frames += taken as u64;
        if self.hops.is_empty() && self.observer.is_none() {
            self.points[feed].take_all(items);
        } else {
            for item in items {
                self.take_item(feed, item);
            }
        }
        batch.pass(taken);
        let is_empty = batch.items().is_empty();
        if let Intake::Feeds(feeds) = &mut self.intake {
            feeds[feed].batch = batch;
            if is_empty {
                feeds[feed].refill();
            }
        }
        is_empty
    }

    fn take_item(&mut self, point: usize, item: &Item) {
        if point >= self.points.len() {
            self.grow(point + 1);
        }
        let tracked = if self.is_wanted(point, item) {
            self.points[point].take(item)
        } else {
            None
        };
        self.show(point, item, tracked.as_ref());
        let (hops, points) = (&mut self.hops, &self.points);
        hops.take((point, points), item, tracked.as_ref());
    }

    fn finish(self, names: Vec<String>) -> Result<Trace, TraceError> {
        let Self {
            intake,
            mut points,
            hops,
            by_interface,
            ..
        } = self;
        let ends = intake.ends(&names)?;
        let names = if by_interface {
            interface_names(&ends)
        } else {
            names
        };
        points.resize_with(names.len(), Point::default);
        points.iter_mut().for_each(Point::settle);
        let mut hop_facts = Vec::new();
        for mut placed in hops.settled(&points) {
            let names = placed.ends.map(|end| names[end].as_str());
            let both = placed.points(&points);
            hop_facts.extend(placed.hop.finish(both, names));
        }
        let datagrams = points.iter_mut().map(Point::take_datagrams).collect();
        let datagram_hops = datagrams::hops(datagrams, &names);
        let end_of = |point: usize| if by_interface { &ends[0] } else { &ends[point] };
        let point_facts = points
            .into_iter()
            .zip(names)
            .enumerate()
            .map(|(i, (point, name))| {
                let datagram = if by_interface { i } else { 0 };
                describe(name, point, end_of(i), datagram)
            });
        let mut trace = Trace {
            points: point_facts.collect(),
            hops: hop_facts,
            datagram_hops,
        };
        revised::disprove_uncut(&mut trace);
        revised::set_between(&mut trace);
        Ok(trace)
    }
}

fn interface_names(ends: &[End]) -> Vec<String> {
    ends.first()
        .map(|end| end.names.clone())
        .unwrap_or_default()
}
