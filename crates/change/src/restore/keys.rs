//! Standing of keys: restored, as we set them, or set by somebody else since.

use coalescope_host::names::key_of;

use super::Spaces;
use crate::journal::{InterfaceEntry, Journal, KeyEntry, Standing, SysctlEntry};
use crate::settings::{
    Error, InterfaceState, Item, Knob, Space, Subject, What, dotted, is_adaptive, members, read_at,
    read_sysctl, sysctl_owner,
};

/// Name of an interface in reports.
pub(super) fn interface_name(entry: &InterfaceEntry) -> String {
    key_of(entry.namespace.name.as_deref(), &entry.was.name)
}

/// Name of a sysctl in reports.
pub(super) fn sysctl_name(entry: &SysctlEntry) -> String {
    let key = format!("sysctl:{}", dotted(&entry.key));
    key_of(entry.namespace.name.as_deref(), &key)
}

/// The present state of an interface, if it is still there and the same device.
pub(super) fn as_it_is(entry: &InterfaceEntry, spaces: &mut Spaces) -> Option<InterfaceState> {
    let space = spaces.get(&entry.namespace).ok()?;
    let is = read_at(space, entry.was.index).ok()??;
    is.is_same_device(&entry.was).then_some(is)
}

/// The present value of a sysctl. A sysctl of an interface that was replaced by another device is an error.
pub(crate) fn read_entry(entry: &SysctlEntry, space: &Space) -> Result<String, Error> {
    let owner = sysctl_owner(space, &entry.key)?;
    if entry.device.is_none() || owner == entry.device {
        return read_sysctl(space, &entry.key);
    }
    Err(Error::Gone {
        interface: entry.key.split('/').nth(3).unwrap_or_default().to_owned(),
        namespace: entry.namespace.name.clone(),
        detail: "it was removed, or has another name now".to_owned(),
    })
}

/// Who has set the present value of an interface's key.
pub(super) fn standing(entry: &InterfaceEntry, key: &KeyEntry, is: &InterfaceState) -> Standing {
    let now = is.shown(&key.item);
    let plain = key.held.standing(&now);
    match &key.item {
        Item::Active(name) if is_as_wished(entry, is, name) => Standing::Settled,
        Item::Active(_) => effect(entry, is, plain),
        Item::Ipv6Mtu => ipv6_mtu(entry, is, &now, plain),
        Item::Coalescing(name) if moves(entry, is, name) => Standing::Settled,
        // The value cannot be read in this namespace, so nobody is known to have changed it.
        _ if now.is_empty() && plain == Standing::Theirs => Standing::Ours,
        _ => plain,
    }
}

/// The value of a key from before, as a number, if the key still has the value that we set.
pub(super) fn was(entry: &InterfaceEntry, item: &Item, is: &InterfaceState) -> Option<u32> {
    let key = entry.keys.iter().find(|key| key.item == *item)?;
    let ours = standing(entry, key, is) == Standing::Ours;
    key.held.was.parse().ok().filter(|_| ours)
}

/// Whether the driver changes a coalescing setting by itself (adaptive coalescing).
fn moves(entry: &InterfaceEntry, is: &InterfaceState, name: &str) -> bool {
    is_adaptive(&entry.was, name) && is_adaptive(is, name)
}

/// Whether a feature of which we did not set the wanted value is active as it is wanted now.
fn is_as_wished(entry: &InterfaceEntry, is: &InterfaceState, name: &str) -> bool {
    is.changeable.contains(name)
        && is.active.contains(name) == is.wanted.contains(name)
        && entry.held(&Item::Wanted(name.to_owned())).is_none()
}

/// Active features follow from wanted ones: after somebody else has changed a wanted feature, an
/// active one that differs may follow from that change, and is left.
fn effect(entry: &InterfaceEntry, is: &InterfaceState, plain: Standing) -> Standing {
    let mut others = entry.was.wanted.symmetric_difference(&is.wanted);
    if others.any(|name| entry.held(&Item::Wanted(name.clone())).is_none()) {
        return Standing::Settled;
    }
    plain
}

/// Standing of IPv6's MTU, which the kernel sets with each change of the interface's MTU.
fn ipv6_mtu(entry: &InterfaceEntry, is: &InterfaceState, now: &str, plain: Standing) -> Standing {
    // IPv6's MTU follows the interface's, as it did before.
    if now == is.shown(&Item::Mtu) && entry.was.ipv6_mtu == Some(entry.was.mtu) {
        return Standing::Settled;
    }
    let Some(own) = entry.held(&Item::Mtu).filter(|_| plain == Standing::Theirs) else {
        return plain;
    };
    let own_now = is.shown(&Item::Mtu);
    if now == own.was {
        Standing::Ours
    } else if now.is_empty() || (now == own_now && own.standing(&own_now) == Standing::Theirs) {
        Standing::Settled
    } else {
        plain
    }
}

