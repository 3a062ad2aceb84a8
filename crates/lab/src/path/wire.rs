//! The thread that carries frames over a wire.

use super::clock::now;
use super::counters::Tally;
use super::{DropReason, Element, ElementCounts, Error, Frame, Nanos, Onward, Side, Tap};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Frames read from one end before the other end and the deadlines are handled: NAPI's budget.
const BATCH: usize = 64;
/// How long a silent wire waits before it checks its stop flag, in nanoseconds.
const LONGEST_WAIT: Nanos = 50_000_000;
/// How late the kernel may wake the thread to save wake-ups, in nanoseconds: its default of 50,000 is
/// a frame's time at 200 Mbit/s.
const TIMER_SLACK: u64 = 1_000;

/// Counters that the thread shares with readers.
#[derive(Debug)]
pub(super) struct Tallies {
    wire: String,
    elements: Vec<(String, [Tally; 2])>,
}

impl Tallies {
    pub(super) fn new(wire: String, names: impl Iterator<Item = String>) -> Arc<Self> {
        let elements = names.map(|name| (name, Default::default())).collect();
        Arc::new(Self { wire, elements })
    }

    pub(super) fn read(&self) -> impl Iterator<Item = ElementCounts> {
        let read =
            |(name, tallies): &(String, [Tally; 2])| ElementCounts::read(&self.wire, name, tallies);
        self.elements.iter().map(read)
    }
}

/// A running wire: its ends and its elements.
pub(super) struct Running {
    taps: [Tap; 2],
    /// The elements from the client's end to the server's.
    elements: Vec<Box<dyn Element>>,
    /// Counters of the client's end, of the elements, and of the server's end.
    tallies: Arc<Tallies>,
    /// Frames on their way from one element to the next: their place and direction.
    moving: VecDeque<(Place, Side, Frame)>,
    spare: Vec<(Side, Frame)>,
}

/// 0 is the client's end, then come the elements, then the server's end.
type Place = usize;

impl Running {
    pub(super) fn new(
        taps: [Tap; 2],
        elements: Vec<Box<dyn Element>>,
        tallies: Arc<Tallies>,
    ) -> Self {
        Self {
            taps,
            elements,
            tallies,
            moving: VecDeque::new(),
            spare: Vec::new(),
        }
    }

    /// Carries frames until `stop` is set. Frames under way are lost then.
    pub(super) fn run(&mut self, stop: &AtomicBool) -> Result<(), Error> {
        // If the kernel refuses, the thread wakes somewhat later: elements use the times of events.
        let _ = nix::sys::prctl::set_timerslack(TIMER_SLACK);
        while !stop.load(Ordering::Relaxed) {
            let ready = self.wait()?;
            self.expire(now());
            for side in Side::BOTH {
                if ready[side.index()] {
                    self.take(side)?;
                }
            }
        }
        let finished = self.elements.iter_mut().map(|element| element.finish());
        finished.fold(Ok(()), Result::and)
    }

    /// Waits for a frame or a deadline; returns which ends have frames.
    fn wait(&self) -> Result<[bool; 2], Error> {
        let patience = self.next().map_or(LONGEST_WAIT, |(deadline, _)| {
            deadline.saturating_sub(now()).min(LONGEST_WAIT)
        });
        let timeout = TimeSpec::from(Duration::from_nanos(patience));
        let mut ends = self
            .taps
            .each_ref()
            .map(|tap| PollFd::new(tap.as_fd(), PollFlags::POLLIN));
        match ppoll(&mut ends, Some(timeout), None) {
            Ok(_) => Ok(ends.map(|end| end.any().unwrap_or(false))),
            Err(Errno::EINTR) => Ok([false; 2]),
            Err(errno) => Err(crate::error::Error::system("wait for frames")(errno).into()),
        }
    }

    /// The earliest deadline, and its element.
    fn next(&self) -> Option<(Nanos, usize)> {
        let deadlines = self
            .elements
            .iter()
            .zip(0..)
            .filter_map(|(element, index)| element.deadline().map(|deadline| (deadline, index)));
        deadlines.min()
    }

    /// Handles all deadlines up to now, in their order.
    fn expire(&mut self, now: Nanos) {
        while let Some((deadline, index)) = self.next()
            && deadline <= now
        {
            self.call(index, |element, out| element.tick(deadline, out));
            self.carry(deadline);
        }
    }

    /// Reads the frames of one end.
    fn take(&mut self, from: Side) -> Result<(), Error> {
        for _ in 0..BATCH {
            let Some(frame) = self.taps[from.index()].receive()? else {
                break;
            };
            let at = now();
            self.expire(at);
            let (place, toward) = (self.place_of(from), from.other());
            if let Some(tally) = self.tally(place, toward) {
                tally.frame_in();
            }
            self.moving.push_back((place, toward, frame));
            self.carry(at);
        }
        Ok(())
    }

    fn place_of(&self, end: Side) -> Place {
        match end {
            Side::Client => 0,
            Side::Server => self.elements.len() + 1,
        }
    }

    fn tally(&self, place: Place, toward: Side) -> Option<&Tally> {
        let (_, tallies) = self.tallies.elements.get(place)?;
        Some(&tallies[toward.index()])
    }

    /// Moves frames on until each is at an end, held by an element, or dropped.
    fn carry(&mut self, at: Nanos) {
        while let Some((place, toward, frame)) = self.moving.pop_front() {
            let next = match toward {
                Side::Client => place.saturating_sub(1),
                Side::Server => place + 1,
            };
            if next == self.place_of(toward) {
                self.deliver(&frame, toward);
                continue;
            }
            if let Some(tally) = self.tally(next, toward) {
                tally.frame_in();
            }
            self.call(next - 1, |element, out| {
                element.frame(frame, toward, at, out);
            });
        }
    }

    /// Hands a frame to the kernel.
    fn deliver(&self, frame: &Frame, toward: Side) {
        let taken = self.taps[toward.index()].send(frame);
        if let Some(tally) = self.tally(self.place_of(toward), toward) {
            match taken {
                true => tally.frame_out(),
                false => tally.drop_frame(DropReason::Refused),
            }
        }
    }

    /// Calls an element, and queues the frames that it passes on.
    fn call(&mut self, index: usize, work: impl FnOnce(&mut dyn Element, &mut Onward<'_>)) {
        let (Some(element), Some((_, tallies))) = (
            self.elements.get_mut(index),
            self.tallies.elements.get(index + 1),
        ) else {
            return;
        };
        let mut out = Onward::new(std::mem::take(&mut self.spare), tallies);
        work(element.as_mut(), &mut out);
        self.spare = out.into_passed();
        let passed = self.spare.drain(..);
        let moving = passed.map(|(toward, frame)| (index + 1, toward, frame));
        self.moving.extend(moving);
    }
}
