//! Facts as records: their columns have the names of the JSON, and hold everything that a diagnosis needs.

use std::net::IpAddr;

use arrow_array::{Array, ArrayRef};
use arrow_schema::ArrowError;
use arrow_schema::{DataType, Field};
use coalescope_capture::facts::{
    Amid, Blocked, Connection, DatagramHop, Direction, Endpoint, Examples, Fate, Hop,
    HopConnection, Left, Length, Lengths, Loser, Outcomes, Phases, Rejected, Repeats, Slot, Strip,
    Vantage,
};

use crate::cells::{Cell, Record, records, texts};

/// Words in some columns of facts, each with its own meaning.
const WORDS: [&str; 11] = [
    "ipv4",
    "ipv6",
    "syn",
    "syn-ack",
    "fin",
    "rst",
    "handshake",
    "sequence numbers",
    "payload",
    "to_client",
    "to_server",
];

const VANTAGES: [(Vantage, &str); 4] = [
    (Vantage::Client, "client"),
    (Vantage::Server, "server"),
    (Vantage::Between, "between"),
    (Vantage::Unknown, "unknown"),
];

fn word(text: &str) -> Option<&'static str> {
    WORDS.into_iter().find(|word| *word == text)
}

fn same(word: &&'static str) -> &'static str {
    word
}

fn vantage_word(vantage: &Vantage) -> &'static str {
    let known = VANTAGES.iter().find(|(known, _)| known == vantage);
    known.map_or("unknown", |(_, word)| word)
}

fn vantage(text: &str) -> Option<Vantage> {
    let known = VANTAGES.iter().find(|(_, word)| *word == text);
    known.map(|(vantage, _)| *vantage)
}

texts! {
    &'static str: same, word;
    Vantage: vantage_word, vantage;
}

impl Cell for Lengths {
    fn data_type() -> DataType {
        Vec::<Length>::data_type()
    }

    fn array<'a>(cells: impl Iterator<Item = &'a Self> + Clone) -> Result<ArrayRef, ArrowError> {
        let lists: Vec<Vec<Length>> = cells.map(|all| all.iter().copied().collect()).collect();
        Vec::array(lists.iter())
    }

    fn get(column: &dyn Array, at: usize) -> Option<Self> {
        let mut lengths = Self::default();
        for length in Vec::get(column, at)? {
            lengths.add_these(length);
        }
        Some(lengths)
    }
}

/// A point, as seen by one call.
#[derive(Clone, Debug, Default)]
pub(crate) struct PointFacts {
    /// Its number in path order.
    pub(crate) point: u16,
    pub(crate) name: String,
    /// The one shard that was followed; none if all were followed together.
    pub(crate) shard: Option<u32>,
    pub(crate) files: Vec<String>,
    pub(crate) link_types: Vec<String>,
    pub(crate) frames: u64,
    pub(crate) bytes: u64,
    pub(crate) tcp_frames: u64,
    pub(crate) udp_bytes: u64,
    pub(crate) first_s: Option<f64>,
    pub(crate) last_s: Option<f64>,
    pub(crate) unreadable_bytes: u64,
    pub(crate) unparsed_frames: u64,
    pub(crate) unknown_link_frames: u64,
    pub(crate) doubled_frames: u64,
    pub(crate) waiting_frames: u64,
    pub(crate) warnings: Vec<String>,
}

/// The place where a connection was followed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Followed {
    /// Its point's number in path order.
    pub(crate) point: u16,
    pub(crate) point_name: String,
    /// The one shard that was followed; none if all were followed together.
    pub(crate) shard: Option<u32>,
    /// Number of its first frame, counted through all files of its point; 0 if all shards were followed together.
    pub(crate) first_place: u64,
}

/// A connection and its place: columns of both in one table.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) followed: Followed,
    pub(crate) facts: Connection,
}

impl Record for Placed {
    fn fields() -> Vec<Field> {
        [Followed::fields(), Connection::fields()].concat()
    }

    fn columns<'a>(
        records: impl Iterator<Item = &'a Self> + Clone,
    ) -> Result<Vec<ArrayRef>, ArrowError> {
        let mut columns = Followed::columns(records.clone().map(|placed| &placed.followed))?;
        columns.extend(Connection::columns(records.map(|placed| &placed.facts))?);
        Ok(columns)
    }

    fn nth(columns: &[ArrayRef], at: usize) -> Option<Self> {
        let (followed, facts) = columns.split_at_checked(Followed::COLUMNS)?;
        Some(Self {
            followed: Followed::nth(followed, at)?,
            facts: Connection::nth(facts, at)?,
        })
    }
}

impl Followed {
    /// The number of columns.
    const COLUMNS: usize = 4;
}

