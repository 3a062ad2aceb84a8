//! systemd's .link files, which udev applies whoever manages an interface.
//!
//! Source: systemd.link(5). The first file that matches is the only one that counts, so a new one has
//! to repeat the one that has counted until now, or names and addresses would change at the next
//! start. A drop-in would not do: its keys would go to every interface that the file matches, and
//! a `[Match]` in it would take the file away from the others. `OriginalName=` is for names that the
//! kernel gave, so hardware is matched by the address that it came with. Which file counts is read from the
//! files: udev's database has what counted when udev last looked.

mod matching;

use crate::device::Device;
use crate::error::Error;
use crate::ini::{self, Dialect};
use crate::model::{Configured, Manager};
use crate::names;
use crate::tree::{Tree, Written};
use matching::Fit;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const LOCAL: &str = "/etc/systemd/network";
/// A file of a name in one of these stands for those of the same name in the later ones.
const FOLDERS: [&str; 5] = [
    LOCAL,
    "/run/systemd/network",
    "/usr/local/lib/systemd/network",
    "/usr/lib/systemd/network",
    "/lib/systemd/network",
];
/// The name that the recipes give as well, and one for files that come before it.
const PREFIXES: [&str; 2] = ["10", "00"];

fn own(prefix: &str, interface: &str) -> PathBuf {
    Path::new(LOCAL).join(format!("{prefix}-coalescope-{interface}.link"))
}

/// The file that will count for an interface at the next start, if one will.
fn effective(tree: &Tree, device: &Device) -> Result<Option<PathBuf>, Error> {
    for path in files(tree) {
        if counts(tree, device, &path)? {
            return Ok(Some(path));
        }
    }
    match &device.link_file {
        Some(gone) => {
            let why = format!("udev has applied {}, which is gone", gone.display());
            Err(unsure(device, &why))
        }
        None => Ok(None),
    }
}

/// Whether a file counts, if none before does. udev could judge what cannot be judged here.
fn counts(tree: &Tree, device: &Device, path: &Path) -> Result<bool, Error> {
    let applied = device.link_file.as_deref().and_then(Path::file_name);
    let is_applied = applied.is_some() && path.file_name() == applied;
    let (shown, name) = (path.display(), &device.name);
    match matching::fit(&with_drop_ins(tree, path)?, tree, device) {
        Fit::Yes => Ok(true),
        Fit::Depends(_) if is_applied => Ok(true),
        Fit::Depends(key) => Err(unsure(device, &format!("{shown} matches by {key}="))),
        Fit::No if is_applied => {
            let why = format!("udev has applied {shown}, which does not match {name} now");
            Err(unsure(device, &why))
        }
        Fit::No => Ok(false),
    }
}

fn unsure(device: &Device, why: &str) -> Error {
    let name = &device.name;
    Error::unsuitable(
        format!("{why}: which .link file counts for {name} at the next start cannot be told"),
        format!(
            "add the key to that file by hand: `udevadm test-builtin net_setup_link /sys/class/net/{name}` names it"
        ),
    )
}

/// The files in the order in which udev looks at them: by name, whatever the folder.
fn files(tree: &Tree) -> Vec<PathBuf> {
    let mut files = BTreeMap::new();
    for folder in FOLDERS.iter().rev().map(Path::new) {
        let names = tree.names(folder).into_iter();
        let links = names.filter(|name| name.ends_with(".link") && !name.starts_with('.'));
        files.extend(links.map(|name| (name.clone(), folder.join(name))));
    }
    files.into_values().collect()
}

