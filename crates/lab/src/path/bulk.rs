//! A bulk transfer over TCP between two rooms.

use super::Error;
use crate::namespace::Namespace;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes handed to TCP at once.
const CHUNK: usize = 128 << 10;
/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a receiver without data waits before it checks the time.
const LOOK: Duration = Duration::from_millis(50);

/// A transfer to be made: a client connects to a server, which sends.
#[derive(Clone, Copy, Debug)]
pub struct Bulk {
    /// The address on which the server listens.
    pub server: SocketAddr,
    /// The transfer ends after this time at the latest.
    pub limit: Duration,
    /// The transfer ends when this number of bytes has arrived, if that is earlier.
    pub bytes: u64,
    /// The server listens on all of its addresses: the one that the client knows is virtual.
    pub anywhere: bool,
}

/// The result of a transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    /// Payload bytes that the receiving program read.
    pub bytes: u64,
    /// From the established connection to the last byte, or to the limit.
    pub time: Duration,
}

impl Transfer {
    /// Bits per second.
    #[must_use]
    pub fn bps(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.time.as_secs_f64().max(1e-9)
    }

    /// Throughput times round-trip time, in segments of `mss` payload bytes.
    #[must_use]
    pub fn effective_window(&self, rtt: Duration, mss: u32) -> f64 {
        self.bps() / 8.0 * rtt.as_secs_f64() / f64::from(mss.max(1))
    }
}

impl Bulk {
    /// The server sends to the client for at most this time.
    #[must_use]
    pub fn download(server: impl Into<SocketAddr>, limit: Duration) -> Self {
        Self {
            server: server.into(),
            limit,
            bytes: u64::MAX,
            anywhere: false,
        }
    }

    /// Ends the transfer when this number of bytes has arrived.
    #[must_use]
    pub fn bytes(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
        self
    }

    /// The address that the client connects to is not one of the server's own.
    #[must_use]
    pub fn listening_anywhere(mut self) -> Self {
        self.anywhere = true;
        self
    }

    /// Runs the transfer between two rooms.
    ///
    /// # Errors
    ///
    /// If no connection is made, or the connection breaks.
    pub fn run(&self, client: &Namespace, server: &Namespace) -> Result<Transfer, Error> {
        let mut own = self.server;
        if self.anywhere {
            own.set_ip(Ipv4Addr::UNSPECIFIED.into());
        }
        let listener = server
            .enter(|| TcpListener::bind(own))?
            .map_err(failed("listen"))?;
        let near = client
            .enter(|| TcpStream::connect_timeout(&self.server, CONNECT))?
            .map_err(failed("connect"))?;
        let (far, _) = listener.accept().map_err(failed("accept"))?;
        let transfer = self.transfer(&far, &near);
        transfer.map_err(failed("transfer"))
    }

    fn transfer(&self, sender: &TcpStream, receiver: &TcpStream) -> io::Result<Transfer> {
        receiver.set_read_timeout(Some(LOOK))?;
        let start = Instant::now();
        thread::scope(|scope| {
            // The receiver shuts the connection down at the end: the sender's error is none.
            scope.spawn(|| self.send(sender));
            let received = self.receive(receiver, start);
            let _ = receiver.shutdown(Shutdown::Both);
            let _ = sender.shutdown(Shutdown::Both);
            let (bytes, time) = (received?, start.elapsed());
            Ok(Transfer { bytes, time })
        })
    }

    fn send(&self, mut stream: &TcpStream) {
        let chunk = vec![0x5a; CHUNK];
        let mut left = self.bytes;
        while left > 0 {
            let some = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
            match stream.write(&chunk[..some]) {
                Ok(written) => left -= written as u64,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    fn receive(&self, mut stream: &TcpStream, start: Instant) -> io::Result<u64> {
        let (mut buffer, mut bytes) = (vec![0; CHUNK], 0);
        while bytes < self.bytes && start.elapsed() < self.limit {
            match stream.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => bytes += read as u64,
                Err(error) if is_pause(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(bytes)
    }
}

fn is_pause(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    [Interrupted, TimedOut, WouldBlock].contains(&error.kind())
}

fn failed(action: &'static str) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::Transfer { action, source }
}
