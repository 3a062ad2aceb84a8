//! TCP connections that end on this host, by socket diagnosis.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use coalescope_host::live::has_module;
use coalescope_netlink::namespace::Namespace;
use coalescope_netlink::tcp_sockets::{TcpInfo, TcpSocket, tcp_sockets};

use crate::facts::{Connection, Unseen};

/// Closed connections that are reported at most: a busy server closes thousands a second.
const ENDED: usize = 4096;
/// A connection that was busy for less shows little about its throughput per round trip.
const LEAST_BUSY_S: f64 = 0.1;

/// A connection's key: its namespace and its socket's cookie.
type Key = (Option<String>, u64);

/// Connections as first seen, and as last seen.
#[derive(Debug, Default)]
pub(super) struct Connections {
    known: BTreeMap<Key, Known>,
    looks: u64,
}

#[derive(Debug)]
struct Known {
    first: TcpInfo,
    last: TcpSocket,
    look: u64,
}

impl Connections {
    /// Reads the connections; returns what is not visible.
    pub(super) fn look(&mut self, spaces: &[(Option<String>, PathBuf)]) -> Vec<Unseen> {
        if !has_module("tcp_diag") {
            return vec![unseen(
                "the kernel has no tcp_diag: `modprobe tcp_diag` loads it".to_owned(),
            )];
        }
        self.looks += 1;
        let mut all = Vec::new();
        for (name, path) in spaces {
            match within(name.is_none(), path) {
                Ok(sockets) => self.take(name.as_ref(), sockets),
                Err(error) => all.push(unseen(error)),
            }
        }
        self.forget();
        all
    }

    fn take(&mut self, space: Option<&String>, sockets: Vec<TcpSocket>) {
        let look = self.looks;
        for last in sockets {
            // A connection that was made after the first look is counted from its beginning.
            let begun = match look {
                1 => last.info,
                _ => TcpInfo::default(),
            };
            let key = (space.cloned(), last.cookie);
            let known = self.known.entry(key).or_insert(Known {
                first: begun,
                last,
                look,
            });
            (known.last, known.look) = (last, look);
        }
    }

    /// Forgets closed connections without traffic, and the oldest ones beyond the limit.
    fn forget(&mut self) {
        let now = self.looks;
        let has_ended = |known: &Known| known.look < now;
        self.known
            .retain(|_, known| !has_ended(known) || known.has_moved());
        let ended = self.known.iter().filter(|(_, known)| has_ended(known));
        let mut ended: Vec<_> = ended
            .map(|(key, known)| (Reverse(known.look), key.clone()))
            .collect();
        if ended.len() > ENDED {
            ended.sort_unstable();
            for (_, key) in ended.drain(ENDED..) {
                self.known.remove(&key);
            }
        }
    }

    /// The connections with traffic.
    pub(super) fn moved(&self) -> Vec<Connection> {
        let moved = self.known.iter().filter(|(_, known)| known.has_moved());
        let mut all: Vec<_> = moved
            .map(|((space, _), known)| known.connection(space.clone()))
            .collect();
        all.sort_by_key(|one| Reverse((one.acked_bytes, one.received_bytes)));
        all
    }
}

impl Known {
    fn has_moved(&self) -> bool {
        let counts = |of: &TcpInfo| (of.bytes_acked, of.bytes_received, of.total_retrans);
        counts(&self.first) != counts(&self.last.info)
    }

