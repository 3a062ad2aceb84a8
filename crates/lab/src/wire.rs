//! Two interfaces joined by a program that handles each frame.

mod merger;
mod outgoing;

pub use merger::{DEFAULT_HOLD, Merger};
pub use outgoing::Outgoing;

use crate::checksum::complete;
use crate::error::Error;
use crate::link::Link;
use crate::packet::{Buffers, Frame, Gso, PacketSocket, SendError, wait};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Frames taken with one system call.
const BATCH: usize = 64;
/// How long a silent wire waits before it checks its stop flag.
const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// A middlebox on a wire, for one direction.
pub trait Middlebox {
    /// Handles a frame; its checksums are right if its sender's are. Frames that leave, this one or
    /// held ones, go to `out`.
    fn frame(&mut self, frame: &[u8], now_ns: u64, out: &mut Outgoing);

    /// When [`tick`](Self::tick) is to be called at the latest; `None` if nothing is held.
    fn deadline(&self) -> Option<u64>;

    /// Releases frames that were held long enough. At the end of the wire `now_ns` is `u64::MAX`,
    /// and all held frames leave.
    fn tick(&mut self, now_ns: u64, out: &mut Outgoing);
}

/// A middlebox that changes nothing and holds nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unchanged;

impl Middlebox for Unchanged {
    fn frame(&mut self, frame: &[u8], _now_ns: u64, out: &mut Outgoing) {
        out.push(frame);
    }

    fn deadline(&self) -> Option<u64> {
        None
    }

    fn tick(&mut self, _now_ns: u64, _out: &mut Outgoing) {}
}

/// Counts of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Direction {
    /// Frames that arrived.
    pub received: u64,
    /// Of these, frames that the kernel had merged or not yet segmented, because the sender's TSO
    /// or the interface's GRO is on. They went on whole.
    pub large: u64,
    /// Of these, frames with an incomplete checksum, which was completed.
    pub checksummed: u64,
    /// Frames that left.
    pub sent: u64,
    /// Frames that the other interface refused: longer than its MTU, or its queue was full.
    pub refused: u64,
}

/// Two interfaces of a namespace, joined.
///
/// The receiving side of a wire that merges needs a large MTU (up to 65,535), and no interface at
/// either end should merge on its own ([`Link::disable_receive_merging`]).
pub struct Wire<'a> {
    ways: [Way<'a>; 2],
}

impl<'a> Wire<'a> {
    /// Joins two interfaces of the calling thread's namespace. Frames that arrive from now on are
    /// forwarded by [`run`](Self::run): those of `interfaces[0]` through `middleboxes[0]` to
    /// `interfaces[1]`, and back through `middleboxes[1]`.
    pub fn open(
        interfaces: [&Link; 2],
        middleboxes: [&'a mut dyn Middlebox; 2],
    ) -> Result<Self, Error> {
        let [forward, backward] = middleboxes;
        Ok(Self {
            ways: [
                Way::new(interfaces[0], interfaces[1], forward)?,
                Way::new(interfaces[1], interfaces[0], backward)?,
            ],
        })
    }

    /// Forwards until `stop` is set; returns the counts of both directions. `stop` is checked every
    /// 50 ms at least, and after a signal.
    pub fn run(mut self, stop: &AtomicBool) -> Result<[Direction; 2], Error> {
        let start = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            step(&mut self.ways, start)?;
        }
        for way in &mut self.ways {
            way.middlebox.tick(u64::MAX, &mut way.outgoing);
            way.send()?;
        }
        Ok(self.ways.map(|way| way.count))
    }
}

/// [Opens](Wire::open) a wire and [runs](Wire::run) it.
pub fn run(
    interfaces: [&Link; 2],
    middleboxes: [&mut dyn Middlebox; 2],
    stop: &AtomicBool,
) -> Result<[Direction; 2], Error> {
    Wire::open(interfaces, middleboxes)?.run(stop)
}

