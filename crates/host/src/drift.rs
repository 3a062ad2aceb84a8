//! Drift: what differs between the hosts of one cluster that should be alike.
//!
//! Interfaces are compared with those of the same roles and kind, on whatever host and under
//! whatever name: in story D "gro off" was missing on some NICs of some directors.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{Interface, Snapshot};
use crate::roles::{RoleName, roles};

/// Switches that decide how large the frames are that a host makes and takes.
const OFFLOADS: [&str; 21] = [
    "generic-receive-offload",
    "large-receive-offload",
    "rx-gro-hw",
    "rx-gro-list",
    "rx-udp-gro-forwarding",
    "rx-checksumming",
    "tx-checksumming",
    "scatter-gather",
    "tcp-segmentation-offload",
    "generic-segmentation-offload",
    "tx-udp-segmentation",
    "tx-udp_tnl-segmentation",
    "tx-udp_tnl-csum-segmentation",
    "LRO",
    "TSO4",
    "TSO6",
    "VLAN_HWTSO",
    "RXCSUM",
    "TXCSUM",
    "rsc-ipv4",
    "rsc-ipv6",
];

/// Kinds of which each host has as many as it has guests, set by whoever makes them.
const PER_GUEST: [&str; 5] = ["veth", "tun", "tap", "epair", "macvtap"];

/// A setting that is not the same everywhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    /// Which setting, and of what: `generic-receive-offload of ipvs-director, physical`.
    pub what: String,
    /// The value of more than half; `None` if there is none such.
    pub majority: Option<String>,
    /// Who differs from it; everyone if there is no majority.
    pub hosts: Vec<Differs>,
    /// Hosts that have the majority's value, at one interface at least. Who is in neither list has
    /// no such setting, or it was not read.
    #[serde(default)]
    pub like_most: Vec<String>,
}

/// One that differs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Differs {
    /// The host.
    pub host: String,
    /// The interface, if it is about one.
    pub interface: Option<String>,
    /// Its value.
    pub value: String,
}

/// What differs between hosts; nothing for fewer than two.
#[must_use]
pub fn drift(hosts: &[Snapshot]) -> Vec<Drift> {
    if hosts.len() < 2 {
        return Vec::new();
    }
    let mut table = Table::default();
    for (i, host) in hosts.iter().enumerate() {
        let name = host.name.clone();
        table.add_host(&name.unwrap_or_else(|| format!("host {}", i + 1)), host);
    }
    table
        .0
        .into_iter()
        .filter_map(|(what, values)| differing(what, &values))
        .collect()
}

/// Values by what they are of.
#[derive(Default)]
struct Table(BTreeMap<String, Vec<Differs>>);

impl Table {
    fn add(&mut self, what: String, host: &str, interface: Option<&str>, value: String) {
        self.0.entry(what).or_default().push(Differs {
            host: host.to_owned(),
            interface: interface.map(str::to_owned),
            value,
        });
    }

    fn add_host(&mut self, name: &str, host: &Snapshot) {
        if let Some(kernel) = &host.kernel {
            self.add("kernel".to_owned(), name, None, kernel.clone());
        }
        if let Some(distribution) = &host.distribution {
            let version = distribution.version.as_deref().unwrap_or_default();
            let value = format!("{} {version}", distribution.id)
                .trim_end()
                .to_owned();
            self.add("distribution".to_owned(), name, None, value);
        }
        for (switch, settings) in &host.switches {
            if let Some(on) = settings.software_rsc {
                let what = format!("software RSC of virtual switch {switch}");
                self.add(what, name, None, on_off(on));
            }
        }
        let roles = roles(host);
        for (key, interface) in &host.interfaces {
            let names: BTreeSet<RoleName> = roles
                .get(key)
                .into_iter()
                .flatten()
                .map(|role| role.role)
                .collect();
            self.add_interface(name, key, interface, &names);
        }
    }

    fn add_interface(
        &mut self,
        host: &str,
        key: &str,
        interface: &Interface,
        roles: &BTreeSet<RoleName>,
    ) {
        let kind = interface.kind.as_deref().unwrap_or("interface");
        if kind == "loopback" || PER_GUEST.contains(&kind) || interface.up == Some(false) {
            return;
        }
        let names: Vec<&str> = roles.iter().map(|role| role.name()).collect();
        let group = format!("of {} ({kind})", names.join(", "));
        let mut add = |what: &str, value: String| {
            self.add(format!("{what} {group}"), host, Some(key), value);
        };
        if let Some(driver) = &interface.driver {
            add("driver", driver.name.clone());
        }
        if let Some(mtu) = interface.mtu_bytes {
            add("MTU", mtu.to_string());
        }
        for name in OFFLOADS {
            if let Some(feature) = interface.features.get(name) {
                add(name, on_off(feature.active));
            }
        }
    }
}

fn on_off(on: bool) -> String {
    if on { "on" } else { "off" }.to_owned()
}

/// A row, if its values differ and more than one host has a say.
fn differing(what: String, values: &[Differs]) -> Option<Drift> {
    let hosts: BTreeSet<&str> = values.iter().map(|value| value.host.as_str()).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for value in values {
        *counts.entry(&value.value).or_default() += 1;
    }
    if hosts.len() < 2 || counts.len() < 2 {
        return None;
    }
    let most = counts.iter().find(|(_, count)| **count * 2 > values.len());
    let majority = most.map(|(value, _)| (*value).to_owned());
    let hosts = values
        .iter()
        .filter(|value| Some(&value.value) != majority.as_ref());
    let hosts = hosts.cloned().collect();
    let like_most: BTreeSet<String> = values
        .iter()
        .filter(|value| Some(&value.value) == majority.as_ref())
        .map(|value| value.host.clone())
        .collect();
    Some(Drift {
        what,
        majority,
        hosts,
        like_most: like_most.into_iter().collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::{Differs, drift};
    use crate::model::{Feature, Snapshot};

    fn director(name: &str, gro: [bool; 2]) -> Snapshot {
        let mut host = Snapshot {
            name: Some(name.to_owned()),
            ..Snapshot::default()
        };
        for (i, gro) in gro.into_iter().enumerate() {
            let interface = host.interface_mut(&format!("eth{i}"));
            interface.kind = Some("physical".to_owned());
            let feature = Feature {
                active: gro,
                ..Feature::default()
            };
            interface
                .features
                .insert("generic-receive-offload".to_owned(), feature);
        }
        host
    }

    #[test]
    fn the_nic_that_was_forgotten_is_named() {
        let hosts = [
            director("lb1", [false, false]),
            director("lb2", [false, true]),
        ];
        let found = drift(&hosts);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].majority.as_deref(), Some("off"));
        let forgotten = Differs {
            host: "lb2".to_owned(),
            interface: Some("eth1".to_owned()),
            value: "on".to_owned(),
        };
        assert_eq!(found[0].hosts, [forgotten]);
        assert_eq!(found[0].like_most, ["lb1", "lb2"]);
    }

    #[test]
    fn without_a_majority_everyone_is_named() {
        let hosts = [director("a", [true, true]), director("b", [false, false])];
        let found = drift(&hosts);
        assert_eq!(found[0].majority, None);
        assert_eq!(found[0].hosts.len(), 4);
        assert!(found[0].like_most.is_empty());
    }

    #[test]
    fn alike_hosts_and_a_single_host_do_not_drift() {
        let a = director("a", [true, false]);
        assert!(drift(std::slice::from_ref(&a)).is_empty());
        let alike = [director("a", [true, true]), director("b", [true, true])];
        assert!(drift(&alike).is_empty());
    }
}
