//! netplan: a file of our own, which it merges with the others.
//!
//! Source: netplan(5). Files are read by name, whatever their folder; what a later one says is added to,
//! or stands instead of, what earlier ones say of the same device. Offload keys are for networkd only;
//! for NetworkManager there is `passthrough`. netplan(5) also says that offloads do not work reliably
//! for devices matched by name only, so hardware is matched by the address it came with: then
//! netplan's own .link file keeps systemd from naming the interface, and `set-name` has to. That file matches by a
//! name as well if a definition has none of its own (`OriginalName=` of the ID), and the kernel's name is another one at the
//! start: `name: "*"` takes that back. Tried with netplan's generator 0.106.

mod definition;
mod version;

use crate::device::Device;
use crate::error::Error;
use crate::ini::{self, Dialect};
use crate::link;
use crate::model::{Configured, Found, Manager, Owner};
use crate::names;
use crate::tree::{Tree, Written};
use definition::{Definition, definitions, devices, files, place, read};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The interface has a .network file that netplan wrote.
pub(crate) fn behind_networkd(
    tree: &Tree,
    device: &Device,
    file: &Path,
) -> Result<Option<Found>, Error> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let Some(id) = name
        .strip_prefix("10-netplan-")
        .and_then(|rest| rest.strip_suffix(".network"))
    else {
        return Ok(None);
    };
    let shown = format!(
        "systemd-networkd has it by {}, which netplan writes",
        file.display()
    );
    found(tree, device, id, Manager::SystemdNetworkd, shown).map(Some)
}

/// The interface has a profile that netplan wrote.
pub(crate) fn behind_networkmanager(
    tree: &Tree,
    device: &Device,
    id: &str,
    file: &Path,
) -> Result<Found, Error> {
    if id.starts_with("NM-") {
        return Err(Error::unsuitable(
            format!(
                "{} is a profile that NetworkManager itself keeps in netplan",
                file.display()
            ),
            "let it write that itself: `nmcli connection modify ID ethtool.feature-...`",
        ));
    }
    let shown = format!(
        "NetworkManager has it by {}, which netplan writes",
        file.display()
    );
    found(tree, device, id, Manager::NetworkManager, shown)
}

fn found(
    tree: &Tree,
    device: &Device,
    id: &str,
    renderer: Manager,
    shown: String,
) -> Result<Found, Error> {
    let all = definitions(tree, None)?;
    let Some(definition) = all.iter().find(|definition| definition.id == id) else {
        return Err(Error::unsuitable(
            format!("{shown}, and no file of netplan has {id} any more"),
            "run `netplan apply` first, so that what runs is what is written",
        ));
    };
    let file = place(tree, id)?;
    // What netplan makes itself it has no offload keys for; udev applies .link files to it as well.
    if renderer == Manager::SystemdNetworkd && !definition.is_physical() {
        let name = &device.name;
        let reason = format!("{shown}; for {name} that has no offloads, .link files do");
        return Ok(Found::new(Owner::Link, file, reason));
    }
    let id = id.to_owned();
    Ok(Found::new(Owner::Netplan { id, renderer }, file, shown))
}

/// The interface in a file of netplan, although no running service shows it.
pub(crate) fn owns(tree: &Tree, device: &Device) -> Result<Option<Found>, Error> {
    let all = definitions(tree, None)?;
    let Some(definition) = all.iter().find(|definition| definition.fits(device)) else {
        return Ok(None);
    };
    let file = place(tree, &definition.id)?;
    let (id, renderer) = (&definition.id, definition.renderer);
    let shown = format!("{} has it as {id}, for {renderer}", file.display());
    found(tree, device, id, renderer, shown).map(Some)
}

