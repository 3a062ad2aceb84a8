//! What brings the bytes of a lost frame in the end, and what is sent for them in vain before.

use coalescope_capture::series::{Data, Fate, Frame, Lane};

/// Frames whose time to their acknowledgment is looked at.
const TIMED: usize = 32;
/// Most frames with the bytes of one frame that are considered.
pub(super) const PIECES: usize = 256;
/// A difference between clocks that the captures do not show.
pub(super) const SLACK_NS: i64 = 1_000_000;

/// The retransmissions of a lost frame.
#[derive(Default)]
pub(in crate::html) struct Repair<'a> {
    /// Retransmissions that are lost as well.
    pub(in crate::html) vain: Vec<&'a Frame>,
    /// Those that bring bytes to the next point, or that are acknowledged.
    pub(in crate::html) again: Vec<&'a Frame>,
    /// The frames that bring these bytes to the next point, where the clocks tell which they are.
    pub(in crate::html) arrived: Vec<&'a Frame>,
    /// The acknowledgment of the last byte, if the repair is known by it.
    pub(in crate::html) acknowledged: Option<&'a Frame>,
    /// Retransmissions of which nothing is known.
    pub(in crate::html) unknown: Vec<&'a Frame>,
    /// Whether all missing bytes come in the end.
    pub(in crate::html) is_whole: bool,
    /// Whether the bytes had come before, or come with the lost frame after all.
    pub(in crate::html) was_there: bool,
}

impl<'a> Repair<'a> {
    /// The repair of a frame that is lost between a point and the next, or behind the only point.
    pub(in crate::html) fn of(here: &'a Lane, next: Option<&'a Lane>, lost: &'a Frame) -> Self {
        let copies = copies(here, lost);
        match next {
            Some(next) => Passage { here, next, lost }.repair(&copies),
            None => acknowledged(here, lost, &copies),
        }
    }

    /// The retransmissions to tell of: those that bring the bytes, or those of which nothing is known.
    pub(super) fn told(&self) -> &Vec<&'a Frame> {
        match &self.again[..] {
            [] => &self.unknown,
            _ => &self.again,
        }
    }

    /// All retransmissions up to the one that brings the last byte.
    pub(in crate::html) fn sent(&self) -> impl Iterator<Item = &'a Frame> {
        self.vain.iter().chain(self.told()).copied()
    }

    /// The time from the loss to the first retransmission of [`Repair::told`], or else to the first one in vain.
    pub(super) fn wait_ns(&self, lost: &Frame) -> i64 {
        let first = self.told().iter().chain(&self.vain).next();
        first.map_or(0, |first| first.at_ns - lost.at_ns)
    }
}

/// Later frames with bytes of a lost frame.
fn copies<'a>(here: &'a Lane, lost: &'a Frame) -> Vec<&'a Frame> {
    let first = here
        .frames
        .partition_point(|frame| frame.at_ns < lost.at_ns);
    let later = here.frames[first..].iter();
    let later = later.skip_while(|frame| frame.at_ns == lost.at_ns && *frame != lost);
    let later = later.skip(1).filter(|frame| is_alike(frame, lost));
    later.take(PIECES).collect()
}

/// Whether a frame carries bytes of another one, the same way.
fn is_alike(frame: &Frame, other: &Frame) -> bool {
    frame.data != Data::None
        && frame.to_client == other.to_client
        && frame.start < other.end()
        && other.start < frame.end()
}

/// Bytes of the stream that have not come.
pub(super) struct Missing(Vec<(i64, i64)>);

impl Missing {
    pub(super) fn of(frame: &Frame) -> Self {
        Self(vec![(frame.start, frame.end())])
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn touches(&self, frame: &Frame) -> bool {
        let mut gaps = self.0.iter();
        gaps.any(|(from, to)| frame.start < *to && *from < frame.end())
    }

    /// Takes the bytes of a frame, and says whether there were any.
    pub(super) fn take(&mut self, frame: &Frame) -> bool {
        self.take_range(frame.start, frame.end())
    }

    fn take_range(&mut self, start: i64, end: i64) -> bool {
        let before = std::mem::take(&mut self.0);
        let bytes = |gaps: &[(i64, i64)]| gaps.iter().map(|(from, to)| to - from).sum::<i64>();
        let all = bytes(&before);
        let parts = before
            .into_iter()
            .flat_map(|(from, to)| [(from, to.min(start)), (from.max(end), to)]);
        self.0 = parts.filter(|(from, to)| from < to).collect();
        bytes(&self.0) < all
    }

    /// Only what a frame has of it.
    pub(super) fn within(&self, frame: &Frame) -> Self {
        let gaps = self.0.iter();
        let cut = gaps.map(|(from, to)| (*from.max(&frame.start), *to.min(&frame.end())));
        Self(cut.filter(|(from, to)| from < to).collect())
    }
}

/// The way from a point to the next, on which a frame is lost.
struct Passage<'a> {
    here: &'a Lane,
    next: &'a Lane,
    lost: &'a Frame,
}

