//! What limits one connection, as one point shows it.

mod queue;
mod stuck;

use std::sync::Arc;

use coalescope_capture::facts::{Connection, Direction};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::thresholds::{
    ABOUT, BEHIND, CLOSED, CRAWL, CRAWL_FULL, CRAWL_S, ENOUGH_SEGMENTS, FEW_SEGMENTS, GAPS,
    HANDFUL, HEAVY_LOSS, IDLE, LOSS, LOSS_FRAMES, MATHIS, MERGED_LOST, MOST_LOST, MOSTLY, PARTLY,
    REORDERED, REORDERED_LATE, ROOM_SEGMENTS, ROUND_TRIPS_TO_CONNECT, STUCK_TIME, SYN_AGAIN_S,
    WAITS, WINDOW_TIME,
};
pub(crate) use queue::is_delayed;
use queue::is_queueing;
pub(crate) use stuck::{
    is_cut_off, is_mostly_stuck, is_stuck, is_stuck_by_length, is_stuck_merged, longest_arrived,
    waits_for_acks,
};

/// What holds a connection back most; of two the first is the graver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// Merged frames are lost or refused.
    MergedLoss,
    /// Segments are lost.
    Loss,
    /// Segments arrive out of order.
    Reordering,
    /// The receiver's window.
    ReceiverWindow,
    /// The sender had nothing to send.
    SenderIdle,
    /// The path's rate.
    PathBandwidth,
    /// Losses, or a few segments a round trip, for which merging is one of several explanations.
    Unclear,
    /// Nothing stands out.
    None,
    /// Too little data to tell.
    TooShort,
}

/// The limit of one connection.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ConnectionLimit {
    /// The point; one name for all its connections.
    #[serde(serialize_with = "as_str")]
    #[schemars(with = "String")]
    pub point: Arc<str>,
    /// The connection's id there.
    pub connection: u64,
    /// `to_client` or `to_server`: where most data went, or what was lost, if that took longer.
    pub direction: &'static str,
    /// What limits it.
    pub limit: Limit,
}

fn as_str<S: Serializer>(name: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(name)
}

/// The direction with most data, its name, and the opposite direction.
pub(crate) fn main_direction(connection: &Connection) -> (&'static str, &Direction, &Direction) {
    let (to_client, to_server) = (&connection.to_client, &connection.to_server);
    if to_client.unique_bytes >= to_server.unique_bytes {
        ("to_client", to_client, to_server)
    } else {
        ("to_server", to_server, to_client)
    }
}

/// The direction that shows what limits a connection, and that limit. It is the direction with most data, unless
/// nothing is wrong with it, and the opposite direction loses data and takes more of the time. Where nothing holds the direction
/// with most data back, half of its time is enough: both may send for as long as the connection lasts.
pub(crate) fn telling_direction(connection: &Connection) -> (&'static str, Limit) {
    let (name, data, other) = main_direction(connection);
    let limit = limit(data, other);
    let is_wrong = matches!(limit, Limit::MergedLoss | Limit::Loss | Limit::Unclear);
    let least = if leaves_open(limit) { MOSTLY } else { 1.0 };
    let times = active_s(other).zip(active_s(data));
    let takes_time = times.is_some_and(|(other, data)| other > least * data);
    let back = (!is_wrong && takes_time).then(|| self::limit(other, data));
    match back {
        Some(back @ (Limit::Loss | Limit::Unclear)) => (opposite(name), back),
        _ => (name, limit),
    }
}

/// The name of the opposite direction.
pub(crate) fn opposite(direction: &str) -> &'static str {
    if direction == "to_client" {
        "to_server"
    } else {
        "to_client"
    }
}

/// The limit of a connection at one point.
pub(crate) fn limit_of(point: &Arc<str>, connection: &Connection) -> ConnectionLimit {
    let (direction, limit) = telling_direction(connection);
    let waits = leaves_open(limit) && is_late_to_connect(connection);
    ConnectionLimit {
        point: Arc::clone(point),
        connection: connection.id,
        direction,
        limit: if waits { Limit::Loss } else { limit },
    }
}

/// Whether nothing but the handshake holds a connection back.
pub(crate) fn waits_for_handshake(connection: &Connection) -> bool {
    is_late_to_connect(connection) && leaves_open(telling_direction(connection).1)
}

