//! How large one segment of a direction is, and so which frames carry several.
//!
//! The SYNs give a bound: a sender never exceeds the smaller of the two MSS options less the
//! options of the frame at hand (RFC 9293 3.7.1, RFC 6691). Paths, tunnels and clamping make real
//! segments smaller than that, a jumbo guest's own MSS says nothing about a peer with a small MTU,
//! and captures that begin in the middle have no SYN at all. So the first data frames are kept as
//! lengths only, and the sizes that recur decide.

mod warm_up;

use std::cmp::Reverse;
use std::num::NonZeroU32;

use crate::divisor::common_divisor;
use crate::outstanding::Fate;
use warm_up::Length;
pub(crate) use warm_up::WarmUp;

/// Data frames looked at before the size is settled: the first two round trips of a transfer,
/// where initial window 10 (RFC 6928) has doubled once or twice.
const WARM_UP: u32 = 64;

/// Bytes over the announced MSS that some stacks send anyway (they forget options or an extension header): a frame is
/// not called merged for so few.
const SLACK: u32 = 64;

/// MSS values that common paths give, tried against frame sizes when nothing else is known:
/// Ethernet with and without timestamps, IPv6, PPPoE, the usual tunnels, and the mobile ones.
const COMMON: [u32; 22] = [
    1460, 1448, 1440, 1428, 1420, 1412, 1408, 1400, 1398, 1396, 1388, 1386, 1380, 1370, 1368, 1360,
    1348, 1340, 1328, 1260, 1220, 1208,
];

/// A settled segment size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// Payload bytes of a full segment.
    pub(crate) bytes: u32,
    /// A frame with more payload than this carries several segments.
    pub(crate) limit: u32,
    /// A full segment of the time before the sender found a smaller path MTU. Frames of these died for the length of their
    /// segments, merged or not, and count as single ones.
    pub(crate) before: Option<NonZeroU32>,
}

impl Size {
    fn of(bytes: u32, limit: u32) -> Self {
        Self {
            bytes,
            limit,
            before: None,
        }
    }

    /// Segments in a frame with so much payload.
    #[inline]
    pub(crate) fn segments(self, payload: u32) -> u32 {
        let is_of_before = || {
            self.before
                .is_some_and(|full| payload.is_multiple_of(full.get()))
        };
        if payload <= self.limit || is_of_before() {
            1
        } else {
            payload.div_ceil(self.bytes.max(1))
        }
    }
}

/// The estimate of one direction's segment size.
#[derive(Clone, Debug, Default)]
pub(crate) struct SegmentSize {
    bound: Option<NonZeroU32>,
    /// Frames with no more payload carry one segment; 0 while that is not known.
    single_up_to: u32,
    stage: Stage,
}

/// How far the estimate is.
#[derive(Clone, Debug)]
enum Stage {
    /// Not settled.
    Early(WarmUp),
    /// Settled. `over` is a length a little over the limit, and how often it came.
    Known { size: Size, over: (u32, u32) },
    /// It was decided that the size cannot be known.
    Unknown,
}

impl Default for Stage {
    fn default() -> Self {
        Self::Early(WarmUp::default())
    }
}

/// What the caller has to count after a frame was added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    /// Nothing yet.
    Later,
    /// This frame.
    One(u32),
    /// All frames so far, this one included: the size has just been settled.
    All(WarmUp),
    /// This frame, and so many earlier ones of the same length were single after all.
    Correct { payload: u32, earlier: u32 },
}

impl SegmentSize {
    /// Sets the upper bound from the SYNs.
    pub(crate) fn set_bound(&mut self, bytes: u32) {
        self.bound = NonZeroU32::new(bytes);
    }

    /// The upper bound from the SYNs.
    pub(crate) fn bound(&self) -> Option<u32> {
        self.bound.map(NonZeroU32::get)
    }

