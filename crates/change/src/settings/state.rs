//! The state of an interface, as far as a change can touch it.

use super::space::mac_text;
use super::{Error, Item, Knob, Space, Value, members};
use coalescope_netlink::ethtool::{Ethtool, Value as Coalescing};
use coalescope_netlink::netdev::Netdev;
use coalescope_netlink::route::{Link, Route};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;

/// An interface as it is, or was: what has to be the same again after an experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InterfaceState {
    /// Its name, which may change.
    pub name: String,
    /// Its number in its namespace.
    pub index: u32,
    /// The hardware address that it was made with, if it has one of its own.
    pub permanent_mac: Option<String>,
    /// Its hardware address.
    pub mac: String,
    /// The kernel's kind (`veth`); `None` for hardware.
    pub kind: Option<String>,
    /// The inode of its folder in /sys, which outlives renaming, and which no interface gets anew;
    /// `None` where /sys does not show it.
    pub device: Option<u64>,
    /// Driver and place on a bus, as `ethtool -i` shows them; empty if it does not say.
    pub driver: String,
    /// MTU.
    pub mtu: u32,
    /// The MTU that IPv6 uses on it, which follows the other one.
    pub ipv6_mtu: Option<u32>,
    /// Features, by the kernel's names.
    pub known: BTreeSet<String>,
    /// Of these, the ones that are asked for.
    pub wanted: BTreeSet<String>,
    /// The ones that are on.
    pub active: BTreeSet<String>,
    /// The ones that can be changed.
    pub changeable: BTreeSet<String>,
    /// Interrupt coalescing by ethtool's names; on is 1. Empty if the driver has none.
    pub coalescing: BTreeMap<String, u32>,
    /// `gro_flush_timeout`, nanoseconds; `None` where it cannot be read.
    pub gro_flush_timeout: Option<u32>,
    /// `napi_defer_hard_irqs`, polls.
    pub napi_defer_hard_irqs: Option<u32>,
    /// `gso_max_size`, bytes; `None` where the kernel does not say.
    pub gso_max_size: Option<u32>,
    /// `gro_max_size`, bytes.
    pub gro_max_size: Option<u32>,
    /// `gso_ipv4_max_size`, bytes, which follows the other one.
    pub gso_ipv4_max_size: Option<u32>,
    /// `gro_ipv4_max_size`, bytes.
    pub gro_ipv4_max_size: Option<u32>,
}

impl InterfaceState {
    /// Whether the MTU is the least of the ports' MTUs until somebody sets it
    /// (`br_mtu_auto_adjust`). Restoring the ports restores such an MTU, and setting it would end
    /// the adjustment.
    pub(crate) fn follows_ports(&self) -> bool {
        self.kind.as_deref() == Some("bridge")
    }

    /// The value of a setting in this state.
    pub fn value(&self, knob: &Knob) -> Result<Value, Error> {
        let number = match knob {
            Knob::Feature(name) => {
                let members = members(self, name)?;
                let on = members.iter().any(|member| self.active.contains(member));
                return Ok(Value::Switch(on));
            }
            Knob::Mtu => Some(self.mtu),
            Knob::Coalescing(name) => self.coalescing.get(name).copied(),
            Knob::GroFlushTimeout => self.gro_flush_timeout,
            Knob::NapiDeferHardIrqs => self.napi_defer_hard_irqs,
            Knob::GsoMaxSize => self.gso_max_size,
            Knob::GroMaxSize => self.gro_max_size,
        };
        let known = number.ok_or_else(|| self.lacks(knob))?;
        Ok(match knob {
            Knob::Coalescing(name) if flag(name) => Value::Switch(known != 0),
            _ => Value::Number(known),
        })
    }

    fn lacks(&self, knob: &Knob) -> Error {
        Error::UnknownFeature {
            interface: self.name.clone(),
            name: knob.to_string(),
            near: Vec::new(),
        }
    }

    /// Whether another state is certainly of the same device. The ifindex alone is not enough,
    /// since one can ask for a certain ifindex. A device without a permanent address may have been
    /// given another address or name.
    pub(crate) fn is_same_device(&self, other: &Self) -> bool {
        let alike = self.index == other.index
            && self.kind == other.kind
            && self.driver == other.driver
            && self.permanent_mac == other.permanent_mac;
        alike
            && match (self.device, other.device) {
                (Some(one), Some(two)) => one == two,
                _ => {
                    let is_named = self.name == other.name && self.mac == other.mac;
                    self.permanent_mac.is_some() || is_named
                }
            }
    }
}

/// Whether a coalescing setting is on or off rather than a number.
pub(super) fn flag(name: &str) -> bool {
    coalescope_netlink::ethtool::coalescing_names().any(|known| known == (name, true))
}

/// Reads an interface by its name.
///
/// # Errors
///
/// [`Error::Gone`] if there is none of that name, and what the kernel refuses.
pub fn read_named(space: &Space, name: &str) -> Result<InterfaceState, Error> {
    let sys = space.shows_sys();
    let links = space.run(|| Ok(Route::open()?.links()?))?;
    let link = links.iter().find(|link| link.name == name);
    let link = link.ok_or_else(|| gone(space, name, "see `ip link`"))?;
    space.run(|| read_link(link, sys))
}