/// Whether the handshake waited for a SYN to be sent again, and took most of the time.
fn is_late_to_connect(connection: &Connection) -> bool {
    let all_s = connection.last_s - connection.first_s;
    let directions = [&connection.to_server, &connection.to_client];
    let round_trips = directions.iter().filter_map(|data| data.rtt_min_s);
    let path_s = ROUND_TRIPS_TO_CONNECT * round_trips.fold(0.0, f64::max);
    let connect_s = connection.phases.connect_s;
    connect_s.is_some_and(|took_s| took_s >= SYN_AGAIN_S.max(path_s).max(GAPS * all_s))
}

/// Whether data shows nothing that goes wrong.
fn leaves_open(limit: Limit) -> bool {
    matches!(
        limit,
        Limit::None | Limit::TooShort | Limit::SenderIdle | Limit::PathBandwidth
    )
}

/// Whether a limit holds for data in one direction, given the other.
type Rule = fn(&Direction, &Direction) -> bool;

/// What limits data in one direction; `other` carries its acknowledgments.
pub(crate) fn limit(data: &Direction, other: &Direction) -> Limit {
    let rules: [(Limit, Rule); 11] = [
        (Limit::Loss, is_cut_off),
        (Limit::Loss, waits_for_acks),
        (Limit::TooShort, is_too_short),
        (Limit::ReceiverWindow, is_window_closed),
        (Limit::Reordering, is_reordered),
        (Limit::PathBandwidth, is_queueing),
        (Limit::Unclear, is_unclear),
        (Limit::Loss, is_stuck),
        (Limit::Loss, is_lossy),
        (Limit::ReceiverWindow, is_window_full),
        (Limit::SenderIdle, is_idle),
    ];
    let found = rules.into_iter().find(|(_, holds)| holds(data, other));
    found.map_or(Limit::None, |(limit, _)| limit)
}

/// Few segments show little, unless there are a handful of losses among them.
fn is_too_short(data: &Direction, other: &Direction) -> bool {
    let lost = loss_frames(data).max(waits(data, other));
    let tells = lost >= HANDFUL && lost as f64 >= HEAVY_LOSS * data.data_frames as f64;
    is_short(data) && !tells || data.throughput_bps.is_none()
}

/// Timeouts after which nothing was repeated, as a lost tail leaves them. Without acknowledgments, or where nothing bounds the
/// round trip, such a wait cannot be told from a pause. Spurious retransmissions are subtracted: their data had
/// arrived, and only the acknowledgment was lost.
pub(crate) fn waits(data: &Direction, other: &Direction) -> u64 {
    if other.acks > 0 && (data.rtt_min_s.is_some() || data.gaps_are_timeouts) {
        data.gaps.saturating_sub(data.retransmitted_spurious)
    } else {
        0
    }
}

/// Whether the transfer is over before anything limits it.
pub(crate) fn is_short(data: &Direction) -> bool {
    (data.unique_bytes as f64) < ENOUGH_SEGMENTS * segment(data)
}

fn segment(data: &Direction) -> f64 {
    f64::from(data.segment_size_bytes.unwrap_or(1460))
}

fn is_window_closed(data: &Direction, other: &Direction) -> bool {
    other.zero_windows > 0
        && data
            .duration_s
            .is_some_and(|duration| data.window_closed_s >= CLOSED * duration)
}

/// Whether the window limits the sender: for most of the time in which the sender has data to send it goes as far as
/// the window allows, and the window is about as large as it gets. A transfer that fits into it has not met it, though the first
/// window of a receiver and that of a sender (RFC 6928) are about as large.
fn is_window_full(data: &Direction, other: &Direction) -> bool {
    let limited = data.window_limited_s - data.window_growing_s;
    let fits = other
        .window_max_bytes
        .is_some_and(|window| data.unique_bytes <= window);
    !fits && active_s(data).is_some_and(|active| limited >= WINDOW_TIME * active)
}

/// Frames overtake each other, and are not lost and sent again.
pub(crate) fn is_reordered(data: &Direction, _: &Direction) -> bool {
    overtakings(data) >= HANDFUL
        && overtakings(data) as f64 >= REORDERED * data.data_frames as f64
        && (data.late_frames as f64) <= REORDERED_LATE * data.out_of_order_frames as f64
}

/// How often a frame came before others that had left earlier. Frames that were overtaken together end merging once, however
/// many they are.
pub(crate) fn overtakings(data: &Direction) -> u64 {
    data.out_of_order_frames.min(u64::from(data.holes))
}

/// Number of segments in data frames, merged or not.
pub(crate) fn segments(data: &Direction) -> f64 {
    data.data_frames as f64 * data.merge_factor_mean.unwrap_or(1.0)
}

