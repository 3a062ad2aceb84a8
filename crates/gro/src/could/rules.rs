//! Rules by which an engine cannot have built a frame.

use alloc::vec::Vec;

use coalescope_wire::{
    Flags, Headers, LinkType, Packet, Tcp, Transport, UdpTunnels, walk_headers_entering,
};

use super::SegmentSizes;
use crate::frame::inspect::{Inspection, inspect};
use crate::frame::seen::{Layer4, Seen};
use crate::profile::{Options, Profile, PureAck, TcpRules};
use crate::reason::Reason;

/// Length of the hop-by-hop header that BIG TCP adds.
const JUMBO_HEADER: usize = 8;

/// A frame whose headers the engine parses.
pub(super) struct View<'f> {
    pub(super) link: LinkType,
    pub(super) tunnels: UdpTunnels,
    pub(super) frame: &'f [u8],
    pub(super) packet: Packet,
    pub(super) headers: Headers,
    seen: Seen,
}

impl<'f> View<'f> {
    /// Looks at a frame by the same rules by which the engine looks at each frame it is given: a
    /// merged frame has the headers of its first segment.
    ///
    /// # Errors
    ///
    /// The first rule that keeps such headers from being held.
    pub(super) fn new(link: LinkType, frame: &'f [u8], profile: &Profile) -> Result<Self, Reason> {
        let how = Inspection {
            link,
            verify: false,
            seed: 0,
        };
        let seen = inspect(profile, how, frame)?;
        let wire_len = u32::try_from(frame.len()).unwrap_or(u32::MAX);
        let tunnels = profile.tunnels.in_udp();
        let mut headers = Headers::default();
        let walked = walk_headers_entering(link, frame, wire_len, tunnels, &mut headers);
        let packet = walked.map_err(|_| Reason::Malformed)?;
        Ok(Self {
            link,
            tunnels,
            frame,
            packet,
            headers,
            seen,
        })
    }

    pub(super) fn payload_len(&self) -> u32 {
        self.seen.payload_len
    }

    pub(super) fn tcp(&self) -> Option<&Tcp> {
        match &self.packet.transport {
            Transport::Tcp(tcp) => Some(tcp),
            _ => None,
        }
    }

    /// Whether the packet is inside another IP packet.
    pub(super) fn is_tunneled(&self) -> bool {
        self.seen.tunneled
    }

    /// Whether the frame cannot be more than one segment. Without payload, it may still be several segments where the
    /// engine absorbs pure ACKs.
    pub(super) fn is_single(&self, profile: &Profile, segment_size: Option<u16>) -> bool {
        match (self.payload_len(), segment_size) {
            (1, _) => true,
            (len, Some(size)) => len <= u32::from(size),
            (0, None) => profile.tcp.pure_ack == PureAck::Pass,
            (_, None) => false,
        }
    }

    /// The most segments of one frame.
    fn most_segments(&self, profile: &Profile) -> u32 {
        let most = match (self.tcp(), profile.udp) {
            (None, Some(udp)) => udp.max_segments,
            _ => profile.limits.segments,
        };
        u32::from(most).max(1)
    }

    /// The sizes that the segments of the payload can have had.
    pub(super) fn segment_sizes(&self, profile: &Profile) -> Option<SegmentSizes> {
        let payload = self.payload_len();
        let min = payload.div_ceil(self.most_segments(profile)).max(1);
        let max = payload.checked_sub(1)?.min(u32::from(u16::MAX));
        (min <= max).then_some(SegmentSizes {
            min: u16::try_from(min).ok()?,
            max: u16::try_from(max).ok()?,
        })
    }

    /// All rules that the frame breaks.
    pub(super) fn objections(&self, profile: &Profile, segment_size: Option<u16>) -> Vec<Reason> {
        let rules = [
            self.flags(&profile.tcp),
            self.required(&profile.tcp),
            self.congestion(profile),
            self.options(&profile.tcp),
            self.echo(&profile.tcp),
            self.trailing(),
            self.size(profile),
            self.segments(profile, segment_size),
        ];
        rules.into_iter().flatten().collect()
    }

    /// Flags that no merged frame has: a first segment with them is not held, and no later segment brings them.
    fn flags(&self, rules: &TcpRules) -> Option<Reason> {
        let brought = rules.carried & !rules.never_join;
        let never = rules.never_start & !brought;
        let forbidden = self.tcp()?.flags.has(never);
        forbidden.then_some(Reason::FlagForbids)
    }