    /// The settled size; `None` while it is not known.
    #[inline]
    pub(crate) fn size(&self) -> Option<Size> {
        match self.stage {
            Stage::Known { size, .. } => Some(size),
            Stage::Early(_) | Stage::Unknown => None,
        }
    }

    /// Whether the size was decided, even if as unknown.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        !matches!(self.stage, Stage::Early(_))
    }

    /// Whether the size is settled, and a frame with so much payload, more than 0, does not exceed it.
    #[inline]
    pub(crate) fn is_surely_single(&self, payload: u32) -> bool {
        payload <= self.single_up_to
    }

    /// Whether the size is settled, and a single frame with so much payload is a [full](is_full) one.
    #[inline]
    pub(crate) fn is_full(&self, payload: u32) -> bool {
        self.single_up_to > 0 && is_full(payload, self.single_up_to)
    }

    /// Adds a data frame.
    #[inline]
    pub(crate) fn add(&mut self, payload: u32, number: u64) -> Count {
        match &mut self.stage {
            Stage::Known { size, over }
                if payload > size.limit && payload <= size.limit + SLACK =>
            {
                let count = add_over(size, over, payload);
                self.single_up_to = size.limit;
                count
            }
            Stage::Known { .. } | Stage::Unknown => Count::One(payload),
            Stage::Early(early) => {
                early.add(payload, number);
                if early.frames() < WARM_UP {
                    Count::Later
                } else {
                    Count::All(self.settle())
                }
            }
        }
    }

    /// Adds a data frame whose bytes were all sent before.
    #[cold]
    pub(crate) fn add_repeat(&mut self, payload: u32, number: u64) -> Count {
        match &mut self.stage {
            Stage::Early(early) if early.frames() + 1 < WARM_UP => {
                early.add_repeat(payload, number);
                Count::Later
            }
            _ => self.add(payload, number),
        }
    }

    /// Adds a data frame of the same length as the first one; false if the frame needs `add`.
    #[inline]
    pub(crate) fn add_again(&mut self, payload: u32) -> bool {
        match &mut self.stage {
            Stage::Early(early) => early.add_again(payload),
            Stage::Known { .. } | Stage::Unknown => false,
        }
    }

    /// Keeps the fate of a transmission until the size is settled; false if the size is settled.
    #[inline]
    pub(crate) fn keep_fate(&mut self, fate: Fate) -> bool {
        let Stage::Early(early) = &mut self.stage else {
            return false;
        };
        early.add_fate(fate);
        true
    }

    /// Decides now; returns what was kept so far.
    pub(crate) fn settle(&mut self) -> WarmUp {
        let Stage::Early(early) = &mut self.stage else {
            return WarmUp::default();
        };
        let early = std::mem::take(early);
        let estimate = estimate(&early, self.bound.map(NonZeroU32::get));
        self.single_up_to = estimate.map_or(0, |size| size.limit);
        self.stage = estimate.map_or(Stage::Unknown, |size| Stage::Known { size, over: (0, 0) });
        early
    }
}

/// Whether a single frame with so much payload is about as long as a segment: tunnels and options take no fifth of Ethernet's
/// MTU, and the 1,024 bytes with which a sender goes on in a black hole (Linux `tcp_base_mss`) are less.
#[inline]
pub(crate) fn is_full(payload: u32, size: u32) -> bool {
    5 * u64::from(payload) > 4 * u64::from(size)
}

/// Four frames of one length just over the limit show that this is the sender's true segment size.
#[cold]
fn add_over(size: &mut Size, over: &mut (u32, u32), payload: u32) -> Count {
    if over.0 != payload {
        *over = (payload, 0);
    }
    over.1 += 1;
    if over.1 < 4 {
        return Count::One(payload);
    }
    size.bytes = size.bytes.max(payload);
    size.limit = payload;
    Count::Correct {
        payload,
        earlier: 3,
    }
}

