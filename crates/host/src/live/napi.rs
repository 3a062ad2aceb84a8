//! When polling ends a merge: settings of an interface and of its NAPI instances.

use crate::model::Napi;
use coalescope_netlink::netdev::{Napi as Instance, Netdev};
use coalescope_netlink::route::Link;
use std::collections::BTreeMap;
use std::fs;

/// All NAPI instances of a namespace; none if the kernel does not list them.
#[derive(Debug, Default)]
pub(super) struct Instances {
    all: Vec<Instance>,
}

impl Instances {
    /// Asks the kernel; one without the family, or older than these instances, has only /sys.
    pub(super) fn ask() -> Self {
        let all = Netdev::open().and_then(|netdev| netdev.napi());
        Self {
            all: all.unwrap_or_default(),
        }
    }

    /// Settings of an interface; `None` where neither /sys nor the instances tell.
    pub(super) fn of(&self, link: &Link) -> Option<Napi> {
        let own = self.all.iter().filter(|napi| napi.interface == link.index);
        let values: BTreeMap<_, _> = own
            .filter_map(|napi| Some((napi.id, (napi.gro_flush_timeout_ns?, napi.defer_hard_irqs?))))
            .collect();
        let settings = from_sys(link).or_else(|| shared(&values))?;
        let usual = (settings.gro_flush_timeout_ns, settings.defer_hard_irqs);
        let differs = |value: &(u64, u64)| usual != (Some(value.0), Some(value.1));
        let instances = values.into_iter().filter(|(_, value)| differs(value));
        Some(Napi {
            instances: instances.collect(),
            ..settings
        })
    }
}

/// From /sys, if what it shows under this name is this interface: it may be another namespace's.
fn from_sys(link: &Link) -> Option<Napi> {
    let read = |file: &str| {
        let path = format!("/sys/class/net/{}/{file}", link.name);
        Some(fs::read_to_string(path).ok()?.trim().to_owned())
    };
    let number = |file: &str| read(file)?.parse::<u64>().ok();
    let address: Vec<_> = link
        .address
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let same = number("ifindex")? == u64::from(link.index) && read("address")? == address.join(":");
    let napi = Napi {
        gro_flush_timeout_ns: number("gro_flush_timeout"),
        defer_hard_irqs: number("napi_defer_hard_irqs"),
        threaded: number("threaded").map(|threaded| threaded != 0),
        instances: BTreeMap::new(),
    };
    Some(napi).filter(|napi| same && *napi != Napi::default())
}

/// What all instances have in common is what the interface gave them.
fn shared(values: &BTreeMap<u32, (u64, u64)>) -> Option<Napi> {
    let mut each = values.values();
    let (timeout, irqs) = *each.next()?;
    each.all(|value| *value == (timeout, irqs)).then(|| Napi {
        gro_flush_timeout_ns: Some(timeout),
        defer_hard_irqs: Some(irqs),
        ..Napi::default()
    })
}
