//! What is behind the `@` of a link's name: its peer, or what is beneath it.

use std::collections::BTreeMap;

use super::details::{is_pair, peer};
use super::facts::Facts;
use crate::model::{Interface, Setting};
use crate::names::LINK_NAMESPACE;
use crate::text::linux::out::Out;

/// Links and what is behind their `@`.
#[derive(Default)]
pub(super) struct Beneath {
    /// Those of which it is not told what they are to the one behind the `@`.
    unclear: Vec<(String, String)>,
    others: BTreeMap<String, Option<String>>,
}

impl Beneath {
    /// Adds a link; of `eth0@if5` and without `@`, no name is known.
    pub(super) fn add(
        &mut self,
        name: &str,
        at: Option<&str>,
        block: &mut Interface,
        facts: &Facts,
    ) {
        let other = at.map(str::to_owned);
        self.others.entry(name.to_owned()).or_insert(other);
        let Some(at) = at else {
            if block.tunnel.is_some() {
                lower(None, block, facts);
            }
            return;
        };
        let here = Some(at).filter(|at| !is_index(at));
        match block.kind.as_deref() {
            Some(kind) if is_pair(kind) => block.peer = Some(peer(here, facts)),
            Some(_) => lower(here, block, facts),
            None if here.is_none() && name.starts_with("veth") => {
                block.kind = Some("veth".to_owned());
                block.peer = Some(peer(None, facts));
            }
            None => self.unclear.push((name.to_owned(), at.to_owned())),
        }
    }

    /// Without `-d` the kind is not told. Pairs point at each other; what is beneath points nowhere
    /// or farther down.
    pub(super) fn resolve(self, out: &mut Out<'_>) {
        for (name, at) in self.unclear {
            let mut block = Interface::default();
            match self.others.get(&at) {
                Some(Some(back)) if *back == name => {
                    block.peer = Some(peer(Some(&at), &Facts::new()));
                }
                Some(_) => {
                    // Only VLANs are called so, by ip(8), vconfig(8), ifupdown and NetworkManager.
                    let id = name
                        .strip_prefix(&at)
                        .and_then(|rest| rest.strip_prefix('.'));
                    if id.is_some_and(|id| id.parse::<u16>().is_ok()) {
                        block.kind = Some("vlan".to_owned());
                    }
                    block.parent = Some(at);
                }
                None => {
                    let why = "whether that is its peer or beneath it is not told without `ip -d`";
                    out.not_read(&format!("{name}@{at}"), why);
                    continue;
                }
            }
            out.interface(&name, block);
        }
    }
}

/// What is beneath, and its namespace if that is another one.
fn lower(name: Option<&str>, block: &mut Interface, facts: &Facts) {
    block.parent = name.map(str::to_owned).or(block.parent.take());
    if let Some(namespace) = peer(None, facts).namespace {
        let key = LINK_NAMESPACE.to_owned();
        block.properties.insert(key, Setting::Text(namespace));
    }
}

/// `if5`: known by its index only, as it is in another namespace.
pub(super) fn is_index(at: &str) -> bool {
    at.strip_prefix("if")
        .is_some_and(|id| id.parse::<u32>().is_ok())
}
