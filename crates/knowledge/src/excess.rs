//! Whether merged frames are lost more often than single ones, and whether a law explains that which has nothing to do
//! with merging.
//!
//! Loss for each byte hits a frame of four segments four times as often as one of a single segment. A queue or a
//! policer has room for short frames most of the time, and hits longer ones the more often, the longer they are. Merging
//! is innocent where one of these explains what was lost, or where merged frames are lost no more often; else it is in
//! doubt.

mod doubt;
mod hidden;
mod parts;
mod rest;
mod room;
mod span;

use std::cell::LazyCell;

use coalescope_capture::facts::{Amid, Direction, Hop, Lengths, Point};

use crate::bucket::Bucket;
use crate::by_size::BySize;
use crate::crossing::Crossing;
use crate::finding::Reason;
use crate::limits::is_delayed;
use crate::odds::{Table, all_damaged, fisher};
use crate::thresholds::{
    ABOUT, CLEARLY, DOUBT, HANDFUL, HOP_QUEUE_S, LOSS_FRAMES, SURELY, TENTH, TWENTIETH,
};
pub(crate) use doubt::Doubt;
use hidden::Runs;
use parts::Parts;

/// How the loss of merged frames compares with that of single ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Excess {
    /// No more than by chance.
    None,
    /// More, for their length, and the reason for that, if it shows.
    ByLength(Option<Reason>),
    /// More, but so little that this may be chance, and nothing explains it.
    Slight,
    /// More, and their length does not explain it, but single ones are lost as well.
    Mixed,
    /// More, and nothing but merging explains it.
    Unexplained,
    /// Whatever is merged on the hop itself may be what is lost there.
    Hidden,
    /// Many, no queue and no policer shows, and hardly another frame is there to compare them with, or most of what is not known
    /// to have come is not judged.
    Uncompared,
    /// All beyond some length, and few shorter ones: what cannot carry them does that, and a bucket that is too small.
    Limited,
}

impl Excess {
    /// On a hop, all its connections together: of merged frames, and of those that a sender left to its card and no card cut.
    pub(crate) fn on_hop(hop: &Crossing<'_>) -> Self {
        let own = Self::of_merged(hop);
        let of_uncut =
            || uncut(hop).and_then(|as_merged| Self::of_uncut(&Crossing::of(&as_merged)));
        let doubt = (!own.is_doubt()).then(of_uncut).flatten();
        doubt.unwrap_or(own)
    }

    /// The doubt that frames leave which no card seems to have cut. One may have cut them all the same, and another one have
    /// merged their segments again: then a part of a frame is lost by chance, and of all of them only beyond a length that
    /// something does not carry.
    fn of_uncut(hop: &Crossing<'_>) -> Option<Self> {
        let whole = Self::of_lost(hop);
        let in_part = || Self::of_lost(&Crossing::of(&damaged(hop)));
        let whole = Some(whole).filter(|excess| excess.is_doubt());
        whole.or_else(|| Some(in_part()).filter(|excess| *excess == Self::Limited))
    }

    /// Of frames that were lost whole, and of those that lost a part.
    fn of_merged(hop: &Crossing<'_>) -> Self {
        if span::of_loss(hop).is_some() {
            return Self::Unexplained;
        }
        if Runs::of_merged(hop).is_some() {
            return Self::Hidden;
        }
        let whole = Self::of_lost(hop);
        if whole.is_doubt() || hop.merged.partly_lost == 0 {
            return whole;
        }
        // What cuts frames loses segments of long ones more often, and says nothing of why it does. What is lost behind it here
        // and there was of one segment by then.
        let damaged = damaged(hop);
        let damaged = Crossing::of(&damaged);
        let is_stepped = || BySize::of_hop(&damaged).is_stepped();
        let excess = Self::of_damaged(&damaged);
        if excess.is_doubt() && is_stepped() {
            excess
        } else {
            whole
        }
    }

    /// What cuts merged frames again may pass their first segments and drop the others: the longer, the likelier a
    /// frame loses a part. Loss for each byte does not explain that, and want of room only where it hits single frames
    /// as well.
    fn of_damaged(hop: &Crossing<'_>) -> Self {
        let by_the_byte = || BySize::of_hop(hop).falls_by_the_byte();
        match Self::of_lost(hop) {
            Self::ByLength(_) if hop.single.lost < LOSS_FRAMES && !by_the_byte() => {
                Self::Unexplained
            }
            excess => excess,
        }
    }