records! {
    PointFacts {
        point: u16, name: String, shard: Option<u32>, files: Vec<String>, link_types: Vec<String>, frames: u64,
        bytes: u64, tcp_frames: u64, udp_bytes: u64, first_s: Option<f64>, last_s: Option<f64>,
        unreadable_bytes: u64, unparsed_frames: u64, unknown_link_frames: u64, doubled_frames: u64,
        waiting_frames: u64, warnings: Vec<String>,
    }
    Followed { point: u16, point_name: String, shard: Option<u32>, first_place: u64 }
    Endpoint { address: IpAddr, port: u16 }
    Phases {
        connect_s: Option<f64>, tls_s: Option<f64>, first_byte_s: Option<f64>, transfer_s: Option<f64>,
    }
    Fate { passed: u64, lost: u64 }
    Amid { resumed_ns: Option<i64>, last_lost_ns: Option<i64>, spared: bool }
    Length { bytes: u32, passed: u32, lost: u32, partly: u32 }
    Repeats {
        merged: u64, merged_repeated: u64, tso: u64, tso_repeated: u64, single: u64, single_repeated: u64,
        odds_ratio: Option<f64>, p_value: Option<f64>,
    }
    Rejected { merged: u64, single: u64, mtu_bytes: Option<u32> }
    Examples {
        merged: Vec<u64>, merged_repeated: Vec<u64>, retransmitted: Vec<u64>, out_of_order: Vec<u64>,
        zero_windows: Vec<u64>, rejected: Vec<u64>,
    }
    Direction {
        frames: u64, data_frames: u64, payload_bytes: u64, unique_bytes: u64, segment_size_bytes: Option<u32>,
        merged_frames: u64, tso_frames: u64, merge_factor_mean: Option<f64>, merge_factor_max: Option<u32>,
        merge_factor_histogram: [u32; 8], retransmitted_frames: u64, retransmitted_bytes: u64,
        retransmitted_fast: u64, retransmitted_timeout: u64, retransmitted_spurious: u64, keep_alives: u64,
        out_of_order_frames: u64, late_frames: u64, missed_bytes: u64, duplicate_acks: u64, sack_frames: u64,
        zero_windows: u64, window_max_bytes: Option<u64>, window_mean_bytes: Option<u64>,
        window_scale_inferred: Option<u16>, acks: u64,
        segments_per_ack: Option<f64>, throughput_bps: Option<f64>, duration_s: Option<f64>,
        rtt_min_s: Option<f64>, rtt_median_s: Option<f64>, ack_wait_s: Option<f64>,
        effective_window_segments: Option<f64>, never_came_bytes: u32, sender_idle_s: f64, window_closed_s: f64,
        window_limited_s: f64, window_growing_s: f64, near_frames: u64, gaps_s: f64, gaps: u64, gaps_are_timeouts: bool, silent_s: f64,
        holes: u32, single_holes: u32, least_hole_bytes: Option<u32>, repair_s: Option<f64>, stuck_timeouts: u64,
        stuck_places: u64, stuck_s: f64, stuck_bytes: Option<u32>, timeouts_after_ack: u64,
        timeouts_after_ack_s: f64, longest_delivered_bytes: Option<u32>, fell_from_bytes: Option<u32>,
        longest_unknown_bytes: Option<u32>,
        repeats: Repeats, by_length: Lengths, full: Fate, full_again: Fate, amid: Amid,
        rejected: Rejected, examples: Option<Box<Examples>>,
    }
    Connection {
        id: u64, network: &'static str, tunnel: Option<String>, vlans: Vec<u16>, client: Endpoint,
        server: Endpoint, vantage: Vantage, mss_client_bytes: Option<u16>, mss_server_bytes: Option<u16>,
        handshake_rtt_s: Option<f64>, first_s: f64, last_s: f64, first_frame: u64, seen: Vec<&'static str>,
        phases: Phases, to_server: Direction, to_client: Direction,
    }
    Outcomes {
        seen: u64, arrived: u64, lost: u64, resplit: u64, merged_further: u64, fragmented: u64,
        partly_lost: u64, missed: u64, not_judged: u64,
    }
    HopConnection {
        from_id: u64, to_id: u64, in_turn_as: u32, matched_by: &'static str, direction: &'static str, merged: Outcomes,
        tso: Outcomes, single: Outcomes, merged_lost_frames: Vec<u64>, single_lost_frames: Vec<u64>,
        merged_arrived_frames: Vec<u64>, by_length: Lengths, together: Lengths, full: Fate, amid: Amid,
    }
    Loser { from_id: u64, to_id: u64, lost: u64, judged: u64 }
    Blocked { merged: u64, single: u64 }
    Left { ns: i64, connection: u32, bytes: u32, ahead: u32, merged: bool, lost: bool }
    Slot { merged_lost: u32, other_lost: u32, merged_arrived: u32, single_arrived: u32 }
    Strip { slot_s: f64, slots: Vec<Slot> }
    Hop {
        from: String, to: String, connections_matched: u64, clock_offset_s: Option<f64>,
        clock_drift_ppm: Option<f64>, delay_min_s: Option<f64>, delay_median_s: Option<f64>,
        delay_spread_s: Option<f64>, reordered: u64, merged: Outcomes, tso: Outcomes, single: Outcomes,
        lone: Outcomes, odds_ratio: Option<f64>, p_value: Option<f64>, connections: Vec<HopConnection>,
        losers: Vec<Loser>, by_length: Lengths, blocked: Blocked, together: Lengths, full: Fate, rested: Vec<Fate>, amid: Amid,
        in_turn: Vec<Left>, strip: Strip,
    }
    DatagramHop {
        from: String, to: String, merged: Outcomes, single: Outcomes, odds_ratio: Option<f64>,
        p_value: Option<f64>, server: Option<Endpoint>, merged_lost_frames: Vec<u64>,
        merged_arrived_frames: Vec<u64>, single_lost_frames: Vec<u64>, by_length: Lengths, together: Lengths,
        full: Fate, amid: Amid,
    }
}
