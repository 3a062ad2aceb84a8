//! Products that write their system's files anew from a configuration of their own: what a file says is lost there.

use crate::error::Error;
use crate::tree::Tree;
use coalescope_host::names::{TRUENAS_SCALE_KERNEL, VYOS_KERNEL};
use std::path::Path;

/// A product, how it is known, and where it keeps such a setting.
struct Appliance {
    name: &'static str,
    /// `ID` of os-release; the kernel's release has it where that says another one.
    id: Option<&'static str>,
    /// What the kernel's release has in it.
    kernel: Option<&'static str>,
    what_to_do: &'static str,
}

/// Sources: docs.vyos.io (interfaces ethernet, offload), openwrt.org (hotplug), the TrueNAS SCALE documentation (init and
/// shutdown scripts); a kernel of UniFi OS as reports show it (rule bridge-tso-tailscale-unifi).
const APPLIANCES: [Appliance; 4] = [
    Appliance {
        name: "VyOS",
        id: Some("vyos"),
        kernel: Some(VYOS_KERNEL),
        what_to_do: "set or delete `interfaces ethernet NAME offload FEATURE` in its configuration, commit and save",
    },
    Appliance {
        name: "OpenWrt",
        id: Some("openwrt"),
        kernel: None,
        what_to_do: "run `ethtool -K NAME ...` from a script in /etc/hotplug.d/iface, which stays when it is upgraded",
    },
    Appliance {
        name: "TrueNAS SCALE",
        id: None,
        kernel: Some(TRUENAS_SCALE_KERNEL),
        what_to_do: "add `ethtool -K NAME ...` as a post-init command (System, Advanced Settings, Init/Shutdown Scripts)",
    },
    Appliance {
        name: "UniFi OS",
        id: None,
        kernel: Some("-ui-"),
        what_to_do: "run `ethtool -K NAME ...` at each start, by a script of your own: an update takes it away",
    },
];

/// Refuses where the machine is such a product.
pub(crate) fn refuse(tree: &Tree) -> Result<(), Error> {
    let release = tree.text(Path::new("/etc/os-release"))?.unwrap_or_default();
    let kernel = tree.text(Path::new("/proc/sys/kernel/osrelease"))?;
    let kernel = kernel.unwrap_or_default();
    let mut lines = release.lines();
    let id = lines.find_map(|line| line.strip_prefix("ID="));
    let id = id.unwrap_or_default().trim_matches(['"', '\'']);
    let is_here = |one: &&Appliance| {
        one.id.is_some_and(|own| own == id) || one.kernel.is_some_and(|part| kernel.contains(part))
    };
    match APPLIANCES.iter().find(is_here) {
        None => Ok(()),
        Some(one) => Err(Error::unsuitable(
            format!(
                "{} keeps its settings in a configuration of its own, and writes the files anew from that",
                one.name
            ),
            one.what_to_do,
        )),
    }
}
