//! The chains of nftables, as far as they decide by a packet's length or end for all packets of TCP.
//!
//! A rule is a list of expressions: one loads a value into a register, the next compares it, the
//! last is a verdict. Numbers: include/uapi/linux/netfilter/nf_tables.h.

mod reading;
mod sets;
mod values;

use super::{GET_CHAIN, HEADER, HOOK, NAME, NF_TABLES, TABLE};
use crate::attributes::Attributes;
use crate::error::Error;
use crate::socket::{Raw, Socket};
use netlink_sys::protocols::NETLINK_NETFILTER;
use reading::Reading;
use sets::Sets;
use std::collections::BTreeMap;
use values::big;

/// `NFT_MSG_GETRULE`.
const GET_RULE: u16 = (NF_TABLES << 8) | 7;
/// Attributes of a rule: its chain, its expressions, and of one of these its name and data.
const CHAIN: u16 = 2;
const EXPRESSIONS: u16 = 4;
const EXPRESSION_NAME: u16 = 1;
const EXPRESSION_DATA: u16 = 2;
/// `NFTA_CHAIN_POLICY`, and `NF_DROP`.
const POLICY: u16 = 5;
const DROP: u32 = 0;
/// `NFTA_HOOK_DEV`, and `_DEVS` where there are several.
const HOOK_DEVICE: u16 = 3;
const HOOK_DEVICES: u16 = 4;
/// `NFPROTO_INET`, `_IPV4`, `_NETDEV`, `_BRIDGE`, `_IPV6`.
const FAMILIES: [(u8, &str); 5] = [
    (1, "inet"),
    (2, "ip"),
    (5, "netdev"),
    (7, "bridge"),
    (10, "ip6"),
];
const HOOKS: [&str; 6] = [
    "prerouting",
    "input",
    "forward",
    "output",
    "postrouting",
    "ingress",
];

/// A chain of rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// `ip`, `ip6`, `inet`, `bridge` or `netdev`.
    pub family: &'static str,
    /// Its table.
    pub table: String,
    /// Its name.
    pub name: String,
    /// The hook of a base chain; `None` if other chains jump to it.
    pub hook: Option<&'static str>,
    /// The devices of a base chain of the family netdev.
    pub devices: Vec<String>,
    /// What no rule decides is dropped.
    pub drops: bool,
    /// Its rules in their order.
    pub rules: Vec<Rule>,
}

/// What a rule asks for, and does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// The input interface that the rule matches, if any.
    pub interface: Option<String>,
    /// The output interface that the rule matches, if any.
    pub to: Option<String>,
    /// Protocol number that the rule matches, if any.
    pub protocol: Option<u8>,
    /// Lengths that the rule matches, if it asks for them.
    pub lengths: Lengths,
    /// What the rule does, unless a map of lengths says so.
    pub verdict: Option<Verdict>,
    /// It asks for more than this: addresses, ports, marks, a rate.
    pub narrow: bool,
    /// It asks for anything but TCP and lengths.
    pub asks: bool,
    /// It asks for all packets of flows, and for nothing else.
    pub is_of_flows: bool,
    /// It hands flows to a flowtable.
    pub offloads: bool,
    /// It asks for no packet of a flow.
    pub spares_flows: bool,
}

/// The lengths that a rule asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Lengths {
    /// It does not ask.
    #[default]
    Any,
    /// From and to.
    Within(u32, u32),
    /// Those of a set, or of a map with verdicts; `None` if the kernel does not list it.
    Set(Option<Vec<(u32, u32, Option<Verdict>)>>),
    /// It asks in a way that is not understood.
    Unknown,
}

/// What becomes of a packet: `drop`, `reject`, `accept`, `jump`, `goto` or `return`, and the chain of a jump.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Its name.
    pub name: &'static str,
    /// Where to.
    pub chain: String,
}

/// All chains of the calling thread's namespace.
///
/// # Errors
///
/// If the kernel refuses.
pub fn filter_chains() -> Result<Vec<Chain>, Error> {
    let socket = Socket::open(NETLINK_NETFILTER)?;
    let dump = |kind, action| {
        let bytes = HEADER.to_vec();
        socket.dump(&Raw { kind, bytes }, action)
    };
    let chains = dump(GET_CHAIN, "list the chains of nftables")?;
    let mut chains: BTreeMap<Key, Chain> = chains.iter().filter_map(chain).collect();
    let mut sets = Sets::default();
    // The kernel lists rules in their order.
    for message in &dump(GET_RULE, "list the rules of nftables")? {
        let Some((key, mut reading)) = reading(message) else {
            continue;
        };
        if let Some(name) = reading.set.take() {
            let listed = sets.elements(&socket, (key.0, &key.1, &name));
            reading.lengths = Lengths::Set(listed);
        }
        if let Some(chain) = chains.get_mut(&key) {
            chain.rules.push(reading.done());
        }
    }
    Ok(chains.into_values().collect())
}

/// Family, table and name of a chain.
type Key = (u8, String, String);

fn chain(message: &Raw) -> Option<(Key, Chain)> {
    let family = *message.bytes.first()?;
    let attributes = Attributes(message.bytes.get(HEADER.len()..)?);
    let key = (family, attributes.text(TABLE)?, attributes.text(NAME)?);
    let known = FAMILIES.iter().find(|(known, _)| *known == family);
    let chain = Chain {
        family: known.map_or("", |(_, name)| name),
        table: key.1.clone(),
        name: key.2.clone(),
        hook: hook(family, attributes),
        devices: devices(attributes.inside(HOOK)),
        drops: attributes.get(POLICY).and_then(big) == Some(DROP),
        rules: Vec::new(),
    };
    Some((key, chain))
}

fn devices(hook: Attributes<'_>) -> Vec<String> {
    let several = hook.inside(HOOK_DEVICES).iter();
    let several = several.map(|(_, name)| crate::attributes::text(name));
    hook.text(HOOK_DEVICE).into_iter().chain(several).collect()
}

fn hook(family: u8, chain: Attributes<'_>) -> Option<&'static str> {
    let number = big(chain.inside(HOOK).get(1)?)?;
    // The family netdev has only the hooks of its device.
    match (family, number) {
        (5, 0) => Some("ingress"),
        (5, _) => Some("egress"),
        (_, number) => HOOKS.get(usize::try_from(number).ok()?).copied(),
    }
}

/// The chain of a rule, and what the rule says.
fn reading(message: &Raw) -> Option<(Key, Reading)> {
    let number = *message.bytes.first()?;
    let attributes = Attributes(message.bytes.get(HEADER.len()..)?);
    let (table, chain) = (attributes.text(TABLE)?, attributes.text(CHAIN)?);
    let mut reading = Reading::default();
    for (_, expression) in attributes.inside(EXPRESSIONS).iter() {
        let expression = Attributes(expression);
        let name = expression.text(EXPRESSION_NAME)?;
        reading.expression(&name, expression.inside(EXPRESSION_DATA));
    }
    Some(((number, table, chain), reading))
}
