//! Data that was not read of a host, and that rules need.

use std::collections::BTreeMap;

use coalescope_host::model::{Interface, Platform, Snapshot, VirtualSwitch};
use coalescope_host::names::{FIRST_OF_TWO, LINK_NAMESPACE, OLD_LENGTH_RULES, QUEUEING};
use coalescope_host::roles::{Role, RoleName, is_alone, roles, undecided};

/// ethtool(8)'s name for LRO: of all merging it harms hosts that forward frames most.
const LRO: &str = "large-receive-offload";

/// ifconfig(8)'s name for LRO.
const BSD_LRO: &str = "LRO";

/// Data that was not read.
pub(super) struct Gap {
    /// The data, and the command that prints it, in words.
    pub(super) what: String,
    /// Whether it hides what an interface does or is set to.
    pub(super) decides: bool,
}

/// All gaps of a host.
pub(super) fn gaps(snapshot: &Snapshot) -> Vec<Gap> {
    let wanted = wanted(snapshot.platform).iter();
    let lacks = wanted.filter(|wanted| !(wanted.is_there)(snapshot));
    let lacks = lacks.map(|wanted| Gap {
        what: wanted.what.to_owned(),
        decides: wanted.decides,
    });
    let lacks = lacks.chain(masters(snapshot));
    let lacks = lacks.chain(underlays(snapshot));
    lacks
        .chain(wires(snapshot))
        .chain(disputed(snapshot))
        .collect()
}

/// The gaps of NICs that decide.
fn wires(snapshot: &Snapshot) -> Vec<Gap> {
    let roles = roles(snapshot);
    match snapshot.platform {
        Some(Platform::Linux) => vec![
            unplaced(snapshot, &roles),
            unmerged(snapshot, &roles, (LRO, "(ethtool -k)")),
            old_rules(snapshot),
            alone(snapshot, &roles, "(ip -d link)"),
        ],
        Some(Platform::Freebsd) => vec![
            unmerged(snapshot, &roles, (BSD_LRO, "(ifconfig)")),
            alone(snapshot, &roles, "(ifconfig)"),
        ],
        Some(Platform::Windows) => vec![unnamed(snapshot, &roles)],
        _ => Vec::new(),
    }
    .into_iter()
    .flatten()
    .collect()
}

type Roles = BTreeMap<String, Vec<Role>>;

/// NICs whose offloads were read, but not whether they are ports of something.
fn unplaced(snapshot: &Snapshot, roles: &Roles) -> Option<Gap> {
    let known: Vec<String> = undecided(snapshot)
        .into_iter()
        .map(|(port, _)| port)
        .collect();
    let all = snapshot.interfaces.iter().filter(|(key, interface)| {
        let is_open = !interface.features.is_empty() && is_nic(interface);
        is_open && roles[*key].is_empty() && !known.contains(key) && interface.up != Some(false)
    });
    gap(
        "what is the master of",
        all.map(|(key, _)| key),
        "(ip -d link)",
    )
    .filter(|_| (LINUX_LINKS.is_there)(snapshot))
}

/// NICs whose frames are forwarded, and whose LRO state, which has this name and is printed by this command, was not read.
fn unmerged(snapshot: &Snapshot, roles: &Roles, (lro, command): (&str, &str)) -> Option<Gap> {
    let all = snapshot.interfaces.iter().filter(|(key, interface)| {
        let is_read = interface.features.contains_key(lro);
        let own = &roles[*key];
        let is_guest = own.iter().any(|role| role.role == RoleName::GuestPort);
        let is_transit = own.iter().any(|role| role.role.is_transit()) && !is_guest;
        let is_member = own.iter().any(|role| role.role == RoleName::BondMember);
        is_transit && !is_read && (is_wire(interface) || is_member && is_nic(interface))
    });
    gap("whether LRO is on at", all.map(|(key, _)| key), command).filter(|_| has_features(snapshot))
}

/// Ends, as far as was read, of a host that forwards: what it forwards to may be a link that nobody listed.
fn alone(snapshot: &Snapshot, roles: &Roles, command: &str) -> Option<Gap> {
    let all = snapshot.interfaces.keys().filter(|key| {
        let mut own = roles[*key].iter();
        own.any(|role| role.role == RoleName::Endpoint) && is_alone(snapshot, key)
    });
    gap("which links there are beside", all, command)
}

/// Adapters that may be uplinks, since their descriptions were not read, or were cut.
fn unnamed(snapshot: &Snapshot, roles: &Roles) -> Option<Gap> {
    let all = snapshot.interfaces.iter().filter(|(key, interface)| {
        interface.description.is_none() && interface.kind.is_none() && roles[*key].is_empty()
    });
    let command = "(Get-NetAdapter | fl Name, InterfaceDescription)";
    gap("the description of", all.map(|(key, _)| key), command)
        .filter(|_| !snapshot.switches.is_empty())
}

