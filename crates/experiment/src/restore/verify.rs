//! Looking whether everything is as it was.

use coalescope_host::safe::sh;

use super::keys::{self, interface_name, standing, sysctl_name};
use super::{Spaces, by_hand};
use crate::journal::{Held, InterfaceEntry, Standing, SysctlEntry, Unrestored};
use crate::settings::{Error, InterfaceState, read_at, read_sysctl};

/// What of an interface is not as it was; `words` are what the kernel said when it was asked for.
pub(super) fn interface(
    entry: &InterfaceEntry,
    spaces: &mut Spaces,
    words: &[(String, String)],
) -> Vec<Unrestored> {
    let name = interface_name(entry);
    let is = spaces.get(&entry.namespace);
    let is = is.and_then(|space| read_at(space, entry.was.index));
    let is = match is {
        // Nothing of it was set.
        _ if entry.keys.iter().all(|key| key.held.set.is_empty()) => return Vec::new(),
        Ok(Some(is)) if is.is_same_device(&entry.was) => is,
        // What may have changed along has taken that with it.
        Ok(_) if entry.related => return Vec::new(),
        Ok(other) => return vec![gone(entry, other)],
        Err(error) => return vec![unread(name, &error)],
    };
    let why = why(words, &name);
    let left = entry.keys.iter().filter_map(|key| {
        let (now, was) = (is.shown(&key.item), key.held.was.clone());
        let what = format!("{name}: {}", key.item);
        match standing(entry, key, &is) {
            Standing::Settled => None,
            Standing::Theirs => {
                let key_name = format!("{name}:{}", key.item.key());
                Some(theirs(what, &key_name, now, &key.held))
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
                why: why.clone(),
            }),
        }
    });
    left.collect()
}

/// What of a sysctl is not as it was.
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
    let is = match is.and_then(|space| read_sysctl(space, &entry.key)) {
        Ok(is) => is,
        Err(error) => return Some(unread(name, &error)),
    };
    match keys::sysctl(entry, &is) {
        Standing::Settled => None,
        Standing::Theirs => Some(theirs(name.clone(), &name, is, &entry.held)),
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

/// Somebody's work is not thrown away.
fn theirs(what: String, key: &str, is: String, held: &Held) -> Unrestored {
    Unrestored {
        what,
        is,
        was: held.was.clone(),
        set: Some(held.shown_set()),
        why: "somebody else has set it since, and that is not overwritten".to_owned(),
        by_hand: Some(format!("coalescope undo --force {}", sh(key))),
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
    Unrestored {
        what: interface_name(entry),
        is: "gone".to_owned(),
        was: format!("number {number}, {}", entry.was.mac),
        set: None,
        why,
        by_hand: None,
    }
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
