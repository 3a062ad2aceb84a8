//! Turns recorded frames into series, with one clock and one origin of positions.

use coalescope_wire::Flags;

use super::lane::{LaneRecord, index};
use super::record::{Record, scaled};
use super::{Data, Fate, Frame, Lane, Series, Way};
use crate::facts::connection::Vantage;
use crate::facts::trace::Trace;
use crate::flow;
use crate::hop::Outcome;

/// Positions further apart than this have different sequence numbers: a firewall has rewritten them.
const REWRITTEN: i64 = 1 << 30;

/// The series of the lanes, which come sorted by connection and point.
pub(super) fn series(trace: &Trace, lanes: Vec<LaneRecord>) -> Vec<Series> {
    let mut series = Vec::new();
    let mut rest = lanes.into_iter().peekable();
    while let Some(first) = rest.next() {
        let slot = first.slot;
        let mut group = vec![first];
        while let Some(next) = rest.next_if(|lane| lane.slot == slot) {
            group.push(next);
        }
        series.push(one(trace, group));
    }
    series
}

fn one(trace: &Trace, group: Vec<LaneRecord>) -> Series {
    let clocks: Vec<_> = (0..group.len())
        .map(|lane| Clock::of(trace, &group, lane))
        .collect();
    let began = |(lane, clock): (&LaneRecord, &Clock)| clock.aligned_ns(lane.first_ns());
    let began_ns = group.iter().zip(&clocks).map(began).min().unwrap_or(0);
    let origins = origins(&group);
    let nearest_sender = nearest_sender(trace, &group);
    let lanes: Vec<Lane> = group
        .into_iter()
        .zip(clocks)
        .zip(origins)
        .map(|((lane, clock), origins)| {
            build(
                trace,
                lane,
                &Frames {
                    clock,
                    began_ns,
                    origins,
                },
            )
        })
        .collect();
    let first = lanes.first().map(|lane| lane.connection.clone());
    let first = first.unwrap_or_default();
    Series {
        client: first.client,
        server: first.server,
        began_s: began_ns as f64 / 1e9,
        lanes,
        nearest_sender,
    }
}

/// How a lane's own times become those of the first lane.
#[derive(Clone, Copy, Debug)]
struct Clock {
    is_aligned: bool,
    /// Nanoseconds to subtract at `at_ns`, a time by the lane's own clock.
    offset_ns: i64,
    at_ns: i64,
    /// The drift of the lane's clock, in parts of one.
    drift: f64,
}

impl Clock {
    fn of(trace: &Trace, group: &[LaneRecord], number: usize) -> Self {
        let (first, lane) = (&group[0], &group[number]);
        let at_ns = (trace.points[lane.chosen.point].first_s.unwrap_or(0.0) * 1e9) as i64;
        let mut sum = Some((0.0, 0.0));
        for pair in group[..=number].windows(2) {
            let difference = difference(trace, [&pair[0], &pair[1]]);
            sum = sum.zip(difference).map(|(a, b)| (a.0 + b.0, a.1 + b.1));
        }
        let (offset_s, ppm) = sum.unwrap_or_default();
        let unknown_ns = lane.first_ns() - first.first_ns();
        Self {
            is_aligned: sum.is_some(),
            offset_ns: sum.map_or(unknown_ns, |_| (offset_s * 1e9) as i64),
            at_ns,
            drift: ppm / 1e6,
        }
    }

    fn aligned_ns(&self, own_ns: i64) -> i64 {
        let drifted = (own_ns - self.at_ns) as f64 * self.drift;
        own_ns - self.offset_ns - drifted as i64
    }
}

/// The second lane's clock less the first one's, in seconds, and its drift, in ppm.
fn difference(trace: &Trace, lanes: [&LaneRecord; 2]) -> Option<(f64, f64)> {
    let [here, there] = lanes.map(|lane| &trace.points[lane.chosen.point].name);
    trace.hops.iter().find_map(|hop| {
        let (offset, drift) = (hop.clock_offset_s?, hop.clock_drift_ppm.unwrap_or(0.0));
        if (&hop.from, &hop.to) == (here, there) {
            Some((offset, drift))
        } else if (&hop.from, &hop.to) == (there, here) {
            Some((-offset, -drift))
        } else {
            None
        }
    })
}

/// The positions of byte 0 in each lane, by the key's ends.
fn origins(group: &[LaneRecord]) -> Vec<[u64; 2]> {
    let of = |lane: &LaneRecord| [true, false].map(|client| origin(group, lane, client));
    group
        .iter()
        .map(|lane| {
            let [client, server] = of(lane);
            if lane.client_is_low {
                [client, server]
            } else {
                [server, client]
            }
        })
        .collect()
}

/// The lane's own SYN has the origin. Without one, another lane's SYN has it, unless numbers were rewritten between the
/// two lanes; without any SYN, the lowest byte seen.
fn origin(group: &[LaneRecord], lane: &LaneRecord, from_client: bool) -> u64 {
    let half = |lane: &LaneRecord| index(lane.client_is_low == from_client);
    let own = &lane.halves[half(lane)];
    let lowest = own.lowest.unwrap_or(0);
    let other = || {
        let known = group
            .iter()
            .find_map(|other| other.halves[half(other)].first);
        known.or_else(|| {
            group
                .iter()
                .find_map(|other| other.halves[half(other)].lowest)
        })
    };
    own.first
        .or_else(|| other().and_then(|known| near(lowest, known)))
        .unwrap_or(lowest)
}

