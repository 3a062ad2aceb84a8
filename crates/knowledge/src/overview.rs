//! One pass over all connections: the facts of each are made for it and dropped, except for the few that the judgment
//! needs again.

use std::sync::Arc;

use coalescope_capture::facts::{Connection, Direction, Point, Trace};

use crate::arrived::{arrived_at, is_only_late, is_overtaken};
use crate::crossing::Crossing;
use crate::datagrams;
use crate::excess::Excess;
use crate::limits::{ConnectionLimit, Limit, limit_of};
use crate::loss::Kind;
use crate::pooled::{Pattern, Pools};
use crate::short::Short;
use crate::thresholds::LARGEST_PACKET;
use crate::traffic::{Own, Traffic};
use crate::unanswered::Unanswered;
use crate::unarrived::Unarrived;

/// What all points show.
pub(crate) struct Overview<'t> {
    hops: Vec<Crossing<'t>>,
    points: Vec<Seen>,
    merged_on_hops: u64,
    /// Hops show merged frames that came through.
    passes_on_hops: bool,
    /// UDP datagrams that were merged; none where no hop shows UDP.
    datagrams: Option<u64>,
    /// For each entry of `limits`, the limit by its point alone, and how much data is behind it.
    own: Vec<Own>,
    /// The limit of each connection with enough data to show it, by point and connection.
    pub(crate) limits: Vec<ConnectionLimit>,
}

/// What one point shows of all its connections.
#[derive(Default)]
struct Seen {
    /// Connections with large frames that were sent again or refused.
    suspects: Vec<Connection>,
    merged_frames: u64,
    /// Of them, those known to have arrived.
    merged_passed: u64,
    traffic: Traffic,
    /// Payload bytes that were captured, each once, and those that receivers acknowledged without.
    captured: u64,
    missed: u64,
    pools: Pools,
    unanswered: Unanswered,
    unarrived: Unarrived,
    /// Payload of the longest frame whose segment size is not known.
    longest_unknown: u32,
}

/// Single frames that hops find inside of larger ones, whatever the point of the larger ones knows of segments.
fn merged_on_hops(trace: &Trace) -> u64 {
    let further = trace.hops.iter().map(|hop| hop.single.merged_further);
    further.max().unwrap_or(0)
}

/// Whether some merged frames are seen to come through a hop, or single ones to be merged on it.
fn passes_on_hops(trace: &Trace) -> bool {
    let mut hops = trace.hops.iter();
    hops.any(|hop| hop.merged.came_through() + hop.single.merged_further > 0)
}

impl<'t> Overview<'t> {
    pub(crate) fn of(trace: &'t Trace) -> Self {
        let mut overview = Self {
            hops: trace.hops.iter().map(Crossing::of).collect(),
            points: Vec::new(),
            merged_on_hops: merged_on_hops(trace),
            passes_on_hops: passes_on_hops(trace),
            datagrams: (!trace.datagram_hops.is_empty()).then(|| datagrams::merged(trace)),
            own: Vec::new(),
            limits: Vec::new(),
        };
        for point in &trace.points {
            let seen = overview.look_at(point);
            overview.points.push(seen);
        }
        overview
    }

    fn look_at(&mut self, point: &Point) -> Seen {
        let name: Arc<str> = point.name.as_str().into();
        let (mut seen, mut short) = (Seen::default(), Short::default());
        for connection in point.connections.iter() {
            let limit = limit_of(&name, &connection);
            let traffic = Traffic::told_by(&connection, limit.direction);
            let is_loss = limit.limit == Limit::Loss;
            let kind = is_loss.then(|| Kind::of(&connection, limit.direction));
            let own = Own {
                limit: limit.limit,
                kind: kind.unwrap_or_default(),
                unique_bytes: traffic.bytes,
                seconds: traffic.seconds,
            };
            if limit.limit == Limit::TooShort {
                short.add(limit, own, &connection);
            } else {
                self.add(limit, own);
            }
            seen.add(connection, traffic);
        }
        for (limit, own) in short.limited() {
            self.add(limit, own);
        }
        seen
    }

    fn add(&mut self, limit: ConnectionLimit, own: Own) {
        self.limits.push(limit);
        self.own.push(own);
    }

    /// All hops, in the order of the trace.
    pub(crate) fn hops(&self) -> &[Crossing<'t>] {
        &self.hops
    }

    /// The connections of a point with large frames that were sent again or refused.
    pub(crate) fn suspects(&self, point: usize) -> &[Connection] {
        self.points.get(point).map_or(&[], |seen| &seen.suspects)
    }

    /// Evidence about merged frames of the connections of a point together.
    pub(crate) fn pattern(&self, point: usize) -> Option<Pattern> {
        self.points.get(point)?.pools.pattern()
    }

    /// Traffic at the point with this name.
    pub(crate) fn traffic_at(&self, trace: &Trace, name: &str) -> Traffic {
        let place = trace.points.iter().position(|point| point.name == name);
        let seen = place.and_then(|place| self.points.get(place));
        seen.map(|seen| seen.traffic).unwrap_or_default()
    }

    /// Merged frames at the point that has most of them; where no point shows any, those that hops show.
    pub(crate) fn merged_frames(&self) -> u64 {
        let frames = self.points.iter().map(|seen| seen.merged_frames);
        let at_points = frames.max().unwrap_or(0);
        if at_points > 0 {
            at_points
        } else {
            self.merged_on_hops
        }
    }