impl<'a> Passage<'a> {
    fn repair(&self, copies: &[&'a Frame]) -> Repair<'a> {
        let (mut missing, was_there) = self.missing(copies);
        let mut repair = Repair {
            was_there,
            ..Repair::default()
        };
        for (place, copy) in copies.iter().enumerate() {
            if missing.touches(copy) {
                let before = place.checked_sub(1).map_or(self.lost, |i| copies[i]);
                let times = (
                    since(copy, before),
                    until(copy, copies.get(place + 1).copied()),
                );
                self.follow(copy, times, &mut missing, &mut repair);
            }
        }
        repair.is_whole = missing.is_empty();
        repair
    }

    /// The bytes that a retransmission has to bring, and whether any of the others were at the next point although the
    /// frame was lost as a whole.
    fn missing(&self, copies: &[&Frame]) -> (Missing, bool) {
        let mut missing = Missing::of(self.lost);
        let mut was_there = false;
        for frame in self.arrivals(i64::MIN, i64::MAX) {
            let again = copies.iter().find(|copy| is_alike(copy, frame));
            if again.is_none_or(|again| frame.at_ns < since(again, self.lost)) {
                was_there |= missing.take(frame);
            }
        }
        let in_part = self.lost.fate == Some(Fate::PartlyLost);
        if in_part && !missing.is_empty() {
            return (missing, false);
        }
        (Missing::of(self.lost), was_there)
    }

    /// Takes what a retransmission brings to the next point.
    fn follow(
        &self,
        copy: &'a Frame,
        times: (i64, i64),
        missing: &mut Missing,
        repair: &mut Repair<'a>,
    ) {
        let arrived = self.brought(copy, times, missing);
        for frame in &arrived {
            missing.take_range(frame.start.max(copy.start), frame.end().min(copy.end()));
        }
        let brings = passes(copy) || !arrived.is_empty();
        if passes(copy) {
            missing.take(copy);
        }
        match (brings, copy.is_lost()) {
            (true, _) => repair.again.push(copy),
            (false, true) => repair.vain.push(copy),
            (false, false) => repair.unknown.push(copy),
        }
        repair.arrived.extend(arrived);
    }

    /// The first frames at the next point with the missing bytes that a retransmission carries.
    fn brought(
        &self,
        copy: &Frame,
        (from_ns, to_ns): (i64, i64),
        missing: &Missing,
    ) -> Vec<&'a Frame> {
        if copy.fate == Some(Fate::Lost) {
            return Vec::new();
        }
        let to_ns = if passes(copy) { i64::MAX } else { to_ns };
        let mut wanted = missing.within(copy);
        let mut arrivals = self.arrivals(from_ns, to_ns);
        let mut found = Vec::new();
        while !wanted.is_empty()
            && let Some(frame) = arrivals.next()
        {
            if frame.data != Data::Again && wanted.take(frame) {
                found.push(frame);
            }
        }
        found
    }

    /// Frames at the next point with bytes of the lost one, if times here and there can be compared.
    fn arrivals(&self, from_ns: i64, to_ns: i64) -> impl Iterator<Item = &'a Frame> {
        let is_known = self.here.is_aligned && self.next.is_aligned;
        let frames = if is_known { &self.next.frames[..] } else { &[] };
        let first = frames.partition_point(|frame| frame.at_ns < from_ns);
        let lost = self.lost;
        let frames = frames[first..]
            .iter()
            .take_while(move |frame| frame.at_ns < to_ns);
        frames.filter(move |frame| is_alike(frame, lost))
    }
}

