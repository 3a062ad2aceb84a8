//! The facts of one connection, from its followed state.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU32;

use coalescope_wire::{Tunnel, Tunnels, Vlans};

use crate::connection::{Connection, HIGH, LOW};
use crate::facts::connection::{self, Direction, Endpoint, Examples, Rejected, Repeats, Vantage};
use crate::fisher::odds_and_p;
use crate::flow::Flow;
use crate::lengths::Fate;
use crate::tally::Multi;
use crate::vantage::is_uncut;

/// The facts of a finished connection.
pub(crate) fn connection(id: u64, connection: &Connection) -> connection::Connection {
    let vantage = connection.halves().vantage();
    let (client, server) = if connection.client_is_low {
        (LOW, HIGH)
    } else {
        (HIGH, LOW)
    };
    let rtt = RoundTrip::of(connection, client, server);
    let to_server = direction(connection, client, vantage == Vantage::Client, &rtt);
    let to_client = direction(connection, server, vantage == Vantage::Server, &rtt);
    let ends = connection.key.ends();
    let version = connection.key.version();
    connection::Connection {
        id,
        network: if version == 4 { "ipv4" } else { "ipv6" },
        tunnel: connection
            .layers
            .as_ref()
            .and_then(|layers| tunnel(&layers.1)),
        vlans: connection
            .layers
            .as_ref()
            .map(|layers| vlans(&layers.0))
            .unwrap_or_default(),
        client: endpoint(ends[client], version),
        server: endpoint(ends[server], version),
        vantage,
        mss_client_bytes: connection.handshake.syn.and_then(|syn| syn.mss),
        mss_server_bytes: connection.handshake.syn_ack.and_then(|syn| syn.mss),
        handshake_rtt_s: connection.handshake.rtt_ns().map(seconds),
        first_s: seconds(connection.first_ns),
        last_s: seconds(connection.last_ns),
        first_frame: connection.first_number,
        seen: seen(connection),
        phases: connection.phases.facts(),
        to_server,
        to_client,
    }
}

/// Round trips.
struct RoundTrip {
    /// 0 if it is not known.
    min_ns: i64,
    min_s: Option<f64>,
    median_s: Option<f64>,
    /// By how much the median exceeds the smallest, as in a queue.
    longer_ns: i64,
    /// By how much the medians of its parts exceed the smallest, by the flow whose frames are answered; see
    /// [`crate::rtt`].
    extra_ns: [Option<[i64; 2]>; 2],
}

impl RoundTrip {
    /// By how much the median delay of acknowledgments exceeds the smallest. Up to here: of those that answer data of a
    /// flow. From here on: of those that data answers.
    fn ack_wait_s(&self, data: usize) -> Option<f64> {
        let (here, on) = (self.extra_ns[data], self.extra_ns[1 - data]);
        let known = here.or(on).is_some();
        let here = here.map_or(0, |[_, back]| back);
        let on = on.map_or(0, |[there, _]| there);
        known.then(|| seconds(here + on))
    }

    /// Where only one half of the path is known, the whole is not.
    fn of(connection: &Connection, client: usize, server: usize) -> Self {
        let halves = connection.halves();
        let extra_ns = connection.flows.each_ref().map(|flow| flow.turn.extra_ns());
        let Some(min) = halves.whole_ns() else {
            return Self {
                min_ns: 0,
                min_s: None,
                median_s: None,
                longer_ns: 0,
                extra_ns,
            };
        };
        let median = |flow: usize| connection.flows[flow].turn.median_ns();
        let median = match (median(client), median(server)) {
            (Some(a), Some(b)) => a + b,
            (Some(a), None) => a + halves.to_client_ns.unwrap_or(0),
            (None, Some(b)) => b + halves.to_server_ns.unwrap_or(0),
            (None, None) => min,
        };
        Self {
            min_ns: min,
            min_s: Some(seconds(min)),
            median_s: Some(seconds(median.max(min))),
            longer_ns: (median - min).max(0),
            extra_ns,
        }
    }
}

