//! What limits one connection, as one point shows it.

use std::sync::Arc;

use coalescope_capture::facts::{Connection, Direction};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::thresholds::{
    ABOUT, ACKS_APART, ACKS_PART, BEHIND, CLOSED, DRIFT, ENOUGH_SEGMENTS, FEW_SEGMENTS, GAPS,
    HANDFUL, HEAVY_LOSS, IDLE, LOSS, LOSS_FRAMES, MATHIS, MERGED_LOST, MOST_LOST, QUEUE, QUEUE_S,
    QUEUED, REORDERED, REORDERED_LATE, ROOM_SEGMENTS, SILENT, SMALL_MTU, STUCK, STUCK_TIME,
    SYN_AGAIN_S, TICK_S, WAITS, WINDOW_TIME,
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
/// nothing is wrong with it, and the opposite direction loses data and takes more of the time.
pub(crate) fn telling_direction(connection: &Connection) -> (&'static str, Limit) {
    let (name, data, other) = main_direction(connection);
    let limit = limit(data, other);
    let is_wrong = matches!(limit, Limit::MergedLoss | Limit::Loss | Limit::Unclear);
    let takes_longer = active_s(other) > active_s(data);
    let back = (!is_wrong && takes_longer).then(|| self::limit(other, data));
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
    let connect_s = connection.phases.connect_s;
    connect_s.is_some_and(|took_s| took_s >= SYN_AGAIN_S && took_s >= GAPS * all_s)
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

/// Repeated timeouts on the same bytes, however few they are.
pub(crate) fn is_stuck(data: &Direction, _: &Direction) -> bool {
    let duration = data.duration_s.unwrap_or(0.0);
    data.stuck_timeouts >= STUCK && data.stuck_s >= STUCK_TIME * duration
}

/// Whether a sender waits for acknowledgments that passed this point, and sends its data again; and little else is lost.
pub(crate) fn waits_for_acks(data: &Direction, other: &Direction) -> bool {
    let duration = data.duration_s.unwrap_or(0.0);
    data.timeouts_after_ack > 0
        && data.timeouts_after_ack_s >= STUCK_TIME * duration
        && loss_frames(data) <= data.timeouts_after_ack
        && !is_unclear(data, other)
}

/// Whether data is stuck for its length, or at one place only. Lost merged frames cause timeouts at place after place,
/// between which single frames get through.
pub(crate) fn is_cut_off(data: &Direction, other: &Direction) -> bool {
    let once = || data.stuck_places <= 1 && is_mostly_stuck(data, other);
    is_stuck(data, other) && (is_stuck_by_length(data, other) || once())
}

/// Whether being stuck is most of what is wrong: where a few frames in a hundred are lost, the same one is lost twice from time
/// to time.
pub(crate) fn is_mostly_stuck(data: &Direction, other: &Direction) -> bool {
    let duration = data.duration_s.unwrap_or(0.0);
    data.stuck_s >= GAPS * duration || !is_lossy(data, other)
}

/// Whether the bytes that got stuck were in frames longer than any that arrived, as where a link has a smaller MTU and
/// sends no "packet too big". Without acknowledgments it is not known what arrived.
pub(crate) fn is_stuck_by_length(data: &Direction, other: &Direction) -> bool {
    let stuck = data.stuck_bytes.filter(|_| other.acks > 0);
    stuck.is_some_and(|stuck| {
        let arrived = data.longest_delivered_bytes.unwrap_or(0);
        let segment = data.segment_size_bytes.unwrap_or(u32::MAX);
        // What is lost for its length as several segments is no segment that a link cannot carry.
        let carries_segments = arrived >= segment && stuck / 2 >= segment;
        // Lengths from 65,535 on are not told apart: a frame that got stuck may have been the shorter one.
        arrived < u32::from(u16::MAX) && stuck >= SMALL_MTU && stuck > arrived && !carries_segments
    })
}

/// Few segments show little, unless there are a handful of losses among them.
fn is_too_short(data: &Direction, other: &Direction) -> bool {
    let lost = loss_frames(data).max(waits(data, other));
    let tells = lost >= HANDFUL && lost as f64 >= HEAVY_LOSS * data.data_frames as f64;
    is_short(data) && !tells || data.throughput_bps.is_none()
}

/// Timeouts after which nothing was repeated, as a lost tail leaves them. Without acknowledgments, or without a known
/// round trip, such a wait cannot be told from a pause. Spurious retransmissions are subtracted: their data had
/// arrived, and only the acknowledgment was lost.
pub(crate) fn waits(data: &Direction, other: &Direction) -> u64 {
    if other.acks > 0 && data.rtt_min_s.is_some() {
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
/// the window allows, and the window is about as large as it gets.
fn is_window_full(data: &Direction, _: &Direction) -> bool {
    let limited = data.window_limited_s - data.window_growing_s;
    active_s(data).is_some_and(|active| limited >= WINDOW_TIME * active)
}

/// Frames overtake each other, and are not lost and sent again.
pub(crate) fn is_reordered(data: &Direction, _: &Direction) -> bool {
    let out_of_order = data.out_of_order_frames as f64;
    data.out_of_order_frames >= HANDFUL
        && out_of_order >= REORDERED * data.data_frames as f64
        && (data.late_frames as f64) <= REORDERED_LATE * out_of_order
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

/// Whether a queue stands on the path, which forwards all that it can and drops the rest. Round trips may be longer for
/// other reasons; a queue of the transfer's own holds the data that arrives, at the transfer's rate, in the time that
/// the queue adds (Little 1961).
fn is_queueing(data: &Direction, other: &Direction) -> bool {
    let Some((min, median)) = data.rtt_min_s.zip(data.rtt_median_s) else {
        return false;
    };
    let queued = active_bps(data).map_or(0.0, |bps| bps / 8.0 * (median - min));
    is_delayed(min, median)
        && queued >= QUEUED * segment(data)
        && median - min >= ACKS_APART * acks_apart_s(data, other)
        && !acks_waited(data, median - min)
        && !loses_much(data, median)
        && !is_silent(data)
        && !is_idle(data, other)
        && !has_gaps(data, GAPS)
}

/// Whether half of the frames of a way are delayed by a queue: by a share of the time that the way takes, and by more
/// than clocks and batches of a card cause.
pub(crate) fn is_delayed(min_s: f64, median_s: f64) -> bool {
    median_s >= QUEUE * min_s && median_s - min_s >= QUEUE_S
}

/// Whether acknowledgments waited rather than data. By the ends' own clocks, which count milliseconds and drift, a
/// third or more of the extra round-trip time must be on the way of acknowledgments. The shortest wait seen counts as a
/// wait, too.
fn acks_waited(data: &Direction, longer_s: f64) -> bool {
    let blur_s = TICK_S + DRIFT * data.duration_s.unwrap_or(0.0);
    data.ack_wait_s
        .is_some_and(|wait| wait - blur_s >= ACKS_PART * longer_s)
}

/// Whether the link rested for most of the time: no data came for longer than a queue takes to empty. This is so where
/// acknowledgments wait and are thinned, and then a whole window is sent at once.
fn is_silent(data: &Direction) -> bool {
    let active = active_s(data);
    active.is_some_and(|active| data.silent_s - data.sender_idle_s >= SILENT * active)
}

/// How far apart acknowledgments come. Data waits for the next acknowledgment about as long, with a queue or without: a
/// modem, WiFi or a driver holds acknowledgments back to send fewer (RFC 3449, 2.2 and 5.2).
fn acks_apart_s(data: &Direction, other: &Direction) -> f64 {
    let duration = data.duration_s.unwrap_or(0.0);
    if other.acks == 0 {
        0.0
    } else {
        duration / other.acks as f64
    }
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

/// The effective window in that time.
fn active_window(data: &Direction) -> Option<f64> {
    Some(data.effective_window_segments? * data.duration_s? / active_s(data)?)
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

/// Whether more is lost than a sender loses that fills a queue and slows down for each loss, and beyond what slow start loses
/// once, at its end: up to what path and queue hold (RFC 5681, 3.1). What comes late are single segments as a rule.
fn loses_much(data: &Direction, rtt_median_s: f64) -> bool {
    let held = active_bps(data).map_or(0.0, |bps| bps / 8.0 * rtt_median_s);
    let late = data.late_frames as f64 * segment(data);
    needed_again(data).max(late) >= HEAVY_LOSS * data.unique_bytes as f64 + held
}

/// Whether merged frames are seen to get through: then no loss is due to merging. Where many more frames come late than
/// are sent again, the loss is in front of this point, and frames that arrive merged were merged behind it.
fn passes_merged(data: &Direction) -> bool {
    let (merged, lost) = (data.repeats.merged, data.repeats.merged_repeated);
    let again = lost + data.repeats.single_repeated;
    let sees_losses = again > 0 && BEHIND * again >= data.late_frames;
    sees_losses && merged >= HANDFUL && (lost as f64) < MERGED_LOST * merged as f64
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
    let heavy = heavy || lacks_the_longest(data) && is_lossy(data, other);
    room && !explained && heavy && !passes_merged(data)
}

/// Whether all missing frames are longer than any frame that came, merged ones among these: such is the view behind a
/// box that carries frames up to a length. Chance loses single frames too.
pub(crate) fn lacks_the_longest(data: &Direction) -> bool {
    let longest = data.longest_delivered_bytes.unwrap_or(u32::MAX);
    let is_merged = data.merge_factor_max.is_some_and(|segments| segments >= 2);
    let least = data.least_hole_bytes.unwrap_or(0);
    // What the capture itself missed leaves holes as well.
    let is_lost = data.missed_bytes < u64::from(least);
    is_merged && is_lost && data.holes >= HANDFUL && least > longest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten seconds at 10 Mbit/s over 20 ms, without anything amiss.
    fn sound() -> Direction {
        Direction {
            data_frames: 8_600,
            unique_bytes: 12_500_000,
            segment_size_bytes: Some(1448),
            merge_factor_mean: Some(1.0),
            throughput_bps: Some(1e7),
            duration_s: Some(10.0),
            rtt_min_s: Some(0.02),
            rtt_median_s: Some(0.021),
            effective_window_segments: Some(17.3),
            ..Direction::default()
        }
    }

    fn limit_of(change: impl FnOnce(&mut Direction)) -> Limit {
        let mut data = sound();
        change(&mut data);
        limit(&data, &Direction::default())
    }

    /// A window is sent at once and all of it acknowledged at once: round trips are long, and the link rests.
    #[test]
    fn a_link_that_rests_has_no_queue() {
        let queue = |silent_s, sender_idle_s| {
            limit_of(|d| {
                (d.rtt_median_s, d.silent_s) = (Some(0.04), silent_s);
                d.sender_idle_s = sender_idle_s;
            })
        };
        assert_eq!(queue(2.4, 0.0), Limit::PathBandwidth);
        assert_eq!(queue(2.6, 0.0), Limit::None);
        // Pauses are silent, and no rest of the link's.
        assert_eq!(queue(4.0, 2.4), Limit::PathBandwidth);
    }

    /// A receiver that opens its window as data comes holds nobody back for good.
    #[test]
    fn a_window_that_grows_is_no_limit() {
        let full =
            |growing_s| limit_of(|d| (d.window_limited_s, d.window_growing_s) = (6.0, growing_s));
        assert_eq!(full(0.5), Limit::ReceiverWindow);
        assert_eq!(full(2.0), Limit::None);
    }

    /// Behind a box that carries merged frames up to five segments: whatever is missing is longer.
    #[test]
    fn where_only_the_longest_frames_lack_merging_is_not_cleared() {
        let lacking = |least_hole_bytes| {
            limit_of(|d| {
                (d.merge_factor_max, d.longest_delivered_bytes) = (Some(5), Some(5 * 1448));
                (d.late_frames, d.holes) = (2_000, 300);
                d.least_hole_bytes = Some(least_hole_bytes);
            })
        };
        assert_eq!(lacking(6 * 1448), Limit::Unclear);
        assert_eq!(lacking(1448), Limit::Loss);
    }

    /// An upload of a tenth of a second, and a download that took ten for losing what was merged.
    #[test]
    fn the_way_that_takes_the_time_tells() {
        let upload = Direction {
            duration_s: Some(0.1),
            throughput_bps: Some(1e9),
            ..sound()
        };
        let download = Direction {
            unique_bytes: 1_250_000,
            effective_window_segments: Some(1.7),
            late_frames: 1_000,
            ..sound()
        };
        let connection = Connection {
            to_server: upload,
            to_client: download,
            ..Connection::default()
        };
        let told = super::limit_of(&"VM".into(), &connection);
        assert_eq!((told.direction, told.limit), ("to_client", Limit::Unclear));
    }

    #[test]
    fn few_bytes_that_are_stuck_are_lost_however_few() {
        let stuck = |direction: &mut Direction| {
            direction.data_frames = 14;
            direction.unique_bytes = 14_480;
            (direction.stuck_timeouts, direction.stuck_s) = (4, 6.0);
            direction.stuck_bytes = Some(1448);
        };
        assert_eq!(limit_of(stuck), Limit::Loss);
        let mut data = sound();
        stuck(&mut data);
        let acks = Direction {
            acks: 3,
            ..Direction::default()
        };
        assert!(is_stuck_by_length(&data, &acks));
        assert!(!is_stuck_by_length(&data, &Direction::default()));
        data.longest_delivered_bytes = Some(1448);
        assert!(!is_stuck_by_length(&data, &acks));
        // Segments pass, and what carries several of them does not.
        data.segment_size_bytes = Some(1448);
        data.stuck_bytes = Some(2896);
        assert!(!is_stuck_by_length(&data, &acks));
        data.longest_delivered_bytes = Some(700);
        assert!(is_stuck_by_length(&data, &acks));
        assert_eq!(
            limit_of(|d| (d.stuck_timeouts, d.stuck_s) = (1, 0.2)),
            Limit::None
        );
    }

    #[test]
    fn a_few_segments_in_flight_are_no_sign_without_loss() {
        let slow = |d: &mut Direction| d.effective_window_segments = Some(1.5);
        assert_eq!(limit_of(slow), Limit::None);
        let lossy = |d: &mut Direction| {
            slow(d);
            d.late_frames = 1_000;
        };
        assert_eq!(limit_of(lossy), Limit::Unclear);
    }

    /// As where one direction alone was captured.
    fn without_round_trip(d: &mut Direction) {
        (d.rtt_min_s, d.rtt_median_s, d.effective_window_segments) = (None, None, None);
    }

    /// Nothing says that many segments are under way.
    #[test]
    fn heavy_loss_is_unclear_where_the_round_trip_is_not_known() {
        let blind = |d: &mut Direction| {
            without_round_trip(d);
            d.late_frames = 1_000;
        };
        assert_eq!(limit_of(blind), Limit::Unclear);
        let merged_pass = |d: &mut Direction| {
            without_round_trip(d);
            (d.retransmitted_frames, d.retransmitted_bytes) = (1_000, 1_448_000);
            (d.repeats.merged, d.repeats.merged_repeated) = (140, 21);
            d.repeats.single_repeated = 979;
        };
        assert_eq!(limit_of(merged_pass), Limit::Loss);
        let behind_the_loss = |d: &mut Direction| {
            blind(d);
            (d.repeats.merged, d.repeats.single) = (140, 1_000);
        };
        assert_eq!(limit_of(behind_the_loss), Limit::Unclear);
    }

    /// Lost merged frames under a sender that paces: no queue makes it lose half of all.
    #[test]
    fn what_no_sender_brings_upon_itself_is_unclear_at_any_rate() {
        assert_eq!(limit_of(|d| d.late_frames = 1_000), Limit::Loss);
        assert_eq!(limit_of(|d| d.late_frames = 4_000), Limit::Unclear);
    }

    /// Whoever pauses between bursts waits for no timeout, though no acknowledgment says so.
    #[test]
    fn gaps_without_a_loss_are_pauses() {
        let pausing = |d: &mut Direction| {
            without_round_trip(d);
            (d.gaps_s, d.gaps) = (7.0, 10);
        };
        assert_eq!(limit_of(pausing), Limit::None);
        let mut data = sound();
        pausing(&mut data);
        let acks = Direction {
            acks: 4_000,
            ..Direction::default()
        };
        // A round trip may be as long as a gap.
        assert_eq!(limit(&data, &acks), Limit::None);
        data.rtt_min_s = Some(0.02);
        data.effective_window_segments = Some(1.0);
        assert_eq!(limit(&data, &acks), Limit::Unclear);
        let mut heard = data.clone();
        (heard.retransmitted_frames, heard.retransmitted_spurious) = (9, 9);
        assert_eq!(limit(&heard, &acks), Limit::None);
        data.gaps = 2;
        assert_eq!(limit(&data, &acks), Limit::None);
        let lossy = |d: &mut Direction| {
            pausing(d);
            d.late_frames = 20;
        };
        assert_eq!(limit_of(lossy), Limit::Unclear);
    }

    /// Pages with pauses between them, each torn by losses.
    #[test]
    fn pauses_explain_nothing_that_is_lost_between_them() {
        let browsing = |late| {
            limit_of(|d| {
                (d.sender_idle_s, d.late_frames) = (7.0, late);
                d.effective_window_segments = Some(0.9);
            })
        };
        assert_eq!(
            (browsing(0), browsing(2)),
            (Limit::SenderIdle, Limit::SenderIdle)
        );
        assert_eq!(browsing(2_000), Limit::Unclear);
    }

    /// A card behind the loss merges what gets through.
    #[test]
    fn what_is_merged_behind_a_loss_clears_nobody() {
        let behind = |late| {
            limit_of(|d| {
                (d.late_frames, d.effective_window_segments) = (late, Some(0.9));
                (d.retransmitted_frames, d.retransmitted_bytes) = (1_000, 1_448_000);
                (d.repeats.merged, d.repeats.single_repeated) = (300, 80);
            })
        };
        assert_eq!((behind(1_000), behind(10)), (Limit::Unclear, Limit::Loss));
    }

    /// A box that thins acknowledgments makes round trips longer, and no queue of data.
    #[test]
    fn acknowledgments_that_wait_are_no_full_path() {
        let queue = |ack_wait_s| {
            limit_of(|d| {
                d.rtt_median_s = Some(0.06);
                d.ack_wait_s = ack_wait_s;
            })
        };
        assert_eq!(queue(None), Limit::PathBandwidth);
        assert_eq!(queue(Some(0.01)), Limit::PathBandwidth);
        assert_eq!(queue(Some(0.02)), Limit::None);
    }

    /// One in ten lost is not what a sender does that fills a queue.
    #[test]
    fn a_queue_that_loses_much_is_not_sound() {
        let queue = |share: f64, part: u64| {
            limit_of(|d| {
                d.rtt_median_s = Some(0.06);
                d.unique_bytes /= part;
                d.retransmitted_bytes = (share * d.unique_bytes as f64) as u64;
                d.retransmitted_frames = d.retransmitted_bytes / 1_448;
                (d.repeats.merged, d.repeats.single_repeated) = (300, 80);
            })
        };
        assert_eq!(queue(0.05, 1), Limit::PathBandwidth);
        assert_eq!(queue(0.13, 1), Limit::Loss);
        // At the end of slow start a window is lost, which is more of a short transfer.
        assert_eq!(queue(0.13, 100), Limit::PathBandwidth);
    }

    #[test]
    fn a_short_transfer_that_loses_much_is_lossy() {
        let short = |d: &mut Direction| {
            (d.data_frames, d.unique_bytes) = (27, 11_352);
            d.effective_window_segments = Some(5.0);
        };
        assert_eq!(limit_of(short), Limit::TooShort);
        let again = |frames| {
            limit_of(|d| {
                short(d);
                d.retransmitted_frames = frames;
            })
        };
        assert_eq!((again(4), again(7)), (Limit::TooShort, Limit::Loss));
    }

    /// Timeouts in a row at place after place, and single segments get through in between: no outage.
    #[test]
    fn stuck_at_many_places_is_not_cut_off() {
        let stuck = |d: &mut Direction| {
            (d.stuck_timeouts, d.stuck_s, d.stuck_places) = (2, 6.0, 1);
            (d.gaps_s, d.effective_window_segments) = (7.0, Some(0.5));
            d.retransmitted_frames = 60;
        };
        assert_eq!(limit_of(stuck), Limit::Loss);
        let often = |d: &mut Direction| {
            stuck(d);
            d.stuck_places = 30;
        };
        assert_eq!(limit_of(often), Limit::Unclear);
    }

    #[test]
    fn a_repair_tells_the_round_trip_where_nothing_else_does() {
        let blind = |d: &mut Direction| {
            without_round_trip(d);
            (d.late_frames, d.repair_s) = (30, Some(0.02));
        };
        assert_eq!(limit_of(blind), Limit::Loss);
        let near = |d: &mut Direction| {
            blind(d);
            d.repair_s = Some(0.001);
        };
        assert_eq!(limit_of(near), Limit::None);
    }

    #[test]
    fn what_waits_for_an_acknowledgment_stands_in_no_queue() {
        let mut data = sound();
        (data.rtt_min_s, data.rtt_median_s) = (Some(0.005), Some(0.011));
        let apart = |acks| Direction {
            acks,
            ..Direction::default()
        };
        assert_eq!(limit(&data, &apart(4_000)), Limit::PathBandwidth);
        assert_eq!(limit(&data, &apart(2_000)), Limit::None);
    }

    #[test]
    fn loss_counts_where_it_holds_the_rate() {
        // Mathis et al.: 0.07% and 20 ms hold a sender to 27 Mbit/s, and 1 ms to 540.
        let few = |d: &mut Direction| d.retransmitted_frames = 6;
        assert_eq!(limit_of(few), Limit::Loss);
        let near = |d: &mut Direction| {
            few(d);
            (d.rtt_min_s, d.rtt_median_s) = (Some(0.001), Some(0.001));
        };
        assert_eq!(limit_of(near), Limit::None);
    }

    #[test]
    fn a_queue_holds_what_the_rate_brings_in_its_delay() {
        let queue = |d: &mut Direction| d.rtt_median_s = Some(0.06);
        assert_eq!(limit_of(queue), Limit::PathBandwidth);
        let slow = |d: &mut Direction| {
            queue(d);
            (d.throughput_bps, d.unique_bytes) = (Some(41_000.0), 51_250);
        };
        assert_eq!(limit_of(slow), Limit::None);
    }

    #[test]
    fn a_window_counts_by_the_time_at_its_edge() {
        assert_eq!(
            limit_of(|d| d.window_limited_s = 6.0),
            Limit::ReceiverWindow
        );
        assert_eq!(limit_of(|d| d.window_limited_s = 4.0), Limit::None);
        let pausing = |d: &mut Direction| (d.window_limited_s, d.sender_idle_s) = (2.6, 5.0);
        assert_eq!(limit_of(pausing), Limit::ReceiverWindow);
    }
}
