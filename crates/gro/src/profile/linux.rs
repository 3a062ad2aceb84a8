//! Linux GRO.

use coalescope_wire::Flags;

use super::{
    Bystanders, Checksum, Emission, Field, Full, IpId, Ipv4Rules, Ipv6Rules, Limits, LinkRules,
    Mismatch, Options, Order, Padding, Profile, PureAck, SegmentSize, Table, TcpRules, TunnelRules,
    UdpRules,
};

/// Flags that end a merge: `tcp_gro_receive` sends up a frame with one of them at once.
const CLOSING: u16 = Flags::URG | Flags::PSH | Flags::RST | Flags::SYN | Flags::FIN;

/// All flags but FIN and PSH; CWR since 6.15, for AccECN.
const EQUAL: u16 = !(Flags::FIN | Flags::PSH) & Flags::ALL;

/// Flags compared before 6.15: `tcp_gro_receive` compared all but `TCP_FLAG_CWR | TCP_FLAG_FIN | TCP_FLAG_PSH`.
const EQUAL_BEFORE_6_15: u16 = EQUAL & !Flags::CWR;

impl Profile {
    /// GRO of Linux 6.18 (`rx-gro`), as on a forwarder without local sockets: `rx-udp-gro-forwarding` off, IPv4 and
    /// IPv6 limited to 65,535 bytes.
    #[must_use]
    pub const fn linux_gro() -> Self {
        Self {
            name: "linux-gro",
            source: "Linux 6.18: net/core/gro.c, include/net/gro.h, net/ipv4/tcp_offload.c",
            link: LinkRules {
                addresses: Field::Flow,
                vlans: true,
                pppoe: false,
                padding: Padding::Refuse,
            },
            ipv4: Some(Ipv4Rules {
                ttl: Field::Equal,
                dscp: Field::Equal,
                ecn: Field::Equal,
                refuse_congestion_experienced: false,
                dont_fragment: Field::Equal,
                id: IpId::IncreasingOrFixed,
                checksum: Checksum::Required,
                zero_addresses: true,
            }),
            ipv6: Some(Ipv6Rules {
                hop_limit: Field::Equal,
                dscp: Field::Equal,
                ecn: Field::Equal,
                flow_label: Field::Flow,
                extensions: true,
            }),
            tcp: TcpRules {
                required: 0,
                never_join: Flags::CWR,
                never_start: CLOSING,
                equal: EQUAL,
                reserved: Field::Equal,
                carried: Flags::PSH | Flags::FIN,
                closing: CLOSING,
                ack: Field::Equal,
                window: Field::Equal,
                options: Options::Equal,
                order: Order::Behind,
                segment_size: SegmentSize::AtMostFirst,
                pure_ack: PureAck::Pass,
                checksum: Checksum::Required,
            },
            udp: None,
            tunnels: TunnelRules {
                ip_in_ip: true,
                gre: true,
                vxlan: true,
                geneve: true,
            },
            limits: Limits {
                ip_len: 65_535,
                ip_len_big: 65_535,
                segments: u16::MAX,
            },
            table: Table {
                buckets: 8,
                per_bucket: 8,
                full: Full::Evict,
                budget: 64,
            },
            mismatch: Mismatch::FlushAndStart,
            bystanders: Bystanders::Stay,
            emission: Emission::Decided,
            list: false,
            reversible: true,
        }
    }

    /// GRO of Linux 7.2: like 6.18, but CWR no longer keeps a segment from joining, and PPPoE sessions are merged.
    ///
    /// AccECN counts in the CWR bit, which therefore may stay set for long. The bit must only be equal: a patch by Ilpo
    /// Järvinen (netdev, 15 January 2026) drops `flags & TCP_FLAG_CWR` from `tcp_gro_receive`. `pppoe_gro_receive`
    /// (netdev, March 2026) compares session and protocol.
    #[must_use]
    pub const fn linux_gro_7() -> Self {
        let before = Self::linux_gro();
        Self {
            name: "linux-gro-7",
            source: "Linux 7.2: drivers/net/ppp/pppoe.c, net/ipv4/tcp_offload.c",
            link: LinkRules {
                pppoe: true,
                ..before.link
            },
            tcp: TcpRules {
                never_join: 0,
                ..before.tcp
            },
            ..before
        }
    }

    /// `linux-gro` with `rx-udp-gro-forwarding` on.
    #[must_use]
    pub const fn linux_gro_udp() -> Self {
        Self {
            name: "linux-gro-udp",
            source: "Linux 6.18: net/ipv4/udp_offload.c with NETIF_F_GRO_UDP_FWD",
            udp: Some(UdpRules {
                max_segments: 64,
                zero_checksum: false,
                checksum: Checksum::Required,
            }),
            ..Self::linux_gro()
        }
    }

    /// `linux-gro` with `rx-gro-list` on and no local socket: TCP and UDP segments are chained whole, so that a
    /// forwarder need not split them. Every flag must be equal.
    #[must_use]
    pub const fn linux_gro_list() -> Self {
        let merging = Self::linux_gro_udp();
        Self {
            name: "linux-gro-list",
            source: "Linux 6.18: skb_gro_receive_list with NETIF_F_GRO_FRAGLIST",
            tcp: TcpRules {
                equal: Flags::ALL,
                carried: 0,
                ..merging.tcp
            },
            limits: Limits {
                segments: 64,
                ..merging.limits
            },
            list: true,
            ..merging
        }
    }

    /// GRO of Linux 4.6 to 6.17: a fixed identification needs DF, and the outer header's identification is not compared
    /// where its DF is set. CWR is not compared, as up to 6.14; the table is that of 4.19 and later.
    #[must_use]
    pub const fn linux_gro_4_6() -> Self {
        let mut profile = Self::linux_gro();
        profile.name = "linux-gro-4.6";
        profile.source = "Linux 4.6 to 6.17: net/ipv4/af_inet.c, commit 1530545ed64b";
        profile.ipv4 = ipv4_with(IpId::IncreasingOrFixedWithDf, Field::Equal);
        profile.tcp.equal = EQUAL_BEFORE_6_15;
        profile
    }

    /// GRO of Linux up to 4.5: DF must be set, identifications must increase, and another TOS
    /// is another flow. All flows are in one list of eight (`MAX_GRO_SKBS`), which 4.19 made a hash table.
    #[must_use]
    pub const fn linux_gro_2_6() -> Self {
        let mut profile = Self::linux_gro();
        profile.name = "linux-gro-2.6";
        profile.source = "Linux 2.6.29 to 4.5: net/ipv4/af_inet.c";
        profile.ipv4 = ipv4_with(IpId::IncreasingWithDf, Field::Flow);
        profile.tcp.equal = EQUAL_BEFORE_6_15;
        profile.table.buckets = 1;
        profile
    }
}

/// The IPv4 rules of `linux-gro`, except for identifications and TOS.
const fn ipv4_with(id: IpId, tos: Field) -> Option<Ipv4Rules> {
    match Profile::linux_gro().ipv4 {
        Some(rules) => Some(Ipv4Rules {
            id,
            dscp: tos,
            ecn: tos,
            ..rules
        }),
        None => None,
    }
}