fn estimate(early: &WarmUp, bound: Option<u32>) -> Option<Size> {
    if let Some(only) = early.only_length() {
        return estimate_of(&[only], bound);
    }
    let mut sizes: Vec<_> = early.lengths().collect();
    sizes.sort_unstable_by_key(|length| length.payload);
    estimate_of(&sizes, bound)
}

/// The size from distinct lengths, ascending.
fn estimate_of(sizes: &[Length], bound: Option<u32>) -> Option<Size> {
    match bound {
        Some(bound) => Some(within(sizes, bound)),
        None => free(sizes),
    }
}

/// The size with a bound from the SYNs.
fn within(sizes: &[Length], bound: u32) -> Size {
    let is_over =
        |size: &&Length| (bound + 1..=bound + SLACK).contains(&size.payload) && size.frames >= 4;
    if let Some(over) = sizes.iter().rev().find(is_over) {
        return Size::of(over.payload, over.payload);
    }
    if let Some(size) = base_of_multiples(sizes, bound) {
        return size;
    }
    // A path's overhead (PPPoE, IPsec, VXLAN, a clamped MSS) takes at most about 15%.
    let near = sizes
        .iter()
        .filter(|size| (bound - bound / 7..=bound).contains(&size.payload));
    match near.max_by_key(|size| (size.frames, size.payload)) {
        Some(size) if size.frames >= 2 => Size::of(size.payload, bound),
        _ => Size::of(bound, bound),
    }
}

/// A recurring size of which the larger frames are multiples, when it is well below the bound:
/// the real segments of a path that is smaller than both ends announced.
fn base_of_multiples(sizes: &[Length], bound: u32) -> Option<Size> {
    let is_small = |size: &&Length| size.payload >= 400 && size.payload < bound - bound / 7;
    sizes.iter().filter(is_small).find_map(|size| {
        let base = size.payload;
        let before = size_before(sizes, base, bound);
        let is_of_before =
            |payload: u32| before.is_some_and(|full| payload.is_multiple_of(full.get()));
        // What both ends announced may be one segment as well, however many times another length it is.
        let others = sizes
            .iter()
            .filter(|size| size.payload != bound && !is_of_before(size.payload));
        let others: Vec<Length> = others.copied().collect();
        // What is sent again ends where the segments of the time before ended: there, frames are no multiples.
        let (multiples, tails) = multiples(&others, base);
        let fell = before.is_some() && size.frames >= 2 && multiples >= 3 && tails <= 2 * multiples;
        let recurs = || size.frames >= 5 && explains(&others, base);
        (fell || recurs()).then_some(Size {
            before,
            ..Size::of(base, base)
        })
    })
}

/// Whether most frames larger than `base` are exact multiples of it, and at least three are.
fn explains(sizes: &[Length], base: u32) -> bool {
    let (multiples, others) = multiples(sizes, base);
    multiples >= 3 && others * 3 <= multiples && !became_smaller(sizes, base)
}

/// Frames larger than `base` that are exact multiples of it, and others.
fn multiples(sizes: &[Length], base: u32) -> (u32, u32) {
    let larger = sizes.iter().filter(|size| size.payload > base);
    larger.fold((0, 0), |(multiples, others), size| {
        if size.payload.is_multiple_of(base) {
            (multiples + size.frames, others)
        } else {
            (multiples, others + size.frames)
        }
    })
}

/// Whether segments of this size came only after all larger frames, which had one length: the sender went on with
/// smaller segments, as it does where larger ones never arrive (RFC 4821 section 7.7, Linux's `tcp_mtu_probing`). What
/// is merged comes in several lengths, or comes again.
fn became_smaller(sizes: &[Length], base: u32) -> bool {
    let mut larger = sizes.iter().filter(|size| size.payload > base);
    let small = sizes.iter().find(|size| size.payload == base);
    let (Some(small), Some(large), None) = (small, larger.next(), larger.next()) else {
        return false;
    };
    large.places.1 < small.places.0
}

