//! Verifying that everything is restored.

use coalescope_host::safe::sh;

use super::keys::{as_it_is, interface_name, read_entry, standing, sysctl_name};
use super::{Spaces, by_hand};
use crate::journal::{
    Held, InterfaceEntry, Journal, KeyEntry, Standing, SysctlEntry, Unrestored, rounds,
};
use crate::settings::{Error, InterfaceState, Item, read_at};

/// Keys of an interface that are not as they were; `words` are the kernel's refusals.
pub(super) fn interface(
    entry: &InterfaceEntry,
    spaces: &mut Spaces,
    words: &[(String, String)],
) -> Vec<Unrestored> {
    let name = interface_name(entry);
    let is = spaces.get(&entry.namespace);
    let is = is.and_then(|space| read_at(space, entry.was.index));
    let is = match is {
        // No key of the interface was set.
        _ if entry.keys.iter().all(|key| key.held.set.is_empty()) => return Vec::new(),
        Ok(Some(is)) if is.is_same_device(&entry.was) => is,
        // A related interface that is gone needs no restoring.
        Ok(_) if entry.related => return Vec::new(),
        Ok(other) => return vec![gone(entry, other)],
        Err(error) => {
            let why = format!("{error}; {}", were_set(entry));
            return vec![Unrestored {
                why,
                ..unread(name, &error)
            }];
        }
    };
    let why = why(words, &name);
    let left = entry.keys.iter().filter_map(|key| {
        let (now, was) = (is.shown(&key.item), key.held.was.clone());
        let what = format!("{name}: {}", key.item);
        match standing(entry, key, &is) {
            Standing::Settled => None,
            Standing::Theirs => {
                let key_name = format!("{name}:{}", key.item.key());
                Some(theirs((what, &key_name), now, &key.held, rounds(&key.item)))
            }
            Standing::Ours => Some(Unrestored {
                what,
                by_hand: by_hand::interface(&entry.namespace, &is, &key.item, &was),
                is: if now.is_empty() {
                    "unreadable".to_owned()
                } else {
                    now
                },
                was,
                set: None,
                why: fixed(&key.item, &is).unwrap_or_else(|| why.clone()),
            }),
        }
    });
    left.collect()
}

/// Features that are wanted again and not active, as they were before, since somebody has switched off what they need: without
/// scatter-gather there is no TSO (`netdev_fix_features`).
pub(super) fn idle(journal: &Journal, spaces: &mut Spaces) -> Vec<String> {
    let entries = journal.interfaces.iter();
    let all = entries.filter_map(|entry| Some((entry, as_it_is(entry, spaces)?)));
    all.flat_map(|(entry, is)| idle_of(entry, &is)).collect()
}

fn idle_of(entry: &InterfaceEntry, is: &InterfaceState) -> Vec<String> {
    let is_wanted_again = |name: &&String| {
        let held = entry.held(&Item::Wanted((*name).clone()));
        held.is_some_and(|held| !held.set.is_empty()) && is.wanted.contains(*name)
    };
    let lost = entry.was.active.difference(&is.active);
    let lost: Vec<&str> = lost.filter(is_wanted_again).map(String::as_str).collect();
    let theirs = entry.was.wanted.difference(&is.wanted);
    let theirs: Vec<&str> = theirs.map(String::as_str).collect();
    if lost.is_empty() || theirs.is_empty() {
        return Vec::new();
    }
    let name = interface_name(entry);
    let (lost, theirs) = (lost.join(", "), theirs.join(", "));
    vec![format!(
        "{name}: {lost} asked for again and not active, as it seems since somebody has switched off {theirs}"
    )]
}

