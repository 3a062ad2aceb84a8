//! FreeBSD's LRO.

use coalescope_wire::Flags;

use super::{
    Bystanders, Checksum, DATA, Emission, Field, Full, IpId, Ipv4Rules, Ipv6Rules, Limits,
    LinkRules, Mismatch, Options, Order, Padding, Profile, PureAck, SegmentSize, TUNNELS_NONE,
    Table, TcpRules,
};

impl Profile {
    /// `tcp_lro` of FreeBSD 13 and later, on a host that does not forward (on a router it merges nothing). A pure ACK
    /// that is older than the held one vanishes, as in FreeBSD.
    #[must_use]
    pub const fn freebsd_lro() -> Self {
        Self {
            name: "freebsd-lro",
            source: "FreeBSD: sys/netinet/tcp_lro.c, tcp_lro.h",
            link: LinkRules {
                addresses: Field::First,
                vlans: true,
                pppoe: false,
                padding: Padding::Trim,
            },
            ipv4: Some(Ipv4Rules {
                ttl: Field::First,
                dscp: Field::First,
                ecn: Field::First,
                refuse_congestion_experienced: false,
                dont_fragment: Field::First,
                id: IpId::Ignored,
                checksum: Checksum::Required,
                zero_addresses: false,
            }),
            ipv6: Some(Ipv6Rules {
                hop_limit: Field::First,
                dscp: Field::First,
                ecn: Field::First,
                flow_label: Field::First,
                extensions: false,
            }),
            tcp: TcpRules {
                required: 0,
                never_join: !DATA & Flags::ALL,
                never_start: Flags::SYN,
                equal: Flags::ACK,
                reserved: Field::First,
                carried: Flags::PSH,
                closing: 0,
                ack: Field::Latest,
                window: Field::Latest,
                options: Options::Timestamps,
                order: Order::Behind,
                segment_size: SegmentSize::Any,
                pure_ack: PureAck::Absorb,
                checksum: Checksum::Required,
            },
            udp: None,
            tunnels: TUNNELS_NONE,
            limits: Limits {
                ip_len: 65_535 - 255,
                ip_len_big: 65_535 - 255,
                segments: u16::MAX,
            },
            table: Table {
                buckets: 1,
                per_bucket: 8,
                // Without a free entry (TCP_LRO_NO_ENTRIES).
                full: Full::Pass,
                budget: 0,
            },
            mismatch: Mismatch::FlushAndStart,
            bystanders: Bystanders::Flush,
            emission: Emission::Decided,
            list: false,
            reversible: false,
        }
    }
}