/// Waits for frames or a deadline, and handles them.
fn step(ways: &mut [Way<'_>; 2], start: Instant) -> Result<(), Error> {
    let patience = ways
        .iter()
        .map(|way| way.patience(nanoseconds(start)))
        .min();
    let ready = wait(
        [&ways[0].input, &ways[1].input],
        patience.unwrap_or(LONGEST_WAIT),
    )?;
    for (way, ready) in ways.iter_mut().zip(ready) {
        if ready {
            way.receive(nanoseconds(start))?;
        }
        way.expire(nanoseconds(start));
        way.send()?;
    }
    Ok(())
}

fn nanoseconds(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// One direction.
struct Way<'a> {
    input: PacketSocket,
    output: PacketSocket,
    middlebox: &'a mut dyn Middlebox,
    buffers: Buffers,
    outgoing: Outgoing,
    /// The frame whose checksum is being completed.
    scratch: Vec<u8>,
    count: Direction,
}

impl<'a> Way<'a> {
    fn new(from: &Link, to: &Link, middlebox: &'a mut dyn Middlebox) -> Result<Self, Error> {
        Ok(Self {
            input: PacketSocket::promiscuous(from)?,
            output: PacketSocket::queued_sender(to)?,
            middlebox,
            buffers: Buffers::new(BATCH),
            outgoing: Outgoing::default(),
            scratch: Vec::new(),
            count: Direction::default(),
        })
    }

    /// How long to wait for frames.
    fn patience(&self, now: u64) -> Duration {
        let left = self
            .middlebox
            .deadline()
            .map(|deadline| deadline.saturating_sub(now));
        left.map_or(LONGEST_WAIT, Duration::from_nanos)
            .min(LONGEST_WAIT)
    }

    fn receive(&mut self, now: u64) -> Result<(), Error> {
        self.input.receive_now(&mut self.buffers)?;
        for frame in self.buffers.frames() {
            self.count.note(&frame);
            let bytes = finished(&frame, &mut self.scratch);
            self.middlebox.frame(bytes, now, &mut self.outgoing);
        }
        Ok(())
    }

    fn expire(&mut self, now: u64) {
        if self
            .middlebox
            .deadline()
            .is_some_and(|deadline| deadline <= now)
        {
            self.middlebox.tick(now, &mut self.outgoing);
        }
    }

    /// Sends the outgoing frames. A refused frame is lost, as on any wire; the others are sent.
    fn send(&mut self) -> Result<(), Error> {
        let mut frames = self.outgoing.frames();
        while !frames.is_empty() {
            let (sent, refused) = match self.output.send(frames) {
                Ok(()) => (frames.len(), 0),
                Err(error) => (survivable(error)?, 1),
            };
            self.count.sent += sent as u64;
            self.count.refused += refused as u64;
            frames = &frames[sent + refused..];
        }
        self.outgoing.clear();
        Ok(())
    }
}

/// Number of frames sent before a refused one, if the frame or a full queue is the reason.
fn survivable(error: SendError) -> Result<usize, Error> {
    use nix::errno::Errno::{EAGAIN, EINVAL, EMSGSIZE, ENOBUFS};
    if [EAGAIN, EINVAL, EMSGSIZE, ENOBUFS].contains(&error.errno) {
        Ok(error.index)
    } else {
        Err(error.into())
    }
}

/// The frame with a complete checksum: a sender on this machine leaves the checksum to the network card.
fn finished<'a>(frame: &Frame<'a>, scratch: &'a mut Vec<u8>) -> &'a [u8] {
    if !frame.vnet.needs_checksum() {
        return frame.bytes;
    }
    scratch.clear();
    scratch.extend_from_slice(frame.bytes);
    complete(
        scratch,
        frame.vnet.csum_start.into(),
        frame.vnet.csum_offset.into(),
    );
    scratch
}

impl Direction {
    fn note(&mut self, frame: &Frame<'_>) {
        self.received += 1;
        self.large += u64::from(frame.vnet.gso() != Gso::None);
        self.checksummed += u64::from(frame.vnet.needs_checksum());
    }
}