/// A sysctl that is not as it was.
pub(super) fn sysctl(
    entry: &SysctlEntry,
    spaces: &mut Spaces,
    words: &[(String, String)],
) -> Option<Unrestored> {
    let name = sysctl_name(entry);
    if entry.held.set.is_empty() {
        return None;
    }
    let is = spaces.get(&entry.namespace);
    let is = match is.and_then(|space| read_entry(entry, space)) {
        Ok(is) => is,
        Err(error) => {
            return Some(Unrestored {
                was: entry.held.was.clone(),
                set: Some(entry.held.shown_set()),
                ..unread(name, &error)
            });
        }
    };
    match entry.held.standing(&is) {
        Standing::Settled => None,
        Standing::Theirs => Some(theirs((name.clone(), &name), is, &entry.held, true)),
        Standing::Ours => Some(Unrestored {
            why: why(words, &name),
            what: name,
            is,
            was: entry.held.was.clone(),
            set: None,
            by_hand: Some(by_hand::sysctl(entry)),
        }),
    }
}

/// Reports a key that somebody else has set, or may have set. The key is not restored.
fn theirs((what, key): (String, &str), is: String, held: &Held, rounds: bool) -> Unrestored {
    Unrestored {
        what,
        is,
        was: held.was.clone(),
        set: Some(held.shown_set()),
        why: whose(held.is_open && rounds).to_owned(),
        by_hand: Some(format!("coalescope undo --force {}", sh(key))),
    }
}

fn whose(is_uncertain: bool) -> &'static str {
    if is_uncertain {
        "the command ended while it was being set, so that this may be what the kernel made of it, or somebody \
         else's, and that is not overwritten"
    } else {
        "somebody else has set it since, and that is not overwritten"
    }
}

fn why(words: &[(String, String)], name: &str) -> String {
    let said = words.iter().filter(|(of, _)| of == name);
    let said: Vec<_> = said.map(|(_, words)| words.as_str()).collect();
    if said.is_empty() {
        "the kernel accepted it, and it is not so".to_owned()
    } else {
        said.join("; ")
    }
}

/// Why a key cannot be set any more: what an interface can do may change with interfaces or XDP
/// programs put on it.
fn fixed(item: &Item, is: &InterfaceState) -> Option<String> {
    match item {
        Item::Wanted(name) | Item::Active(name) if !is.changeable.contains(name) => {
            Some("it is fixed now: the driver lets nobody change it at present".to_owned())
        }
        _ => None,
    }
}

fn gone(entry: &InterfaceEntry, other: Option<InterfaceState>) -> Unrestored {
    let number = entry.was.index;
    let why = match other {
        None => format!(
            "no interface has the number {number} any more: it was removed, and its settings with \
             it, or moved to another namespace, where they are as they were left"
        ),
        Some(other) => format!(
            "the number {number} is of another device now ({}, {})",
            other.name, other.mac
        ),
    };
    let why = format!("{why}; {}", were_set(entry));
    Unrestored {
        what: interface_name(entry),
        is: "gone".to_owned(),
        was: format!("number {number}, {}", entry.was.mac),
        set: None,
        why,
        by_hand: None,
    }
}

/// All keys of an interface that were set, with their values from before.
fn were_set(entry: &InterfaceEntry) -> String {
    let set = entry.keys.iter().filter(|key| !key.held.set.is_empty());
    let set = set.map(|KeyEntry { item, held }| {
        format!("{item} was {}, was set to {}", held.was, held.shown_set())
    });
    set.collect::<Vec<_>>().join("; ")
}

fn unread(what: String, error: &Error) -> Unrestored {
    Unrestored {
        what,
        is: "unknown".to_owned(),
        was: "in the journal".to_owned(),
        set: None,
        why: error.to_string(),
        by_hand: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// XDP on the other end of a veth pair does so.
    #[test]
    fn a_feature_that_nobody_can_change_at_present_is_called_that() {
        let named = |name: &str| std::iter::once(name.to_owned()).collect();
        let is = InterfaceState {
            known: named("x"),
            changeable: named("x"),
            ..InterfaceState::default()
        };
        let item = Item::Wanted("x".to_owned());
        assert_eq!(fixed(&item, &is), None);
        let is = InterfaceState {
            changeable: named("y"),
            ..is
        };
        assert!(fixed(&item, &is).is_some_and(|why| why.contains("fixed")));
        assert_eq!(fixed(&Item::Mtu, &is), None);
    }
}