/// The position next to `here` of a byte that another lane has at `there`: lanes can differ in how often the sequence
/// numbers have wrapped.
fn near(here: u64, there: u64) -> Option<u64> {
    let ahead = i64::from((there as u32).wrapping_sub(here as u32) as i32);
    (ahead.abs() < REWRITTEN).then(|| here.wrapping_add_signed(ahead))
}

/// Turns a lane's records into frames.
struct Frames {
    clock: Clock,
    began_ns: i64,
    origins: [u64; 2],
}

fn build(trace: &Trace, mut lane: LaneRecord, frames: &Frames) -> Lane {
    let (records, left) = lane.take_frames();
    let point = &trace.points[lane.chosen.point];
    let connection = point.connections.get(lane.chosen.id).unwrap_or_default();
    let built = records.iter().map(|record| frames.frame(record, &lane));
    let mut built: Vec<Frame> = built.collect();
    // Some captures are not quite in the order of their timestamps.
    built.sort_by_key(|frame| frame.at_ns);
    let started_ns = frames.since_ns(lane.first_ns());
    let mut ways = [true, false].map(|client| way(&lane, client, started_ns));
    ways[0].is_uncut = connection.to_server.tso_frames > 0;
    ways[1].is_uncut = connection.to_client.tso_frames > 0;
    Lane {
        point: point.name.clone(),
        files: point.files.clone(),
        connection,
        is_aligned: frames.clock.is_aligned,
        frames: built,
        left,
        ways,
    }
}

fn way(lane: &LaneRecord, from_client: bool, started_ns: i64) -> Way {
    let half = &lane.halves[index(lane.client_is_low == from_client)];
    let mut rates = half.rates.clone();
    rates.start_ns = started_ns;
    Way {
        segment_size_bytes: half
            .size
            .map(|size| size.bytes)
            .filter(|_| half.lengths.iter().any(|frames| *frames > 0)),
        window_scale: half.scale,
        lengths: half.lengths,
        rates,
        ..Way::default()
    }
}

impl Frames {
    fn since_ns(&self, own_ns: i64) -> i64 {
        self.clock.aligned_ns(own_ns) - self.began_ns
    }

    fn frame(&self, record: &Record, lane: &LaneRecord) -> Frame {
        let own = index(record.from_low);
        let relative = |position: u64, way: usize| position.wrapping_sub(self.origins[way]) as i64;
        let half = &lane.halves[own];
        let segments = half.size.map_or(1, |size| size.segments(record.payload));
        Frame {
            number: record.number,
            file: record.file,
            at_ns: self.since_ns(record.time_ns),
            to_client: record.from_low != lane.client_is_low,
            start: record.position.map_or(0, |start| relative(start, own)),
            payload: record.payload,
            length: record.length,
            segments: if record.payload > 0 { segments } else { 0 },
            data: data(record),
            ack: record.ack.map(|ack| relative(ack, 1 - own)),
            window: scaled(record, half.scale),
            sack: record
                .sack
                .iter()
                .map(|(from, to)| (relative(*from, 1 - own), relative(*to, 1 - own)))
                .collect(),
            flags: record.flags.0 & Flags::ALL,
            fate: record.fate.map(fate),
        }
    }
}

fn data(record: &Record) -> Data {
    match record.data {
        flow::Data::New => Data::New,
        flow::Data::OutOfOrder if record.is_late => Data::Late,
        flow::Data::OutOfOrder => Data::OutOfOrder,
        flow::Data::Repeat => Data::Again,
        flow::Data::None | flow::Data::Probe | flow::Data::Doubled => Data::None,
    }
}

fn fate(outcome: Outcome) -> Fate {
    match outcome {
        Outcome::Arrived => Fate::Arrived,
        Outcome::Resplit | Outcome::Fragmented => Fate::Split,
        Outcome::MergedFurther => Fate::MergedFurther,
        Outcome::PartlyLost => Fate::PartlyLost,
        Outcome::Lost => Fate::Lost,
        Outcome::Missed => Fate::Missed,
        Outcome::NotJudged => Fate::NotJudged,
    }
}

/// The lanes nearest to the client, and to the server: the ends of the path. A hop's direction shows which end is
/// which; without hops, the connection's round trips do.
fn nearest_sender(trace: &Trace, group: &[LaneRecord]) -> [usize; 2] {
    let last = group.len() - 1;
    let by_hop = group.windows(2).find_map(|pair| client_first(trace, pair));
    let vantage = |lane: &LaneRecord| {
        let connections = &trace.points[lane.chosen.point].connections;
        connections.get(lane.chosen.id).map(|found| found.vantage)
    };
    let first = vantage(&group[0]);
    match by_hop.or(first.map(|vantage| vantage != Vantage::Server)) {
        Some(false) => [last, 0],
        _ => [0, last],
    }
}

fn client_first(trace: &Trace, pair: &[LaneRecord]) -> Option<bool> {
    let [first, second] = pair else { return None };
    let name = |lane: &LaneRecord| trace.points[lane.chosen.point].name.as_str();
    trace.hops.iter().find_map(|hop| {
        let is_forth = (hop.from.as_str(), hop.to.as_str()) == (name(first), name(second));
        let id = if is_forth { first } else { second }.chosen.id;
        let is_back = (hop.from.as_str(), hop.to.as_str()) == (name(second), name(first));
        let seen = hop.connections.iter().find(|seen| seen.from_id == id)?;
        (is_forth || is_back).then_some(is_forth == (seen.direction == "to_server"))
    })
}
