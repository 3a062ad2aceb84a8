//! The commands that would restore what could not be restored.

use coalescope_host::safe::sh;

use crate::journal::SysctlEntry;
use crate::settings::{InterfaceState, Item, NamespaceId, dotted};

/// The command for one setting of an interface, under the name that it has now.
pub(super) fn interface(
    namespace: &NamespaceId,
    is: &InterfaceState,
    item: &Item,
    was: &str,
) -> Option<String> {
    // A kernel takes `x$(reboot)` for a name.
    let name = sh(&is.name);
    let command = match item {
        Item::Active(feature) | Item::Wanted(feature) => {
            format!("ethtool -K {name} {feature} {was}")
        }
        Item::Mtu => format!("ip link set dev {name} mtu {was}"),
        Item::Ipv6Mtu => {
            let key = format!("net/ipv6/conf/{}/mtu={was}", is.name);
            format!("sysctl -w {}", sh(&key))
        }
        Item::Coalescing(setting) => format!("ethtool -C {name} {setting} {was}"),
        Item::GroFlushTimeout | Item::NapiDeferHardIrqs => {
            let file = format!("/sys/class/net/{}/{item}", is.name);
            let inner = format!("echo {} > {}", sh(was), sh(&file));
            format!("sh -c {}", sh(&inner))
        }
        Item::Sysctl(_) => return None,
    };
    Some(inside(namespace, &command))
}

/// The command for a sysctl.
pub(super) fn sysctl(entry: &SysctlEntry) -> String {
    let command = format!(
        "sysctl -w {}={}",
        sh(&dotted(&entry.key)),
        sh(&entry.held.was.replace('\t', " "))
    );
    inside(&entry.namespace, &command)
}

fn inside(namespace: &NamespaceId, command: &str) -> String {
    match &namespace.name {
        None => command.to_owned(),
        Some(name) => format!("ip netns exec {} {command}", sh(name)),
    }
}
