//! What an interface is, and the other ends of epairs.

use std::collections::BTreeSet;

use super::super::names::{cloned, cloned_by_name, driver};
use super::block::Head;
use crate::model::{Driver, Interface, Peer, Platform, Snapshot};

/// Kind and driver. The group tells before the name does: interfaces can be renamed, and a cloned
/// one stays in the group of its cloner.
pub(super) fn set(
    head: &Head<'_>,
    groups: &[&str],
    platform: Option<Platform>,
    to: &mut Interface,
) {
    let group = groups.iter().find_map(|group| cloned(group));
    if head.has("LOOPBACK") {
        to.kind = Some("loopback".to_owned());
    } else if to.vlan.is_some() {
        to.kind = Some("vlan".to_owned());
    } else if let Some(kind) = group.or_else(|| cloned_by_name(head.name)) {
        to.kind = Some(kind.to_owned());
    } else if platform == Some(Platform::Freebsd) {
        return device(to);
    }
    // `drivername: tap0` names a cloner, no driver.
    to.driver = None;
    tun(to);
}

/// A device: its name is that of its driver and a number.
fn device(to: &mut Interface) {
    if to.driver.is_none() {
        to.driver = driver(&to.name).map(|name| Driver {
            name: name.to_owned(),
            ..Driver::default()
        });
    }
    if to.driver.is_some() {
        to.kind = Some("physical".to_owned());
    }
}

fn tun(to: &mut Interface) {
    let mode = match to.kind.as_deref() {
        Some("tap") => "tap",
        Some("tun") => "tun",
        // Its line `Opened by` made one of an interface that was renamed.
        _ => return,
    };
    to.tun.get_or_insert_default().mode = Some(mode.to_owned());
}

/// `epair0a` and `epair0b` are the ends of one pair. An end that is not listed is in a jail, perhaps
/// by another name.
pub(super) fn pairs(snapshot: &mut Snapshot) {
    let names: BTreeSet<String> = snapshot.interfaces.keys().cloned().collect();
    let epairs = snapshot.interfaces.values_mut();
    for interface in epairs.filter(|interface| interface.kind.as_deref() == Some("epair")) {
        let other = other_end(&interface.name).filter(|other| names.contains(other));
        interface.peer = Some(Peer {
            name: other,
            namespace: None,
        });
    }
}

fn other_end(name: &str) -> Option<String> {
    let ends = [('a', 'b'), ('b', 'a')];
    ends.iter().find_map(|(this, other)| {
        let pair = name.strip_suffix(*this)?;
        Some(format!("{pair}{other}"))
    })
}
