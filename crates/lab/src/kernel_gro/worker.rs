//! The thread that writes batches and reads results, inside of the namespace.

use super::{Delivered, MAX_BATCH, Options};
use crate::craft::{Ip, Ipv4, Segment, Tcp, Transport};
use crate::error::Error;
use crate::link::{Link, Veth, Vxlan};
use crate::packet::{Buffers, PacketSocket, SendError};
use crate::realtime::{first_processor, make_fifo, pin};
use nix::errno::Errno;
use nix::sys::resource::{UsageWho, getrusage};
use nix::unistd::{Pid, gettid};
use std::time::Duration;

/// The writer runs before the poll, and the poll before everything else.
const WRITER_PRIORITY: u8 = 50;
const POLL_PRIORITY: u8 = 40;
/// Timeout of a result, which takes well below a millisecond; for a machine that stalls.
const PATIENCE: Duration = Duration::from_secs(5);
/// UDP port of VXLAN (RFC 7348).
const VXLAN_PORT: u16 = 4789;
/// How often a batch is sent until the writer keeps its processor. A writer that waits for memory
/// (the kernel compacts some for a long frame) rarely waits twice.
const ATTEMPTS: usize = 20;
/// Addresses that no other frame has, so that GRO never merges the sentinel with a frame of the batch.
const SENTINEL_MAC: [u8; 6] = [2, 0xee, 0xee, 0xee, 0xee, 0xee];

pub(super) struct Worker {
    input: PacketSocket,
    output: PacketSocket,
    /// Never read. The socket makes the kernel deliver to `output` at once, see `PacketSocket::placeholder`.
    _last: PacketSocket,
    buffers: Buffers,
    serial: u32,
}

impl Worker {
    /// Makes the veth pair in this thread's namespace, and sets processor and priorities.
    pub(super) fn new(options: Options) -> Result<Self, Error> {
        let pair = Veth::new("tx0", "rx0", Veth::MAX_MTU)?;
        set_up_gro(&pair, options)?;
        let last = PacketSocket::placeholder(&pair.right)?;
        let output = PacketSocket::receiver(&pair.right)?;
        output.set_timeout(PATIENCE)?;
        let input = PacketSocket::sender(&pair.left)?;
        take_turns(&pair.right)?;
        Ok(Self {
            input,
            output,
            _last: last,
            buffers: Buffers::new(MAX_BATCH + 1),
            serial: 0,
        })
    }

    /// Runs one batch, again where a part of it may have been polled before the rest was sent.
    pub(super) fn run(&mut self, batch: &[Vec<u8>]) -> Result<Vec<Delivered>, Error> {
        self.run_by(batch, &mut |input, frames| input.send(frames))
    }

    fn run_by(
        &mut self,
        batch: &[Vec<u8>],
        send: &mut Sending<'_>,
    ) -> Result<Vec<Delivered>, Error> {
        for _ in 0..ATTEMPTS {
            let (whole, delivered) = self.attempt(batch, send)?;
            if whole {
                return Ok(delivered);
            }
        }
        Err(Error::Interrupted { attempts: ATTEMPTS })
    }

    /// Sends a batch once; gives back whether it was one poll, and what came out. The sentinel is
    /// sent even if a frame was refused, so that no frame is under way when the next batch begins.
    fn attempt(
        &mut self,
        batch: &[Vec<u8>],
        send: &mut Sending<'_>,
    ) -> Result<(bool, Vec<Delivered>), Error> {
        self.serial = self.serial.wrapping_add(1);
        let sentinel = sentinel(self.serial);
        let mut frames: Vec<&[u8]> = batch.iter().map(Vec::as_slice).collect();
        frames.push(&sentinel);
        let before = context_switches()?;
        let sent = send(&self.input, &frames);
        let whole = context_switches()? == before;
        if sent.is_err() {
            // The first error counts; if this fails too, the sentinel is missed below.
            let _ = self.input.send(&[&sentinel]);
        }
        let delivered = self.collect(&sentinel)?;
        sent?;
        Ok((whole, delivered))
    }

    /// Receives all frames up to the sentinel; a frame behind the sentinel is an error.
    fn collect(&mut self, sentinel: &[u8]) -> Result<Vec<Delivered>, Error> {
        let mut delivered: Vec<Delivered> = Vec::new();
        while self.output.receive(&mut self.buffers)? > 0 {
            let frames = self.buffers.frames();
            delivered.extend(frames.map(|one| Delivered {
                frame: one.bytes.to_vec(),
                vnet: one.vnet,
            }));
            if let Some(end) = delivered.iter().position(|one| one.frame == sentinel) {
                let late = delivered.len() - end - 1;
                delivered.truncate(end);
                return if late == 0 {
                    Ok(delivered)
                } else {
                    Err(Error::Late { frames: late })
                };
            }
        }
        Err(Error::Lost {
            seconds: PATIENCE.as_secs(),
            received: delivered.len(),
        })
    }
}