/// The time from which what arrives is of a retransmission, and of none before.
fn since(copy: &Frame, before: &Frame) -> i64 {
    copy.at_ns - ((copy.at_ns - before.at_ns) / 2).min(SLACK_NS)
}

/// The time from which what arrives may be of the following retransmission.
fn until(copy: &Frame, next: Option<&Frame>) -> i64 {
    next.map_or(i64::MAX, |next| since(next, copy))
}

/// Whether all of a frame arrives.
fn passes(frame: &Frame) -> bool {
    matches!(
        frame.fate,
        Some(Fate::Arrived | Fate::Split | Fate::MergedFurther | Fate::Missed)
    )
}

/// At the only point: what acknowledgments show.
fn acknowledged<'a>(here: &'a Lane, lost: &'a Frame, copies: &[&'a Frame]) -> Repair<'a> {
    let round_trip_ns = round_trip_ns(here, lost);
    let mut repair = Repair::default();
    let mut next = lost.start;
    while next < lost.end() {
        let Some((ack, end)) = acknowledgment(here, lost, next) else {
            break;
        };
        let cause = cause(copies, ack, next, round_trip_ns);
        next = cause.map_or(end, |copy| end.min(copy.end()));
        repair.was_there |= cause.is_none();
        repair.again.extend(cause);
        let known = repair.acknowledged.into_iter().chain([ack]);
        repair.acknowledged = known.max_by_key(|ack| ack.at_ns);
    }
    repair.again.sort_by_key(|copy| copy.at_ns);
    repair.again.dedup();
    repair.is_whole = next >= lost.end();
    repair.settle(copies);
    repair
}

impl<'a> Repair<'a> {
    /// Sorts those that nobody acknowledged: others followed them, or nothing is known of them.
    fn settle(&mut self, copies: &[&'a Frame]) {
        let last = self.again.iter().map(|frame| frame.at_ns).max();
        let others = copies.iter().filter(|copy| !self.again.contains(copy));
        for copy in others.copied() {
            let is_followed = |later: &&Frame| later.at_ns > copy.at_ns && is_alike(later, copy);
            match last {
                Some(last) if copy.at_ns < last => self.vain.push(copy),
                None if copies.iter().any(is_followed) => self.vain.push(copy),
                None => self.unknown.push(copy),
                Some(_) => {}
            }
        }
    }
}

/// The first frame that acknowledges a byte, and the end of what it acknowledges from there.
fn acknowledgment<'a>(here: &'a Lane, lost: &Frame, byte: i64) -> Option<(&'a Frame, i64)> {
    let first = here
        .frames
        .partition_point(|frame| frame.at_ns < lost.at_ns);
    let other_way = here.frames[first..].iter();
    let mut other_way = other_way.filter(|frame| frame.to_client != lost.to_client);
    other_way.find_map(|frame| Some((frame, acknowledged_from(frame, byte)?)))
}

fn acknowledged_from(frame: &Frame, byte: i64) -> Option<i64> {
    let whole = frame.ack.filter(|ack| *ack > byte);
    let mut blocks = frame.sack.iter();
    let block = blocks.find(|(from, to)| *from <= byte && byte < *to);
    whole.or(block.map(|(_, to)| *to))
}

/// The last frame with a byte that an acknowledgment can be for: it left half a round trip before, at least.
fn cause<'a>(
    copies: &[&'a Frame],
    ack: &Frame,
    byte: i64,
    round_trip_ns: i64,
) -> Option<&'a Frame> {
    let until_ns = ack.at_ns - round_trip_ns / 2;
    let mut copies = copies.iter().rev().copied();
    copies.find(|copy| copy.at_ns <= until_ns && copy.start <= byte && byte < copy.end())
}

/// The shortest time from a frame to its acknowledgment, as this point sees it.
fn round_trip_ns(here: &Lane, lost: &Frame) -> i64 {
    let data = here.frames.iter();
    let data = data.filter(|frame| frame.to_client == lost.to_client && frame.data == Data::New);
    let times = data.take(TIMED).filter_map(|frame| {
        let (ack, _) = acknowledgment(here, frame, frame.end() - 1)?;
        Some(ack.at_ns - frame.at_ns)
    });
    times.min().unwrap_or(0)
}

#[cfg(test)]
mod tests;