/// The segment size at first, if the first frames were single ones as the SYNs allow them, several of these, or the end of what was
/// written, and no such single one came again once there was one of the smaller size: the sender has found out that they never
/// arrive. Just as long as the SYNs allow, and no multiple of the smaller ones, is no merged frame, whatever else came.
fn size_before(sizes: &[Length], base: u32, bound: u32) -> Option<NonZeroU32> {
    let small = sizes.iter().find(|size| size.payload == base)?;
    let longer = sizes.iter().filter(|size| size.payload > base);
    let early = longer.filter(|size| size.places.0 < small.places.0);
    let is_full = |size: &&Length| (bound - bound / 7..=bound).contains(&size.payload);
    let full = early.clone().find(is_full)?;
    // What came behind the last full one may be several smaller ones that merged.
    let mut beside = early.filter(|size| size.places.0 < full.places.1);
    let is_bound = full.payload == bound && !full.payload.is_multiple_of(base);
    let is_of_full =
        |size: &Length| size.payload <= full.payload || size.payload.is_multiple_of(full.payload);
    let fell = full.places.1 < small.places.0 && (is_bound || beside.all(is_of_full));
    NonZeroU32::new(full.payload).filter(|_| fell)
}

/// Lengths that are tried in pairs: the most frequent ones.
const PAIRED: usize = 8;

/// A size that most lengths are multiples of, where hardly a frame is single: segments smaller than common paths have,
/// as behind a tunnel in a tunnel or a box that lowers the MSS. Two lengths may have a common divisor by chance, hence
/// three.
fn base_in_common(sizes: &[Length]) -> Option<u32> {
    let mut often = sizes.to_vec();
    often.sort_unstable_by_key(|size| (Reverse(size.frames), size.payload));
    often.truncate(PAIRED);
    let lens = || often.iter().map(|size| size.payload);
    let divisor = |one: u32, other: u32| common_divisor(one.into(), other.into()) as u32;
    let pairs = lens().flat_map(|one| lens().map(move |other| divisor(one, other)));
    let is_base = |base: &u32| {
        let multiples = sizes
            .iter()
            .filter(|size| size.payload.is_multiple_of(*base));
        multiples.count() >= 3 && explains(sizes, *base)
    };
    pairs
        .filter(|base| (400..=1460).contains(base))
        .filter(is_base)
        .max()
}

