//! One connection at one point.

use std::net::{IpAddr, Ipv4Addr};

use schemars::JsonSchema;
use serde::Serialize;

use crate::fisher::odds_and_p;
use crate::lengths::{Fate, Lengths};
use crate::passes::Amid;

/// One end of a connection.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, JsonSchema)]
pub struct Endpoint {
    /// Address.
    pub address: IpAddr,
    /// Port.
    pub port: u16,
}

impl Default for Endpoint {
    fn default() -> Self {
        Self {
            address: Ipv4Addr::UNSPECIFIED.into(),
            port: 0,
        }
    }
}

/// Where a point stands for a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Vantage {
    /// At the client.
    Client,
    /// At the server.
    Server,
    /// Between the two.
    Between,
    /// The capture does not tell.
    #[default]
    Unknown,
}

/// The phases that curl prints, in seconds.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct Phases {
    /// SYN to the client's ACK.
    pub connect_s: Option<f64>,
    /// From there to the end of the TLS handshake.
    pub tls_s: Option<f64>,
    /// From the end of TLS (or of the TCP handshake) to the first byte of the answer.
    pub first_byte_s: Option<f64>,
    /// From the first byte of the answer to its last.
    pub transfer_s: Option<f64>,
}

/// One connection at one point.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Connection {
    /// Its number at this point, from 0.
    pub id: u64,
    /// `ipv4` or `ipv6`.
    pub network: &'static str,
    /// Tunnel layers it came in, such as `vxlan 42`, outermost first.
    pub tunnel: Option<String>,
    /// VLAN ids, outermost first.
    pub vlans: Vec<u16>,
    /// The end that sent the SYN (or, without one, has the higher port).
    pub client: Endpoint,
    /// The other end.
    pub server: Endpoint,
    /// Where this point stands.
    pub vantage: Vantage,
    /// MSS in the client's SYN, in bytes.
    pub mss_client_bytes: Option<u16>,
    /// MSS in the server's SYN-ACK, in bytes.
    pub mss_server_bytes: Option<u16>,
    /// SYN to the client's ACK, in seconds: one round trip of the whole path from any point.
    pub handshake_rtt_s: Option<f64>,
    /// First frame, seconds since 1970.
    pub first_s: f64,
    /// Last frame, seconds since 1970.
    pub last_s: f64,
    /// First frame's number in its file.
    pub first_frame: u64,
    /// SYN, FIN or RST seen: `syn`, `syn-ack`, `fin`, `rst`.
    pub seen: Vec<&'static str>,
    /// The phases that curl prints.
    pub phases: Phases,
    /// What went to the server.
    pub to_server: Direction,
    /// What went to the client.
    pub to_client: Direction,
}

impl Connection {
    /// The direction of that name, `to_client` or `to_server`, as hops and limits name it.
    #[must_use]
    pub fn direction(&self, name: &str) -> &Direction {
        if name == "to_client" {
            &self.to_client
        } else {
            &self.to_server
        }
    }
}