fn direction(connection: &Connection, index: usize, at_sender: bool, rtt: &RoundTrip) -> Direction {
    let acks = connection.flows[1 - index].acks.pure;
    let window_closed_s = seconds(connection.flows[1 - index].acks.closed().closed_ns);
    let flow = &connection.flows[index];
    let uncut = is_uncut(flow, at_sender);
    let (counts, odd) = (&flow.counts, flow.tally.odd());
    let fates = flow.tally.fates();
    let (multi, size) = (flow.tally.multi(), flow.tally.size());
    let throughput_bps = throughput(flow);
    let waits = flow.waits(rtt.min_ns);
    Direction {
        frames: counts.frames,
        data_frames: counts.data_frames,
        payload_bytes: counts.payload_bytes,
        unique_bytes: flow.unique_bytes(),
        segment_size_bytes: size
            .map(|size| size.bytes)
            .filter(|_| counts.data_frames > 0),
        merged_frames: if uncut { 0 } else { multi.frames },
        tso_frames: if uncut { multi.frames } else { 0 },
        merge_factor_mean: ratio(multi.segments_of(counts.data_frames), counts.data_frames),
        merge_factor_max: (counts.data_frames > 0).then_some(multi.max.max(1)),
        merge_factor_histogram: histogram(&multi, counts.data_frames),
        retransmitted_frames: u64::from(odd.retransmitted),
        retransmitted_bytes: odd.repeated_bytes,
        retransmitted_fast: u64::from(odd.fast),
        retransmitted_timeout: u64::from(odd.timeout),
        retransmitted_spurious: u64::from(odd.spurious),
        keep_alives: u64::from(odd.keep_alives),
        out_of_order_frames: u64::from(odd.out_of_order),
        late_frames: u64::from(odd.late),
        missed_bytes: flow.missed_bytes(),
        duplicate_acks: u64::from(flow.acks.duplicates),
        sack_frames: u64::from(flow.acks.sack_frames),
        zero_windows: u64::from(flow.acks.closed().zero_windows),
        window_max_bytes: flow.acks.scale().map(|_| u64::from(flow.acks.window_max)),
        window_mean_bytes: flow.acks.scale().and(flow.acks.window_mean()),
        window_scale_inferred: connection.inferred_scale(index).map(u16::from),
        acks: u64::from(flow.acks.pure),
        segments_per_ack: segments_per_ack(&multi, counts.data_frames, acks),
        throughput_bps,
        duration_s: (counts.data_frames > 0)
            .then(|| seconds((flow.last_data_ns - flow.first_data_ns).max(0))),
        rtt_min_s: rtt.min_s,
        rtt_median_s: rtt.median_s,
        ack_wait_s: rtt.ack_wait_s(index),
        effective_window_segments: throughput_bps
            .zip(rtt.min_s.filter(|rtt| *rtt > 0.0))
            .zip(size)
            .map(|((bps, rtt), size)| bps / 8.0 * rtt / f64::from(size.bytes)),
        never_came_bytes: flow.never_came(connection.waited_ns(index)),
        sender_idle_s: seconds(flow.idle_ns),
        window_closed_s,
        window_limited_s: seconds(connection.held_back_ns(index)),
        window_growing_s: seconds(flow.edge_growing_ns()),
        near_frames: u64::from(counts.near),
        gaps_s: seconds(waits.ns),
        gaps: u64::from(waits.count),
        silent_s: seconds(flow.silent_ns(rtt.longer_ns)),
        holes: odd.holes,
        single_holes: odd.single_holes,
        least_hole_bytes: (odd.holes > 0).then_some(odd.least_hole),
        gaps_are_timeouts: flow.knows_turn(),
        repair_s: (odd.repair_ns > 0).then(|| seconds(odd.repair_ns)),
        stuck_timeouts: u64::from(odd.stuck.most),
        stuck_places: u64::from(odd.stuck.places),
        stuck_s: seconds(odd.stuck.waited_ns),
        stuck_bytes: (odd.stuck.length > 0).then_some(odd.stuck.length),
        timeouts_after_ack: u64::from(odd.unheard.waits.count),
        timeouts_after_ack_s: seconds(odd.unheard.waits.ns),
        longest_delivered_bytes: flow.longest.bytes(),
        fell_from_bytes: flow
            .tally
            .size()
            .and_then(|size| size.before)
            .map(NonZeroU32::get),
        longest_unknown_bytes: (odd.longest_unknown > 0).then_some(odd.longest_unknown),
        repeats: repeats(flow, uncut),
        by_length: flow.tally.by_length(),
        full: Fate::new(fates.full, fates.full_repeated),
        full_again: Fate::new(odd.retried, odd.retried_in_vain),
        amid: flow.tally.amid(flow.first_data_ns),
        rejected: rejected(flow),
        examples: flow.tally.known_examples().and_then(listed),
    }
}

