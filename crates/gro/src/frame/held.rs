//! A frame that waits for others to join it.

use coalescope_wire::{HeaderKind, Headers, prefetch_value};

use crate::frame::template::{MAX_HEADER, USUAL};
use crate::gso::IdRun;
use crate::reason::Reason;

/// No slot.
pub(crate) const NONE: u32 = u32::MAX;

/// How the identifications of one IPv4 header run through the segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identifications {
    /// Where the IPv4 header starts; [`NO_IPV4`] where there is none, or IPv6. The held headers are short enough for a
    /// byte.
    pub(crate) ip: u8,
    /// Identification of the first segment.
    pub(crate) first: u16,
    pub(crate) run: IdRun,
}

/// No IPv4 header.
pub(crate) const NO_IPV4: u8 = u8::MAX;

impl Identifications {
    /// A level without IPv4 header.
    pub(crate) const NONE: Self = Self {
        ip: NO_IPV4,
        first: 0,
        run: IdRun::Increasing,
    };
}

/// Where a segment starts: its ports and its sequence number, in one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place(u64);

impl Place {
    /// From the first bytes of a TCP header.
    #[inline(always)]
    pub(crate) fn of(tcp: [u8; 8]) -> Self {
        Self(u64::from_be_bytes(tcp))
    }

    /// A place in a flow whose ports do not matter: one that is not plain.
    pub(crate) fn at(seq: u32) -> Self {
        Self(seq.into())
    }

    #[inline(always)]
    pub(crate) fn seq(self) -> u32 {
        self.0 as u32
    }

    /// Where the next segment starts. If the sequence number wraps, the carry changes the ports: no frame is found by
    /// this place until the next segment sets the right one.
    #[inline(always)]
    pub(crate) fn further(self, len: u32) -> Self {
        Self(self.0.wrapping_add(len.into()))
    }
}

/// One slot: a held frame, or room for one.
///
/// Fields are in the order of memory: first the headers, so that they are aligned for vector instructions; then one
/// cache line with all fields that change when a frame merges, since a store across two lines would delay the next one;
/// then the rest.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Held {
    /// The headers of the first segment; flags, acknowledgment and the like are kept up to date.
    pub(crate) header: [u8; MAX_HEADER],

    /// Where a segment starts that joins behind.
    pub(crate) next: Place,
    /// Length of a frame that is like the last one: with a segment of the same size and the same flags. 0 where none
    /// may join.
    pub(crate) alike_len: u32,
    /// Payload bytes that segments like the last may add beyond the next one.
    pub(crate) alike_room: u32,
    /// Payload bytes of the first segment.
    pub(crate) segment_size: u32,
    /// Not beside `segments`: the compiler would add to both at once, which takes twice the instructions.
    pub(crate) payload_len: u32,
    /// The slot that a frame joined after a frame had joined this one, when that was last another slot.
    pub(crate) follower: u32,
    /// Segments with payload.
    pub(crate) segments: u32,
    /// Number of the masks for its headers.
    pub(crate) template: u32,
    /// The identification that the next frame has, in the bits of `id_mask`, and its step from frame to frame.
    pub(crate) next_id: u16,
    pub(crate) id_mask: u16,
    pub(crate) id_step: u16,
    /// The sum of identification and checksum of the last segment's IPv4 header, which is the same in all frames that
    /// are alike.
    pub(crate) varying_sum: u16,
    pub(crate) header_len: u16,
    /// The number of its first frame.
    pub(crate) frame: u64,
    /// The sum of the payload (RFC 1071), where complete checksums are wanted.
    pub(crate) sum: u64,
    /// The flow's hash.
    pub(crate) hash: u64,

    /// Frames without payload.
    pub(crate) empty: u32,
    /// When its first frame came, on the caller's clock.
    pub(crate) since: u64,
    /// The next slot with the same index in the table.
    pub(crate) chain: u32,
    /// Neighbours in the bucket, by time.
    pub(crate) older: u32,
    pub(crate) newer: u32,
    pub(crate) bucket: u32,
    /// Identifications of a tunnel's outer header, and of the innermost one.
    pub(crate) ids: [Identifications; 2],
    /// Where the innermost IP header starts.
    pub(crate) ip: u16,
    pub(crate) layer4: u16,
    /// Bytes in front of the outermost IP packet or VLAN tag: 14 for Ethernet, 0 for raw IP.
    pub(crate) link_len: u8,
    pub(crate) version: u8,
    pub(crate) is_tcp: bool,
    pub(crate) tunneled: bool,
    /// Its checksum has not been verified yet.
    pub(crate) unverified: bool,
    /// In the hash table: others may join.
    pub(crate) open: bool,
    /// Ethernet or nothing, one IP header and TCP: `headers` is not used.
    pub(crate) plain: bool,
    /// Why no frame joins any more, while it waits for the end of the batch.
    pub(crate) closed: Option<Reason>,
    /// Why no frame joins behind any more.
    pub(crate) tail: Option<Reason>,
    /// Where the headers of a frame are that is not plain.
    pub(crate) headers: Headers,
}