/// Sends frames on a socket.
type Sending<'s> = dyn FnMut(&PacketSocket, &[&[u8]]) -> Result<(), SendError> + 's;

/// How often this thread has given its processor to another, on its own accord (it waited) or not.
/// Where the number stays, the poll, on the same processor, did not run.
fn context_switches() -> Result<(i64, i64), Error> {
    let usage = getrusage(UsageWho::RUSAGE_THREAD);
    let usage = usage.map_err(Error::system("count the context switches of a thread"))?;
    let waited = usage.voluntary_context_switches();
    Ok((waited, usage.involuntary_context_switches()))
}

/// Turns GRO on. veth skips GRO while its peer sends with TSO, and has GRO off by default. All held
/// frames leave at the end of the poll.
fn set_up_gro(pair: &Veth, options: Options) -> Result<(), Error> {
    pair.left.disable_tso()?;
    let mut wanted = vec![("rx-gro", true)];
    if options.udp_forwarding {
        wanted.push(("rx-udp-gro-forwarding", true));
    }
    if options.fraglist {
        wanted.push(("rx-gro-list", true));
    }
    pair.right.set_features(&wanted)?;
    pair.right.set_attribute("gro_flush_timeout", "0")?;
    pair.right.set_attribute("napi_defer_hard_irqs", "0")?;
    if options.vxlan {
        Vxlan::new("vxlan0", VXLAN_PORT).map(drop)
    } else {
        Ok(())
    }
}

/// Puts poll thread and writer on one processor, the writer with the higher priority.
fn take_turns(link: &Link) -> Result<(), Error> {
    let action = format!("poll {} in a thread", link.name());
    let threads = link.thread_napi()?;
    let [poller] = threads[..] else {
        return Err(Error::system(action)(Errno::EOPNOTSUPP));
    };
    let processor = first_processor()?;
    pin(poller, processor)?;
    make_fifo(poller, POLL_PRIORITY)?;
    pin(Pid::from_raw(0), processor)?;
    make_fifo(gettid(), WRITER_PRIORITY)
}

/// The last frame of a batch. It is one that GRO holds until the end of the poll, since held frames
/// leave in the order in which they came: a frame that GRO passes on at once would overtake them.
fn sentinel(serial: u32) -> Vec<u8> {
    let ip = Ipv4 {
        destination: [192, 0, 2, 255],
        ..Ipv4::default()
    };
    let tcp = Tcp {
        seq: serial,
        ..Tcp::default()
    };
    let mut segment = Segment::new(Ip::V4(ip), Transport::Tcp(tcp));
    segment.source_mac = SENTINEL_MAC;
    segment.payload = vec![0xee; 6];
    segment.frame()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::namespace::Namespace;
    use crate::random_frames::random_batch;

    /// A worker in a thread of its own, which keeps its priority and its processor.
    fn in_namespace(test: &str, work: impl FnOnce(Worker) + Send) {
        let Some(namespace) = coalescope_needs::had(test, Namespace::new()) else {
            return;
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                namespace.join().unwrap();
                let worker = Worker::new(Options::default()).map_err(crate::Unavailable::from);
                if let Some(worker) = coalescope_needs::had(test, worker) {
                    work(worker);
                }
            });
        });
    }

    fn in_two_parts(input: &PacketSocket, frames: &[&[u8]]) -> Result<(), SendError> {
        let (first, second) = frames.split_at(frames.len() / 2);
        input.send(first)?;
        std::thread::sleep(Duration::from_millis(1));
        input.send(second)
    }

    #[test]
    fn a_batch_that_was_two_polls_is_sent_again() {
        in_namespace("a_batch_that_was_two_polls", |mut worker| {
            let mut tries = 0;
            for seed in 0..20 {
                let batch = random_batch(seed);
                let expected = worker.run(&batch).unwrap();
                let mut parts = 2;
                let delivered = worker.run_by(&batch, &mut |input, frames| {
                    tries += 1;
                    parts -= i32::from(parts > 0);
                    if parts > 0 {
                        in_two_parts(input, frames)
                    } else {
                        input.send(frames)
                    }
                });
                assert_eq!(delivered.unwrap(), expected, "seed {seed}");
            }
            assert!(tries >= 40, "{tries}");
        });
    }

    #[test]
    fn a_writer_that_never_keeps_its_processor_is_an_error() {
        in_namespace("a_writer_that_never_keeps_its_processor", |mut worker| {
            let answer = worker.run_by(&random_batch(1), &mut in_two_parts);
            assert!(
                matches!(answer, Err(Error::Interrupted { attempts: ATTEMPTS })),
                "{answer:?}"
            );
            assert!(worker.run(&random_batch(1)).is_ok());
        });
    }
}
