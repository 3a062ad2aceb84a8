//! A small HTTP server and client as a workload: GET and POST of a number of bytes, over real TCP.
//!
//! The server answers `GET /N` with N bytes and accepts any POST (HTTP/1.1, RFC 9112, one request
//! per connection). The client has a time limit: a broken path must not take minutes to be
//! measured. HTTP servers on crates.io bring an asynchronous runtime, or are not maintained.

use crate::error::Error;
use crate::namespace::Namespace;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Bytes handed to TCP at once.
const CHUNK: usize = 64 << 10;
/// The longest line of a request.
const LINE: u64 = 4096;
/// How long the server waits for a connection before it checks its stop flag.
const LOOK: Duration = Duration::from_millis(20);
/// A client that reads nothing for this time is taken as gone.
const GONE: Duration = Duration::from_secs(30);
/// The answer to any other path.
const NOT_FOUND: &[u8] =
    b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// The answer after the body of a POST has arrived.
const TAKEN: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// A server that runs until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    received: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens in the namespace of the calling thread.
    ///
    /// # Errors
    ///
    /// If the address cannot be listened on.
    pub fn start(address: SocketAddr) -> Result<Self, Error> {
        let action = format!("listen on {address}");
        let (listener, address) = listen(address).map_err(Error::io(action))?;
        let stop = Arc::new(AtomicBool::new(false));
        let received = Arc::default();
        let (stopped, count) = (Arc::clone(&stop), Arc::clone(&received));
        let thread = thread::Builder::new()
            .name("http".to_owned())
            .spawn(move || serve(&listener, &stopped, &count))
            .map_err(Error::io("start a thread"))?;
        Ok(Self {
            address,
            received,
            stop,
            thread: Some(thread),
        })
    }

    /// Listens in a namespace.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub fn start_in(namespace: &Namespace, address: SocketAddr) -> Result<Self, Error> {
        namespace.enter(|| Self::start(address))?
    }

    /// The address on which the server listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Bytes of POST bodies that have arrived so far.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn listen(address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Each connection has its own thread; one that hangs is not waited for.
fn serve(listener: &TcpListener, stop: &AtomicBool, received: &Arc<AtomicU64>) {
    while !stop.load(Ordering::Relaxed) {
        let Ok((stream, _)) = listener.accept() else {
            thread::sleep(LOOK);
            continue;
        };
        let received = Arc::clone(received);
        let answered = move || {
            // An error is visible to the client as a broken connection.
            let _ = answer(&stream, &received);
        };
        let thread = thread::Builder::new().name("http".to_owned());
        let _ = thread.spawn(answered);
    }
}

fn answer(stream: &TcpStream, received: &AtomicU64) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(GONE))?;
    stream.set_write_timeout(Some(GONE))?;
    let mut reader = BufReader::new(stream);
    match asked(&mut reader)? {
        Some(Asked::Get(length)) => send(stream, length),
        Some(Asked::Post(length)) => {
            receive(&mut reader, length, received)?;
            (&*stream).write_all(TAKEN)
        }
        None => (&*stream).write_all(NOT_FOUND),
    }
}

/// A parsed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// GET of this number of bytes; the path is the number.
    Get(u64),
    /// POST of this number of bytes.
    Post(u64),
}

/// Reads the head of a request; `None` if it is neither a GET nor a POST of ours.
fn asked(reader: &mut impl BufRead) -> io::Result<Option<Asked>> {
    let mut request = String::new();
    reader.take(LINE).read_line(&mut request)?;
    let (mut field, mut length) = (String::from("-"), None);
    while !field.trim_end().is_empty() {
        field.clear();
        reader.take(LINE).read_line(&mut field)?;
        length = length.or_else(|| content_length(&field));
    }
    let mut words = request.split(' ');
    Ok(match (words.next(), words.next()) {
        (Some("POST"), Some(_)) => length.map(Asked::Post),
        (Some("GET"), Some(path)) => path
            .strip_prefix('/')
            .and_then(|length| length.parse().ok())
            .map(Asked::Get),
        _ => None,
    })
}

fn content_length(field: &str) -> Option<u64> {
    let (name, value) = field.split_once(':')?;
    let is_length = name.eq_ignore_ascii_case("content-length");
    is_length.then(|| value.trim().parse().ok())?
}

/// Reads a body and counts its bytes as they arrive.
fn receive(reader: &mut impl Read, length: u64, received: &AtomicU64) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    let mut left = length;
    while left > 0 {
        let part = usize::try_from(left).map_or(CHUNK, |left| left.min(CHUNK));
        let read = reader.read(&mut chunk[..part])?;
        if read == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        left -= read as u64;
        received.fetch_add(read as u64, Ordering::Relaxed);
    }
    Ok(())
}

fn send(mut stream: &TcpStream, length: u64) -> io::Result<()> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    let chunk = vec![b'.'; CHUNK];
    let mut left = length;
    while left > 0 {
        let part = usize::try_from(left).map_or(CHUNK, |left| left.min(CHUNK));
        stream.write_all(&chunk[..part])?;
        left -= part as u64;
    }
    Ok(())
}

/// Sends `length` bytes to a server and waits for the answer, or until the limit; returns the time.
/// The number of bytes that arrived is the [server](Server::received)'s.
///
/// # Errors
///
/// If there is no connection within the time, or it breaks off.
pub fn post(server: SocketAddr, length: u64, limit: Duration) -> Result<Duration, Error> {
    let begun = Instant::now();
    let action = format!("post {length} bytes to {server}");
    match hand_over(server, length, begun + limit) {
        Ok(()) => Ok(begun.elapsed()),
        Err(error) if is_late(&error) && begun.elapsed() >= limit => Ok(limit),
        Err(error) => Err(Error::io(action)(error)),
    }
}

