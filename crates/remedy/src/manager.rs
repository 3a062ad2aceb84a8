//! Reading and changing a feature in the files of any manager.

use crate::device::Device;
use crate::error::Error;
use crate::model::{Configured, Manager, Owner, Reload};
use crate::tree::Tree;
use crate::{ifcfg, ifupdown, link, netplan, networkmanager};

/// The feature's present state in the files.
pub(crate) fn configured(
    owner: &Owner,
    tree: &Tree,
    device: &Device,
    feature: &str,
) -> Result<Configured, Error> {
    match owner {
        Owner::Keyfile { path } => networkmanager::configured(tree, path, feature),
        Owner::Ifcfg { path, .. } => ifcfg::configured(tree, device, path, feature),
        Owner::Netplan { id, renderer } => {
            netplan::configured(tree, device, id, *renderer, feature)
        }
        Owner::Link => link::configured(tree, device, feature),
        Owner::Ifupdown => ifupdown::configured(tree, device, feature),
    }
}

/// Changes the files in a tree so that they set the feature.
pub(crate) fn set(
    owner: &Owner,
    tree: &mut Tree,
    device: &Device,
    feature: &str,
    on: bool,
) -> Result<(), Error> {
    match owner {
        Owner::Keyfile { path } => networkmanager::set(tree, device, path, feature, on),
        Owner::Ifcfg { path, by } => ifcfg::set(tree, device, path, *by, feature, on),
        Owner::Netplan { id, renderer } => netplan::set(tree, device, id, *renderer, feature, on),
        Owner::Link => link::set(tree, device, feature, on),
        Owner::Ifupdown => ifupdown::set(tree, device, feature, on),
    }
}

/// Commands that make a manager read and apply its files.
pub(crate) fn reload(owner: &Owner, interface: &str) -> Vec<Reload> {
    let loud = |command: String| loud(interface, command);
    match (owner, owner.manager()) {
        (Owner::Netplan { .. }, _) => {
            vec![quiet("netplan generate"), loud("netplan apply".to_owned())]
        }
        (_, Manager::NetworkManager) => vec![
            quiet("nmcli connection reload"),
            loud(format!("nmcli device connect {interface}")),
        ],
        (_, Manager::Ifupdown | Manager::RhelIfcfg) => {
            vec![loud(format!("ifdown {interface} && ifup {interface}"))]
        }
        _ => vec![
            quiet("udevadm control --reload"),
            loud(format!(
                "udevadm trigger --action=add /sys/class/net/{interface}"
            )),
        ],
    }
}

fn quiet(command: &str) -> Reload {
    Reload {
        command: command.to_owned(),
        disturbs_traffic: false,
        why: "reads the files again; the interface stays as it is".to_owned(),
    }
}

fn loud(interface: &str, command: String) -> Reload {
    Reload {
        command,
        disturbs_traffic: true,
        why: format!("only to try the files at once: {interface} is set up anew"),
    }
}