/// Rules of the old iptables that could not be listed on a live host.
fn old_rules(snapshot: &Snapshot) -> Option<Gap> {
    let is_noted = snapshot
        .unread
        .iter()
        .any(|unread| unread.what.starts_with(OLD_LENGTH_RULES));
    is_noted.then(|| Gap {
        what: format!("{OLD_LENGTH_RULES} (iptables-save)"),
        decides: true,
    })
}

/// Settings that decide, and of which two texts say different things: which of them holds is not known.
fn disputed(snapshot: &Snapshot) -> Option<Gap> {
    let all = snapshot.unread.iter().filter(|unread| {
        unread.why.ends_with(FIRST_OF_TWO) && DECIDING.iter().any(|what| unread.what.contains(what))
    });
    let all: Vec<String> = all.map(|unread| unread.what.clone()).collect();
    gap(
        "which of two values holds:",
        all.iter(),
        "(one listing of each)",
    )
}

/// How the settings are called in a snapshot that merge or forward.
const DECIDING: [&str; 6] = [
    "features large-receive-offload active",
    "features rx-gro-hw active",
    "features LRO active",
    "features rsc-ipv4 active",
    "features rsc-ipv6 active",
    "forward",
];

/// The most interfaces that a line names.
const NAMED: usize = 8;

fn gap<'a>(what: &str, names: impl Iterator<Item = &'a String>, command: &str) -> Option<Gap> {
    let names: Vec<&str> = names.map(String::as_str).collect();
    let more = names.len().saturating_sub(NAMED);
    let mut listed = names
        .iter()
        .take(NAMED)
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    if more > 0 {
        listed += &format!(" and {more} more");
    }
    (!names.is_empty()).then(|| Gap {
        what: format!("{what} {listed} {command}"),
        decides: true,
    })
}

/// Whether the interface is a device, or of unknown kind.
fn is_nic(interface: &Interface) -> bool {
    let kind = interface.kind.as_deref();
    matches!(kind, None | Some("physical")) && interface.parent.is_none()
}

/// Whether a device is in use, by its kind or by a queue for sending: interfaces that the kernel makes have none
/// (`IFF_NO_QUEUE`), unless somebody added one.
fn is_wire(interface: &Interface) -> bool {
    let is_used = interface.up != Some(false) && interface.carrier != Some(false);
    let has_queue = match interface.text(QUEUEING) {
        Some(name) => !matches!(name, "noqueue" | "noop"),
        None => interface.kind.is_some(),
    };
    is_used && is_nic(interface) && has_queue && interface.mac.is_some()
}

/// Tunnels whose underlay is not known, because no address was read at all. If addresses were read, a remote end
/// without a route just means that nothing carries the tunnel.
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