    fn of_lost(hop: &Crossing<'_>) -> Self {
        if let Some(fit) = hop.room() {
            return Self::ByLength(reason_of_room(hop, &fit.bucket));
        }
        if let Some(window) = hop.window() {
            let is_firewall = window.is_sharp() && !delays(hop);
            return Self::ByLength(is_firewall.then_some(Reason::Window));
        }
        Self::of(&BySize::of_hop(hop), 1, || reason_on(hop))
    }

    /// Of a direction at one point. Delays show a queue there, but their absence shows nothing, since a short queue hardly
    /// shows. `looks` is the number of directions that are looked at.
    pub(crate) fn at_point(data: &Direction, looks: usize) -> Self {
        if Parts::of(data, looks).is_some() {
            return Self::Unexplained;
        }
        Self::of(&BySize::of_repeats(data), looks, || {
            let delays = data.rtt_min_s.zip(data.rtt_median_s);
            let queue = delays.is_some_and(|(min, median)| is_delayed(min, median));
            queue.then_some(Reason::Queue)
        })
    }

    /// Of one of all directions at a point.
    pub(crate) fn behind(point: &Point, data: &Direction) -> Self {
        Self::at_point(data, looks_at(point))
    }

    /// Whether parts of merged frames may be lost behind a point, of which none is sent again whole.
    pub(crate) fn may_be_in_part(data: &Direction) -> bool {
        Parts::of(data, 1).is_some()
    }

    /// Why longer frames are lost more often, if that shows.
    pub(crate) fn reason(self) -> Option<Reason> {
        match self {
            Self::ByLength(reason) => reason,
            _ => None,
        }
    }

    fn of(size: &BySize<'_>, looks: usize, reason: impl Fn() -> Option<Reason>) -> Self {
        let (table, lengths) = (&size.table, size.lengths());
        let spares_longer = size.spares_longer();
        let room = LazyCell::new(|| {
            let refuted = spares_longer || size.order_refutes_room();
            if refuted {
                f64::NEG_INFINITY
            } else {
                room::likelier(table, lengths)
            }
        });
        let unless_uncompared = |excess| match size.is_uncompared() && reason().is_none() {
            true => Self::Uncompared,
            false => excess,
        };
        if size.limit(looks).is_some() {
            Self::Limited
        } else if !table.falls_on_merged() {
            unless_uncompared(Self::None)
        } else if size.is_narrow()
            || room::is_as_by_the_byte(table, lengths)
            || !spares_longer && size.falls_by_the_byte()
            || *room >= CLEARLY
        {
            Self::ByLength(reason())
        } else if let Some(reason) = reason().filter(|_| hits_single(table) || *room >= SURELY) {
            Self::ByLength(Some(reason))
        } else if fisher(table).is_some_and(|p| p >= DOUBT / looks.max(1) as f64) {
            unless_uncompared(Self::Slight)
        } else if hits_single(table) {
            Self::Mixed
        } else {
            Self::Unexplained
        }
    }

    /// Whether merging is not cleared.
    pub(crate) fn is_doubt(self) -> bool {
        matches!(
            self,
            Self::Mixed | Self::Unexplained | Self::Limited | Self::Hidden | Self::Uncompared
        )
    }
}

/// Directions at a point.
fn looks_at(point: &Point) -> usize {
    point.connections.len() * 2
}

/// A hop with frames that were taken for TSO frames as merged ones, if it has no others and most of these arrived as they left:
/// between virtual machines no card cuts them, and what cannot carry merged frames cannot carry them either.
fn uncut(hop: &Hop) -> Option<Hop> {
    let whole = hop.tso.arrived;
    let is_uncut = whole >= HANDFUL && whole * 2 > hop.tso.seen && hop.merged.seen < HANDFUL;
    let (mut lengths, mut amid) = (Lengths::default(), Amid::default());
    for seen in hop.connections.iter().filter(|seen| seen.tso.seen > 0) {
        lengths.add_all(&seen.by_length);
        amid.add(seen.amid);
    }
    is_uncut.then(|| Hop {
        merged: hop.tso,
        single: hop.single,
        delay_spread_s: hop.delay_spread_s,
        by_length: lengths,
        together: hop.together.clone(),
        full: hop.full,
        amid,
        in_turn: hop.in_turn.clone(),
        ..Hop::default()
    })
}

/// A hop as if frames that lost a part had not arrived.
fn damaged(hop: &Hop) -> Hop {
    let (merged, single) = hop.compared();
    Hop {
        merged: all_damaged(&merged),
        single: all_damaged(&single),
        delay_spread_s: hop.delay_spread_s,
        by_length: hop.by_length.damaged(),
        full: hop.full,
        ..Hop::default()
    }
}