/// Bits of unique payload over the time from the first data frame to the last.
fn throughput(flow: &Flow) -> Option<f64> {
    let duration_ns = flow.last_data_ns - flow.first_data_ns;
    (flow.counts.data_frames > 1 && duration_ns > 0)
        .then(|| flow.unique_bytes() as f64 * 8e9 / duration_ns as f64)
}

/// Data frames by segments carried; the first are the single ones.
fn histogram(multi: &Multi, data_frames: u64) -> [u32; 8] {
    let single = data_frames.saturating_sub(multi.frames);
    let mut histogram = [u32::try_from(single).unwrap_or(u32::MAX); 8];
    for (all, several) in histogram[1..].iter_mut().zip(multi.histogram) {
        *all = several;
    }
    histogram
}

fn segments_per_ack(multi: &Multi, data_frames: u64, acks: u32) -> Option<f64> {
    if data_frames == 0 {
        None
    } else {
        ratio(multi.segments_of(data_frames), u64::from(acks))
    }
}

fn repeats(flow: &Flow, uncut: bool) -> Repeats {
    let fates = flow.tally.fates();
    let (multi, multi_repeated) = (u64::from(fates.multi), u64::from(fates.multi_repeated));
    let (single, single_repeated) = (u64::from(fates.single), u64::from(fates.single_repeated));
    let mut repeats = Repeats {
        single,
        single_repeated,
        ..Repeats::default()
    };
    if uncut {
        (repeats.tso, repeats.tso_repeated) = (multi, multi_repeated);
        return repeats;
    }
    (repeats.merged, repeats.merged_repeated) = (multi, multi_repeated);
    (repeats.odds_ratio, repeats.p_value) = odds_and_p([
        multi_repeated,
        multi - multi_repeated,
        single_repeated,
        single - single_repeated,
    ]);
    repeats
}

fn rejected(flow: &Flow) -> Rejected {
    let counts = flow.tally.odd();
    let any = counts.rejected_merged + counts.rejected_single > 0;
    Rejected {
        merged: u64::from(counts.rejected_merged),
        single: u64::from(counts.rejected_single),
        mtu_bytes: any.then_some(counts.rejected_mtu),
    }
}

fn listed(examples: &crate::tally::Examples) -> Option<Box<Examples>> {
    let listed = Examples {
        merged: examples.multi.clone(),
        merged_repeated: examples.multi_repeated.clone(),
        retransmitted: examples.retransmitted.clone(),
        out_of_order: examples.out_of_order.clone(),
        zero_windows: examples.zero_windows.clone(),
        rejected: examples.rejected.clone(),
    };
    (listed != Examples::default()).then(|| Box::new(listed))
}

fn seen(connection: &Connection) -> Vec<&'static str> {
    let handshake = &connection.handshake;
    [
        (handshake.syn.is_some(), "syn"),
        (handshake.syn_ack.is_some(), "syn-ack"),
        (connection.flows.iter().any(|flow| flow.fin), "fin"),
        (connection.reset, "rst"),
    ]
    .into_iter()
    .filter_map(|(seen, name)| seen.then_some(name))
    .collect()
}

pub(crate) fn endpoint((address, port): (u128, u16), version: u8) -> Endpoint {
    let address = if version == 4 {
        Ipv4Addr::from(address as u32).into()
    } else {
        Ipv6Addr::from(address).into()
    };
    Endpoint { address, port }
}

fn vlans(vlans: &Vlans) -> Vec<u16> {
    let kept = usize::from(vlans.count).min(vlans.tci.len());
    vlans.tci[..kept].iter().map(|tci| tci & 0xfff).collect()
}

fn tunnel(tunnels: &Tunnels) -> Option<String> {
    let names: Vec<String> = tunnels
        .layers
        .iter()
        .flatten()
        .map(Tunnel::to_string)
        .collect();
    (!names.is_empty()).then(|| names.join(", "))
}

fn ratio(a: u64, b: u64) -> Option<f64> {
    (b > 0).then(|| a as f64 / b as f64)
}

pub(crate) fn seconds(ns: i64) -> f64 {
    ns as f64 / 1e9
}
