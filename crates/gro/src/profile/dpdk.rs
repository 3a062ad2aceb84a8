//! DPDK's GRO library.

use coalescope_wire::Flags;

use super::{
    Bystanders, Checksum, Emission, Field, Full, IpId, Ipv4Rules, Ipv6Rules, Limits, LinkRules,
    Mismatch, Options, Order, Padding, Profile, PureAck, SegmentSize, TUNNELS_NONE, Table,
    TcpRules,
};

/// The flags with which a segment starts a flow.
const START: u16 = Flags::ACK;

/// Flags that a segment may have to join: PSH and FIN are carried over.
const JOIN: u16 = Flags::ACK | Flags::PSH | Flags::FIN;

impl Profile {
    /// `rte_gro_reassemble_burst` of DPDK 23.07 and later for TCP. Its UDP support is reassembly of IP fragments, which
    /// merges no segments and is not done here. VXLAN is off by default, as in DPDK.
    #[must_use]
    pub const fn dpdk_gro() -> Self {
        Self {
            name: "dpdk-gro",
            source: "DPDK: lib/gro/gro_tcp.h, gro_tcp4.c, gro_tcp_internal.h, programmer's guide",
            link: LinkRules {
                addresses: Field::Flow,
                vlans: false,
                pppoe: false,
                padding: Padding::Trim,
            },
            ipv4: Some(Ipv4Rules {
                ttl: Field::First,
                dscp: Field::First,
                ecn: Field::First,
                refuse_congestion_experienced: false,
                dont_fragment: Field::Equal,
                id: IpId::IncreasingWithoutDf,
                checksum: Checksum::Ignored,
                zero_addresses: true,
            }),
            ipv6: Some(Ipv6Rules {
                hop_limit: Field::First,
                dscp: Field::First,
                ecn: Field::First,
                flow_label: Field::Flow,
                extensions: false,
            }),
            tcp: TcpRules {
                required: 0,
                never_join: !JOIN & Flags::ALL,
                never_start: !START & Flags::ALL,
                equal: 0,
                reserved: Field::First,
                carried: JOIN,
                // PSH and FIN only make the next time-out due at once.
                closing: 0,
                ack: Field::Flow,
                window: Field::First,
                options: Options::Equal,
                order: Order::Beside,
                segment_size: SegmentSize::Any,
                pure_ack: PureAck::Pass,
                checksum: Checksum::Ignored,
            },
            udp: None,
            tunnels: TUNNELS_NONE,
            limits: Limits {
                ip_len: 65_535,
                ip_len_big: 65_535,
                segments: 20,
            },
            table: Table {
                buckets: 1,
                per_bucket: 128,
                // Without a free item the packet is returned as it is.
                full: Full::Pass,
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