/// Frames that show a loss from this point: retransmitted, or late because they were retransmitted.
pub(crate) fn loss_frames(data: &Direction) -> u64 {
    (data.retransmitted_frames - data.retransmitted_spurious.min(data.retransmitted_frames))
        + data.late_frames
}

fn is_lossy(data: &Direction, _: &Direction) -> bool {
    let lost = loss_frames(data);
    let share = lost as f64 / segments(data).max(1.0);
    lost >= LOSS_FRAMES && (share >= LOSS || is_held_by(share, data) || has_gaps(data, STUCK_TIME))
}

/// Whether a share of lost segments limits a sender to about the rate that it has, or to less (Mathis et al. 1997).
/// Where only one direction was captured, a repair shows the round trip: the sender learns of a loss a round trip after
/// the frame (RFC 5681, 3.2).
fn is_held_by(share: f64, data: &Direction) -> bool {
    let most_bps = |rtt: f64| MATHIS * segment(data) * 8.0 / (rtt * share.sqrt());
    let rate = active_bps(data).zip(data.rtt_min_s.or(data.repair_s));
    rate.is_some_and(|(bps, rtt)| most_bps(rtt) <= ABOUT * bps)
}

/// Whether a transfer stands still for most of its time, for timeouts after losses: however short it is, that is not well.
pub(crate) fn stands_still(data: &Direction, other: &Direction) -> bool {
    has_gaps(data, GAPS) && waits(data, other) >= WAITS && loss_frames(data) > 0
}

/// Whether gaps as long as a timeout take at least this share of the transfer.
fn has_gaps(data: &Direction, share: f64) -> bool {
    let duration = data.duration_s.unwrap_or(0.0);
    duration > 0.0 && data.gaps_s >= share * duration
}

fn is_idle(data: &Direction, _: &Direction) -> bool {
    data.duration_s
        .is_some_and(|duration| data.sender_idle_s >= IDLE * duration)
}

/// The time in which the sender was not idle. A gap or two count as pauses without PSH, unless the sender continued
/// with a retransmission.
pub(crate) fn active_s(data: &Direction) -> Option<f64> {
    let duration = data.duration_s?;
    let are_pauses = data.gaps < WAITS && data.retransmitted_timeout == 0;
    let unmarked = if are_pauses { data.gaps_s } else { 0.0 };
    Some((duration - data.sender_idle_s - unmarked).max(duration * 0.01))
}

/// The rate in the time in which the sender was not idle.
fn active_bps(data: &Direction) -> Option<f64> {
    Some(data.throughput_bps? * data.duration_s? / active_s(data)?)
}

/// The effective window in that time, of what the capture missed as well.
fn active_window(data: &Direction) -> Option<f64> {
    let all = (data.unique_bytes + data.missed_bytes) as f64 / data.unique_bytes.max(1) as f64;
    Some(all * data.effective_window_segments? * data.duration_s? / active_s(data)?)
}

/// Whether few segments are in flight; true also where the round trip is not known.
pub(crate) fn has_few_segments(data: &Direction) -> bool {
    active_window(data).is_none_or(|window| window < FEW_SEGMENTS)
}

/// Whether so many bytes are sent again, or so many frames late because they were, that whole bursts must be lost; or
/// timeouts take most of the time.
fn loses_heavily(data: &Direction, other: &Direction) -> bool {
    loses(data, HEAVY_LOSS)
        || has_gaps(data, GAPS) && loss_frames(data).max(waits(data, other)) >= WAITS
}

/// Whether this share of the bytes had to be sent again, or this share of the frames came late.
fn loses(data: &Direction, share: f64) -> bool {
    needed_again(data) >= share * data.unique_bytes as f64
        || data.late_frames as f64 >= share * data.data_frames as f64
}

/// Bytes that had to be sent again.
fn needed_again(data: &Direction) -> f64 {
    let needless = data.retransmitted_spurious as f64 / data.retransmitted_frames.max(1) as f64;
    data.retransmitted_bytes as f64 * (1.0 - needless.min(1.0))
}

/// Whether what is lost passed here first. Where many more frames come late than are sent again, the loss is in front of this
/// point, and frames that arrive merged were merged behind it.
pub(crate) fn sees_losses(data: &Direction) -> bool {
    let again = data.repeats.merged_repeated + data.repeats.single_repeated;
    again > 0 && BEHIND * again >= data.late_frames
}

