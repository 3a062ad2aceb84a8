//! Rules that ask for a packet's length: of nftables, and of policers. And redirects, which tc lists with the latter.

use super::host::has_module;
use super::unread::Unreads;
use crate::lengths::{self, Case, Chain, Lengths, Rule, Verdict, joined};
use crate::model::{LengthRule, Redirect, Stack};
use crate::names::OLD_LENGTH_RULES;
use coalescope_netlink::nftables;
use coalescope_netlink::route::{Action, ActionKind, Route};
use std::collections::BTreeMap;

/// All of the calling thread's namespace; rules about lengths are `None` if none of the two could be read.
pub(super) fn read(
    stack: &mut Stack,
    route: &Route,
    names: &BTreeMap<u32, String>,
    inside: &str,
    unread: &mut Unreads,
) {
    let tables = nftables(inside, unread);
    let actions = actions(route, inside, unread);
    note_old_rules(inside, unread);
    if tables.is_none() && actions.is_none() {
        return;
    }
    let actions = actions.as_deref().unwrap_or_default();
    let policers = actions
        .iter()
        .filter_map(|action| of_policer(action, names));
    let rules = tables.into_iter().flatten().chain(policers);
    stack.length_rules = Some(rules.collect());
    let redirects = actions.iter().filter_map(|action| redirect(action, names));
    stack.redirects = redirects.collect();
}

/// What tc does with packets; `None` if that could not be read.
fn actions(route: &Route, inside: &str, unread: &mut Unreads) -> Option<Vec<Action>> {
    match route.filter_actions() {
        Ok(actions) => Some(actions),
        // A kernel without queues of its own has no filters of tc.
        Err(error) if error.is_unsupported() => Some(Vec::new()),
        Err(error) => {
            unread.note(format!("filters of tc{inside}"), error);
            None
        }
    }
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
    match nftables::filter_chains() {
        Ok(chains) => {
            let chains: Vec<Chain> = chains.into_iter().map(chain).collect();
            Some(lengths::rules(&chains))
        }
        Err(error) if error.is_unsupported() => Some(Vec::new()),
        Err(error) => {
            unread.note(format!("rules of nftables{inside}"), error);
            None
        }
    }
}

fn chain(chain: nftables::Chain) -> Chain {
    Chain {
        family: Some(chain.family.to_owned()),
        table: chain.table,
        name: chain.name,
        hook: chain.hook.map(str::to_owned),
        devices: chain.devices,
        drops: chain.drops,
        rules: chain.rules.into_iter().map(rule).collect(),
    }
}

fn rule(rule: nftables::Rule) -> Rule {
    let verdict = verdict(rule.verdict);
    Rule {
        cases: cases(rule.lengths, &verdict),
        is_for_all: !rule.asks && !rule.narrow,
        is_of_flows: rule.is_of_flows,
        offloads: rule.offloads,
        spares_flows: rule.spares_flows,
        asks: LengthRule {
            by: "nftables".to_owned(),
            interface: rule.interface,
            to: rule.to,
            protocol: rule.protocol.map(protocol_name),
            narrow: rule.narrow,
            ..LengthRule::default()
        },
    }
}

fn verdict(verdict: Option<nftables::Verdict>) -> Verdict {
    verdict.map_or(Verdict::Other(None), |one| {
        Verdict::named(one.name, &one.chain)
    })
}

/// What becomes of packets by their length; a map has verdicts of its own.
fn cases(lengths: nftables::Lengths, own: &Verdict) -> Vec<Case> {
    let range = |from: u32, to: u32| {
        let to = if to == u32::MAX { u64::MAX } else { to.into() };
        (u64::from(from), to)
    };
    let one = |lengths| {
        let verdict = own.clone();
        vec![Case { lengths, verdict }]
    };
    match lengths {
        nftables::Lengths::Any => one(Lengths::Any),
        nftables::Lengths::Within(from, to) => one(Lengths::Within(range(from, to))),
        nftables::Lengths::Unknown | nftables::Lengths::Set(None) => one(Lengths::Unknown),
        nftables::Lengths::Set(Some(set)) if set.iter().all(|(.., own)| own.is_none()) => {
            let ranges = set.into_iter().map(|(from, to, _)| range(from, to));
            joined(ranges.collect(), own)
        }
        nftables::Lengths::Set(Some(map)) => {
            let case = |(from, to, of_map)| Case {
                lengths: Lengths::Within(range(from, to)),
                verdict: verdict(of_map),
            };
            map.into_iter().map(case).collect()
        }
    }
}

fn of_policer(action: &Action, names: &BTreeMap<u32, String>) -> Option<LengthRule> {
    let ActionKind::Police { mtu, drops } = action.kind else {
        return None;
    };
    let hook = if action.ingress { "ingress" } else { "egress" };
    Some(LengthRule {
        by: "tc".to_owned(),
        chain: "police".to_owned(),
        hook: Some(hook.to_owned()),
        interface: names.get(&action.interface).cloned(),
        longer_than_bytes: Some(mtu.into()),
        verdict: drops.then(|| "drop".to_owned()),
        ..LengthRule::default()
    })
}

fn redirect(action: &Action, names: &BTreeMap<u32, String>) -> Option<Redirect> {
    match action.kind {
        ActionKind::Redirect { to } if action.ingress => Some(Redirect {
            from: names.get(&action.interface)?.clone(),
            to: names.get(&to)?.clone(),
        }),
        _ => None,
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