fn hand_over(server: SocketAddr, length: u64, end: Instant) -> io::Result<()> {
    let left = || end.saturating_duration_since(Instant::now());
    let mut stream = TcpStream::connect_timeout(&server, left())?;
    let head = format!(
        "POST / HTTP/1.1\r\nHost: {server}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    let body = io::repeat(b'.').take(length);
    let mut request = head.as_bytes().chain(body);
    let mut chunk = vec![0; CHUNK];
    loop {
        let part = request.read(&mut chunk)?;
        if part == 0 {
            break;
        }
        write(&mut stream, &chunk[..part], end)?;
    }
    match read(&mut stream, &mut chunk, end)? {
        Some(0) => Err(ErrorKind::UnexpectedEof.into()),
        Some(_) => Ok(()),
        None => Err(ErrorKind::TimedOut.into()),
    }
}

/// Writes all bytes, unless the time is over.
fn write(stream: &mut TcpStream, mut part: &[u8], end: Instant) -> io::Result<()> {
    while !part.is_empty() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        match stream.write(part) {
            Ok(written) => part = &part[written..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// The result of a GET.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Got {
    /// Bytes of the body that arrived.
    pub bytes: u64,
    /// From before the connect to the last byte, or to the limit.
    pub time: Duration,
    /// Whether the whole body arrived.
    pub is_whole: bool,
}

impl Got {
    /// Bits per second.
    #[must_use]
    pub fn bps(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.time.as_secs_f64().max(1e-9)
    }
}

/// Requests `length` bytes and reads until all have arrived or the time is over.
///
/// # Errors
///
/// If there is no connection within the time, or it breaks off.
pub fn get(server: SocketAddr, length: u64, limit: Duration) -> Result<Got, Error> {
    let begun = Instant::now();
    let action = format!("get {length} bytes from {server}");
    let bytes = fetch(server, length, begun + limit).map_err(Error::io(action))?;
    Ok(Got {
        bytes,
        time: begun.elapsed(),
        is_whole: bytes == length,
    })
}

fn fetch(server: SocketAddr, length: u64, end: Instant) -> io::Result<u64> {
    let left = end.saturating_duration_since(Instant::now());
    let mut stream = TcpStream::connect_timeout(&server, left)?;
    let request = format!("GET /{length} HTTP/1.1\r\nHost: {server}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut body = Body::default();
    let mut chunk = vec![0; CHUNK];
    while body.bytes < Some(length) {
        match read(&mut stream, &mut chunk, end)? {
            Some(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Some(read) => body.take(&chunk[..read]),
            None => break,
        }
    }
    Ok(body.bytes.unwrap_or_default())
}

/// One read; `None` when the time is over.
fn read(stream: &mut TcpStream, chunk: &mut [u8], end: Instant) -> io::Result<Option<usize>> {
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(chunk) {
            Ok(read) => return Ok(Some(read)),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if is_late(&error) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}

/// Counts the bytes of the body, which follows the empty line after the head.
#[derive(Default)]
struct Body {
    head: Vec<u8>,
    /// `None` before the body.
    bytes: Option<u64>,
}

impl Body {
    fn take(&mut self, part: &[u8]) {
        if let Some(bytes) = &mut self.bytes {
            *bytes += part.len() as u64;
            return;
        }
        self.head.extend_from_slice(part);
        let end = self.head.windows(4).position(|four| four == b"\r\n\r\n");
        self.bytes = end.map(|at| (self.head.len() - at - 4) as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_arrives_and_what_takes_too_long_is_counted() {
        let server = Server::start(([127, 0, 0, 1], 0).into()).unwrap();
        for length in [0, 1, 90_000, 3_000_000] {
            let got = get(server.address(), length, Duration::from_secs(20)).unwrap();
            assert_eq!((got.bytes, got.is_whole), (length, true));
        }
        // On a busy machine the first bytes may take longer than the shortest limit.
        let limits = [50, 500, 5_000].map(Duration::from_millis).into_iter();
        let mut cut = limits.map(|limit| get(server.address(), u64::MAX, limit).unwrap());
        let begun = cut.find(|got| got.bytes > 0).unwrap();
        assert!(!begun.is_whole);
        drop(server);
    }

    #[test]
    fn what_is_posted_is_counted() {
        let server = Server::start(([127, 0, 0, 1], 0).into()).unwrap();
        let mut expected = 0;
        for length in [0, 1, 1200, 300_000] {
            let limit = Duration::from_secs(20);
            let took = post(server.address(), length, limit).unwrap();
            expected += length;
            assert!(took < limit);
            assert_eq!(server.received(), expected);
        }
    }

    #[test]
    fn requests_are_read_to_the_end_of_their_heads() {
        let read = |text: &str| asked(&mut text.as_bytes()).unwrap();
        assert_eq!(read("GET /17 HTTP/1.1\r\n\r\n"), Some(Asked::Get(17)));
        let post = "POST /any HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc";
        assert_eq!(read(post), Some(Asked::Post(3)));
        for wrong in [
            "",
            "POST / HTTP/1.1\r\n\r\n",
            "PUT /1 HTTP/1.1\r\n\r\n",
            "GET /x HTTP/1.1\r\n\r\n",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
