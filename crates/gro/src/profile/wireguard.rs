//! wireguard-go's GRO in front of a TUN device.

use coalescope_wire::Flags;

use super::{
    Bystanders, Checksum, DATA, Emission, Field, Full, IpId, Ipv4Rules, Ipv6Rules, Limits,
    LinkRules, Mismatch, Options, Order, Padding, Profile, PureAck, SegmentSize, TUNNELS_NONE,
    Table, TcpRules, UdpRules,
};

impl Profile {
    /// `handleGRO` of wireguard-go: one batch of up to 128 packets, TCP and UDP, out-of-order segments put in front.
    /// Frames come out in the order of their first segments.
    #[must_use]
    pub const fn wireguard() -> Self {
        Self {
            name: "wireguard",
            source: "wireguard-go: tun/offload_linux.go",
            link: LinkRules {
                addresses: Field::First,
                vlans: false,
                pppoe: false,
                padding: Padding::Refuse,
            },
            ipv4: Some(Ipv4Rules {
                ttl: Field::Equal,
                dscp: Field::Equal,
                ecn: Field::Equal,
                refuse_congestion_experienced: false,
                dont_fragment: Field::Equal,
                id: IpId::Ignored,
                checksum: Checksum::Ignored,
                zero_addresses: true,
            }),
            ipv6: Some(Ipv6Rules {
                hop_limit: Field::Equal,
                dscp: Field::Equal,
                ecn: Field::Equal,
                flow_label: Field::First,
                extensions: false,
            }),
            tcp: TcpRules {
                required: Flags::ACK,
                never_join: !DATA & Flags::ALL,
                never_start: !DATA & Flags::ALL,
                equal: 0,
                reserved: Field::First,
                carried: Flags::PSH,
                closing: Flags::PSH,
                ack: Field::Flow,
                window: Field::First,
                options: Options::Equal,
                order: Order::Beside,
                segment_size: SegmentSize::AtMostFirst,
                pure_ack: PureAck::Pass,
                checksum: Checksum::Required,
            },
            udp: Some(UdpRules {
                max_segments: u16::MAX,
                zero_checksum: false,
                checksum: Checksum::Required,
            }),
            tunnels: TUNNELS_NONE,
            limits: Limits {
                ip_len: 65_535,
                ip_len_big: 65_535,
                segments: u16::MAX,
            },
            table: Table {
                buckets: 1,
                per_bucket: 128,
                // Never full: a batch is no larger.
                full: Full::Evict,
                budget: 128,
            },
            mismatch: Mismatch::KeepBoth,
            bystanders: Bystanders::Stay,
            emission: Emission::Batch,
            list: false,
            reversible: false,
        }
    }
}