/// Masters whose kind no text shows: one line for all ports of each.
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
        Some(Platform::Freebsd | Platform::Openbsd) => {
            &[BSD_OFFLOADS, BSD_FORWARDING, BSD_FORWARDING6, KERNEL]
        }
        Some(Platform::Windows) => &[
            WINDOWS_OFFLOADS,
            WINDOWS_BUILD,
            WINDOWS_KERNEL,
            WINDOWS_SOFTWARE_RSC,
            WINDOWS_UPLINKS,
            WINDOWS_JUMBO,
        ],
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
/// Merging by a switch is a fault in one build only.
const WINDOWS_BUILD: Wanted = Wanted {
    what: "the build of Windows (ver, systeminfo), by which software RSC of the switch is judged",
    decides: true,
    is_there: |snapshot| snapshot.kernel.is_some() || !has_software_rsc(snapshot),
};
const WINDOWS_KERNEL: Wanted = Wanted {
    is_there: |snapshot| snapshot.kernel.is_some() || has_software_rsc(snapshot),
    ..KERNEL
};
/// The only build whose switches lose frames that they merge (see hyperv-ws2019-rsc-jumbo). Of a host whose build is not known
/// either, this may be the one.
const WINDOWS_SOFTWARE_RSC: Wanted = Wanted {
    what: "software RSC of the switch (Get-VMSwitch | fl)",
    decides: true,
    is_there: |snapshot| {
        let is_other = snapshot.kernel.is_some() && !is_server_2019(snapshot);
        let are_listed = !snapshot.switches.is_empty() || !any(snapshot, is_at_a_switch);
        is_other || are_listed && snapshot.switches.values().all(is_rsc_known)
    },
};
const WINDOWS_UPLINKS: Wanted = Wanted {
    what: "uplinks of the switch (Get-VMSwitch | fl *)",
    decides: true,
    is_there: |snapshot| {
        let mut switches = snapshot.switches.values();
        !is_server_2019(snapshot)
            || switches.all(|switch| switch.software_rsc != Some(true) || has_uplinks(switch))
    },
};
const WINDOWS_JUMBO: Wanted = Wanted {
    what: "jumbo frames of the switch's uplinks (Get-NetAdapterAdvancedProperty)",
    decides: true,
    is_there: |snapshot| {
        let jumbo = |interface: &Interface| interface.properties.contains_key("*JumboPacket");
        !is_server_2019(snapshot) || !has_software_rsc(snapshot) || any(snapshot, jumbo)
    },
};
const LINUX_LINKS: Wanted = Wanted {
    what: "links (ip -d link)",
    decides: true,
    is_there: |snapshot| {
        any(snapshot, |interface| {
            interface.mtu_bytes.is_some() || interface.up.is_some()
        })
    },
};
const LINUX_FORWARDING: Wanted = Wanted {
    what: "forwarding (sysctl net.ipv4.ip_forward)",
    decides: true,
    // Two names of one value (ip-sysctl).
    is_there: |snapshot| {
        is_told(snapshot, "net.ipv4.ip_forward")
            || is_told(snapshot, "net.ipv4.conf.all.forwarding")
            || !has_endpoint(snapshot)
    },
};
const BSD_FORWARDING: Wanted = Wanted {
    what: "forwarding (sysctl net.inet.ip.forwarding)",
    decides: true,
    is_there: |snapshot| is_told(snapshot, "net.inet.ip.forwarding") || !has_endpoint(snapshot),
};
/// Software LRO is suppressed if forwarding of either IP version is on (see freebsd-bridge-jail-lro).
const BSD_FORWARDING6: Wanted = Wanted {
    what: "forwarding of IPv6 (sysctl net.inet6.ip6.forwarding)",
    decides: true,
    is_there: |snapshot| {
        is_told(snapshot, "net.inet6.ip6.forwarding") || !has_bridged_lro(snapshot)
    },
};
const KERNEL: Wanted = Wanted {
    what: "the kernel's release (uname -a, systeminfo)",
    decides: false,
    is_there: |snapshot| snapshot.kernel.is_some(),
};

fn is_told(snapshot: &Snapshot, sysctl: &str) -> bool {
    snapshot.stack.sysctls.contains_key(sysctl)
}

/// Forwarding decides only for frames that would otherwise end at this host.
fn has_endpoint(snapshot: &Snapshot) -> bool {
    let roles = roles(snapshot);
    let mut all = roles.values().flatten();
    all.any(|role| role.role == RoleName::Endpoint)
}

fn has_bridged_lro(snapshot: &Snapshot) -> bool {
    let lro = |key: &String| {
        let feature = snapshot.interfaces[key].features.get(BSD_LRO);
        feature.is_some_and(|lro| lro.active)
    };
    let is_port = |role: &Role| role.role == RoleName::BridgePort;
    let mut roles = roles(snapshot).into_iter();
    roles.any(|(key, roles)| lro(&key) && roles.iter().any(is_port))
}

fn has_software_rsc(snapshot: &Snapshot) -> bool {
    let mut switches = snapshot.switches.values();
    switches.any(|switch| switch.software_rsc == Some(true))
}

fn is_server_2019(snapshot: &Snapshot) -> bool {
    let kernel = snapshot.kernel.as_deref().unwrap_or_default();
    kernel == "10.0.17763" || kernel.starts_with("10.0.17763.")
}

/// An adapter of the host at a virtual switch, but for those that Windows itself makes, for containers and for Linux, without an uplink
/// (winnat).
fn is_at_a_switch(interface: &Interface) -> bool {
    const OWN: [&str; 5] = [
        "Default Switch",
        "nat",
        "WSL",
        "HNS Internal NIC",
        "DockerNAT",
    ];
    let switch = interface.name.strip_prefix("vEthernet (");
    let is_own = |switch: &str| OWN.iter().any(|own| switch.starts_with(own));
    switch.is_some_and(|switch| !is_own(switch))
}

/// Only an external switch has some.
fn has_uplinks(switch: &VirtualSwitch) -> bool {
    let is_inner = matches!(switch.kind.as_deref(), Some("internal" | "private"));
    is_inner || !switch.uplinks.is_empty()
}

fn is_rsc_known(switch: &VirtualSwitch) -> bool {
    switch.software_rsc.is_some() || switch.kind.as_deref() != Some("external")
}

/// Of the loopback they say nothing.
fn has_features(snapshot: &Snapshot) -> bool {
    any(snapshot, |interface| {
        !interface.features.is_empty() && interface.kind.as_deref() != Some("loopback")
    })
}

fn any(snapshot: &Snapshot, wanted: fn(&Interface) -> bool) -> bool {
    snapshot
        .interfaces
        .values()
        .any(|interface| wanted(interface))
}
