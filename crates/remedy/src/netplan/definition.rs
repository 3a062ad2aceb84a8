//! A device as all files of netplan define it together.

use coalescope_host::glob;

use crate::device::Device;
use crate::error::Error;
use crate::model::Manager;
use crate::tree::Tree;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A file in a later one stands for that of the same name in those before.
const FOLDERS: [&str; 4] = [
    "/lib/netplan",
    "/usr/lib/netplan",
    "/etc/netplan",
    "/run/netplan",
];
/// Types whose devices are matched and not made.
const PHYSICAL: [&str; 3] = ["ethernets", "wifis", "modems"];

/// One device, as all files together say.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) kind: String,
    pub(super) id: String,
    pub(super) keys: Map<String, Value>,
    pub(super) renderer: Manager,
    /// The first file that has the device matches it by its ID alone. For netplan the ID stays the kernel's name then,
    /// whatever later files match by.
    is_by_id: bool,
}

impl Definition {
    pub(super) fn is_physical(&self) -> bool {
        PHYSICAL.contains(&self.kind.as_str())
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.keys.get(key)?.as_str()
    }

    pub(super) fn matched(&self) -> Option<&Map<String, Value>> {
        self.keys.get("match")?.as_object()
    }

    /// Whether the .link file that netplan makes matches by a name. That has to be the kernel's, which the interface
    /// has not kept, unless it is any.
    pub(super) fn is_by_name(&self) -> bool {
        let name = self.matched().and_then(|keys| keys.get("name"));
        match name.and_then(Value::as_str) {
            Some(name) => name != "*",
            None => self.is_by_id,
        }
    }

    pub(super) fn fits(&self, device: &Device) -> bool {
        if self.text("set-name") == Some(&device.name) {
            return true;
        }
        match self.matched().filter(|_| self.is_physical()) {
            None => self.id == device.name,
            Some(keys) => keys.iter().all(|(key, value)| is_match(key, value, device)),
        }
    }
}

pub(super) fn is_match(key: &str, value: &Value, device: &Device) -> bool {
    let fits =
        |pattern: &Value, own: &str| pattern.as_str().is_some_and(|text| glob::fits(text, own));
    match (key, value) {
        ("name", value) => fits(value, &device.name),
        ("macaddress", Value::String(mac)) => {
            let own = device.permanent_mac.as_deref();
            own.is_some_and(|own| own.eq_ignore_ascii_case(mac))
        }
        ("driver", Value::Array(drivers)) => {
            let own = device.driver.as_deref();
            own.is_some_and(|own| drivers.iter().any(|driver| fits(driver, own)))
        }
        ("driver", value) => device.driver.as_deref().is_some_and(|own| fits(value, own)),
        _ => false,
    }
}

/// The files, in the order in which they count.
pub(super) fn files(tree: &Tree) -> Vec<PathBuf> {
    let mut files = BTreeMap::new();
    for folder in FOLDERS.map(Path::new) {
        let names = tree.names(folder).into_iter();
        let yaml = names.filter(|name| name.ends_with(".yaml") && !name.starts_with('.'));
        files.extend(yaml.map(|name| (name.clone(), folder.join(name))));
    }
    files.into_values().collect()
}

pub(super) fn read(tree: &Tree, path: &Path) -> Result<Value, Error> {
    let text = tree.text(path)?.unwrap_or_default();
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    serde_saphyr::from_str(&text).map_err(|error| Error::Damaged {
        path: path.to_owned(),
        problem: error
            .to_string()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned(),
    })
}

/// The last file that speaks of a device, for people; ours if it does.
pub(super) fn place(tree: &Tree, id: &str) -> Result<PathBuf, Error> {
    let mut last = None;
    for path in files(tree) {
        let value = read(tree, &path)?;
        if devices(&value).any(|(_, name, _)| name == id) {
            last = Some(path);
        }
    }
    Ok(last.unwrap_or_else(|| PathBuf::from("/etc/netplan")))
}

/// Type, ID and keys of all devices of a document.
pub(super) fn devices(document: &Value) -> impl Iterator<Item = (&str, &str, &Map<String, Value>)> {
    let types = document["network"].as_object().into_iter().flatten();
    types.flat_map(|(kind, devices)| {
        let devices = devices.as_object().into_iter().flatten();
        devices.filter_map(move |(id, keys)| Some((kind.as_str(), id.as_str(), keys.as_object()?)))
    })
}

/// All devices, merged; without one file if it is named.
pub(super) fn definitions(tree: &Tree, without: Option<&Path>) -> Result<Vec<Definition>, Error> {
    let mut all = Value::Null;
    let mut has_match = BTreeMap::new();
    for path in files(tree) {
        if Some(path.as_path()) != without {
            let document = read(tree, &path)?;
            for (_, id, keys) in devices(&document) {
                let is_first = has_match.entry(id.to_owned());
                is_first.or_insert_with(|| keys.contains_key("match"));
            }
            merge(&mut all, document);
        }
    }
    let network = &all["network"];
    let list = devices(&all).map(|(kind, id, keys)| Definition {
        kind: kind.to_owned(),
        id: id.to_owned(),
        keys: keys.clone(),
        is_by_id: has_match.get(id) == Some(&false),
        renderer: renderer(&[
            keys.get("renderer"),
            network[kind].get("renderer"),
            network.get("renderer"),
        ]),
    });
    Ok(list.collect())
}

/// The first renderer that is given; networkd if there is none.
pub(super) fn renderer(said: &[Option<&Value>]) -> Manager {
    let mut said = said.iter().filter_map(|value| value.as_ref()?.as_str());
    match said.next() {
        Some("NetworkManager") => Manager::NetworkManager,
        _ => Manager::SystemdNetworkd,
    }
}

/// Merges keys; for a key of both, the later value counts.
pub(super) fn merge(all: &mut Value, later: Value) {
    match (all, later) {
        (Value::Object(all), Value::Object(later)) => {
            for (key, value) in later {
                merge(all.entry(key).or_insert(Value::Null), value);
            }
        }
        (_, Value::Null) => {}
        (all, later) => *all = later,
    }
}