    /// Whether some merged frames are known to have arrived.
    pub(crate) fn passes_merged(&self) -> bool {
        let arrived = self.points.iter().any(|seen| seen.merged_passed > 0);
        arrived || self.passes_on_hops || self.datagrams.is_some_and(|merged| merged > 0)
    }

    /// UDP datagrams that were merged; none where no hop shows UDP.
    pub(crate) fn merged_datagrams(&self) -> Option<u64> {
        self.datagrams
    }

    /// Connections with data at the point that has most of them.
    pub(crate) fn with_data(&self) -> u64 {
        let connections = self.points.iter().map(|seen| seen.traffic.connections);
        connections.max().unwrap_or(0)
    }

    /// Payload bytes that each point has, and those that were acknowledged there without.
    pub(crate) fn captured_and_missed(&self) -> impl Iterator<Item = (u64, u64)> {
        self.points.iter().map(|seen| (seen.captured, seen.missed))
    }

    /// Connections whose SYNs nobody answered, at the point that has most of them.
    pub(crate) fn unanswered(&self, besides: &str) -> Option<String> {
        let unanswered = self.points.iter().map(|seen| &seen.unanswered);
        unanswered.max_by_key(|seen| seen.count())?.words(besides)
    }

    /// Connections whose data never came, at each point.
    pub(crate) fn unarrived(&self) -> impl Iterator<Item = &Unarrived> {
        self.points.iter().map(|seen| &seen.unarrived)
    }

    /// Payload of the longest frame, if it is longer than any packet on a wire and its segment size is not known.
    pub(crate) fn may_hide_merging(&self) -> Option<u32> {
        let longest = self.points.iter().map(|seen| seen.longest_unknown);
        longest.max().filter(|bytes| *bytes > LARGEST_PACKET)
    }

    /// Gives a limit that is a loss by its point alone the limit of the point at which hops show these frames to have arrived.
    pub(crate) fn believe_hops(&mut self, trace: &Trace) {
        // Of one point, the facts of its connections would be made anew for nothing.
        if trace.hops.is_empty() {
            return;
        }
        let losses = |own: &[Own]| {
            let all = (0..own.len()).filter(|at| own[*at].limit == Limit::Loss);
            all.collect::<Vec<_>>()
        };
        let lose = |at: &usize| match self.own[*at].limit {
            Limit::Loss => true,
            Limit::Unclear => is_only_late(trace, &self.limits[*at]),
            _ => false,
        };
        for at in (0..self.own.len()).filter(lose).collect::<Vec<_>>() {
            if is_overtaken(trace, &self.limits[at]) {
                (self.limits[at].limit, self.own[at].limit) =
                    (Limit::Reordering, Limit::Reordering);
            }
        }
        let losses = losses(&self.own).into_iter();
        let elsewhere = |at| Some((at, arrived_at(trace, &self.limits[at])?));
        let found: Vec<_> = losses.filter_map(elsewhere).collect();
        for (at, (point, id)) in found {
            let is_there = |limit: &ConnectionLimit| {
                *limit.point == *point
                    && limit.connection == id
                    && limit.direction == self.limits[at].direction
            };
            let there = self.limits.iter().position(is_there);
            let limit = there.map_or(Limit::None, |there| self.limits[there].limit);
            if limit != Limit::Unclear {
                (self.limits[at].limit, self.own[at].limit) = (limit, limit);
                self.own[at].kind = there.map(|there| self.own[there].kind).unwrap_or_default();
            }
        }
    }

    /// Settles limits as loss that are unclear at their point and shown as loss elsewhere.
    pub(crate) fn settle(&mut self, is_loss: impl Fn(&ConnectionLimit) -> bool) {
        for (limit, own) in self.limits.iter_mut().zip(&mut self.own) {
            if limit.limit == Limit::Unclear && is_loss(limit) {
                (limit.limit, own.limit) = (Limit::Loss, Limit::Loss);
            }
        }
    }

    /// The limits, each with the limit by its point alone.
    pub(crate) fn limits_and_own(&self) -> impl Iterator<Item = (&ConnectionLimit, Own)> {
        self.limits.iter().zip(self.own.iter().copied())
    }
}

impl Seen {
    fn add(&mut self, connection: Connection, traffic: Traffic) {
        let directions = [&connection.to_client, &connection.to_server];
        self.merged_frames += directions.iter().map(|d| d.merged_frames).sum::<u64>();
        let fates = directions.iter().map(|direction| &direction.repeats);
        let passed = fates.map(|repeats| repeats.merged.saturating_sub(repeats.merged_repeated));
        self.merged_passed += passed.sum::<u64>();
        self.traffic += traffic;
        self.captured += directions.iter().map(|d| d.unique_bytes).sum::<u64>();
        self.missed += directions.iter().map(|d| d.missed_bytes).sum::<u64>();
        self.pools.add(&connection);
        self.unanswered.add(&connection);
        self.unarrived.add(&connection);
        let unknown = directions.iter().filter_map(|d| d.longest_unknown_bytes);
        self.longest_unknown = unknown.fold(self.longest_unknown, u32::max);
        if directions.into_iter().any(is_suspect) {
            self.suspects.push(connection);
        }
    }
}

/// Whether a direction has what any finding about merged frames at one point needs.
fn is_suspect(direction: &Direction) -> bool {
    let repeats = &direction.repeats;
    repeats.merged_repeated + repeats.tso_repeated + direction.rejected.merged > 0
        || Excess::may_be_in_part(direction)
}