    fn required(&self, rules: &TcpRules) -> Option<Reason> {
        let missing = self.tcp()?.flags.0 & rules.required != rules.required;
        missing.then_some(Reason::FlagMissing)
    }

    fn congestion(&self, profile: &Profile) -> Option<Reason> {
        let refused = profile.ipv4?.refuse_congestion_experienced;
        let marked = self.packet.ip.version == 4 && self.packet.ip.tos & 3 == 3;
        (refused && marked).then_some(Reason::CongestionExperienced)
    }

    /// Whether the only options are NOP NOP timestamps (RFC 7323 appendix A).
    pub(super) fn has_timestamps_alone(&self) -> bool {
        let options = self.tcp().map(|tcp| tcp.option_bytes(self.frame));
        options.is_some_and(|options| options.len() == 12 && options.starts_with(&[1, 1, 8, 10]))
    }

    fn options(&self, rules: &TcpRules) -> Option<Reason> {
        let others = self.tcp()?.header_len > 20 && !self.has_timestamps_alone();
        let refused = rules.options != Options::Equal && others;
        refused.then_some(Reason::Options)
    }

    /// The merged frame has the timestamp echo of its last segment, and that must not be zero.
    fn echo(&self, rules: &TcpRules) -> Option<Reason> {
        let (_, echo) = self.tcp()?.options(self.frame).timestamps?;
        let refused = rules.options == Options::TimestampsWithEcho && echo == 0;
        refused.then_some(Reason::NoTimestampEcho)
    }

    /// No engine leaves bytes behind a merged packet, and none merges half a packet. In a frame over 65,535 bytes a
    /// length of 0 or a jumbo payload option is right.
    fn trailing(&self) -> Option<Reason> {
        let end = self.seen.header_len as u64 + u64::from(self.payload_len());
        (end != self.frame.len() as u64).then_some(Reason::Length)
    }

    /// Length of the IP packet, without the jumbo payload header that comes last.
    fn ip_len(&self) -> u32 {
        use coalescope_wire::HeaderKind::{Ipv4, Ipv6};
        let mut headers = self.headers.as_slice().iter();
        let outer = headers.find(|header| matches!(header.kind, Ipv4 | Ipv6));
        let at = outer.map_or(0, |header| usize::from(header.offset));
        let headers = self.seen.header_len.saturating_sub(at + self.jumbo_len());
        self.payload_len().saturating_add(headers as u32)
    }

    /// Length of the header that BIG TCP adds, where it is the only extension header.
    fn jumbo_len(&self) -> usize {
        let Some(header) = self.frame.get(self.seen.ip..self.seen.layer4_at) else {
            return 0;
        };
        let is_jumbo = self.seen.version == 6
            && header.len() == 40 + JUMBO_HEADER
            && header[4..7] == [0; 3]
            && header[41..44] == [0, 0xc2, 4];
        if is_jumbo { JUMBO_HEADER } else { 0 }
    }

    fn size(&self, profile: &Profile) -> Option<Reason> {
        let is_tcp = matches!(self.seen.layer4, Layer4::Tcp(_));
        let direct = self.seen.layer4_at == self.seen.ip + 40 + self.jumbo_len();
        let big = self.seen.version == 6 && is_tcp && !self.seen.tunneled && direct;
        let limits = &profile.limits;
        let limit = if big {
            limits.ip_len_big
        } else {
            limits.ip_len
        };
        (self.ip_len() > limit).then_some(Reason::SizeLimit)
    }

    fn segments(&self, profile: &Profile, segment_size: Option<u16>) -> Option<Reason> {
        let impossible = match segment_size {
            Some(size) => {
                let segments = self.payload_len().div_ceil(u32::from(size));
                segments > self.most_segments(profile)
            }
            None => self.payload_len() > 0 && self.segment_sizes(profile).is_none(),
        };
        impossible.then_some(Reason::SegmentLimit)
    }

    /// Which of the given flags are set.
    pub(super) fn flags_set(&self, flags: u16) -> bool {
        self.tcp()
            .is_some_and(|tcp| tcp.flags.has(flags & Flags::ALL))
    }
}
