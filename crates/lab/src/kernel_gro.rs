//! A batch of frames through this kernel's real GRO, as one NAPI poll.
//!
//! Frames go into one end of a veth pair and come out of the other, where a kernel thread polls.
//! The writer and the kernel thread run on one processor, the writer with the higher priority: the
//! poll begins only when the whole batch is sent and the writer waits for the result. A sentinel
//! frame behind the batch marks its end, so that nothing depends on time. Where the writer lost its
//! processor nevertheless (the kernel waits for memory for a long frame), the batch is sent again.

mod worker;

use crate::error::{Error, Unavailable};
use crate::namespace::Namespace;
use crate::packet::{MIN_FRAME, VnetHeader};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use worker::Worker;

/// The most frames that one NAPI poll takes (`NAPI_POLL_WEIGHT`).
pub const MAX_BATCH: usize = 64;
/// Longest frame: the largest MTU and an Ethernet header.
const LONGEST_FRAME: usize = 65_535 + MIN_FRAME;

/// What GRO merges beside TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// `rx-udp-gro-forwarding`: UDP without a local socket merges.
    pub udp_forwarding: bool,
    /// `rx-gro-list`: frames are chained instead of merged.
    pub fraglist: bool,
    /// A VXLAN device listens on port 4789, so that GRO looks into it.
    pub vxlan: bool,
}

/// A frame as it came out of GRO.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// The whole frame, from its Ethernet header.
    pub frame: Vec<u8>,
    /// Its virtio-net header: checksum and segmentation.
    pub vnet: VnetHeader,
}

/// This kernel's GRO. Takes real root: the priority and processor of a kernel thread are set.
#[derive(Debug)]
pub struct KernelGro {
    batches: Option<Sender<Vec<Vec<u8>>>>,
    results: Receiver<Result<Vec<Delivered>, Error>>,
    thread: Option<JoinHandle<()>>,
}

impl KernelGro {
    /// GRO as by default: TCP, and the tunnels that this kernel parses without a tunnel device.
    pub fn new() -> Result<Self, Unavailable> {
        Self::with(Options::default())
    }

    /// GRO with further options.
    pub fn with(options: Options) -> Result<Self, Unavailable> {
        let namespace = Namespace::new()?;
        let (batches, inbox) = channel();
        let (outbox, results) = channel();
        let work = move || serve(&namespace, options, &inbox, &outbox);
        let builder = thread::Builder::new().name("kernel-gro".to_owned());
        let thread = builder.spawn(work).map_err(Error::io("start a thread"))?;
        let started = Self {
            batches: Some(batches),
            results,
            thread: Some(thread),
        };
        started.answer()?;
        Ok(started)
    }

    /// GRO of one release of Linux, such as `6.18`, and of no other: its rules change from release
    /// to release, and a test for one release need not hold for the next.
    pub fn of_release(numbers: &str, options: Options) -> Result<Self, Unavailable> {
        let running = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let mut parts = running.trim().split('.');
        let same = numbers.split('.').all(|part| parts.next() == Some(part));
        if !same {
            let reason = format!(
                "this is about Linux {numbers}, running is {}",
                running.trim()
            );
            return Err(Unavailable { reason });
        }
        Self::with(options)
    }

    /// Sends a batch of at most [`MAX_BATCH`] frames through GRO and gives back what came out, in
    /// order.
    ///
    /// A frame with a VLAN tag of less than 20 bytes does not come out: the kernel drops it behind
    /// GRO, before the socket.
    pub fn run(&mut self, frames: &[Vec<u8>]) -> Result<Vec<Delivered>, Error> {
        check(frames)?;
        let gone = || Error::ThreadGone("kernel-gro");
        let batches = self.batches.as_ref().ok_or_else(gone)?;
        batches.send(frames.to_vec()).map_err(|_| gone())?;
        self.answer()
    }

    fn answer(&self) -> Result<Vec<Delivered>, Error> {
        self.results
            .recv()
            .unwrap_or(Err(Error::ThreadGone("kernel-gro")))
    }
}

impl Drop for KernelGro {
    /// Closes the channel of batches, which ends the thread.
    fn drop(&mut self) {
        self.batches = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn check(frames: &[Vec<u8>]) -> Result<(), Error> {
    if frames.len() > MAX_BATCH {
        return Err(Error::BatchTooLong {
            frames: frames.len(),
            limit: MAX_BATCH,
        });
    }
    let wrong = frames
        .iter()
        .position(|frame| !(MIN_FRAME..=LONGEST_FRAME).contains(&frame.len()));
    match wrong {
        None => Ok(()),
        Some(index) => Err(Error::FrameLength {
            index,
            length: frames[index].len(),
            limit: LONGEST_FRAME,
        }),
    }
}

/// The thread: an empty reply once it is ready, then one reply for each batch.
fn serve(
    namespace: &Namespace,
    options: Options,
    inbox: &Receiver<Vec<Vec<u8>>>,
    outbox: &Sender<Result<Vec<Delivered>, Error>>,
) {
    let mut worker = match namespace.join().and_then(|()| Worker::new(options)) {
        Ok(worker) => worker,
        Err(error) => return drop(outbox.send(Err(error))),
    };
    let mut answer = Ok(Vec::new());
    while outbox.send(answer).is_ok() {
        let Ok(batch) = inbox.recv() else { return };
        answer = worker.run(&batch);
    }
}