/// Reads an interface by its number; `None` if there is none.
pub(crate) fn read_at(space: &Space, index: u32) -> Result<Option<InterfaceState>, Error> {
    let sys = space.shows_sys();
    space.run(|| match by_index(index)? {
        None => Ok(None),
        Some(link) => match read_link(&link, sys) {
            Ok(state) => Ok(Some(state)),
            // The interface may have gone while it was being read.
            Err(_) if by_index(index)?.is_none() => Ok(None),
            Err(error) => Err(error),
        },
    })
}

/// The link with a number in the calling thread's namespace.
pub(crate) fn by_index(index: u32) -> Result<Option<Link>, Error> {
    let links = Route::open()?.links()?;
    Ok(links.into_iter().find(|link| link.index == index))
}

pub(super) fn gone(space: &Space, interface: &str, detail: &str) -> Error {
    Error::Gone {
        interface: interface.to_owned(),
        namespace: space.id().name.clone(),
        detail: detail.to_owned(),
    }
}

fn read_link(link: &Link, sys: bool) -> Result<InterfaceState, Error> {
    let ethtool = Ethtool::open()?;
    let mut state = InterfaceState {
        name: link.name.clone(),
        index: link.index,
        permanent_mac: link.permanent_address.as_deref().map(mac_text),
        mac: mac_text(&link.address),
        kind: link.kind.clone(),
        device: sys.then(|| device(&link.name)).flatten(),
        driver: driver(&ethtool, &link.name),
        mtu: link.mtu.unwrap_or_default(),
        ipv6_mtu: number(&ipv6_mtu_path(&link.name)),
        coalescing: coalescing(&ethtool, &link.name)?,
        gso_max_size: link.limits.gso_max_size,
        gro_max_size: link.limits.gro_max_size,
        gso_ipv4_max_size: link.limits.gso_ipv4_max_size,
        gro_ipv4_max_size: link.limits.gro_ipv4_max_size,
        ..InterfaceState::default()
    };
    add_features(&mut state, &ethtool)?;
    if sys {
        state.gro_flush_timeout = number(&napi_path(&link.name, "gro_flush_timeout"));
        state.napi_defer_hard_irqs = number(&napi_path(&link.name, "napi_defer_hard_irqs"));
    }
    Ok(state)
}

pub(super) fn device(name: &str) -> Option<u64> {
    fs::metadata(format!("/sys/class/net/{name}"))
        .ok()
        .map(|folder| folder.ino())
}

fn driver(ethtool: &Ethtool, name: &str) -> String {
    let known = ethtool.driver(name);
    known.map_or_else(
        |_| String::new(),
        |driver| format!("{} {}", driver.name, driver.bus).trim().to_owned(),
    )
}

fn add_features(state: &mut InterfaceState, ethtool: &Ethtool) -> Result<(), Error> {
    for (name, feature) in ethtool.read_features(&state.name)?.iter() {
        state.known.insert(name.to_owned());
        let sets = [
            (feature.wanted, &mut state.wanted),
            (feature.active, &mut state.active),
            (!feature.fixed, &mut state.changeable),
        ];
        for (_, set) in sets.into_iter().filter(|(is, _)| *is) {
            set.insert(name.to_owned());
        }
    }
    Ok(())
}

/// Coalescing settings; empty if the driver has none, or if the interface is down and the driver does not answer.
fn coalescing(ethtool: &Ethtool, name: &str) -> Result<BTreeMap<String, u32>, Error> {
    match ethtool.read_coalescing(name) {
        Ok(values) => Ok(values
            .into_iter()
            .map(|(name, value)| (name, as_number(value)))
            .collect()),
        Err(error) if error.is_denied() || error.is_gone() => Err(error.into()),
        Err(_) => Ok(BTreeMap::new()),
    }
}

fn as_number(value: Coalescing) -> u32 {
    match value {
        Coalescing::Flag(on) => on.into(),
        Coalescing::Number(number) => number,
    }
}

/// The value as netlink takes it.
pub(crate) fn as_coalescing(name: &str, value: u32) -> Coalescing {
    if flag(name) {
        Coalescing::Flag(value != 0)
    } else {
        Coalescing::Number(value)
    }
}

pub(super) fn ipv6_mtu_path(name: &str) -> String {
    format!("/proc/sys/net/ipv6/conf/{name}/mtu")
}

fn napi_path(interface: &str, setting: &str) -> String {
    format!("/sys/class/net/{interface}/{setting}")
}

fn number(path: &str) -> Option<u32> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// Writes `gro_flush_timeout` or `napi_defer_hard_irqs`; the error is a refusal, in the kernel's words.
pub(crate) fn write_napi(interface: &str, setting: &str, value: u32) -> Result<(), String> {
    let path = napi_path(interface, setting);
    fs::write(&path, value.to_string()).map_err(|error| format!("{path}: {error}"))
}

/// Whether all queues have the interface's value. Writing the interface's value sets all queues,
/// and restoring it would not restore values of single queues. Only the setting in question is
/// compared: somebody else may be setting the other one at this moment.
pub(crate) fn queues_are_alike(state: &InterfaceState, item: &Item) -> bool {
    let instances = Netdev::open().and_then(|netdev| netdev.napi_of(state.index));
    instances.unwrap_or_default().iter().all(|napi| {
        let (own, all) = match item {
            Item::GroFlushTimeout => (napi.gro_flush_timeout_ns, state.gro_flush_timeout),
            _ => (napi.defer_hard_irqs, state.napi_defer_hard_irqs),
        };
        own.is_none() || own == all.map(u64::from)
    })
}
