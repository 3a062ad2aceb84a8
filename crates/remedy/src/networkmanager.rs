//! NetworkManager: the profile that an interface has now, and its section `ethtool`.
//!
//! Sources: nm-settings-keyfile(5), nm-settings-nmcli(5) (ethtool), and what NetworkManager keeps of
//! its devices in /run/NetworkManager/devices.

use crate::device::Device;
use crate::error::Error;
use crate::ini::{self, Dialect};
use crate::model::{Configured, Found, Manager, Owner};
use crate::tree::{Tree, Written};
use crate::{ifcfg, names, netplan};
use std::path::{Path, PathBuf};

const LOCAL: &str = "/etc/NetworkManager/system-connections";
/// The first that has a profile stands before the others.
const FOLDERS: [&str; 3] = [
    "/run/NetworkManager/system-connections",
    LOCAL,
    "/usr/lib/NetworkManager/system-connections",
];

/// Whether NetworkManager has the interface, and by which file.
pub(crate) fn owns(tree: &Tree, device: &Device) -> Result<Option<Found>, Error> {
    let state = PathBuf::from(format!("/run/NetworkManager/devices/{}", device.index));
    let text = tree.text(&state)?.unwrap_or_default();
    let value = |key| ini::get(&text, Dialect::Keyfile, "device", key);
    let uuid = value("connection-uuid").filter(|uuid| !uuid.is_empty());
    let (Some("true" | "1"), Some(uuid)) = (value("managed"), uuid) else {
        return Ok(None);
    };
    let shown = format!("NetworkManager has it ({} says so)", state.display());
    if let Some(path) = keyfile(tree, uuid)? {
        return of_keyfile(tree, device, path, &shown).map(Some);
    }
    if let Some(path) = ifcfg::with_uuid(tree, uuid)? {
        let reason = format!("{shown} by {}", path.display());
        let by = Manager::NetworkManager;
        let file = path.clone();
        return Ok(Some(Found::new(Owner::Ifcfg { path, by }, file, reason)));
    }
    Err(Error::unsuitable(
        format!("{shown}, and no file has its profile {uuid}"),
        save(uuid),
    ))
}

fn save(uuid: &str) -> String {
    let uuid = coalescope_host::safe::sh(uuid);
    format!("let it write the profile itself: `nmcli connection modify {uuid} ethtool.feature-...`")
}

/// The file with a profile.
fn keyfile(tree: &Tree, uuid: &str) -> Result<Option<PathBuf>, Error> {
    for folder in FOLDERS.map(Path::new) {
        let mut found = Vec::new();
        for name in tree.names(folder) {
            let path = folder.join(&name);
            if is_ignored(&name, folder == Path::new(LOCAL)) || tree.is_folder(&path) {
                continue;
            }
            let text = tree.text(&path)?.unwrap_or_default();
            if ini::get(&text, Dialect::Keyfile, "connection", "uuid") == Some(uuid) {
                found.push(path);
            }
        }
        match found.as_slice() {
            [] => {}
            [one] => return Ok(Some(one.clone())),
            [one, other, ..] => return Err(twice(one, other, uuid)),
        }
    }
    Ok(None)
}

/// The newest of them counts, as NetworkManager has read it.
fn twice(one: &Path, other: &Path, uuid: &str) -> Error {
    Error::unsuitable(
        format!(
            "{} and {} both have the profile {uuid}, and NetworkManager reads both",
            one.display(),
            other.display()
        ),
        "move the copy to another folder, then run it again",
    )
}

/// nm_keyfile_utils_ignore_filename(): hidden files, copies of editors, certificates and temporary files in /etc; elsewhere
/// all names but `*.nmconnection`.
fn is_ignored(name: &str, is_local: bool) -> bool {
    let last = name.rsplit_once('.').map_or("", |(_, last)| last);
    let is_temporary = last.len() == 6 && last.chars().all(|letter| letter.is_ascii_alphanumeric());
    let is_key = ["pem", "der"]
        .iter()
        .any(|key| last.eq_ignore_ascii_case(key));
    match is_local {
        _ if name.starts_with('.') => true,
        true => name.ends_with('~') || is_temporary || is_key,
        false => last != "nmconnection",
    }
}

fn of_keyfile(tree: &Tree, device: &Device, path: PathBuf, shown: &str) -> Result<Found, Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_volatile = path.starts_with(FOLDERS[0]);
    if let Some(id) = name
        .strip_prefix("netplan-")
        .filter(|_| is_volatile)
        .map(|rest| rest.strip_suffix(".nmconnection").unwrap_or(rest))
    {
        return netplan::behind_networkmanager(tree, device, id, &path);
    }
    if is_volatile {
        let text = tree.text(&path)?.unwrap_or_default();
        let uuid = ini::get(&text, Dialect::Keyfile, "connection", "uuid");
        return Err(Error::unsuitable(
            format!("{shown} by {}, which a reboot forgets", path.display()),
            save(uuid.unwrap_or_default()),
        ));
    }
    let reason = format!("{shown} by {}", path.display());
    let file = path.clone();
    Ok(Found::new(Owner::Keyfile { path }, file, reason))
}

pub(crate) fn configured(tree: &Tree, path: &Path, feature: &str) -> Result<Configured, Error> {
    let name = names::networkmanager(feature);
    let key = name.ok_or_else(|| names::none(Manager::NetworkManager, feature))?;
    let text = tree.text(path)?.unwrap_or_default();
    let value = ini::get(&text, Dialect::Keyfile, "ethtool", &key);
    Ok(Configured {
        on: value.and_then(|value| ini::boolean(value, Dialect::Keyfile)),
        at: Some(path.to_owned()),
    })
}

pub(crate) fn set(
    tree: &mut Tree,
    device: &Device,
    path: &Path,
    feature: &str,
    on: bool,
) -> Result<(), Error> {
    let name = names::networkmanager(feature);
    let key = name.ok_or_else(|| names::none(Manager::NetworkManager, feature))?;
    let text = tree.text(path)?.unwrap_or_default();
    let changed = ini::set(&text, Dialect::Keyfile, "ethtool", &key, &on.to_string());
    // What packages bring is not edited: a profile in /etc with the same UUID stands before it.
    let own = Path::new(LOCAL).join(path.file_name().unwrap_or_default());
    let written = Written {
        text: changed,
        // NetworkManager ignores profiles that others can read.
        mode_if_new: 0o600,
        manager: Manager::NetworkManager,
        why: why(&text, &device.name),
    };
    tree.write(own, written);
    Ok(())
}

fn why(text: &str, interface: &str) -> String {
    let bound = ini::get(text, Dialect::Keyfile, "connection", "interface-name");
    let has_mac = ["ethernet", "802-3-ethernet"]
        .iter()
        .any(|section| ini::get(text, Dialect::Keyfile, section, "mac-address").is_some());
    let only = if bound == Some(interface) || has_mac {
        ""
    } else {
        "; it is not bound to the interface, so another one that takes it gets this too"
    };
    format!("the profile that {interface} has now{only}")
}
