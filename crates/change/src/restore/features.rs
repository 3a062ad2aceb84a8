//! Offloads: all wanted features in one request, since setting one after the other could undo the one before.

use super::keys::standing;
use crate::journal::{InterfaceEntry, Standing};
use crate::settings::{InterfaceState, Item};
use coalescope_netlink::Error as Kernel;
use coalescope_netlink::ethtool::Ethtool;

/// Sets wanted features back that are still as they were set. With `insist`, a feature that is
/// wanted as before but not active as before is toggled in two steps, because the kernel evaluates
/// dependencies only when a wanted feature changes.
pub(super) fn restore(
    entry: &InterfaceEntry,
    is: &InterfaceState,
    insist: bool,
) -> Result<(), Kernel> {
    let wishes = wishes(entry, is);
    if !wishes.is_empty() {
        Ethtool::open()?.set_features(&is.name, &wishes)?;
        return Ok(());
    }
    let stale = stale(entry, is);
    if !insist || stale.is_empty() {
        return Ok(());
    }
    let over: Vec<_> = stale.iter().map(|(name, on)| (*name, !on)).collect();
    let ethtool = Ethtool::open()?;
    let turned = ethtool.set_features(&is.name, &over).map(drop);
    turned.and(ethtool.set_features(&is.name, &stale).map(drop))
}

/// Wanted features that were set, with their values from before.
fn wishes<'a>(entry: &'a InterfaceEntry, is: &InterfaceState) -> Vec<(&'a str, bool)> {
    let ours = entry.keys.iter().filter_map(|key| match &key.item {
        Item::Wanted(name) if standing(entry, key, is) == Standing::Ours => {
            Some((name.as_str(), key.held.was == "on"))
        }
        _ => None,
    });
    ours.filter(|(name, _)| is.changeable.contains(*name))
        .collect()
}

/// Features that moved along, and are not active as before although they are wanted.
fn stale<'a>(entry: &'a InterfaceEntry, is: &InterfaceState) -> Vec<(&'a str, bool)> {
    let ours = entry.keys.iter().filter_map(|key| match &key.item {
        Item::Active(name) if standing(entry, key, is) == Standing::Ours => Some(name.as_str()),
        _ => None,
    });
    ours.filter(|name| is.changeable.contains(*name))
        .map(|name| (name, is.wanted.contains(name)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{Held, KeyEntry};
    use crate::settings::NamespaceId;

    fn state(wanted: &[&str], active: &[&str]) -> InterfaceState {
        let set = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        InterfaceState {
            wanted: set(wanted),
            active: set(active),
            changeable: set(&["a", "b", "c"]),
            ..InterfaceState::default()
        }
    }

    fn entry(keys: &[(Item, &str, &str)]) -> InterfaceEntry {
        let key = |(item, was, set): &(Item, &str, &str)| KeyEntry {
            item: item.clone(),
            held: Held {
                was: (*was).to_owned(),
                set: vec![(*set).to_owned()],
                is_open: false,
            },
        };
        InterfaceEntry {
            namespace: NamespaceId::default(),
            related: false,
            was: state(&["a", "b", "c"], &["a", "b", "c"]),
            keys: keys.iter().map(key).collect(),
        }
    }

    #[test]
    fn only_what_was_set_is_set_back() {
        let wanted = |name: &str| Item::Wanted(name.to_owned());
        let entry = entry(&[(wanted("a"), "on", "off"), (wanted("b"), "on", "on")]);
        let is = state(&[], &[]);
        // `b` has its value from before, since somebody has turned it off; `c` was never set.
        assert_eq!(wishes(&entry, &is), [("a", true)]);
    }

    #[test]
    fn what_is_stale_is_turned_over_unless_somebody_wishes_it() {
        let active = |name: &str| Item::Active(name.to_owned());
        let entry = entry(&[(active("a"), "on", "off"), (active("b"), "on", "on")]);
        let is = |wanted| state(wanted, &["b"]);
        assert_eq!(stale(&entry, &is(&["a", "b", "c"])), [("a", true)]);
        assert!(stale(&entry, &is(&["a", "b"])).is_empty());
    }
}
