//! The manager that owns an interface, from running services and from files.

use crate::device::Device;
use crate::error::Error;
use crate::model::{Found, Owner, Ownership};
use crate::tree::Tree;
use crate::{appliance, ifcfg, ifupdown, netplan, networkmanager};
use std::path::{Path, PathBuf};

impl Ownership {
    /// Looks who owns an interface, on the machine whose files are below `root`.
    ///
    /// # Errors
    /// If the interface is not there, or a file that decides cannot be read.
    pub fn detect(root: &Path, interface: &str) -> Result<Self, Error> {
        let tree = Tree::new(root);
        let device = Device::read(&tree, interface)?;
        let unowned = |error: Error| match error {
            Error::Unowned(_) | Error::MadeByProgram { .. } | Error::Unsuitable { .. } => {
                Ok(Self {
                    manager: None,
                    file: None,
                    reason: error.to_string(),
                })
            }
            error => Err(error),
        };
        detect(&tree, &device).map_or_else(unowned, |found| {
            Ok(Self {
                manager: Some(found.owner.manager()),
                file: Some(found.file),
                reason: found.reason,
            })
        })
    }
}

/// Running services come before files: the files of two managers may name one interface.
pub(crate) fn detect(tree: &Tree, device: &Device) -> Result<Found, Error> {
    appliance::refuse(tree)?;
    if let Some(found) = networkmanager::owns(tree, device)? {
        return Ok(found);
    }
    if let Some(found) = networkd(tree, device)? {
        return Ok(found);
    }
    if let Some(found) = netplan::owns(tree, device)? {
        return Ok(found);
    }
    if let Some(found) = ifupdown::owns(tree, device)? {
        return Ok(found);
    }
    if let Some(found) = ifcfg::owns(tree, device)? {
        return Ok(found);
    }
    let interface = device.name.clone();
    Err(match device.made_as.clone() {
        Some(what) => Error::MadeByProgram { interface, what },
        None => Error::Unowned(interface),
    })
}

/// The interface in systemd-networkd's state below /run, with its file.
fn networkd(tree: &Tree, device: &Device) -> Result<Option<Found>, Error> {
    let state = PathBuf::from(format!("/run/systemd/netif/links/{}", device.index));
    let text = tree.text(&state)?.unwrap_or_default();
    let Some(file) = network_file(&text) else {
        return Ok(None);
    };
    let file = PathBuf::from(file);
    if let Some(found) = netplan::behind_networkd(tree, device, &file)? {
        return Ok(Some(found));
    }
    // A container's interface that happens to match a file with a wide match.
    if device.made_as.is_some() {
        return Ok(None);
    }
    let reason = format!(
        "systemd-networkd has it by {} ({} says so); its offloads are in .link files",
        file.display(),
        state.display()
    );
    Ok(Some(Found::new(Owner::Link, file, reason)))
}

fn network_file(state: &str) -> Option<&str> {
    let value = |key: &str| {
        let mut lines = state.lines();
        lines.find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
    };
    let is_managed = value("ADMIN_STATE").is_none_or(|state| state != "unmanaged");
    value("NETWORK_FILE").filter(|file| is_managed && !file.is_empty())
}
