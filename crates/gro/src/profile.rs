//! The rules of each implementation, as data.
//!
//! A [`Profile`] holds for every header field what it decides ([`Field`]), and for all other behaviour which named rule
//! holds. Two profiles differ where their values differ; no other code in the crate compares names of profiles.

mod dpdk;
mod freebsd;
mod linux;
mod linux_lro;
mod ndis;
mod virtio;
mod wireguard;

use coalescope_wire::{Flags, UdpTunnels};

/// What a header field decides when a frame meets a held frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Part of the flow's identity: a frame that differs is of another flow.
    Flow,
    /// Must be equal within the flow: a frame that differs is not merged.
    Equal,
    /// Not compared; the merged frame has the first segment's value.
    First,
    /// Not compared; the merged frame has the latest segment's value.
    Latest,
    /// Must not go back (modulo 2^32); the merged frame has the latest segment's value.
    Rising,
    /// Not compared; the merged frame has the smallest value.
    Minimum,
}

/// How an engine treats IPv4 identifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpId {
    /// Not compared; the first is kept.
    Ignored,
    /// One more for each segment, or, from the second segment on, fixed, whether DF is set or not. Checked at every
    /// level of a tunnel (Linux 6.18 and later).
    IncreasingOrFixed,
    /// One more for each segment, or fixed where DF is set (Linux 4.6 to 6.17). The outer header's identification is
    /// ignored where its DF is set.
    IncreasingOrFixedWithDf,
    /// One more for each segment, and DF must be set (Linux up to 4.5).
    IncreasingWithDf,
    /// One more for each segment where DF is clear, ignored where it is set (RFC 6864; DPDK).
    IncreasingWithoutDf,
}

impl IpId {
    /// Whether an engine with this rule distinguishes fixed identifications from increasing ones.
    pub(crate) const fn knows_fixed(self) -> bool {
        matches!(
            self,
            Self::IncreasingOrFixed | Self::IncreasingOrFixedWithDf
        )
    }
}

/// Which TCP options may be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Options {
    /// Any, if every byte is equal.
    Equal,
    /// None, or the block NOP NOP timestamps; TSval must not go back (modulo 2^32). The merged frame has the latest
    /// one. A segment with other options may be held, but no frame joins it.
    Timestamps,
    /// Like `Timestamps`; a segment with other options passes alone.
    TimestampsOnly,
    /// Like `Timestamps`, and TSecr must not be zero. The merged frame has the latest TSecr and the first TSval, for
    /// PAWS.
    TimestampsWithEcho,
}

/// Where a segment may join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Directly behind the held bytes.
    Behind,
    /// Directly behind or directly in front of the held bytes. More than one frame of a flow may be held.
    Beside,
}

/// What payload sizes may join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentSize {
    /// No larger than the first; a smaller one is the last.
    AtMostFirst,
    /// Any.
    Any,
}

/// What becomes of segments without payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PureAck {
    /// They pass, after the held frames of their flow.
    Pass,
    /// They are absorbed: the held frame gets their acknowledgment and window; with the same acknowledgment, the larger
    /// window. An older one vanishes, a duplicate ACK starts a new frame (FreeBSD).
    Absorb,
    /// Only a window update is absorbed; any other pure ACK passes alone (NDIS).
    AbsorbWindowUpdate,
}

/// What becomes of a held frame when another frame of its flow cannot be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The held frame goes up, and the new frame is held in its place if it may be.
    FlushAndStart,
    /// The held frame stays, and the new frame is held beside it if it may be.
    KeepBoth,
}

/// When frames come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emission {
    /// As soon as the frame is decided on: a passing frame overtakes the held frames of other flows.
    Decided,
    /// When the batch ends, all of them, in the order in which their first segments came.
    Batch,
}

/// What becomes of held frames when a frame of no flow passes (a fragment, a bad checksum, another protocol).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bystanders {
    /// They stay.
    Stay,
    /// The held frames of its addresses and ports go up first.
    FlushFlow,
    /// All go up first, so that nothing is overtaken.
    Flush,
}

/// How an engine treats Ethernet padding behind the IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// A padded frame is not merged.
    Refuse,
    /// The padding is cut off.
    Trim,
}

/// How an engine treats checksums of incoming frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// A frame whose checksum is not known to be right is not merged.
    Required,
    /// Checksums are not verified.
    Ignored,
}

/// Ethernet, VLAN and PPPoE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkRules {
    /// Both MAC addresses.
    pub addresses: Field,
    /// Whether frames with VLAN tags are merged; the tags are part of the flow.
    pub vlans: bool,
    /// Whether PPPoE frames are merged; the session is part of the flow.
    pub pppoe: bool,
    /// Padding behind the IP packet.
    pub padding: Padding,
}

/// IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4Rules {
    /// Time to live.
    pub ttl: Field,
    /// The upper six bits of the TOS byte.
    pub dscp: Field,
    /// The lower two bits of the TOS byte.
    pub ecn: Field,
    /// Whether a frame marked "congestion experienced" is refused.
    pub refuse_congestion_experienced: bool,
    /// Don't Fragment.
    pub dont_fragment: Field,
    /// Identification.
    pub id: IpId,
    /// Header checksum.
    pub checksum: Checksum,
    /// Whether a zero source or destination is merged.
    pub zero_addresses: bool,
}

/// IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv6Rules {
    /// Hop limit.
    pub hop_limit: Field,
    /// The upper six bits of the traffic class.
    pub dscp: Field,
    /// The lower two bits of the traffic class.
    pub ecn: Field,
    /// Flow label.
    pub flow_label: Field,
    /// Whether frames with extension headers are merged; the headers are part of the flow.
    pub extensions: bool,
}

/// TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpRules {
    /// Flags that must be set in every frame that is merged.
    pub required: u16,
    /// Flags with which a frame joins nothing held.
    pub never_join: u16,
    /// Flags with which a frame is not held: it joins a held one or passes.
    pub never_start: u16,
    /// Flags that must equal those held.
    pub equal: u16,
    /// The reserved bits beside the flags.
    pub reserved: Field,
    /// Flags of a joining frame that are set in the merged one too.
    pub carried: u16,
    /// Flags with which a merged frame goes up at once.
    pub closing: u16,
    /// Acknowledgment number.
    pub ack: Field,
    /// Window.
    pub window: Field,
    /// Options.
    pub options: Options,
    /// Where a segment may join.
    pub order: Order,
    /// Which sizes may join.
    pub segment_size: SegmentSize,
    /// Segments without payload.
    pub pure_ack: PureAck,
    /// Checksum.
    pub checksum: Checksum,
}

/// UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpRules {
    /// Datagrams in one merged frame at most; reaching it sends the frame up.
    pub max_segments: u16,
    /// Whether datagrams without a checksum are merged.
    pub zero_checksum: bool,
    /// Checksum.
    pub checksum: Checksum,
}

/// Which tunnels are entered. A frame through two tunnels is never merged: segmentation knows two
/// levels of headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TunnelRules {
    /// IPv4 or IPv6 in IPv4 or IPv6.
    pub ip_in_ip: bool,
    /// GRE without sequence numbers.
    pub gre: bool,
    /// VXLAN, for which Linux needs a device that listens. Without it, VXLAN is UDP like any other.
    pub vxlan: bool,
    /// Geneve, under the same condition.
    pub geneve: bool,
}

impl TunnelRules {
    /// The tunnels in UDP, for a walk through a frame's headers.
    #[must_use]
    pub const fn in_udp(self) -> UdpTunnels {
        UdpTunnels {
            vxlan: self.vxlan,
            geneve: self.geneve,
        }
    }
}

/// How large a merged frame may get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest length of the IP packet in bytes, headers included.
    pub ip_len: u32,
    /// Largest length for TCP over IPv6 without tunnel; above 65,535 the packet has a jumbo payload header (BIG TCP).
    pub ip_len_big: u32,
    /// Segments in one merged TCP frame at most; reaching it sends the frame up.
    pub segments: u16,
}

/// What becomes of a frame that is to be held while its bucket is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// The oldest held frame goes up, and the new one is held.
    Evict,
    /// The new frame passes.
    Pass,
}

/// How many frames are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// How many buckets there are; a power of two.
    pub buckets: u32,
    /// How many frames a bucket holds.
    pub per_bucket: u32,
    /// What becomes of one frame more.
    pub full: Full,
    /// Number of frames after which all held frames go up (NAPI's budget); 0 for no such limit.
    pub budget: u32,
}

/// The rules of one implementation. Start from one of the constructors and change what differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name, as `--profile` takes it.
    pub name: &'static str,
    /// Where its rules were read.
    pub source: &'static str,
    /// Ethernet, VLAN and PPPoE.
    pub link: LinkRules,
    /// IPv4; `None` if it is not merged.
    pub ipv4: Option<Ipv4Rules>,
    /// IPv6; `None` if it is not merged.
    pub ipv6: Option<Ipv6Rules>,
    /// TCP.
    pub tcp: TcpRules,
    /// UDP; `None` if it is not merged.
    pub udp: Option<UdpRules>,
    /// Tunnels.
    pub tunnels: TunnelRules,
    /// How large a merged frame may get.
    pub limits: Limits,
    /// How many frames are held.
    pub table: Table,
    /// What becomes of a held frame when another frame of its flow cannot join.
    pub mismatch: Mismatch,
    /// What becomes of held frames when a frame of no flow passes.
    pub bystanders: Bystanders,
    /// When frames come out.
    pub emission: Emission,
    /// Whether segments are chained whole instead of merged (fraglist, `rx-gro-list`): the merged frame keeps the first
    /// segment's transport checksum, and the headers of the others count for its size.
    pub list: bool,
    /// Whether a merged frame can be split again into exactly the frames it was made of.
    pub reversible: bool,
}

impl Profile {
    /// All profiles, as their constructors make them.
    pub const ALL: &'static [Self] = &[
        Self::linux_gro(),
        Self::linux_gro_7(),
        Self::linux_gro_udp(),
        Self::linux_gro_list(),
        Self::linux_gro_4_6(),
        Self::linux_gro_2_6(),
        Self::linux_lro(),
        Self::freebsd_lro(),
        Self::ndis_rsc(),
        Self::virtio_rsc(),
        Self::dpdk_gro(),
        Self::wireguard(),
    ];

    /// The profile with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|profile| profile.name == name)
    }
}

/// No tunnel is entered.
const TUNNELS_NONE: TunnelRules = TunnelRules {
    ip_in_ip: false,
    gre: false,
    vxlan: false,
    geneve: false,
};

/// ACK and PSH, the flags of data segments.
const DATA: u16 = Flags::ACK | Flags::PSH;