pub(crate) fn configured(
    tree: &Tree,
    device: &Device,
    id: &str,
    renderer: Manager,
    feature: &str,
) -> Result<Configured, Error> {
    let keys = keys(renderer, feature)?;
    let all = definitions(tree, None)?;
    let own = all.iter().find(|definition| definition.id == id);
    let mut last = None;
    for path in files(tree) {
        let document = read(tree, &path)?;
        let speaks = devices(&document)
            .any(|(_, name, values)| name == id && at(values, renderer, &keys).is_some());
        last = if speaks { Some(path) } else { last };
    }
    let own = own.filter(|own| counts(device, own, renderer));
    let on = own.and_then(|own| at(&own.keys, renderer, &keys));
    if renderer == Manager::SystemdNetworkd {
        need_first(tree, device, id)?;
    }
    Ok(Configured { on, at: last })
}

/// Whether what a definition says has an effect at the next start.
fn counts(device: &Device, definition: &Definition, renderer: Manager) -> bool {
    identity(device, definition, renderer).is_ok_and(|missing| missing.is_empty())
}

/// Refuses if udev goes by another .link file than the one that netplan makes.
fn need_first(tree: &Tree, device: &Device, id: &str) -> Result<(), Error> {
    let own = format!("10-netplan-{id}.link");
    let Some(first) = link::before(tree, device, &own)? else {
        return Ok(());
    };
    let first = first.display();
    Err(Error::unsuitable(
        format!(
            "udev goes by one .link file only, and {first} comes before {own}, which netplan makes"
        ),
        format!("set it in {first} by hand, or take that file away"),
    ))
}

/// The feature's key for a renderer.
fn keys(renderer: Manager, feature: &str) -> Result<String, Error> {
    let name = match renderer {
        Manager::NetworkManager => {
            names::networkmanager(feature).map(|name| format!("ethtool.{name}"))
        }
        _ => names::netplan(feature).map(str::to_owned),
    };
    name.ok_or_else(|| names::none(Manager::Netplan, feature))
}

fn at(keys: &Map<String, Value>, renderer: Manager, key: &str) -> Option<bool> {
    match renderer {
        // It stands in a keyfile as it is.
        Manager::NetworkManager => {
            let value = keys.get("networkmanager")?.get("passthrough")?.get(key)?;
            match value {
                Value::Bool(on) => Some(*on),
                value => ini::boolean(value.as_str()?, Dialect::Keyfile),
            }
        }
        _ => boolean(keys.get(key)?),
    }
}

pub(crate) fn set(
    tree: &mut Tree,
    device: &Device,
    id: &str,
    renderer: Manager,
    feature: &str,
    on: bool,
) -> Result<(), Error> {
    let own = Path::new("/etc/netplan").join(format!("90-coalescope-{}.yaml", device.name));
    let key = keys(renderer, feature)?;
    version::check(tree, renderer)?;
    let others = definitions(tree, Some(&own))?;
    let definition = others.iter().find(|definition| definition.id == id);
    let definition = definition.ok_or_else(|| {
        Error::unsuitable(
            format!("only {} has {id} still", own.display()),
            format!("remove {}", own.display()),
        )
    })?;
    let identity = identity(device, definition, renderer)?;
    let mut features = features(tree, &own, definition, renderer, &identity)?;
    features.insert(key, on);
    let written = Written {
        text: render(definition, renderer, &identity, &features),
        // netplan warns of files that others can read.
        mode_if_new: 0o600,
        manager: Manager::Netplan,
        why: why(renderer).to_owned(),
    };
    tree.write(own, written);
    Ok(())
}

fn why(renderer: Manager) -> &'static str {
    match renderer {
        Manager::NetworkManager => "netplan adds it to the profile that it writes",
        _ => {
            "netplan adds it to the device, in a .link file of its own, which also turns wake-on-LAN off \
             unless `wakeonlan: true` is there"
        }
    }
}