/// Whether single frames are lost as well, a tenth as often as merged ones or more often.
fn hits_single(table: &Table) -> bool {
    table.single_lost >= HANDFUL && table.single_share() >= TENTH * table.merged_share()
}

/// Why a hop has no room. A queue delays frames, for no longer than it takes to empty: more is a clock that was set; and for a
/// part of that time: less is how long the segments of a burst take on the wire.
fn reason_of_room(hop: &Hop, bucket: &Bucket) -> Option<Reason> {
    let fits = |spread: f64| {
        let full_s = bucket.depth_s();
        (TWENTIETH * full_s..=ABOUT * full_s).contains(&spread)
    };
    if delays(hop) {
        hop.delay_spread_s
            .filter(|&spread| fits(spread))
            .map(|_| Reason::Queue)
    } else {
        (rest::is_alike(hop) == Some(false)).then_some(Reason::Policer)
    }
}

/// Whether a hop delays frames for as long as only a queue does.
fn delays(hop: &Hop) -> bool {
    hop.delay_spread_s
        .is_some_and(|spread| spread >= HOP_QUEUE_S)
}

/// Why a hop loses frames by the byte, if it shows that. Where bits go wrong, frames after a pause are hit as often;
/// where room is short, they hardly ever are. A full queue delays the frames that it does not drop, and a policer does not.
fn reason_on(hop: &Crossing<'_>) -> Option<Reason> {
    let alike = rest::is_alike(hop);
    if alike == Some(true) && BySize::of_hop(hop).falls_by_the_byte() {
        Some(Reason::Corruption)
    } else if delays(hop) {
        Some(Reason::Queue)
    } else {
        (alike == Some(false)).then_some(Reason::Policer)
    }
}

#[cfg(test)]
mod tests {
    use coalescope_capture::facts::{Fate, HopConnection};

    use super::*;
    use crate::thresholds::SEGMENT;

    /// Single frames arrived between losses.
    const PASSED: Amid = Amid {
        resumed_ns: Some(1),
        last_lost_ns: Some(2),
        spared: false,
    };

    fn on_hop(hop: &Hop) -> Excess {
        Excess::on_hop(&Crossing::of(hop))
    }

    /// A hop with single frames, and merged ones by segments: how many there were, how many of them were lost, and how many
    /// lost a part.
    fn hop(single: (u64, u64), merged: &[(u32, u32, u32, u32)]) -> Hop {
        let mut hop = Hop::default();
        hop.single.arrived = single.0 - single.1;
        hop.single.lost = single.1;
        for (segments, all, lost, partly) in merged {
            let bytes = segments * SEGMENT;
            hop.by_length.add(bytes, all - lost - partly, *lost);
            (0..*partly).for_each(|_| hop.by_length.add_partly(bytes));
            hop.merged.arrived += u64::from(all - lost - partly);
            hop.merged.lost += u64::from(*lost);
            hop.merged.partly_lost += u64::from(*partly);
        }
        hop
    }

    #[test]
    fn every_second_merged_frame_is_no_slope() {
        let half = [(2, 100, 49, 0), (4, 60, 31, 0), (8, 40, 20, 0)];
        assert_eq!(on_hop(&hop((370, 0), &half)), Excess::Unexplained);
        // A tenth as many single ones are lost, too.
        assert_eq!(on_hop(&hop((370, 30), &half)), Excess::Mixed);
        // By the byte, merged frames would be lost more often still.
        assert_eq!(
            on_hop(&hop((379, 47), &[(2, 321, 94, 0), (3, 227, 29, 0)])),
            Excess::ByLength(None)
        );
    }

    /// Frames of three segments are lost, shorter and longer ones pass.
    #[test]
    fn no_law_spares_longer_frames() {
        let three = [(2, 90, 0, 0), (3, 59, 59, 0), (4, 80, 0, 0), (6, 65, 0, 0)];
        assert_eq!(on_hop(&hop((426, 0), &three)), Excess::Unexplained);
    }

    #[test]
    fn loss_that_does_not_ask_for_length_is_no_excess() {
        let alike = [(2, 100, 5, 0), (4, 100, 4, 0)];
        assert_eq!(on_hop(&hop((400, 18), &alike)), Excess::None);
    }

