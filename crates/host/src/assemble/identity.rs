//! Whether texts are of one host: by platform, host name and kernel.

use std::collections::BTreeMap;

use super::Part;
use super::rules::{host_key, is_same_host, is_same_kernel};
use crate::model::Unread;

/// Something that all texts of a host agree in.
struct Trait {
    /// For messages.
    name: &'static str,
    of: fn(&Part) -> Option<String>,
    /// Values of one key are the same, and looked for once.
    key: fn(&str) -> String,
    same: fn(&str, &str) -> bool,
}

/// Values that are told apart: one host has a few. More would cost a comparison with each, for each text.
const DIFFERENT: usize = 100;

const TRAITS: &[Trait] = &[
    Trait {
        name: "platform",
        of: |part| {
            let platform = part.snapshot.platform;
            platform.map(|platform| platform.name().to_owned())
        },
        key: str::to_owned,
        same: |a, b| a == b,
    },
    Trait {
        name: "host name",
        of: |part| part.snapshot.name.clone().filter(|name| !name.is_empty()),
        key: host_key,
        same: is_same_host,
    },
    Trait {
        name: "host in the prompt",
        of: |part| part.host.clone(),
        key: host_key,
        same: is_same_host,
    },
    Trait {
        name: "kernel",
        of: |part| {
            part.snapshot
                .kernel
                .clone()
                .filter(|kernel| !kernel.is_empty())
        },
        key: str::to_owned,
        same: is_same_kernel,
    },
];

/// Leaves out, and names, texts that say another platform, host name or kernel than most do.
pub(super) fn of_one_host(mut parts: Vec<Part>, unread: &mut Vec<Unread>) -> Vec<Part> {
    for one in TRAITS {
        let Some(most) = commonest(&parts, one) else {
            continue;
        };
        let (own, others) = parts
            .into_iter()
            .partition(|part| (one.of)(part).is_none_or(|value| (one.same)(&value, &most)));
        parts = own;
        name(one, &most, &others, unread);
    }
    parts
}

/// The value that most texts have, of equally many the first.
fn commonest(parts: &[Part], one: &Trait) -> Option<String> {
    let mut values: Vec<(String, usize)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for value in parts.iter().filter_map(one.of) {
        let key = (one.key)(&value);
        let place = places.get(&key).copied();
        match place.or_else(|| place_of(&value, &values, one)) {
            Some(at) => {
                values[at].1 += 1;
                places.insert(key, at);
            }
            None => {
                places.insert(key, values.len());
                values.push((value, 1));
            }
        }
    }
    let most = values.iter().map(|(_, count)| *count).max()?;
    let first = values.into_iter().find(|(_, count)| *count == most);
    first.map(|(value, _)| value)
}

/// Fields whose values may be the same in different words.
fn place_of(value: &str, values: &[(String, usize)], one: &Trait) -> Option<usize> {
    let values = values.iter().take(DIFFERENT);
    values
        .map(|(known, _)| known)
        .position(|known| (one.same)(known, value))
}

fn name(one: &Trait, most: &str, others: &[Part], unread: &mut Vec<Unread>) {
    for part in others {
        let value = (one.of)(part).unwrap_or_default();
        let one = one.name;
        unread.push(Unread {
            what: part.origin.clone(),
            why: format!(
                "two hosts mixed: its {one} is {value}, that of the other texts {most}; it was left \
                 out: give it as a host of its own"
            ),
        });
    }
}