/// Keys that the offload keys need in order to work at every start.
fn identity(
    device: &Device,
    definition: &Definition,
    renderer: Manager,
) -> Result<Vec<String>, Error> {
    if renderer == Manager::NetworkManager {
        return Ok(Vec::new());
    }
    let mac = definition.matched().and_then(|keys| keys.get("macaddress"));
    let mac = mac.and_then(Value::as_str);
    let own = device.permanent_mac.as_deref();
    let is_own = |mac: &str| own.is_none_or(|own| own.eq_ignore_ascii_case(mac));
    let mut matched = Vec::new();
    match (definition.matched(), mac, own) {
        (_, Some(mac), _) if is_own(mac) => {}
        (None, _, Some(own)) => matched.push(format!("  macaddress: \"{own}\"")),
        _ => return Err(group(device)),
    }
    if definition.is_by_name() {
        matched.push("  name: \"*\"".to_owned());
    }
    let mut lines = Vec::new();
    if !matched.is_empty() {
        lines.push("match:".to_owned());
        lines.append(&mut matched);
    }
    if definition.text("set-name").is_none() {
        lines.push(format!("set-name: {}", quoted(&device.name)));
    }
    Ok(lines)
}

fn group(device: &Device) -> Error {
    let name = &device.name;
    Error::unsuitable(
        format!(
            "netplan has {name} by a match that may fit others, or it has no address of its own: \
             offloads of devices matched by name do not work reliably (netplan(5))"
        ),
        format!(
            "give {name} a definition with `match: {{macaddress: ...}}` and `set-name: {name}`"
        ),
    )
}

/// The features that our file has already; it must be as it was written, or somebody's work is lost.
fn features(
    tree: &Tree,
    own: &Path,
    definition: &Definition,
    renderer: Manager,
    identity: &[String],
) -> Result<BTreeMap<String, bool>, Error> {
    let Some(text) = tree.text(own)? else {
        return Ok(BTreeMap::new());
    };
    let document = read(tree, own)?;
    let keys = &document["network"][&definition.kind][&definition.id];
    let features = booleans(match renderer {
        Manager::NetworkManager => &keys["networkmanager"]["passthrough"],
        _ => keys,
    });
    if render(definition, renderer, identity, &features) == text {
        return Ok(features);
    }
    Err(Error::unsuitable(
        format!("{} was changed since it was made", own.display()),
        format!(
            "change it by hand, or remove {} and run it again",
            own.display()
        ),
    ))
}

fn booleans(keys: &Value) -> BTreeMap<String, bool> {
    let pairs = keys.as_object().into_iter().flatten();
    let value = |(key, value): (&String, &Value)| Some((key.clone(), boolean(value)?));
    pairs.filter_map(value).collect()
}

fn boolean(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(on) => Some(*on),
        Value::String(text) => ini::lenient(text),
        _ => None,
    }
}

fn render(
    definition: &Definition,
    renderer: Manager,
    identity: &[String],
    features: &BTreeMap<String, bool>,
) -> String {
    let mut lines = identity.to_vec();
    if renderer == Manager::NetworkManager {
        lines.extend(["networkmanager:", "  passthrough:"].map(str::to_owned));
        let pairs = features.iter();
        lines.extend(pairs.map(|(key, on)| format!("    {key}: \"{on}\"")));
    } else {
        lines.extend(features.iter().map(|(key, on)| format!("{key}: {on}")));
    }
    let body: String = lines.iter().map(|line| format!("      {line}\n")).collect();
    let Definition { kind, id, .. } = definition;
    format!(
        "# Of `coalescope fix --persist`; `coalescope undo` takes it away. netplan merges it with the other\n\
         # files: this is added to what they say of the same device.\n\
         network:\n  version: 2\n  {kind}:\n    {}:\n{body}",
        quoted(id)
    )
}

/// As YAML; JSON's quotes are YAML's as well.
fn quoted(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let starts = name.starts_with(|first: char| first.is_ascii_alphabetic());
    // Without a digit it could be one of YAML's words for true, false and nothing.
    if starts && name.chars().all(is_plain) && name.contains(|letter: char| letter.is_ascii_digit())
    {
        name.to_owned()
    } else {
        json!(name).to_string()
    }
}
