//! Data that each platform's rules need.

use coalescope_host::model::{Interface, Platform, Snapshot, VirtualSwitch};
use coalescope_host::roles::{Role, RoleName, roles};

use super::BSD_LRO;

pub(super) struct Wanted {
    pub(super) what: &'static str,
    pub(super) decides: bool,
    pub(super) is_there: fn(&Snapshot) -> bool,
}

pub(super) fn wanted(platform: Option<Platform>) -> &'static [Wanted] {
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
pub(super) const LINUX_LINKS: Wanted = Wanted {
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
            || all_endpoints_tell(snapshot, "net.ipv4.ip_forward")
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

/// Whether the stack of each interface whose frames end at this host has a setting: a network namespace has settings of its own.
fn all_endpoints_tell(snapshot: &Snapshot, sysctl: &str) -> bool {
    let is_endpoint = |role: &Role| role.role == RoleName::Endpoint;
    let roles = roles(snapshot).into_iter();
    let mut endpoints = roles.filter(|(_, roles)| roles.iter().any(is_endpoint));
    endpoints.all(|(key, _)| {
        let stack = snapshot.stack_of(&snapshot.interfaces[&key]);
        stack.sysctls.contains_key(sysctl)
    })
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
pub(super) fn has_features(snapshot: &Snapshot) -> bool {
    any(snapshot, |interface| {
        !interface.features.is_empty() && interface.kind.as_deref() != Some("loopback")
    })
}

pub(super) fn any(snapshot: &Snapshot, wanted: fn(&Interface) -> bool) -> bool {
    snapshot
        .interfaces
        .values()
        .any(|interface| wanted(interface))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A namespace forwards or not by a setting of its own; where it alone was looked at, nothing is known of the others, and nothing
    /// asked.
    #[test]
    fn a_namespace_tells_of_its_own_forwarding() {
        let is_open = |of_host: bool, of_namespace: bool, at: Option<&str>| {
            let sysctls = |is_told: bool| match is_told {
                true => json!({"sysctls": {"net.ipv4.ip_forward": "0"}}),
                false => json!({}),
            };
            let mut interface = json!({
                "name": "eth0", "kind": "physical", "up": true, "default_route": true, "mtu_bytes": 1500,
                "addresses": ["192.0.2.1/24"],
            });
            interface["namespace"] = json!(at);
            let snapshot = serde_json::from_value(json!({
                "schema": "coalescope/host/1", "name": "vm", "platform": "linux", "kernel": "6.1.0",
                "stack": sysctls(of_host), "namespaces": {"blue": sysctls(of_namespace)},
                "interfaces": {"eth0": interface},
            }));
            !(LINUX_FORWARDING.is_there)(&snapshot.unwrap())
        };
        assert!(!is_open(false, true, Some("blue")));
        assert!(is_open(false, false, Some("blue")));
        assert!(is_open(false, true, None));
        assert!(!is_open(true, false, None));
    }
}
