//! What was not read of a host, and without which rules can say little.

use std::collections::BTreeMap;

use coalescope_host::model::{Interface, Platform, Snapshot};
use coalescope_host::names::LINK_NAMESPACE;
use coalescope_host::roles::{RoleName, roles, undecided};

/// What was not read.
pub(super) struct Gap {
    /// What, and which command tells it, in words.
    pub(super) what: String,
    /// Whether it hides what an interface does or is set to.
    pub(super) decides: bool,
}

/// What lacks of a host.
pub(super) fn gaps(snapshot: &Snapshot) -> Vec<Gap> {
    let wanted = wanted(snapshot.platform).iter();
    let lacks = wanted.filter(|wanted| !(wanted.is_there)(snapshot));
    let lacks = lacks.map(|wanted| Gap {
        what: wanted.what.to_owned(),
        decides: wanted.decides,
    });
    let lacks = lacks.chain(masters(snapshot));
    lacks.chain(underlays(snapshot)).collect()
}

/// Tunnels of which nobody knows what carries them, as no address was read at all: else the other end
/// has no way, and nothing carries them.
fn underlays(snapshot: &Snapshot) -> impl Iterator<Item = Gap> {
    let addressed = any(snapshot, |interface| !interface.addresses.is_empty());
    let unknown = addressed || !snapshot.stack.routes.is_empty();
    let tunnels = snapshot.interfaces.iter().filter(move |_| !unknown);
    tunnels.filter_map(|(key, interface)| {
        let tunnel = interface.tunnel.as_ref()?;
        let elsewhere = interface.properties.contains_key(LINK_NAMESPACE);
        let open = tunnel.underlay.is_empty() && !elsewhere && interface.up != Some(false);
        let remote = tunnel.remote.as_deref().filter(|_| open)?;
        Some(Gap {
            what: format!("what carries the tunnel {key} (ip addr, ip route get {remote})"),
            decides: true,
        })
    })
}

/// Masters of which no text says what they are: one line for all ports of each.
fn masters(snapshot: &Snapshot) -> impl Iterator<Item = Gap> {
    let mut ports: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (port, master) in undecided(snapshot) {
        ports.entry(master).or_default().push(port);
    }
    ports.into_iter().map(|(master, ports)| Gap {
        what: format!(
            "what {master} is, the master of {} (ip -d link)",
            ports.join(", ")
        ),
        decides: true,
    })
}

struct Wanted {
    what: &'static str,
    decides: bool,
    is_there: fn(&Snapshot) -> bool,
}

fn wanted(platform: Option<Platform>) -> &'static [Wanted] {
    match platform {
        Some(Platform::Linux) => &[LINUX_OFFLOADS, LINUX_LINKS, LINUX_FORWARDING, KERNEL],
        Some(Platform::Freebsd | Platform::Openbsd) => &[BSD_OFFLOADS, BSD_FORWARDING, KERNEL],
        Some(Platform::Windows) => &[WINDOWS_OFFLOADS, WINDOWS_BUILD, WINDOWS_KERNEL],
        Some(Platform::Esxi) => &[ESXI_SETTINGS],
        Some(Platform::Macos) | None => &[],
    }
}

const LINUX_OFFLOADS: Wanted = Wanted {
    what: "offloads (ethtool -k)",
    decides: true,
    is_there: has_features,
};
const BSD_OFFLOADS: Wanted = Wanted {
    what: "offloads (ifconfig)",
    decides: true,
    is_there: has_features,
};
const WINDOWS_OFFLOADS: Wanted = Wanted {
    what: "RSC of adapters or switches (Get-NetAdapterRsc, Get-VMSwitch)",
    decides: true,
    is_there: |snapshot| {
        let mut switches = snapshot.switches.values();
        has_features(snapshot) || switches.any(|switch| switch.kind.is_some())
    },
};
const ESXI_SETTINGS: Wanted = Wanted {
    what: "LRO and TSO of the host (esxcli system settings advanced list)",
    decides: true,
    is_there: |snapshot| !snapshot.settings.is_empty(),
};
/// Merging by a switch is a fault of one build alone.
const WINDOWS_BUILD: Wanted = Wanted {
    what: "the build of Windows (ver, systeminfo), by which software RSC of the switch is judged",
    decides: true,
    is_there: |snapshot| snapshot.kernel.is_some() || !has_software_rsc(snapshot),
};
const WINDOWS_KERNEL: Wanted = Wanted {
    is_there: |snapshot| snapshot.kernel.is_some() || has_software_rsc(snapshot),
    ..KERNEL
};
const LINUX_LINKS: Wanted = Wanted {
    what: "links (ip -d link)",
    decides: true,
    is_there: |snapshot| any(snapshot, |interface| interface.mtu_bytes.is_some()),
};
const LINUX_FORWARDING: Wanted = Wanted {
    what: "forwarding (sysctl net.ipv4.ip_forward)",
    decides: true,
    is_there: |snapshot| is_told(snapshot, "net.ipv4.ip_forward") || !has_endpoint(snapshot),
};
const BSD_FORWARDING: Wanted = Wanted {
    what: "forwarding (sysctl net.inet.ip.forwarding)",
    decides: true,
    is_there: |snapshot| is_told(snapshot, "net.inet.ip.forwarding") || !has_endpoint(snapshot),
};
const KERNEL: Wanted = Wanted {
    what: "the kernel's release (uname -a, systeminfo)",
    decides: false,
    is_there: |snapshot| snapshot.kernel.is_some(),
};

fn is_told(snapshot: &Snapshot, sysctl: &str) -> bool {
    snapshot.stack.sysctls.contains_key(sysctl)
}

/// Only of what would else end here does forwarding decide anything.
fn has_endpoint(snapshot: &Snapshot) -> bool {
    let roles = roles(snapshot);
    let mut all = roles.values().flatten();
    all.any(|role| role.role == RoleName::Endpoint)
}

fn has_software_rsc(snapshot: &Snapshot) -> bool {
    let mut switches = snapshot.switches.values();
    switches.any(|switch| switch.software_rsc == Some(true))
}

fn has_features(snapshot: &Snapshot) -> bool {
    any(snapshot, |interface| !interface.features.is_empty())
}

fn any(snapshot: &Snapshot, wanted: fn(&Interface) -> bool) -> bool {
    snapshot.interfaces.values().any(wanted)
}
