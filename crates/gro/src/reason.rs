//! Why a frame was not merged, or why a merged frame went up.

macro_rules! reasons {
    ($($(#[$doc:meta])* $variant:ident, $name:literal, $source:literal;)*) => {
        /// One variant for each rule.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Reason {
            $($(#[$doc])* $variant,)*
        }

        impl Reason {
            /// All reasons, in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Its name in reports.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Where the rule was read.
            #[must_use]
            pub const fn source(self) -> &'static str {
                match self {
                    $(Self::$variant => $source,)*
                }
            }
        }
    };
}

reasons! {
    // Of no flow: the frame passes.
    /// No IPv4 or IPv6 packet, or of an IP version that the profile does not merge.
    NotIp, "not-ip", "Linux net/core/gro.c: no offload for the type";
    /// The frame ends inside a header.
    Truncated, "truncated", "Linux net/core/gro.c: skb_gro_header";
    /// A header contradicts itself.
    Malformed, "malformed", "RFC 791, RFC 8200, RFC 9293 section 3.1";
    /// Neither TCP nor, where the profile merges it, UDP.
    Protocol, "protocol", "Linux net/ipv4/af_inet.c: inet_offloads";
    /// An IPv4 header with options.
    Ipv4Options, "ipv4-options", "Linux inet_gro_receive; inet_lro lro_tcp_ip_check; NDIS exception 5; DPDK gro_tcp4.c";
    /// IPv6 extension headers that the profile does not merge.
    Ipv6Extensions, "ipv6-extensions", "NDIS exception 5; DPDK gro_tcp6.c";
    /// An IP fragment.
    Fragment, "fragment", "Linux inet_gro_receive; NDIS exception 6";
    /// A wrong IPv4 header checksum.
    Ipv4Checksum, "ipv4-checksum", "Linux inet_gro_receive; NDIS exception 2";
    /// A VLAN tag, and the profile merges none.
    Vlan, "vlan", "DPDK programmer's guide, GRO library limitations";
    /// PPPoE, and the profile does not merge it.
    Pppoe, "pppoe", "Linux before 7.2 has no offload for it";
    /// A tunnel that the profile does not enter, or a tunnel header with fields that forbid it.
    Tunnel, "tunnel", "Linux net/ipv4/gre_offload.c, drivers/net/vxlan";
    /// A tunnel in a tunnel: segmentation knows two levels of headers.
    NestedTunnel, "nested-tunnel", "Linux: NAPI_GRO_CB(skb)->encap_mark";
    /// More header bytes than are kept of a held frame.
    HeadersTooLong, "headers-too-long", "this crate";
    /// A wrong TCP or UDP checksum.
    Checksum, "checksum", "Linux tcp4_gro_receive; NDIS exception 2; FreeBSD tcp_lro_rx";
    /// A UDP datagram without checksum.
    NoChecksum, "no-checksum", "Linux udp_gro_receive_segment";
    /// An address of zeros.
    ZeroAddress, "zero-address", "FreeBSD sys/netinet/tcp_lro.c: tcp_lro_parser";

    // Of a flow: what is held of it goes up first.
    /// The IP length is not that of the bytes present: padding, or a lie.
    Length, "length", "Linux inet_gro_receive, ipv6_gro_receive; inet_lro";
    /// The reserved bit beside Don't Fragment is set.
    ReservedBit, "reserved-bit", "Linux inet_gro_receive: any bit of the word but DF";
    /// No payload: a pure acknowledgment, or a flag alone.
    NoPayload, "no-payload", "Linux tcp_gro_receive; inet_lro; DPDK gro_tcp4.c";
    /// A flag with which a frame joins nothing held.
    FlagForbids, "flag-forbids", "Linux tcp_gro_receive: CWR; NDIS exception 3; inet_lro; FreeBSD tcp_lro_condense";
    /// A flag that every merged frame must have is missing.
    FlagMissing, "flag-missing", "inet_lro lro_tcp_ip_check: ACK; wireguard-go tcpFlagsAck";
    /// A frame marked "congestion experienced".
    CongestionExperienced, "congestion-experienced", "inet_lro lro_tcp_ip_check";
    /// Another TTL or hop limit.
    HopLimit, "hop-limit", "Linux inet_gro_flush, ipv6_gro_flush";
    /// Another DSCP.
    Dscp, "dscp", "Linux inet_gro_flush; NDIS: updating the IP headers";
    /// Another ECN field.
    Ecn, "ecn", "Linux inet_gro_flush; NDIS exception 8";
    /// Another Don't Fragment bit.
    DontFragment, "dont-fragment", "Linux inet_gro_flush; NDIS; DPDK gro_tcp4.h";
    /// An IPv4 identification that neither follows nor stays.
    IpId, "ip-id", "Linux inet_gro_flush; DPDK gro_tcp4.h";
    /// Another flow label.
    FlowLabel, "flow-label", "NDIS: updating the IP headers";
    /// Other MAC addresses.
    LinkAddress, "link-address", "Linux gro_list_prepare";
    /// Other TCP flags.
    Flags, "flags", "Linux tcp_gro_receive";
    /// Another length of headers: other TCP options.
    HeaderLength, "header-length", "Linux tcp_gro_receive: the flag word holds the data offset";
    /// Another acknowledgment number.
    Ack, "ack", "Linux tcp_gro_receive";
    /// An older acknowledgment number.
    AckBack, "ack-back", "FreeBSD tcp_lro.c; NDIS rules";
    /// The same acknowledgment again: a duplicate ACK must stay one.
    DuplicateAck, "duplicate-ack", "FreeBSD tcp_lro_condense; NDIS rules";
    /// Another window.
    Window, "window", "Linux tcp_gro_receive: the flag word holds the window";
    /// Other TCP options, or options that are never merged.
    Options, "options", "Linux tcp_gro_receive; NDIS exception 4; FreeBSD; inet_lro";
    /// A timestamp that goes back.
    TimestampBack, "timestamp-back", "FreeBSD tcp_lro_condense; NDIS rules; inet_lro";
    /// A timestamp that echoes nothing.
    NoTimestampEcho, "no-timestamp-echo", "inet_lro lro_tcp_ip_check";
    /// More payload than the first segment.
    LargerSegment, "larger-segment", "Linux tcp_gro_receive, udp_gro_receive_segment";
    /// Less payload than the first segment, in front of it.
    SmallerInFront, "smaller-in-front", "wireguard-go tcpPacketsCanCoalesce";
    /// Bytes are missing between what is held and the frame.
    SequenceGap, "sequence-gap", "Linux tcp_gro_receive; every engine";
    /// Bytes that are held or went up already.
    SequenceBack, "sequence-back", "Linux tcp_gro_receive; every engine";
    /// The merged packet would be too long.
    SizeLimit, "size-limit", "Linux skb_gro_receive: gro_max_size; NDIS exception 7";

    // A merged frame goes up at once.
    /// PSH, FIN or another flag that ends a merge.
    ClosingFlag, "closing-flag", "Linux tcp_gro_receive; wireguard-go; DPDK gro_tcp4.c";
    /// A segment smaller than the first was the last.
    ShorterSegment, "shorter-segment", "Linux tcp_gro_receive, udp_gro_receive_segment";
    /// As many segments as a merged frame may have.
    SegmentLimit, "segment-limit", "Linux UDP_GRO_CNT_MAX; inet_lro max_aggr; DPDK mbuf chain";

    // A held frame goes up for another's sake, or in time.
    /// The caller flushed: the poll is over.
    EndOfPoll, "end-of-poll", "Linux napi_gro_flush; NDIS: no state across DPCs";
    /// As many frames as one poll takes.
    Budget, "budget", "Linux NAPI_POLL_WEIGHT";
    /// It was held as long as it may be.
    Age, "age", "Linux gro_flush_timeout; FreeBSD tcp_lro_flush_inactive";
    /// Its bucket was full, and it was the oldest in it.
    BucketFull, "bucket-full", "Linux gro_flush_oldest: MAX_GRO_SKBS";
    /// A frame of no flow passed, and must not overtake it.
    Overtaken, "overtaken", "FreeBSD tcp_lro_rx: tcp_lro_flush_all";
    /// It waits for the end of the batch, to keep the order of arrival.
    Batch, "batch", "wireguard-go handleGRO: toWrite; DPDK rte_gro_reassemble_burst";
}

impl core::fmt::Display for Reason {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}