/// Forgets keys that have their value from before: whoever sets such a key later means to.
pub(crate) fn prune(journal: &mut Journal, spaces: &mut Spaces) {
    for entry in &mut journal.interfaces {
        if let Some(is) = as_it_is(entry, spaces) {
            let judged = entry.clone();
            entry
                .keys
                .retain(|key| standing(&judged, key, &is) != Standing::Settled);
        }
    }
    for entry in &mut journal.sysctls {
        let space = spaces.get(&entry.namespace);
        let is = space.and_then(|space| read_entry(entry, space));
        if is.is_ok_and(|is| entry.held.standing(&is) == Standing::Settled) {
            entry.held.set.clear();
        }
    }
}

/// Records the present values of the keys in `forced` as set by us, so that they are restored whoever set them.
pub(super) fn force(journal: &mut Journal, spaces: &mut Spaces, forced: &[String]) {
    for entry in &mut journal.interfaces {
        if let Some(is) = as_it_is(entry, spaces) {
            let name = interface_name(entry);
            let was = entry.was.clone();
            let meant = |key: &&mut KeyEntry| {
                let mut forced = forced.iter();
                forced.any(|one| is_called(one, &name, &was, &key.item))
            };
            for key in entry.keys.iter_mut().filter(meant) {
                key.held.set.push(is.shown(&key.item));
            }
        }
    }
    for entry in &mut journal.sysctls {
        if forced.contains(&sysctl_name(entry))
            && let Ok(is) = spaces
                .get(&entry.namespace)
                .and_then(|space| read_entry(entry, space))
        {
            entry.held.set.push(is);
        }
    }
}

/// Whether a text names a key of a journal, and the names of all keys.
pub(super) fn called(journal: &Journal, text: &str) -> (bool, Vec<String>) {
    let (mut is_one, mut names) = (false, Vec::new());
    for entry in &journal.interfaces {
        let name = interface_name(entry);
        for key in &entry.keys {
            is_one |= is_called(text, &name, &entry.was, &key.item);
            names.push(format!("{name}:{}", key.item.key()));
        }
    }
    let sysctls = journal.sysctls.iter().map(sysctl_name);
    let files = journal.files.iter();
    let files = files.map(|entry| entry.path.display().to_string());
    names.extend(sysctls.chain(files));
    (is_one || names.iter().any(|name| name == text), names)
}

fn is_called(text: &str, name: &str, was: &InterfaceState, item: &Item) -> bool {
    text == format!("{name}:{}", item.key()) || is_of(text, name, was, item)
}

/// Whether a text such as `eth0:tso` names a key.
fn is_of(text: &str, name: &str, was: &InterfaceState, item: &Item) -> bool {
    let Some(subject) = text.strip_prefix(name).and_then(|rest| {
        let plain = format!("x{rest}");
        plain.parse::<Subject>().ok()
    }) else {
        return false;
    };
    match (&subject.what, item) {
        (
            What::Interface {
                knob: Knob::Feature(feature),
                ..
            },
            Item::Wanted(own),
        ) => members(was, feature).is_ok_and(|all| all.contains(own)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Held;
    use crate::settings::NamespaceId;

    fn state(wanted: bool, active: bool) -> InterfaceState {
        let named = |on: bool| on.then(|| "x".to_owned()).into_iter().collect();
        InterfaceState {
            wanted: named(wanted),
            active: named(active),
            changeable: named(true),
            ..InterfaceState::default()
        }
    }

    /// It was off at first; somebody turned it on, and off at the moment of a change of ours.
    #[test]
    fn what_somebody_has_turned_over_and_back_is_theirs() {
        let key = KeyEntry {
            item: Item::Active("x".to_owned()),
            held: Held {
                was: "on".to_owned(),
                set: vec!["off".to_owned()],
                is_open: false,
            },
        };
        let entry = InterfaceEntry {
            namespace: NamespaceId::default(),
            related: false,
            was: state(false, false),
            keys: vec![key.clone()],
        };
        assert_eq!(
            standing(&entry, &key, &state(false, false)),
            Standing::Settled
        );
        // Wished for all the while, and kept off by what was set.
        let entry = InterfaceEntry {
            was: state(true, true),
            ..entry
        };
        assert_eq!(standing(&entry, &key, &state(true, false)), Standing::Ours);
    }
}