/// The size without a SYN.
fn free(sizes: &[Length]) -> Option<Size> {
    let largest = sizes.last().map(|size| size.payload)?;
    let exact = |bytes| Some(Size::of(bytes, bytes));
    if let Some(size) = base_of_multiples(sizes, u32::MAX) {
        return Some(size);
    }
    if largest > 1460
        && let Some(base) = COMMON.into_iter().find(|base| explains(sizes, *base))
    {
        return exact(base);
    }
    if let Some(base) = base_in_common(sizes).filter(|_| largest > 1460) {
        return exact(base);
    }
    // Up to the largest MTU in use on wires, a size that keeps coming is a segment.
    if let Some(last) = sizes.last()
        && last.frames >= 3
        && last.payload <= 9216
    {
        return exact(last.payload);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TSO frames of jumbo segments, with what was left of a write in one, which all get stuck; then 512 bytes at a time, as
    /// `tcp_base_mss` of old, and what a card merges of these.
    #[test]
    fn a_sender_falls_far_though_its_last_frames_end_with_a_write() {
        let jumbo = 8_948;
        let stuck = [jumbo, jumbo * 3, jumbo + 852, jumbo, jumbo, jumbo];
        let small = [512, 512, 1_024, 1_536, 512, 1_024, 512];
        let lengths: Vec<u32> = stuck.into_iter().chain(small).collect();
        let size = settled(&lengths, Some(jumbo)).unwrap();
        assert_eq!(size.before, NonZeroU32::new(jumbo));
        let segments = [512, 1_024, jumbo, 3 * jumbo].map(|payload| size.segments(payload));
        assert_eq!(segments, [1, 2, 1, 1]);
    }

    fn settled(lengths: &[u32], bound: Option<u32>) -> Option<Size> {
        let mut segment = SegmentSize::default();
        for &payload in lengths {
            segment.add(payload, 0);
        }
        segment.bound = bound.and_then(NonZeroU32::new);
        estimate(&segment.settle(), bound)
    }

    #[test]
    fn the_handshake_decides_when_it_fits() {
        let size = settled(&[1448, 1448, 2896, 300], Some(1448)).unwrap();
        assert_eq!(
            (
                size.segments(1448),
                size.segments(2896),
                size.segments(2897)
            ),
            (1, 2, 3)
        );
    }

    #[test]
    fn story_e_has_1408_byte_segments_under_a_bound_of_1448() {
        let size = settled(&[1408, 1408, 1408, 2816], Some(1448)).unwrap();
        assert_eq!((size.bytes, size.segments(2816)), (1408, 2));
    }

    #[test]
    fn jumbo_at_both_ends_over_a_small_path_is_found_by_its_multiples() {
        let lengths = [1448, 1448, 1448, 1448, 1448, 2896, 4344, 2896];
        assert_eq!(settled(&lengths, Some(8948)).unwrap().segments(2896), 2);
    }

    #[test]
    fn jumbo_without_merging_stays_single() {
        let size = settled(&[8948; 20], Some(8948)).unwrap();
        assert_eq!(size.segments(8948), 1);
        assert_eq!(settled(&[8948; 20], None).unwrap().segments(8948), 1);
    }

    /// Jumbo frames that die in a black hole, and then segments of 1,012 bytes that merge before one of them comes alone.
    #[test]
    fn full_segments_are_no_merged_ones_of_what_the_sender_goes_down_to() {
        let mut lengths = vec![120];
        lengths.extend([8948; 13]);
        lengths.extend([3036, 4048, 2024, 3888].repeat(4));
        lengths.extend([1012, 2024, 3036, 852, 1012, 1864].repeat(5));
        let size = settled(&lengths, Some(8948)).unwrap();
        assert_eq!((size.segments(8948), size.segments(3036)), (1, 3));
        // The end of what was written, before the black hole.
        lengths.splice(1..1, [8948, 5_400]);
        let size = settled(&lengths, Some(8948)).unwrap();
        assert_eq!((size.segments(8948), size.segments(2024)), (1, 2));
    }

    /// Twice or three times the later segments, and never again after them: nothing was merged.
    #[test]
    fn segments_that_became_smaller_were_not_merged_before() {
        for (times, bound) in [
            (2, Some(2_896)),
            (2, None),
            (3, Some(8_948)),
            (3, None),
            (2, Some(8_948)),
        ] {
            let mut lengths = vec![times * 1_448; 11];
            lengths.extend([1_448; 40]);
            let size = settled(&lengths, bound).unwrap();
            assert_eq!(size.segments(times * 1_448), 1, "{times} times, {bound:?}");
        }
    }

    /// Once merged frames come again after single ones, or in several lengths, they are what they seem.
    #[test]
    fn what_comes_again_after_single_ones_was_merged() {
        for bound in [None, Some(8_948)] {
            let mut lengths = vec![2_896; 5];
            lengths.extend([1_448; 6]);
            lengths.push(2_896);
            assert_eq!(settled(&lengths, bound).unwrap().segments(2_896), 2);
            let mut lengths = vec![2_896, 4_344, 4_344];
            lengths.extend([1_448; 6]);
            assert_eq!(settled(&lengths, bound).unwrap().segments(2_896), 2);
        }
    }

    /// A red team's black holes: the first frames are full segments, several of them in one, and die; 1,024 bytes and their
    /// multiples follow.
    #[test]
    fn what_died_in_a_black_hole_was_not_merged() {
        let after = [1024, 2048, 2048, 3072, 1024, 1024, 1024, 1024, 4096, 1024];
        for (full, bound) in [(8948, 8948), (8948, 8960), (1448, 1448), (1380, 1448)] {
            let before = [2 * full, 2 * full, full, full, full];
            let all = [&before[..], &after[..]].concat();
            let size = settled(&all, Some(bound)).unwrap();
            assert_eq!(
                [full, 2 * full].map(|len| size.segments(len)),
                [1, 1],
                "{full} of {bound}"
            );
            assert_eq!(
                (size.bytes, size.segments(3072)),
                (1024, 3),
                "{full} of {bound}"
            );
            // One that comes again was no single segment of a sender that has fallen back.
            let again = [&all[..], &[full]].concat();
            assert_eq!(settled(&again, Some(bound)).unwrap().before, None, "{full}");
        }
    }

    /// A sender that has fallen back sends again up to where the segments of before ended: two of its segments, merged, are as
    /// long as one of before.
    #[test]
    fn what_is_sent_again_ends_where_the_segments_of_before_ended() {
        for full in [1448, 1380, 8948] {
            let mut segment = SegmentSize::default();
            for payload in [2 * full, 2 * full, full, 2 * full, full, full] {
                segment.add(payload, 0);
            }
            let again = [full, full, full, 1024, full, full - 1024, full, full];
            for payload in again {
                segment.add_repeat(payload, 0);
            }
            for payload in [1024, 2048, 3072, 2048, 1024, 1024, 3072] {
                segment.add(payload, 0);
            }
            let size = estimate(&segment.settle(), Some(full)).unwrap();
            assert_eq!(size.before.map(NonZeroU32::get), Some(full));
            assert_eq!(
                [full, 2 * full, 1024, 2048].map(|len| size.segments(len)),
                [1, 1, 1, 2],
                "{full}"
            );
        }
    }

    #[test]
    fn small_messages_do_not_make_small_segments() {
        let lengths = [500, 500, 500, 500, 500, 500, 1448];
        assert_eq!(settled(&lengths, Some(1448)).unwrap().segments(1448), 1);
    }

    #[test]
    fn segments_a_few_bytes_over_the_mss_are_no_merging() {
        let size = settled(&[1440, 1440, 1440, 1440], Some(1432)).unwrap();
        assert_eq!(size.segments(1440), 1);
    }

    #[test]
    fn without_syn_common_sizes_are_tried() {
        let size = settled(&[2896, 4344, 7240, 2896], None).unwrap();
        assert_eq!(size.bytes, 1448);
        assert_eq!(settled(&[16000, 32768, 65483], None), None);
    }

    /// Hardly a frame is single, and none of the common sizes fits.
    #[test]
    fn without_syn_what_lengths_have_in_common_is_tried() {
        let lengths = [524, 1572, 2620, 1572, 4192, 3144, 2620, 5764, 700];
        assert_eq!(settled(&lengths, None).unwrap().bytes, 524);
        // Two lengths have a divisor by chance.
        let chance = [1200, 2800, 2800, 1200];
        assert_eq!(settled(&chance, None).map(|size| size.bytes), None);
        let any = [1733, 2911, 3307, 4409, 2911, 5003];
        assert_eq!(settled(&any, None), None);
    }

    #[test]
    fn a_length_over_the_limit_that_recurs_corrects_the_limit() {
        let mut segment = SegmentSize::default();
        segment.set_bound(1432);
        (0..WARM_UP).for_each(|_| drop(segment.add(1000, 0)));
        for _ in 0..3 {
            assert_eq!(segment.add(1440, 0), Count::One(1440));
        }
        assert_eq!(
            segment.add(1440, 0),
            Count::Correct {
                payload: 1440,
                earlier: 3
            }
        );
        assert_eq!(segment.size().unwrap().segments(1440), 1);
    }
}
