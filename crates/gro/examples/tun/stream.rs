//! Two network namespaces with a TUN device each, the forwarder between them, and a TCP stream from
//! one to the other.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, setns, unshare};
use tun_rs::SyncDevice;

use super::forward::{Counts, Forwarder, open};

/// What can go wrong.
pub(crate) type Error = Box<dyn std::error::Error + Send + Sync>;

const MTU: u16 = 1500;
const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 99, 0, 1);
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 99, 0, 2);
const PORT: u16 = 5001;
/// How long the forwarder sleeps at most before it looks whether it is to end, in milliseconds.
const LOOK_MS: u16 = 50;
/// The bytes that are sent repeat after so many, which is prime: what is lost, doubled or out of
/// place shows.
const PERIOD: usize = 251;
const CHUNK: usize = 64 * 1024;

/// A transfer that went through, each byte in its place.
pub(crate) struct Done {
    /// Of the direction in which the data went.
    pub(crate) counts: Counts,
    /// Bits of payload in a second, in thousands of millions.
    pub(crate) gbps: f64,
}

/// Whether namespaces and TUN devices can be had here; why not.
pub(crate) fn available() -> Result<(), Error> {
    Namespace::new()?;
    let device = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/net/tun");
    device.map_err(|error| format!("/dev/net/tun: {error}"))?;
    Ok(())
}

/// A network namespace. Linux keeps them per thread, so what is to be in it is made by a thread of its own.
struct Namespace(File);

impl Namespace {
    fn new() -> Result<Self, Error> {
        on_a_thread(|| {
            let made = unshare(CloneFlags::CLONE_NEWNET);
            made.map_err(|error| format!("a network namespace: {error} (root or unshare -Urn)"))?;
            Ok(Self(File::open("/proc/thread-self/ns/net")?))
        })
    }

    /// Does some work in it. Sockets and devices that this opens stay in it.
    fn enter<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        on_a_thread(|| {
            setns(&self.0, CloneFlags::CLONE_NEWNET)?;
            work()
        })
    }
}

fn on_a_thread<T: Send>(work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    thread::scope(|scope| {
        scope
            .spawn(work)
            .join()
            .map_err(|_| "the thread panicked")?
    })
}

/// A namespace and its TUN device.
struct Room {
    namespace: Namespace,
    device: SyncDevice,
}

fn room(address: Ipv4Addr) -> Result<Room, Error> {
    let namespace = Namespace::new()?;
    let device = namespace.enter(|| Ok(open("tun0", MTU, address)?))?;
    Ok(Room { namespace, device })
}

/// Sends so many bytes from the server to the client, through a forwarder that merges or does not.
pub(crate) fn transfer(bytes: u64, merges: bool) -> Result<Done, Error> {
    let (client, server) = (room(CLIENT)?, room(SERVER)?);
    let ends = AtomicBool::new(false);
    let devices = [&server.device, &client.device];
    thread::scope(|scope| {
        let forwarder = scope.spawn(|| forward(devices, merges, &ends));
        let seconds = send(&client.namespace, &server.namespace, bytes);
        ends.store(true, Ordering::Relaxed);
        let counts = forwarder.join().map_err(|_| "the forwarder panicked")??;
        let gbps = bytes as f64 * 8.0 / seconds? / 1e9;
        Ok(Done { counts, gbps })
    })
}

/// Forwards both ways until told to end. Says what went from the first device to the second.
fn forward(devices: [&SyncDevice; 2], merges: bool, ends: &AtomicBool) -> io::Result<Counts> {
    let [server, client] = devices;
    let (mut data, mut acks) = (Forwarder::new(merges), Forwarder::new(merges));
    while !ends.load(Ordering::Relaxed) {
        let mut waits = devices.map(|device| PollFd::new(device.as_fd(), PollFlags::POLLIN));
        poll(&mut waits, PollTimeout::from(LOOK_MS))?;
        data.run(server, client)?;
        acks.run(client, server)?;
    }
    Ok(data.counts)
}

/// How many seconds it took.
fn send(client: &Namespace, server: &Namespace, bytes: u64) -> Result<f64, Error> {
    let listener = server.enter(|| Ok(TcpListener::bind((SERVER, PORT))?))?;
    let stream = client.enter(|| Ok(TcpStream::connect((SERVER, PORT))?))?;
    let (accepted, _) = listener.accept()?;
    let begin = Instant::now();
    thread::scope(|scope| {
        let sender = scope.spawn(|| write(accepted, bytes));
        let read = read(stream, bytes);
        sender.join().map_err(|_| "the sender panicked")??;
        read
    })?;
    Ok(begin.elapsed().as_secs_f64())
}

fn pattern() -> Vec<u8> {
    (0..CHUNK + PERIOD).map(|at| (at % PERIOD) as u8).collect()
}

fn write(mut stream: TcpStream, bytes: u64) -> io::Result<()> {
    let pattern = pattern();
    let mut sent = 0;
    while sent < bytes {
        let len = CHUNK.min((bytes - sent) as usize);
        stream.write_all(&pattern[(sent % PERIOD as u64) as usize..][..len])?;
        sent += len as u64;
    }
    Ok(())
}

fn read(mut stream: TcpStream, bytes: u64) -> Result<(), Error> {
    let (pattern, mut buffer) = (pattern(), vec![0; CHUNK]);
    let mut read = 0;
    while read < bytes {
        let len = stream.read(&mut buffer)?;
        if len == 0 {
            return Err(format!("the stream ended after {read} of {bytes} bytes").into());
        }
        if buffer[..len] != pattern[(read % PERIOD as u64) as usize..][..len] {
            return Err(
                format!("other bytes arrived than were sent, at {read} or behind it").into(),
            );
        }
        read += len as u64;
    }
    Ok(())
}