/// One direction of one connection at one point.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Direction {
    /// Frames.
    pub frames: u64,
    /// Frames with payload.
    pub data_frames: u64,
    /// Payload bytes, repeats included.
    pub payload_bytes: u64,
    /// Payload bytes, each once.
    pub unique_bytes: u64,
    /// Segment size in bytes: what one wire packet of this direction carries at most.
    pub segment_size_bytes: Option<u32>,
    /// Frames that carry more than one segment and were merged on the way here.
    pub merged_frames: u64,
    /// Frames that carry more than one segment because the sender had not cut them yet.
    pub tso_frames: u64,
    /// Segments per data frame, mean.
    pub merge_factor_mean: Option<f64>,
    /// Segments in the largest frame.
    pub merge_factor_max: Option<u32>,
    /// Data frames by segments carried: 1, 2, 3-4, 5-8, 9-16, 17-32, 33-64, more.
    pub merge_factor_histogram: [u32; 8],
    /// Frames of which every payload byte had been seen before here; keep-alives and frames
    /// captured twice are not among them.
    pub retransmitted_frames: u64,
    /// Payload bytes seen before.
    pub retransmitted_bytes: u64,
    /// Of the retransmitted: after three duplicate ACKs, or SACK.
    pub retransmitted_fast: u64,
    /// Of the retransmitted: after a retransmission timeout.
    pub retransmitted_timeout: u64,
    /// Of the retransmitted: reported as unnecessary by D-SACK (RFC 2883).
    pub retransmitted_spurious: u64,
    /// Keep-alives (RFC 9293, 3.8.4).
    pub keep_alives: u64,
    /// Frames with new bytes from below the highest sequence number seen.
    pub out_of_order_frames: u64,
    /// Of those: sent after what came before them, by their stamps, or else more than a round trip late: lost before this point and
    /// sent again.
    pub late_frames: u64,
    /// Bytes that the receiver acknowledged and this capture never had.
    pub missed_bytes: u64,
    /// Duplicate ACKs (RFC 5681) going in this direction.
    pub duplicate_acks: u64,
    /// Frames with SACK blocks going in this direction.
    pub sack_frames: u64,
    /// Frames going in this direction that advertise a window of zero.
    pub zero_windows: u64,
    /// Largest window advertised by frames going in this direction, in bytes, scaled.
    pub window_max_bytes: Option<u64>,
    /// Mean window advertised by frames going in this direction, in bytes, scaled.
    pub window_mean_bytes: Option<u64>,
    /// Scale of these windows (a shift) where no handshake shows one: the only one that data and windows leave possible,
    /// or the least that the window of the SYN suggests.
    pub window_scale_inferred: Option<u16>,
    /// Frames without payload going in this direction that only acknowledge.
    pub acks: u64,
    /// Segments of this direction for each such ACK of the other.
    pub segments_per_ack: Option<f64>,
    /// Payload bits per second from the first data frame to the last.
    pub throughput_bps: Option<f64>,
    /// From the first data frame to the last, in seconds.
    pub duration_s: Option<f64>,
    /// Round trip of the whole path, smallest, in seconds.
    pub rtt_min_s: Option<f64>,
    /// Round trip of the whole path, median, in seconds.
    pub rtt_median_s: Option<f64>,
    /// How much longer than at least acknowledgments alone took on their way in the middle, by the clocks of both ends
    /// (TSval). For the judgment alone.
    #[serde(skip)]
    pub ack_wait_s: Option<f64>,
    /// throughput x smallest RTT / segment size.
    pub effective_window_segments: Option<f64>,
    /// Payload bytes that sequence numbers show to have been sent, where no data came and none is acknowledged. For the judgment alone.
    #[serde(skip)]
    pub never_came_bytes: u32,
    /// Time in which all data was acknowledged and the sender had announced no more, beyond one
    /// round trip each, in seconds.
    pub sender_idle_s: f64,
    /// Time in which the receiver's window was closed, in seconds.
    pub window_closed_s: f64,
    /// Time in which the sender was within a segment of the window's right edge, in seconds.
    pub window_limited_s: f64,
    /// The part of that before the window had grown to half of its largest. For the judgment alone.
    #[serde(skip)]
    pub window_growing_s: f64,
    /// Data frames within 100 us of the one before, near enough to be merged with it.
    pub near_frames: u64,
    /// Time in gaps between data frames that are as long as a timeout though the sender was not idle,
    /// in seconds.
    pub gaps_s: f64,
    /// How many there were. For the judgment alone.
    #[serde(skip)]
    pub gaps: u64,
    /// Whether the gaps are known to be longer than a round trip, without a round trip that is known: behind one of them came one
    /// segment, and more soon after that was acknowledged. For the judgment alone.
    #[serde(skip)]
    pub gaps_are_timeouts: bool,
    /// Time in silences between data frames about as long as what the median round trip takes more than the
    /// smallest, or longer: a queue would have run empty. For the judgment alone.
    #[serde(skip)]
    pub silent_s: f64,
    /// Data frames beyond bytes that were not seen before. For the judgment alone.
    #[serde(skip)]
    pub holes: u32,
    /// How many of these were one segment. For the judgment alone.
    #[serde(skip)]
    pub single_holes: u32,
    /// The fewest such bytes. For the judgment alone.
    #[serde(skip)]
    pub least_hole_bytes: Option<u32>,
    /// Shortest time from a loss to its repair: about a round trip, where acknowledgments tell the sender.
    /// For the judgment alone.
    #[serde(skip)]
    pub repair_s: Option<f64>,
    /// Most timeouts in a row on the same bytes.
    pub stuck_timeouts: u64,
    /// Places in the stream at which two timeouts in a row and more were on the same bytes. For the judgment
    /// alone.
    #[serde(skip)]
    pub stuck_places: u64,
    /// Time waited for timeouts on bytes that had two in a row and more, in seconds.
    pub stuck_s: f64,
    /// Payload of the longest frame that had two timeouts in a row and more, in bytes.
    pub stuck_bytes: Option<u32>,
    /// Timeouts after which the sender repeated only bytes whose acknowledgment had passed this point before: it was
    /// lost, or came late, on its way from here.
    pub timeouts_after_ack: u64,
    /// Time waited for them, in seconds.
    pub timeouts_after_ack_s: f64,
    /// Payload of the longest frame that arrived, sent for the first time or again, as far as acknowledged; 65,535 for
    /// that and more.
    pub longest_delivered_bytes: Option<u32>,
    /// A full segment before the sender went on with far smaller ones, as it does where none of that size arrives. For the
    /// judgment alone.
    #[serde(skip)]
    pub fell_from_bytes: Option<u32>,
    /// Payload of the longest frame over a segment of Ethernet, where the segment size is not known. For the
    /// judgment alone.
    #[serde(skip)]
    pub longest_unknown_bytes: Option<u32>,
    /// What became of first transmissions, by what was sent again (single-point inference).
    pub repeats: Repeats,
    /// The same of frames of several segments, merged or TSO, by length: for the judgment alone.
    #[serde(skip)]
    pub by_length: Lengths,
    /// Single frames about as long as a segment that were sent for the first time.
    #[serde(skip)]
    pub full: Fate,
    /// The same of those that were sent again.
    #[serde(skip)]
    pub full_again: Fate,
    /// Where full single frames that were sent again arrived, while merged ones (or TSO frames) were being lost.
    #[serde(skip)]
    pub amid: Amid,
    /// Merged frames that an ICMP "packet too big" quoted although one segment would have fitted.
    pub rejected: Rejected,
    /// Frame numbers of examples, where there are any.
    pub examples: Option<Box<Examples>>,
}

