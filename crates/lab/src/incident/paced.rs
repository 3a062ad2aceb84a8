//! A server with a limited rate: a relay in front of a server without a limit.

use crate::error::Error;
use crate::namespace::Namespace;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Time between two writes.
const TICK: Duration = Duration::from_millis(10);
/// How long the relay waits for a connection before it checks its stop flag.
const LOOK: Duration = Duration::from_millis(20);
/// A peer that sends or reads nothing for this time is taken as gone.
const GONE: Duration = Duration::from_secs(30);

/// A relay that runs until it is dropped.
#[derive(Debug)]
pub(super) struct Paced {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Paced {
    /// Listens at an address in a room, and relays to another address there, at this number of bits
    /// per second on each connection.
    pub(super) fn start(
        room: &Namespace,
        address: SocketAddr,
        behind: SocketAddr,
        rate_bps: u64,
    ) -> Result<Self, Error> {
        let listener = room.enter(|| TcpListener::bind(address))?;
        let listener = listener.map_err(Error::io(format!("listen on {address}")))?;
        let set = listener.set_nonblocking(true);
        set.map_err(Error::io("make a listener non-blocking"))?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        // A thread in the room, so that its connections to the server are made there.
        let thread = room.enter(move || {
            let builder = thread::Builder::new().name("paced".to_owned());
            builder.spawn(move || serve(&listener, behind, rate_bps, &stopped))
        })?;
        let thread = thread.map_err(Error::io("start a thread"))?;
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for Paced {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(listener: &TcpListener, behind: SocketAddr, rate_bps: u64, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let Ok((near, _)) = listener.accept() else {
            thread::sleep(LOOK);
            continue;
        };
        let builder = thread::Builder::new().name("paced".to_owned());
        // An error is visible to the client as a broken connection.
        let _ = builder.spawn(move || relay(&near, behind, rate_bps));
    }
}

fn relay(mut near: &TcpStream, behind: SocketAddr, rate_bps: u64) -> io::Result<()> {
    near.set_nonblocking(false)?;
    let mut far = TcpStream::connect_timeout(&behind, GONE)?;
    for stream in [near, &far] {
        stream.set_read_timeout(Some(GONE))?;
        stream.set_write_timeout(Some(GONE))?;
    }
    let (mut asking, mut answering) = (near.try_clone()?, far.try_clone()?);
    let request = move || {
        let _ = io::copy(&mut asking, &mut answering);
    };
    let _ = thread::Builder::new()
        .name("paced".to_owned())
        .spawn(request);
    let portion = usize::try_from(rate_bps / 800).unwrap_or(usize::MAX);
    let mut portion = vec![0; portion.clamp(1, 1 << 20)];
    let sent = portions(&mut far, &mut near, &mut portion);
    // The thread that reads requests ends with the connection.
    let _ = near.shutdown(Shutdown::Both);
    sent
}

/// Relays one portion each tick. Ticks are computed from the clock, since sleeps take longer than asked for.
fn portions(far: &mut TcpStream, near: &mut &TcpStream, portion: &mut [u8]) -> io::Result<()> {
    let begun = Instant::now();
    for number in 1.. {
        let read = fill(far, portion)?;
        near.write_all(portion.get(..read).unwrap_or_default())?;
        if read < portion.len() {
            break;
        }
        let due = begun + TICK * number;
        thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    Ok(())
}

/// Reads until the portion is full, or to the end of the stream.
fn fill(far: &mut TcpStream, portion: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(room) = portion.get_mut(filled..).filter(|room| !room.is_empty()) {
        match far.read(room) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
