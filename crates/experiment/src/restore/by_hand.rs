//! The commands that would restore what could not be restored.

use crate::journal::SysctlEntry;
use crate::settings::{InterfaceState, Item, NamespaceId, dotted};

/// The command for one setting of an interface, under the name that it has now.
pub(super) fn interface(
    namespace: &NamespaceId,
    is: &InterfaceState,
    item: &Item,
    was: &str,
) -> Option<String> {
    let name = &is.name;
    let command = match item {
        Item::Active(feature) | Item::Wanted(feature) => {
            format!("ethtool -K {name} {feature} {was}")
        }
        Item::Mtu => format!("ip link set dev {name} mtu {was}"),
        Item::Ipv6Mtu => format!("sysctl -w net/ipv6/conf/{name}/mtu={was}"),
        Item::Coalescing(setting) => format!("ethtool -C {name} {setting} {was}"),
        Item::GroFlushTimeout | Item::NapiDeferHardIrqs => {
            format!("sh -c 'echo {was} > /sys/class/net/{name}/{item}'")
        }
        Item::Sysctl(_) => return None,
    };
    Some(inside(namespace, &command))
}

/// The command for a sysctl.
pub(super) fn sysctl(entry: &SysctlEntry) -> String {
    let command = format!(
        "sysctl -w {}='{}'",
        dotted(&entry.key),
        entry.held.was.replace('\t', " ")
    );
    inside(&entry.namespace, &command)
}

fn inside(namespace: &NamespaceId, command: &str) -> String {
    match &namespace.name {
        None => command.to_owned(),
        Some(name) => format!("ip netns exec {name} {command}"),
    }
}
