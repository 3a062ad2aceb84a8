//! Rules that ask for a packet's length: of nftables, and of policers.

use super::host::has_module;
use super::unread::Unreads;
use crate::model::LengthRule;
use crate::names::OLD_LENGTH_RULES;
use crate::text::linux::filters::bounds;
use coalescope_netlink::nftables;
use coalescope_netlink::route::{Policer, Route};
use std::collections::BTreeMap;

/// All of the calling thread's namespace; `None` if none of the two could be read.
pub(super) fn read(
    route: &Route,
    names: &BTreeMap<u32, String>,
    inside: &str,
    unread: &mut Unreads,
) -> Option<Vec<LengthRule>> {
    let tables = nftables(inside, unread);
    let policers = match route.policers() {
        Ok(policers) => Some(policers),
        // A kernel without queues of its own has no policers.
        Err(error) if error.is_unsupported() => Some(Vec::new()),
        Err(error) => {
            unread.note(format!("policers{inside}"), error);
            None
        }
    };
    note_old_rules(inside, unread);
    if tables.is_none() && policers.is_none() {
        return None;
    }
    let policers = policers.into_iter().flatten();
    let policers = policers.map(|policer| of_policer(&policer, names));
    Some(tables.into_iter().flatten().chain(policers).collect())
}

/// The old tables have no netlink, and what asks for them loads their modules: where some are in use, and the match by
/// length is there, rules of theirs may ask for it.
fn note_old_rules(inside: &str, unread: &mut Unreads) {
    let is_used = ["ip", "ip6"].iter().any(|family| {
        let path = format!("/proc/thread-self/net/{family}_tables_names");
        std::fs::read_to_string(path).is_ok_and(|tables| !tables.trim().is_empty())
    });
    if is_used && has_module("xt_length") {
        let why = "a live look can't list them: give what scripts/collect.sh prints, or iptables-save, to --from";
        unread.note(format!("{OLD_LENGTH_RULES}{inside}"), why);
    }
}

fn nftables(inside: &str, unread: &mut Unreads) -> Option<Vec<LengthRule>> {
    if !has_module("nf_tables") {
        return Some(Vec::new());
    }
    match nftables::length_rules() {
        Ok(rules) => Some(rules.into_iter().map(of_table).collect()),
        Err(error) if error.is_unsupported() => Some(Vec::new()),
        Err(error) => {
            unread.note(format!("rules of nftables{inside}"), error);
            None
        }
    }
}

fn of_table(rule: nftables::LengthRule) -> LengthRule {
    let (longer, up_to) = rule
        .lengths
        .map_or((None, None), |(from, to)| bounds(from.into(), to.into()));
    LengthRule {
        by: "nftables".to_owned(),
        family: Some(rule.family.to_owned()),
        chain: format!("{} {}", rule.table, rule.chain),
        hook: rule.hook.map(str::to_owned),
        interface: rule.interface,
        longer_than_bytes: longer,
        up_to_bytes: up_to,
        verdict: rule.verdict.map(str::to_owned),
        protocol: rule.protocol.map(protocol_name),
    }
}

fn of_policer(policer: &Policer, names: &BTreeMap<u32, String>) -> LengthRule {
    let hook = if policer.ingress { "ingress" } else { "egress" };
    LengthRule {
        by: "tc".to_owned(),
        chain: "police".to_owned(),
        hook: Some(hook.to_owned()),
        interface: names.get(&policer.interface).cloned(),
        longer_than_bytes: Some(policer.mtu.into()),
        verdict: policer.drops.then(|| "drop".to_owned()),
        ..LengthRule::default()
    }
}

/// Name of a protocol by its number.
fn protocol_name(number: u8) -> String {
    match number {
        1 => "icmp".to_owned(),
        6 => "tcp".to_owned(),
        17 => "udp".to_owned(),
        58 => "ipv6-icmp".to_owned(),
        132 => "sctp".to_owned(),
        other => other.to_string(),
    }
}
