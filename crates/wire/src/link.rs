//! Link types (the tcpdump.org registry) that the walk starts from.

/// A link type, as pcap and pcapng number them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkType {
    /// 0: BSD loopback, host byte order of the capturing machine.
    Null,
    /// 1.
    Ethernet,
    /// 9: PPP, with or without the HDLC-like 0xff03.
    Ppp,
    /// 50: PPP in HDLC-like framing.
    PppHdlc,
    /// 51: PPPoE session header first.
    PppEther,
    /// 12, 14, 101: IPv4 or IPv6, first nibble decides.
    Raw,
    /// 108: OpenBSD loopback, network byte order.
    Loop,
    /// 113.
    LinuxSll,
    /// 228.
    Ipv4,
    /// 229.
    Ipv6,
    /// 276.
    LinuxSll2,
    /// Any other.
    Other(u16),
}

impl LinkType {
    /// The link type of a number from the tcpdump.org registry.
    ///
    /// 12 and 14 are the numbers of `DLT_RAW` on systems other than OpenBSD, and on OpenBSD: files from old tools have
    /// them instead of 101.
    #[must_use]
    pub const fn from_dlt(number: u16) -> Self {
        match number {
            0 => Self::Null,
            1 => Self::Ethernet,
            9 => Self::Ppp,
            12 | 14 | 101 => Self::Raw,
            50 => Self::PppHdlc,
            51 => Self::PppEther,
            108 => Self::Loop,
            113 => Self::LinuxSll,
            228 => Self::Ipv4,
            229 => Self::Ipv6,
            276 => Self::LinuxSll2,
            other => Self::Other(other),
        }
    }

    /// Its number in the registry.
    #[must_use]
    pub const fn dlt(self) -> u16 {
        match self {
            Self::Null => 0,
            Self::Ethernet => 1,
            Self::Ppp => 9,
            Self::PppHdlc => 50,
            Self::PppEther => 51,
            Self::Raw => 101,
            Self::Loop => 108,
            Self::LinuxSll => 113,
            Self::Ipv4 => 228,
            Self::Ipv6 => 229,
            Self::LinuxSll2 => 276,
            Self::Other(other) => other,
        }
    }

    /// Its name in the registry, without the `LINKTYPE_` prefix; "OTHER" where the walk does not
    /// know it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Ethernet => "ETHERNET",
            Self::Ppp => "PPP",
            Self::PppHdlc => "PPP_HDLC",
            Self::PppEther => "PPP_ETHER",
            Self::Raw => "RAW",
            Self::Loop => "LOOP",
            Self::LinuxSll => "LINUX_SLL",
            Self::Ipv4 => "IPV4",
            Self::Ipv6 => "IPV6",
            Self::LinuxSll2 => "LINUX_SLL2",
            Self::Other(_) => "OTHER",
        }
    }
}