impl Held {
    pub(crate) fn new() -> Self {
        Self {
            header: [0; MAX_HEADER],
            hash: 0,
            chain: NONE,
            older: NONE,
            newer: NONE,
            bucket: 0,
            template: 0,
            next: Place::default(),
            payload_len: 0,
            segment_size: 0,
            segments: 0,
            empty: 0,
            follower: 0,
            header_len: 0,
            ip: 0,
            layer4: 0,
            version: 4,
            is_tcp: true,
            tunneled: false,
            unverified: false,
            open: false,
            closed: None,
            tail: None,
            link_len: 0,
            sum: 0,
            ids: [Identifications::NONE; 2],
            alike_len: 0,
            alike_room: 0,
            next_id: 0,
            id_mask: 0,
            id_step: 0,
            varying_sum: 0,
            plain: false,
            headers: Headers::default(),
            frame: 0,
            since: 0,
        }
    }

    /// Prefetches the parts of a plain frame that are read and written.
    #[inline(always)]
    pub(crate) fn fetch(&self) {
        self.header.first_chunk::<USUAL>().map(prefetch_value);
        prefetch_value(&self.next);
        prefetch_value(&self.since);
    }

    /// The sequence number of the first payload byte.
    #[inline]
    pub(crate) fn seq(&self) -> u32 {
        self.next.seq().wrapping_sub(self.payload_len)
    }

    /// Number of frames that came in for it, absorbed ones included.
    #[inline]
    pub(crate) fn frames(&self) -> u32 {
        self.segments + self.empty
    }

    /// Bytes behind the Ethernet header: what Linux counts as the frame's length.
    #[inline]
    pub(crate) fn network_len(&self) -> u32 {
        u32::from(self.header_len) - u32::from(self.link_len) + self.payload_len
    }
}

/// The IPv4 headers whose identifications count: the outer one of a tunnel, and the innermost one.
pub(crate) fn identifications(headers: &Headers, frame: &[u8]) -> [Identifications; 2] {
    let mut found = [Identifications::NONE; 2];
    let ips = headers
        .as_slice()
        .iter()
        .filter(|header| matches!(header.kind, HeaderKind::Ipv4 | HeaderKind::Ipv6));
    let last = ips.clone().count();
    for (level, header) in ips.enumerate() {
        let slot = if level + 1 == last { 1 } else { 0 };
        if header.kind == HeaderKind::Ipv4 {
            let ip = header.offset as u8;
            found[slot] = Identifications {
                ip,
                first: id_at(frame, ip),
                run: IdRun::Increasing,
            };
        }
    }
    found
}

/// The identification of the IPv4 header at `ip`.
pub(crate) fn id_at(frame: &[u8], ip: u8) -> u16 {
    let at = usize::from(ip) + 4;
    match frame.get(at..at + 2) {
        Some(&[high, low]) => u16::from_be_bytes([high, low]),
        _ => 0,
    }
}
