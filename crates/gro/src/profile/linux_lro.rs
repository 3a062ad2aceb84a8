//! The software LRO that Linux had from 2.6.24 to 4.x.

use coalescope_wire::Flags;

use super::{
    Bystanders, Checksum, Emission, Field, Full, IpId, Ipv4Rules, Limits, LinkRules, Mismatch,
    Options, Order, Padding, Profile, PureAck, SegmentSize, TUNNELS_NONE, Table, TcpRules,
};

/// Flags with which a packet ends its session's merge and goes alone.
const BLOCKING: u16 = Flags::CWR | Flags::ECE | Flags::URG | Flags::RST | Flags::SYN | Flags::FIN;

impl Profile {
    /// `inet_lro` of Linux, as drivers used it before GRO: IPv4 and TCP only, up to 8 sessions.
    /// The merged packet is limited to 65,535 bytes less an MTU of 1,500.
    #[must_use]
    pub const fn linux_lro() -> Self {
        Self {
            name: "linux-lro",
            source: "Linux 2.6.39: net/ipv4/inet_lro.c",
            link: LinkRules {
                addresses: Field::First,
                vlans: false,
                pppoe: false,
                padding: Padding::Refuse,
            },
            ipv4: Some(Ipv4Rules {
                ttl: Field::First,
                dscp: Field::First,
                ecn: Field::First,
                refuse_congestion_experienced: true,
                dont_fragment: Field::First,
                id: IpId::Ignored,
                checksum: Checksum::Ignored,
                zero_addresses: true,
            }),
            ipv6: None,
            tcp: TcpRules {
                required: Flags::ACK,
                never_join: BLOCKING,
                never_start: BLOCKING,
                equal: 0,
                reserved: Field::First,
                // lro_update_tcp_ip_header writes no flags.
                carried: 0,
                closing: 0,
                ack: Field::Latest,
                window: Field::Latest,
                options: Options::TimestampsWithEcho,
                order: Order::Behind,
                segment_size: SegmentSize::Any,
                pure_ack: PureAck::Pass,
                checksum: Checksum::Ignored,
            },
            udp: None,
            tunnels: TUNNELS_NONE,
            limits: Limits {
                ip_len: 65_535 - 1_500,
                ip_len_big: 65_535 - 1_500,
                segments: 32,
            },
            table: Table {
                buckets: 1,
                per_bucket: 8,
                // lro_get_desc: without a free session.
                full: Full::Pass,
                budget: 64,
            },
            mismatch: Mismatch::FlushAndStart,
            bystanders: Bystanders::Stay,
            emission: Emission::Decided,
            list: false,
            reversible: false,
        }
    }
}