/// Whether merged frames are seen to get through: then no loss is due to merging. Nor do some that get
/// through show anything where many do not, and hardly a single frame is there to compare them with.
fn passes_merged(data: &Direction) -> bool {
    let (merged, lost) = (data.repeats.merged, data.repeats.merged_repeated);
    let is_compared = data.repeats.single >= HANDFUL || (lost as f64) < PARTLY * merged as f64;
    sees_losses(data)
        && is_compared
        && merged >= HANDFUL
        && (lost as f64) < MERGED_LOST * merged as f64
}

/// A few segments a round trip although there was room for more and the sender was not idle, and heavy losses: the
/// incidents look like this where the merged frames themselves are not seen, and other faults do too.
fn is_unclear(data: &Direction, other: &Direction) -> bool {
    let room = other
        .window_max_bytes
        .is_none_or(|w| w as f64 >= ROOM_SEGMENTS * segment(data));
    // Pauses explain gaps, but not losses between them, unless there is so little data that it hardly comes in bursts.
    let pauses = is_idle(data, other) && (is_short(data) || !loses(data, HEAVY_LOSS));
    let explained = pauses || is_window_full(data, other);
    // More is lost than any sender causes itself.
    let most = loses(data, MOST_LOST);
    let few = has_few_segments(data);
    let heavy = few && loses_heavily(data, other) || most;
    let marked = lacks_the_longest(data) || lacks_runs(data);
    let crawls = crawls(data, other) || creeps(data, other);
    let heavy = heavy || marked && is_lossy(data, other) || crawls;
    room && !explained && heavy && !passes_merged(data) && !loses_single_segments(data, other)
}

/// Whether what is missing when data goes on is most often one segment: no merged frame was lost there. After a timeout nothing goes
/// on behind what is missing, so that these are to be the fewer.
fn loses_single_segments(data: &Direction, other: &Direction) -> bool {
    let single = u64::from(data.single_holes);
    single >= 2 * HANDFUL && 2 * single >= u64::from(data.holes) && waits(data, other) < single
}

/// Whether one full segment after the other is sent, each when the one before was acknowledged, over a way that is no LAN's and
/// without a queue: the sender has more to send, and a window of one segment. Stories A, B and E look so once the losses have
/// done their work. Where the other side sends as often, each segment answers a request.
fn crawls(data: &Direction, other: &Direction) -> bool {
    let times = data.rtt_min_s.zip(data.rtt_median_s);
    let is_steady = times.is_some_and(|(min, median)| min >= CRAWL_S && median < CRAWL * min);
    sends_full_segments(data)
        && is_steady
        && active_window(data).is_some_and(|window| window < CRAWL)
        && data.gaps == 0
        && (other.data_frames as f64) < MOSTLY * data.data_frames as f64
}

/// Whether most full segments come after a silence as long as a timeout each, and the sender has more to send: where no
/// acknowledgment is captured, that is all that shows of a sender that sends each segment again.
fn creeps(data: &Direction, other: &Direction) -> bool {
    other.acks == 0
        && other.data_frames == 0
        && sends_full_segments(data)
        && has_gaps(data, GAPS)
        && data.gaps as f64 >= MOSTLY * data.data_frames as f64
}

/// Whether hardly a segment is not full, none is merged with another one, and the sender always has more to send.
fn sends_full_segments(data: &Direction) -> bool {
    let full = CRAWL_FULL * segment(data) * data.data_frames as f64;
    !is_short(data)
        && data.merge_factor_max == Some(1)
        && data.payload_bytes as f64 >= full
        && data.sender_idle_s == 0.0
}

/// Whether all missing frames are longer than any frame that came, merged ones among these: such is the view behind a
/// box that carries frames up to a length. Chance loses single frames too.
pub(crate) fn lacks_the_longest(data: &Direction) -> bool {
    let longest = data.longest_delivered_bytes.unwrap_or(u32::MAX);
    let is_merged = data.merge_factor_max.is_some_and(|segments| segments >= 2);
    let least = data.least_hole_bytes.unwrap_or(0);
    // What the capture itself missed leaves holes as well.
    let is_lost = data.missed_bytes < u64::from(least);
    is_merged && is_lost && u64::from(data.holes) >= HANDFUL && least > longest
}

/// Whether single frames come, and what is missing are always two segments and more in a row: such is the view behind a hop that
/// merges, and loses what it merged. Chance loses single segments as well, and so do full queues.
fn lacks_runs(data: &Direction) -> bool {
    let least = f64::from(data.least_hole_bytes.unwrap_or(0));
    let is_single = data.merge_factor_max.is_none_or(|segments| segments < 2);
    is_single
        && u64::from(data.holes) >= 2 * HANDFUL
        && data.missed_bytes == 0
        && least >= 2.0 * segment(data)
}

#[cfg(test)]
mod tests;
