//! What was not read of a host, and without which rules can say little.

use coalescope_host::model::{Interface, Platform, Snapshot};

/// What lacks, and which command tells it, in words.
pub(super) fn gaps(snapshot: &Snapshot) -> Vec<String> {
    let lacks = wanted(snapshot.platform)
        .iter()
        .filter(|wanted| !(wanted.is_there)(snapshot));
    lacks.map(|wanted| wanted.what.to_owned()).collect()
}

struct Wanted {
    what: &'static str,
    is_there: fn(&Snapshot) -> bool,
}

fn wanted(platform: Option<Platform>) -> &'static [Wanted] {
    match platform {
        Some(Platform::Linux) => &[LINUX_OFFLOADS, LINUX_LINKS, LINUX_FORWARDING, KERNEL],
        Some(Platform::Freebsd | Platform::Openbsd) => &[BSD_OFFLOADS, BSD_FORWARDING, KERNEL],
        Some(Platform::Windows) => &[WINDOWS_OFFLOADS, KERNEL],
        Some(Platform::Esxi | Platform::Macos) | None => &[],
    }
}

const LINUX_OFFLOADS: Wanted = Wanted {
    what: "offloads (ethtool -k)",
    is_there: has_features,
};
const BSD_OFFLOADS: Wanted = Wanted {
    what: "offloads (ifconfig)",
    is_there: has_features,
};
const WINDOWS_OFFLOADS: Wanted = Wanted {
    what: "RSC of adapters or switches (Get-NetAdapterRsc, Get-VMSwitch)",
    is_there: |snapshot| has_features(snapshot) || !snapshot.switches.is_empty(),
};
const LINUX_LINKS: Wanted = Wanted {
    what: "links (ip -d link)",
    is_there: |snapshot| any(snapshot, |interface| interface.mtu_bytes.is_some()),
};
const LINUX_FORWARDING: Wanted = Wanted {
    what: "forwarding (sysctl net.ipv4.ip_forward)",
    is_there: |snapshot| snapshot.stack.sysctls.contains_key("net.ipv4.ip_forward"),
};
const BSD_FORWARDING: Wanted = Wanted {
    what: "forwarding (sysctl net.inet.ip.forwarding)",
    is_there: |snapshot| {
        snapshot
            .stack
            .sysctls
            .contains_key("net.inet.ip.forwarding")
    },
};
const KERNEL: Wanted = Wanted {
    what: "the kernel's release (uname -a, systeminfo)",
    is_there: |snapshot| snapshot.kernel.is_some(),
};

fn has_features(snapshot: &Snapshot) -> bool {
    any(snapshot, |interface| !interface.features.is_empty())
}

fn any(snapshot: &Snapshot, wanted: fn(&Interface) -> bool) -> bool {
    snapshot.interfaces.values().any(wanted)
}
