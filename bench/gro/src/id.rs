//! The engines by name.

/// An engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Id {
    OursDpdk,
    OursLinux,
    OursTable,
    DpdkBurst,
    DpdkTable,
    OursCopy128,
    OursCopy64,
    OursVerify,
    WireguardGo,
    Tailscale,
    Gvisor,
    TunRs,
    FloorHeaders,
    FloorRead,
    FloorCopy,
    FloorBoth,
}

impl Id {
    /// What it is called in the tables.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::OursDpdk => "gro, `dpdk-gro`",
            Self::OursLinux => "gro, `linux-gro`",
            Self::OursTable => "gro, all flows held",
            Self::DpdkBurst => "DPDK burst + parsing",
            Self::DpdkTable => "DPDK table + parsing",
            Self::OursCopy128 => "gro, 128",
            Self::OursCopy64 => "gro, 64",
            Self::OursVerify => "gro, 128, zero-copy",
            Self::WireguardGo => "wireguard-go",
            Self::Tailscale => "Tailscale",
            Self::Gvisor => "gVisor",
            Self::TunRs => "tun-rs",
            Self::FloorHeaders => "reading headers",
            Self::FloorRead => "reading all",
            Self::FloorCopy => "copying all",
            Self::FloorBoth => "copying all, reading the copy",
        }
    }

    /// What the program of a peer calls it.
    pub(crate) fn argument(self) -> &'static str {
        match self {
            Self::DpdkBurst => "burst",
            Self::DpdkTable => "table",
            Self::WireguardGo => "wireguard",
            Self::Tailscale => "tailscale",
            Self::Gvisor => "gvisor",
            _ => "",
        }
    }
}