    /// Without frames of another length nothing shows whether these are lost for being merged; nor where most are not judged.
    #[test]
    fn what_is_compared_with_nothing_is_not_cleared() {
        let pairs = |all, lost| hop((0, 0), &[(2, all, lost, 0)]);
        assert_eq!(on_hop(&pairs(2_714, 604)), Excess::Uncompared);
        // A few in a hundred are lost anywhere.
        assert_eq!(on_hop(&pairs(2_714, 90)), Excess::None);
        let queue = Hop {
            delay_spread_s: Some(0.05),
            ..pairs(2_714, 604)
        };
        assert_eq!(on_hop(&queue), Excess::None);
        let alike = [(2, 500, 110, 0), (3, 400, 90, 0), (6, 300, 65, 0)];
        assert_eq!(on_hop(&hop((0, 0), &alike)), Excess::None);
        assert_eq!(on_hop(&hop((40, 9), &[(2, 500, 110, 0)])), Excess::None);

        let open = |merged, single| {
            let mut hop = hop((83, 0), &[(2, 159, 6, 0), (3, 7, 1, 0)]);
            (hop.merged.not_judged, hop.single.not_judged) = (merged, single);
            hop.merged.seen = 166 + merged;
            hop.single.seen = 83 + single;
            on_hop(&hop)
        };
        assert_eq!(open(71, 0), Excess::Uncompared);
        assert_eq!(open(5, 0), Excess::None);
        // One capture is shorter.
        assert_eq!(open(71, 40), Excess::None);
    }

    #[test]
    fn loss_by_the_byte_and_want_of_room_clear_merging() {
        let bytes = [(2, 500, 20, 0), (4, 300, 25, 0), (8, 100, 14, 0)];
        assert_eq!(on_hop(&hop((1_000, 20), &bytes)), Excess::ByLength(None));
        let room = [
            (2, 115, 0, 0),
            (4, 57, 1, 0),
            (5, 81, 26, 0),
            (6, 86, 43, 0),
        ];
        assert_eq!(on_hop(&hop((680, 1), &room)), Excess::ByLength(None));
    }

    /// Between virtual machines: frames that a sender left to its card and that no card cut. Where one did, and another one merged
    /// the segments again, chance takes a part of some frames.
    #[test]
    fn of_frames_that_no_card_cut_lengths_tell_as_much_as_of_merged_ones() {
        let uncut = |single, frames: &[(u32, u32, u32, u32)]| {
            let mut hop = hop(single, frames);
            let seen = HopConnection {
                tso: std::mem::take(&mut hop.merged),
                by_length: std::mem::take(&mut hop.by_length),
                amid: PASSED,
                ..HopConnection::default()
            };
            hop.tso = seen.tso;
            hop.tso.seen = hop.tso.arrived + hop.tso.lost + hop.tso.partly_lost;
            let tso = hop.tso;
            hop.connections = vec![HopConnection { tso, ..seen }];
            hop.full = Fate {
                passed: 50,
                lost: 0,
            };
            on_hop(&hop)
        };
        let limit = [(4, 60, 0, 0), (16, 80, 0, 0), (32, 20, 20, 0)];
        assert_eq!(uncut((50, 0), &limit), Excess::Limited);
        let place = [(2, 300, 0, 0), (3, 48, 0, 48), (4, 29, 0, 29)];
        assert_eq!(uncut((70, 0), &place), Excess::Limited);
        let half = [(2, 100, 40, 0), (4, 60, 25, 0)];
        assert_eq!(uncut((200, 0), &half), Excess::Unexplained);
        for innocent in [
            [(2, 100, 0, 3), (8, 60, 0, 9), (16, 60, 0, 16)],
            [(2, 100, 1, 1), (4, 60, 1, 2), (8, 60, 2, 3)],
            // A card cuts most of them.
            [(2, 10, 0, 8), (4, 30, 0, 29), (8, 30, 0, 30)],
        ] {
            assert!(!uncut((200, 4), &innocent).is_doubt(), "{innocent:?}");
        }
    }

    /// Cut again, and each segment lost by chance; or all segments but the first two.
    #[test]
    fn a_part_of_a_frame_is_lost_by_chance_or_for_its_place() {
        let chance = [(2, 200, 1, 19), (4, 100, 0, 18), (8, 50, 0, 18)];
        assert_eq!(on_hop(&hop((600, 30), &chance)), Excess::None);
        let place = [(2, 9, 0, 0), (3, 12, 0, 12), (6, 7, 0, 7)];
        assert_eq!(on_hop(&hop((13, 0), &place)), Excess::Unexplained);
        let doubt = Doubt::on_hop(&Crossing::of(&hop((13, 0), &place))).unwrap();
        assert!(
            doubt
                .words
                .starts_with("19 of 28 (68%) merged frames that left lost all or a part"),
            "{doubt:?}"
        );
    }
}
