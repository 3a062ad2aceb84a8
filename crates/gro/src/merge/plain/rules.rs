//! A profile's rules for plain frames, laid out so that each is one load.

use coalescope_wire::Flags;

use crate::profile::{Checksum, Field, IpId, Ipv4Rules, Profile, SegmentSize};
use crate::settings::{Checksums, Settings, Verification};

/// Flags that the short path handles.
const KNOWN: u16 = Flags::ACK | Flags::PSH | Flags::ECE;

/// No checksum is verified.
pub(crate) const NOTHING: u8 = 0;
/// The IPv4 header checksum alone is verified, where headers differ in identification and checksum only.
pub(crate) const IPV4_HEADERS: u8 = 1;
/// `PlainRules` decides which checksums are verified.
pub(crate) const ALL: u8 = 2;

/// A segment with these flags may join.
const JOINS: u8 = 1;
/// A segment with these flags may be held.
const STARTS: u8 = 2;
/// A segment with these flags is the last of a merge.
const CLOSES: u8 = 4;

/// The rules of one profile for plain frames.
#[derive(Clone, Debug)]
pub(crate) struct PlainRules {
    /// Classes by the low eight flags.
    classes: [u8; 256],
    /// Flags that are carried over to the merged frame.
    pub(crate) carried: u8,
    pub(crate) id: IpId,
    /// Only packets with DF merge.
    pub(crate) needs_df: bool,
    /// Segments of any size may join.
    pub(crate) any_size: bool,
    /// Payload that may join whatever the first segment's size is, in bytes.
    pub(crate) size_floor: u32,
    /// IPv4 header checksums are verified.
    pub(crate) check_ipv4: bool,
    /// All of an IPv4 header but identification and checksum is equal in frames that merge.
    equal_ipv4: bool,
    /// TCP checksums of frames that join are verified.
    pub(crate) check_tcp: bool,
    /// TCP checksums of held frames are not verified before a segment joins.
    pub(crate) lazy: bool,
    /// The payload's sum is kept.
    pub(crate) sums: bool,
    pub(crate) segments: u32,
    /// Bytes behind the link header at most, for IPv4 and IPv6.
    pub(crate) len_v4: u32,
    pub(crate) len_v6: u32,
}

impl PlainRules {
    pub(crate) fn new(profile: &Profile, settings: &Settings) -> Self {
        let mut classes = [0; 256];
        for (flags, class) in classes.iter_mut().enumerate() {
            *class = classify(profile, flags as u16);
        }
        let ipv4 = profile.ipv4.as_ref();
        let check_ipv4 = ipv4.is_some_and(|rules| rules.checksum == Checksum::Required);
        let check_tcp = settings.verification != Verification::Trusted
            && profile.tcp.checksum == Checksum::Required;
        let any_size = profile.tcp.segment_size == SegmentSize::Any;
        Self {
            classes,
            carried: profile.tcp.carried as u8,
            needs_df: ipv4.is_some_and(|rules| rules.id == IpId::IncreasingWithDf),
            id: ipv4.map_or(IpId::Ignored, |rules| rules.id),
            any_size,
            size_floor: if any_size { u32::MAX / 2 } else { 0 },
            check_ipv4,
            equal_ipv4: ipv4.is_some_and(is_equal),
            check_tcp,
            lazy: settings.verification == Verification::WhenMerging,
            sums: settings.checksums == Checksums::Complete,
            segments: profile.limits.segments.into(),
            len_v4: profile.limits.ip_len,
            len_v6: profile.limits.ip_len_big,
        }
    }

    /// What has to be verified or summed of frames that join, besides the comparisons.
    #[inline(always)]
    pub(crate) fn checks(&self) -> u8 {
        match (self.check_tcp || self.sums, self.check_ipv4) {
            (false, false) => NOTHING,
            (false, true) if self.equal_ipv4 => IPV4_HEADERS,
            _ => ALL,
        }
    }

    /// Whether the payload of a frame will probably be read; `likely`: it will probably merge.
    #[inline(always)]
    pub(crate) fn fetches(&self, likely: bool) -> bool {
        self.check_tcp && (likely || !self.lazy)
    }

    #[inline(always)]
    pub(crate) fn joins(&self, flags: u8) -> bool {
        self.classes[usize::from(flags)] & JOINS != 0
    }

    #[inline(always)]
    pub(crate) fn starts(&self, flags: u8) -> bool {
        self.classes[usize::from(flags)] & STARTS != 0
    }

    #[inline(always)]
    pub(crate) fn closes(&self, flags: u8) -> bool {
        self.classes[usize::from(flags)] & CLOSES != 0
    }
}

/// Whether frames that merge have equal IPv4 headers but for identification and checksum.
fn is_equal(rules: &Ipv4Rules) -> bool {
    let fields = [rules.ttl, rules.dscp, rules.ecn, rules.dont_fragment];
    fields
        .iter()
        .all(|field| matches!(field, Field::Flow | Field::Equal))
}

fn classify(profile: &Profile, flags: u16) -> u8 {
    let rules = &profile.tcp;
    if flags & !KNOWN != 0 || flags & rules.required != rules.required {
        return 0;
    }
    let bit = |set: bool, class: u8| if set { class } else { 0 };
    bit(flags & rules.never_join == 0, JOINS)
        | bit(flags & rules.never_start == 0, STARTS)
        | bit(flags & rules.closing != 0, CLOSES)
}
