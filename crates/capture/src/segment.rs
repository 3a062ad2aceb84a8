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
}

impl Size {
    /// Segments in a frame with so much payload.
    #[inline]
    pub(crate) fn segments(self, payload: u32) -> u32 {
        if payload <= self.limit {
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

    /// Whether the size is settled, and a single frame with so much payload has at least half of it.
    #[inline]
    pub(crate) fn is_full(&self, payload: u32) -> bool {
        self.single_up_to > 0 && 2 * payload > self.single_up_to
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
    let size = |length: Length| (length.payload, length.frames as usize);
    if let Some(only) = early.only_length() {
        return estimate_of(&[size(only)], bound);
    }
    let mut sizes: Vec<_> = early.lengths().map(size).collect();
    sizes.sort_unstable();
    estimate_of(&sizes, bound)
}

/// The size from distinct lengths with their counts, ascending.
fn estimate_of(sizes: &[(u32, usize)], bound: Option<u32>) -> Option<Size> {
    match bound {
        Some(bound) => Some(within(sizes, bound)),
        None => free(sizes),
    }
}

/// The size with a bound from the SYNs.
fn within(sizes: &[(u32, usize)], bound: u32) -> Size {
    if let Some(&(over, _)) = sizes
        .iter()
        .rev()
        .find(|(len, n)| *len > bound && *len <= bound + SLACK && *n >= 4)
    {
        return Size {
            bytes: over,
            limit: over,
        };
    }
    if let Some(base) = base_of_multiples(sizes, bound) {
        return Size {
            bytes: base,
            limit: base,
        };
    }
    // A path's overhead (PPPoE, IPsec, VXLAN, a clamped MSS) takes at most about 15%.
    let near = sizes
        .iter()
        .filter(|(len, _)| *len <= bound && *len >= bound - bound / 7);
    match near.max_by_key(|(len, n)| (*n, *len)) {
        Some(&(len, n)) if n >= 2 => Size {
            bytes: len,
            limit: bound,
        },
        _ => Size {
            bytes: bound,
            limit: bound,
        },
    }
}

/// A recurring size of which the larger frames are multiples, when it is well below the bound:
/// the real segments of a path that is smaller than both ends announced.
fn base_of_multiples(sizes: &[(u32, usize)], bound: u32) -> Option<u32> {
    sizes
        .iter()
        .filter(|(len, n)| *len >= 400 && *len < bound - bound / 7 && *n >= 5)
        .map(|(len, _)| *len)
        .find(|base| explains(sizes, *base))
}

/// Whether most frames larger than `base` are exact multiples of it, and at least three are.
fn explains(sizes: &[(u32, usize)], base: u32) -> bool {
    let larger = sizes.iter().filter(|(len, _)| *len > base);
    let (multiples, others) = larger.fold((0, 0), |(multiples, others), (len, n)| {
        if len % base == 0 {
            (multiples + n, others)
        } else {
            (multiples, others + n)
        }
    });
    multiples >= 3 && others * 3 <= multiples
}

/// Lengths that are tried in pairs: the most frequent ones.
const PAIRED: usize = 8;

/// A size that most lengths are multiples of, where hardly a frame is single: segments smaller than common paths have,
/// as behind a tunnel in a tunnel or a box that lowers the MSS. Two lengths may have a common divisor by chance, hence
/// three.
fn base_in_common(sizes: &[(u32, usize)]) -> Option<u32> {
    let mut often = sizes.to_vec();
    often.sort_unstable_by_key(|(len, n)| (Reverse(*n), *len));
    often.truncate(PAIRED);
    let lens = || often.iter().map(|(len, _)| *len);
    let divisor = |one: u32, other: u32| common_divisor(one.into(), other.into()) as u32;
    let pairs = lens().flat_map(|one| lens().map(move |other| divisor(one, other)));
    let is_base = |base: &u32| {
        let multiples = sizes.iter().filter(|(len, _)| len % base == 0);
        multiples.count() >= 3 && explains(sizes, *base)
    };
    pairs
        .filter(|base| (400..=1460).contains(base))
        .filter(is_base)
        .max()
}

/// The size without a SYN.
fn free(sizes: &[(u32, usize)]) -> Option<Size> {
    let largest = sizes.last().map(|(len, _)| *len)?;
    let exact = |bytes| {
        Some(Size {
            bytes,
            limit: bytes,
        })
    };
    if let Some(base) = base_of_multiples(sizes, u32::MAX) {
        return exact(base);
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
    if let Some(&(len, n)) = sizes.last()
        && n >= 3
        && len <= 9216
    {
        return exact(len);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

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