/// A file that comes before one of a name and matches the interface, or may: the later one has no say then.
pub(crate) fn before(tree: &Tree, device: &Device, name: &str) -> Result<Option<PathBuf>, Error> {
    for path in files(tree) {
        if path.file_name().is_some_and(|own| own >= name) {
            break;
        }
        if matching::fit(&with_drop_ins(tree, &path)?, tree, device) != Fit::No {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// The text of a file with that of its drop-ins behind it, as udev puts them together; none of a file that is empty,
/// which masks others of its name.
fn with_drop_ins(tree: &Tree, path: &Path) -> Result<String, Error> {
    let mut all = tree.text(path)?.unwrap_or_default();
    if all.is_empty() {
        return Ok(all);
    }
    for drop_in in drop_ins(tree, path) {
        let more = tree.text(&drop_in)?.unwrap_or_default();
        all = ini::joined(all, Dialect::Systemd, &more);
    }
    Ok(all)
}

fn drop_ins(tree: &Tree, path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut found = BTreeMap::new();
    for folder in FOLDERS.iter().rev() {
        let folder = Path::new(folder).join(format!("{name}.d"));
        let names = tree.names(&folder).into_iter();
        let confs = names.filter(|name| name.ends_with(".conf") && !name.starts_with('.'));
        found.extend(confs.map(|name| (name.clone(), folder.join(name))));
    }
    found.into_values().collect()
}

pub(crate) fn configured(tree: &Tree, device: &Device, feature: &str) -> Result<Configured, Error> {
    let key = key(feature)?;
    let path = effective(tree, device)?;
    let text = path
        .as_ref()
        .map(|path| with_drop_ins(tree, path))
        .transpose()?
        .unwrap_or_default();
    let value = ini::get(&text, Dialect::Systemd, "Link", key);
    Ok(Configured {
        on: value.and_then(|value| ini::boolean(value, Dialect::Systemd)),
        at: path,
    })
}

fn key(feature: &str) -> Result<&'static str, Error> {
    names::link(feature).ok_or_else(|| names::none(Manager::SystemdNetworkd, feature))
}

pub(crate) fn set(tree: &mut Tree, device: &Device, feature: &str, on: bool) -> Result<(), Error> {
    let key = key(feature)?;
    need_udev(device)?;
    let (path, text, why) = match effective(tree, device)? {
        Some(path) if is_only_for(tree, device, &path)? => {
            let text = tree.text(&path)?.unwrap_or_default();
            (
                path,
                text,
                "the .link file that is about it alone".to_owned(),
            )
        }
        before => fresh(tree, device, before.as_deref())?,
    };
    let written = Written {
        text: ini::set(&text, Dialect::Systemd, "Link", key, &on.to_string()),
        mode_if_new: 0o644,
        manager: Manager::SystemdNetworkd,
        why,
    };
    tree.write(path, written);
    Ok(())
}

fn need_udev(device: &Device) -> Result<(), Error> {
    if device.is_in_udev {
        return Ok(());
    }
    Err(Error::unsuitable(
        format!(
            "udev knows nothing of {}: it applies .link files",
            device.name
        ),
        "run it on the machine itself, where /run/udev is",
    ))
}

/// Whether a file may be changed without changing others: somebody's own, with a match for one only.
fn is_only_for(tree: &Tree, device: &Device, path: &Path) -> Result<bool, Error> {
    let ours = PREFIXES.map(|prefix| own(prefix, &device.name));
    if ours.iter().any(|own| own == path) {
        return Ok(true);
    }
    if !path.starts_with(LOCAL) {
        return Ok(false);
    }
    Ok(matching::pins(&with_drop_ins(tree, path)?, tree, device))
}

/// A new file, with all that has counted until now, and why.
fn fresh(
    tree: &Tree,
    device: &Device,
    before: Option<&Path>,
) -> Result<(PathBuf, String, String), Error> {
    let path = place(device, before)?;
    let matches = matches(tree, device)?;
    let (rest, from, why) = match before {
        None => (
            "[Link]\n".to_owned(),
            "none".to_owned(),
            "no .link file counts for it".to_owned(),
        ),
        Some(before) => {
            let text = with_drop_ins(tree, before)?;
            let shown = before.display().to_string();
            let why = format!("udev goes by one .link file only: it repeats {shown}");
            (ini::without(&text, Dialect::Systemd, "Match"), shown, why)
        }
    };
    let name = &device.name;
    let text = format!(
        "# Of `coalescope fix --persist`, for {name}; `coalescope undo` takes it away. udev goes by the first\n\
         # file that matches and by no other, so all of the one before is repeated: {from}\n\
         [Match]\n{matches}\n\n{rest}"
    );
    Ok((path, text, why))
}

/// A name that comes before that of the file which has counted until now.
fn place(device: &Device, before: Option<&Path>) -> Result<PathBuf, Error> {
    let name = |path: &Path| path.file_name().map(ToOwned::to_owned);
    let mut places = PREFIXES
        .iter()
        .map(|prefix| own(prefix, &device.name))
        .filter(|place| before.is_none_or(|before| name(place) < name(before)));
    places.next().ok_or_else(|| {
        let before = before.unwrap_or(Path::new("")).display();
        Error::unsuitable(
            format!(
                "{before} comes before any file of ours, and is about more than {}",
                device.name
            ),
            format!(
                "give {} a file of its own before it, with all that it says",
                device.name
            ),
        )
    })
}

/// What matches this interface and no other.
fn matches(tree: &Tree, device: &Device) -> Result<String, Error> {
    let slot = device.slot.as_ref().map(|slot| format!("Path={slot}"));
    match (&device.permanent_mac, slot) {
        (Some(mac), slot) if device.shares_mac(tree) => {
            let slot = slot.ok_or_else(|| unmatched(device))?;
            Ok(format!("PermanentMACAddress={mac}\n{slot}"))
        }
        (Some(mac), _) => Ok(format!("PermanentMACAddress={mac}")),
        (None, Some(slot)) if device.is_physical => Ok(slot),
        // What makes a virtual interface gives it its name at once.
        (None, _) if !device.is_physical && device.original_name.is_some() => {
            Ok(format!("OriginalName={}", device.name))
        }
        (None, _) => Err(unmatched(device)),
    }
}

fn unmatched(device: &Device) -> Error {
    Error::unsuitable(
        format!(
            "nothing lasting tells {} from others: no address of its own, no place that udev names",
            device.name
        ),
        "write a .link file by hand, with a [Match] that fits it alone",
    )
}
