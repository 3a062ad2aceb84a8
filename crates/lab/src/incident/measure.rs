//! One run of an incident's workload.

use crate::http::{self, Server};
use crate::path::{Error, Path};
use coalescope_incident::Workload;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

/// The result of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Payload bytes, of all streams together.
    pub bytes: u64,
    /// From the first connect to the last byte, or to the limit.
    pub time: Duration,
    /// Throughput times round-trip time, in full segments, of one stream.
    pub effective_window_segments: f64,
}

impl Measured {
    /// Payload bits per second.
    #[must_use]
    pub fn bps(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.time.as_secs_f64().max(1e-9)
    }
}

/// The path and the two ends of a workload.
pub(super) struct Between<'a> {
    pub(super) path: &'a Path,
    pub(super) client: &'a str,
    pub(super) server: &'a Server,
    pub(super) address: SocketAddr,
}

impl Between<'_> {
    /// Runs all streams at once; returns the bytes of all and the time of the longest.
    pub(super) fn run(&self, workload: &Workload) -> Result<(u64, Duration), Error> {
        let before = self.server.received();
        let streams = 0..workload.streams;
        let all: Result<Vec<_>, Error> = thread::scope(|scope| {
            let threads = streams.map(|_| scope.spawn(|| self.stream(workload)));
            let threads: Vec<_> = threads.collect();
            let joined = threads.into_iter().map(|thread| {
                let panicked = |_| Err(Error::Panicked("a stream".to_owned()));
                thread.join().unwrap_or_else(panicked)
            });
            joined.collect()
        });
        let all = all?;
        let time = all.iter().map(|(_, time)| *time).max();
        let bytes = match workload.upload {
            true => self.server.received() - before,
            false => all.iter().map(|(bytes, _)| bytes).sum(),
        };
        Ok((bytes, time.unwrap_or_default()))
    }

    /// Runs one stream; returns the bytes that the client received, and the time.
    fn stream(&self, workload: &Workload) -> Result<(u64, Duration), Error> {
        let bytes = workload.bytes.div_ceil(workload.streams.max(1).into());
        let limit = Duration::from_secs_f64(workload.limit_s);
        let (room, address) = (self.path.room(self.client)?, self.address);
        if workload.upload {
            let took = room.enter(|| http::post(address, bytes, limit))??;
            return Ok((0, took));
        }
        let got = room.enter(|| http::get(address, bytes, limit))??;
        Ok((got.bytes, got.time))
    }
}
