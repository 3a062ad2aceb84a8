//! Looking whether everything is as it was.

use super::{Spaces, by_hand};
use crate::journal::{InterfaceEntry, Journal, SysctlEntry, Unrestored};
use crate::settings::{
    Difference, Error, InterfaceState, Item, Knob, What, differences, dotted, is_same, read_at,
    read_sysctl,
};

/// As it is called in reports.
pub(super) fn interface_name(entry: &InterfaceEntry) -> String {
    let inside = entry.namespace.name.as_ref();
    let inside = inside.map(|name| format!("ns/{name}/"));
    format!("{}{}", inside.unwrap_or_default(), entry.was.name)
}

/// As it is called in reports.
pub(super) fn sysctl_name(entry: &SysctlEntry) -> String {
    let inside = entry.namespace.name.as_ref();
    let inside = inside.map(|name| format!("ns/{name}/"));
    format!(
        "{}sysctl:{}",
        inside.unwrap_or_default(),
        dotted(&entry.key)
    )
}

/// What of an interface is not as it was; `words` are what the kernel said when it was asked for.
pub(super) fn interface(
    journal: &Journal,
    entry: &InterfaceEntry,
    spaces: &mut Spaces,
    words: &[(String, String)],
) -> Vec<Unrestored> {
    let name = interface_name(entry);
    let is = spaces.get(&entry.namespace);
    let is = is.and_then(|space| read_at(space, entry.was.index));
    let is = match is {
        Ok(Some(is)) if is.is_same_device(&entry.was) => is,
        // What may have changed along has taken that with it.
        Ok(_) if entry.related => return Vec::new(),
        Ok(other) => return vec![gone(entry, other)],
        Err(error) => return vec![unread(name, &error)],
    };
    let left = differences(&entry.was, &is).into_iter();
    let left = left.filter(|difference| matters(journal, entry, difference));
    let why = why(words, &name);
    left.map(|difference| Unrestored {
        what: format!("{name}: {}", difference.item),
        by_hand: by_hand::interface(&entry.namespace, &is, &difference),
        is: difference.to,
        was: difference.from,
        why: why.clone(),
    })
    .collect()
}

/// What of a sysctl is not as it was.
pub(super) fn sysctl(
    entry: &SysctlEntry,
    spaces: &mut Spaces,
    words: &[(String, String)],
) -> Option<Unrestored> {
    let name = sysctl_name(entry);
    let is = spaces.get(&entry.namespace);
    match is.and_then(|space| read_sysctl(space, &entry.key)) {
        Ok(is) if is_same(&is, &entry.was) => None,
        Ok(is) => Some(Unrestored {
            why: why(words, &name),
            what: name,
            is,
            was: entry.was.clone(),
            by_hand: Some(by_hand::sysctl(entry)),
        }),
        Err(error) => Some(unread(name, &error)),
    }
}

/// What is compared. Adaptive drivers move their own numbers; of interfaces that may change along,
/// what is active depends on others as well; what cannot be read here was perhaps not changed.
fn matters(journal: &Journal, entry: &InterfaceEntry, difference: &Difference) -> bool {
    let item = &difference.item;
    if entry.related {
        return matches!(item, Item::Wanted(_) | Item::Mtu);
    }
    let knob = match item {
        Item::Coalescing(name) if is_adaptive(&entry.was, name) => return false,
        Item::GroFlushTimeout => Knob::GroFlushTimeout,
        Item::NapiDeferHardIrqs => Knob::NapiDeferHardIrqs,
        _ => return true,
    };
    let touched = journal.rank(|subject| match &subject.what {
        What::Interface { name, knob: own } => *name == entry.was.name && *own == knob,
        What::Sysctl(_) => false,
    });
    touched.is_some() || (difference.to != "unreadable" && difference.from != "unreadable")
}

fn is_adaptive(was: &InterfaceState, name: &str) -> bool {
    let on = |flag: &str| was.coalescing.get(flag) == Some(&1);
    (name.starts_with("rx-") && on("adaptive-rx")) || (name.starts_with("tx-") && on("adaptive-tx"))
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
        why,
        by_hand: None,
    }
}

fn unread(what: String, error: &Error) -> Unrestored {
    Unrestored {
        what,
        is: "unknown".to_owned(),
        was: "in the journal".to_owned(),
        why: error.to_string(),
        by_hand: None,
    }
}
