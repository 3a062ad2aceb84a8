//! The workload of an incident, once.

use crate::http;
use crate::path::{Bulk, Error, Path, Transfer};
use coalescope_incident::Workload;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

/// What arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Payload bytes, of all streams together.
    pub bytes: u64,
    /// From the first connection's being asked for to the last byte, or to the limit.
    pub time: Duration,
    /// Throughput times round trip, in full segments, of one stream.
    pub effective_window_segments: f64,
}

impl Measured {
    /// Payload bits per second.
    #[must_use]
    pub fn bps(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.time.as_secs_f64().max(1e-9)
    }
}

/// Where a workload is between.
pub(super) struct Between<'a> {
    pub(super) path: &'a Path,
    pub(super) client: &'a str,
    pub(super) server: &'a str,
    pub(super) address: SocketAddr,
}

impl Between<'_> {
    /// Makes all streams at once; gives the bytes of all and the time of the longest.
    pub(super) fn run(&self, workload: &Workload) -> Result<(u64, Duration), Error> {
        let streams = 0..workload.streams;
        let all: Result<Vec<_>, Error> = thread::scope(|scope| {
            let threads = streams.map(|number| scope.spawn(move || self.stream(workload, number)));
            let threads: Vec<_> = threads.collect();
            let joined = threads.into_iter().map(|thread| {
                let panicked = |_| Err(Error::Panicked("a stream".to_owned()));
                thread.join().unwrap_or_else(panicked)
            });
            joined.collect()
        });
        let all = all?;
        let bytes = all.iter().map(|(bytes, _)| bytes).sum();
        let time = all.iter().map(|(_, time)| *time).max();
        Ok((bytes, time.unwrap_or_default()))
    }

    fn stream(&self, workload: &Workload, number: u32) -> Result<(u64, Duration), Error> {
        let bytes = workload.bytes.div_ceil(workload.streams.max(1).into());
        let limit = Duration::from_secs_f64(workload.limit_s);
        if workload.upload {
            return self.upload(bytes, limit, number);
        }
        let address = self.address;
        let got = self.path.room(self.client)?;
        let got = got.enter(|| http::get(address, bytes, limit))??;
        Ok((got.bytes, got.time))
    }

    fn upload(&self, bytes: u64, limit: Duration, number: u32) -> Result<(u64, Duration), Error> {
        /// Of discard's kind, past those that are taken.
        const FIRST_PORT: u16 = 9000;
        let port = FIRST_PORT.saturating_add(u16::try_from(number).unwrap_or(u16::MAX));
        let address = SocketAddr::new(self.address.ip(), port);
        let bulk = Bulk::upload(address, limit)
            .bytes(bytes)
            .listening_anywhere();
        let rooms = [self.path.room(self.client)?, self.path.room(self.server)?];
        let Transfer { bytes, time } = bulk.run(rooms[0], rooms[1])?;
        Ok((bytes, time))
    }
}