    fn connection(&self, namespace: Option<String>) -> Connection {
        let (first, now) = (&self.first, &self.last.info);
        let seconds = |first: u64, now: u64| now.saturating_sub(first) as f64 / 1e6;
        let rtt_s = f64::from(now.rtt_us) / 1e6;
        let busy_s = seconds(first.busy_time_us, now.busy_time_us);
        let acked_bytes = now.bytes_acked.saturating_sub(first.bytes_acked);
        let of = u64::from(now.snd_mss);
        let window = (acked_bytes > 0 && of > 0 && busy_s >= LEAST_BUSY_S)
            .then(|| acked_bytes as f64 / busy_s * rtt_s / of as f64);
        // As in the kernel's tcp_packets_in_flight.
        let in_flight = (now.unacked + now.retrans).saturating_sub(now.sacked + now.lost);
        Connection {
            namespace,
            local: self.last.local.to_string(),
            remote: self.last.remote.to_string(),
            segment_bytes: now.snd_mss,
            acked_bytes,
            received_bytes: now.bytes_received.saturating_sub(first.bytes_received),
            sent_segments: now.data_segs_out.wrapping_sub(first.data_segs_out).into(),
            repeated_segments: now.total_retrans.wrapping_sub(first.total_retrans).into(),
            busy_s,
            receiver_limited_s: seconds(first.rwnd_limited_us, now.rwnd_limited_us),
            buffer_limited_s: seconds(first.sndbuf_limited_us, now.sndbuf_limited_us),
            effective_window_segments: window,
            in_flight_segments: in_flight,
            congestion_window_segments: now.snd_cwnd,
            delivery_rate_bps: now.delivery_rate.saturating_mul(8),
            rtt_s,
            // Before the first measurement the kernel has a value of all ones.
            min_rtt_s: (1..u32::MAX)
                .contains(&now.min_rtt_us)
                .then(|| f64::from(now.min_rtt_us) / 1e6),
        }
    }
}

/// The connections of a namespace.
fn within(is_main: bool, path: &Path) -> Result<Vec<TcpSocket>, String> {
    let own = Path::new("/proc/thread-self/ns/net");
    let is_here = is_main && same(own, path);
    if is_here {
        return tcp_sockets().map_err(|error| error.to_string());
    }
    let space = Namespace::open(path).map_err(|error| error.to_string())?;
    let asked = space.enter(tcp_sockets);
    asked
        .and_then(|sockets| sockets)
        .map_err(|error| error.to_string())
}

fn same(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let inode = |path: &Path| path.metadata().map(|of| (of.dev(), of.ino())).ok();
    inode(one).is_some() && inode(one) == inode(other)
}

fn unseen(why: String) -> Unseen {
    Unseen {
        what: "connections".to_owned(),
        why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn socket(cookie: u64, acked: u64, busy_us: u64) -> TcpSocket {
        TcpSocket {
            cookie,
            local: "10.0.0.1:1".parse().unwrap(),
            remote: "10.0.0.2:2".parse().unwrap(),
            info: TcpInfo {
                snd_mss: 1000,
                rtt_us: 100_000,
                bytes_acked: acked,
                busy_time_us: busy_us,
                min_rtt_us: u32::MAX,
                ..TcpInfo::default()
            },
        }
    }

    fn look(connections: &mut Connections, sockets: Vec<TcpSocket>) -> Vec<Connection> {
        connections.looks += 1;
        connections.take(None, sockets);
        connections.forget();
        connections.moved()
    }

    #[test]
    fn what_happened_since_the_first_look_is_counted() {
        let mut all = Connections::default();
        let first = vec![socket(1, 9000, 5_000_000), socket(2, 500, 1)];
        assert_eq!(look(&mut all, first), []);
        let second = vec![
            socket(1, 29_000, 6_000_000),
            socket(2, 500, 1),
            socket(3, 700, 0),
        ];
        let moved = look(&mut all, second);
        let [one, new] = moved.as_slice() else {
            panic!("{moved:?}")
        };
        assert_eq!((one.acked_bytes, one.busy_s), (20_000, 1.0));
        // 20 segments a second, 0.1 s a round trip.
        assert_eq!(one.effective_window_segments, Some(2.0));
        assert_eq!(one.min_rtt_s, None);
        assert_eq!(new.acked_bytes, 700, "from its own beginning");
        assert_eq!(new.effective_window_segments, None, "busy for no time");
    }

    #[test]
    fn what_ended_stays_as_last_seen_up_to_a_bound() {
        let mut all = Connections::default();
        look(&mut all, vec![socket(1, 1, 0)]);
        let many = (2..3 * ENDED as u64).map(|cookie| socket(cookie, 5, 0));
        look(&mut all, many.collect());
        let moved = look(&mut all, vec![socket(9, 6, 0)]);
        assert_eq!(moved[0].acked_bytes, 6);
        assert_eq!(all.known.len(), ENDED + 1, "those that ended last stay");
        assert!(look(&mut all, Vec::new()).len() <= ENDED);
    }
}
