//! Windows receive segment coalescing.

use super::{
    Bystanders, Checksum, DATA, Emission, Field, Full, IpId, Ipv4Rules, Ipv6Rules, Limits,
    LinkRules, Mismatch, Options, Order, Padding, Profile, PureAck, SegmentSize, TUNNELS_NONE,
    Table, TcpRules,
};
use coalescope_wire::Flags;

impl Profile {
    /// RSC as NDIS 6.30 (Windows Server 2012) and later ask it of a network card.
    #[must_use]
    pub const fn ndis_rsc() -> Self {
        Self {
            name: "ndis-rsc",
            source: "Microsoft: Rules for Coalescing TCP/IP Packets, Exception Conditions, Updating the IP Headers",
            link: LinkRules {
                addresses: Field::First,
                vlans: true,
                pppoe: false,
                padding: Padding::Trim,
            },
            ipv4: Some(Ipv4Rules {
                ttl: Field::Minimum,
                dscp: Field::Equal,
                ecn: Field::Equal,
                refuse_congestion_experienced: false,
                dont_fragment: Field::Equal,
                id: IpId::Ignored,
                checksum: Checksum::Required,
                zero_addresses: true,
            }),
            ipv6: Some(Ipv6Rules {
                hop_limit: Field::Minimum,
                dscp: Field::Equal,
                ecn: Field::Equal,
                flow_label: Field::Equal,
                extensions: false,
            }),
            tcp: TcpRules {
                required: 0,
                never_join: !(DATA | Flags::ECE | Flags::CWR) & Flags::ALL,
                never_start: !(DATA | Flags::ECE | Flags::CWR) & Flags::ALL,
                equal: Flags::ECE | Flags::CWR | Flags::ACK,
                reserved: Field::First,
                carried: Flags::PSH,
                closing: 0,
                // "SEG.ACK >= H.ACK": rules for coalescing.
                ack: Field::Rising,
                window: Field::Latest,
                options: Options::TimestampsOnly,
                order: Order::Behind,
                segment_size: SegmentSize::Any,
                pure_ack: PureAck::AbsorbWindowUpdate,
                checksum: Checksum::Required,
            },
            udp: None,
            tunnels: TUNNELS_NONE,
            limits: Limits {
                ip_len: 65_535,
                ip_len_big: 65_535,
                segments: u16::MAX,
            },
            table: Table {
                buckets: 1,
                per_bucket: 128,
                // Exception 1: the card is out of resources.
                full: Full::Pass,
                budget: 0,
            },
            mismatch: Mismatch::FlushAndStart,
            // Exceptions 2, 5 and 6 end the unit of their connection, too.
            bystanders: Bystanders::FlushFlow,
            emission: Emission::Decided,
            list: false,
            reversible: false,
        }
    }
}