impl Direction {
    /// Counts frames that were taken for TSO frames as merged frames.
    pub(crate) fn call_merged(&mut self) {
        self.merged_frames += std::mem::take(&mut self.tso_frames);
        let repeats = &mut self.repeats;
        repeats.merged += std::mem::take(&mut repeats.tso);
        repeats.merged_repeated += std::mem::take(&mut repeats.tso_repeated);
        (repeats.odds_ratio, repeats.p_value) = odds_and_p([
            repeats.merged_repeated,
            repeats.merged - repeats.merged_repeated,
            repeats.single_repeated,
            repeats.single - repeats.single_repeated,
        ]);
    }

    /// Frame numbers of one sort of examples.
    #[must_use]
    pub fn frames_of(&self, sort: fn(&Examples) -> &Vec<u64>) -> &[u64] {
        self.examples
            .as_deref()
            .map_or(&[], |examples| sort(examples))
    }
}

/// First transmissions at one point, by whether all their bytes had to be sent again.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct Repeats {
    /// Merged (not TSO) frames whose fate is known.
    pub merged: u64,
    /// Of them, sent again entirely.
    pub merged_repeated: u64,
    /// TSO frames whose fate is known.
    pub tso: u64,
    /// Of them, sent again entirely.
    pub tso_repeated: u64,
    /// Single frames whose fate is known.
    pub single: u64,
    /// Of them, sent again.
    pub single_repeated: u64,
    /// Odds ratio of "sent again" for merged against single frames.
    pub odds_ratio: Option<f64>,
    /// Fisher's exact test, two-sided.
    pub p_value: Option<f64>,
}

/// Frames that ICMP "packet too big" messages quoted.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct Rejected {
    /// Messages that quote a merged frame of this direction whose segments would have fitted.
    pub merged: u64,
    /// Messages that quote a frame of one segment: ordinary path MTU discovery (RFC 1191, RFC 8201).
    pub single: u64,
    /// The MTU named last, in bytes.
    pub mtu_bytes: Option<u32>,
}

/// Frame numbers to open in Wireshark; a few of each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Examples {
    /// Merged or TSO frames.
    pub merged: Vec<u64>,
    /// Merged or TSO frames whose bytes were all sent again.
    pub merged_repeated: Vec<u64>,
    /// Retransmissions.
    pub retransmitted: Vec<u64>,
    /// Out-of-order frames.
    pub out_of_order: Vec<u64>,
    /// Zero windows sent.
    pub zero_windows: Vec<u64>,
    /// ICMP messages.
    pub rejected: Vec<u64>,
}
