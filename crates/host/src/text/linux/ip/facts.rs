//! Facts of a link in iproute2's output, from words or JSON, under the same names.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Values by JSON's names; `true` and `false` of flags.
pub(super) type Facts = BTreeMap<&'static str, String>;

/// Words that a value follows, with the name of it in JSON.
const VALUED: [(&str, &str); 46] = [
    ("mtu", "mtu"),
    ("qdisc", "qdisc"),
    ("master", "master"),
    ("qlen", "txqlen"),
    ("promiscuity", "promiscuity"),
    ("allmulti", "allmulti"),
    ("maxmtu", "max_mtu"),
    ("link-netnsid", "link_netnsid"),
    ("link-netns", "link_netns"),
    ("gso_max_size", "gso_max_size"),
    ("gso_max_segs", "gso_max_segs"),
    ("gro_max_size", "gro_max_size"),
    ("gso_ipv4_max_size", "gso_ipv4_max_size"),
    ("gro_ipv4_max_size", "gro_ipv4_max_size"),
    ("tso_max_size", "tso_max_size"),
    ("tso_max_segs", "tso_max_segs"),
    ("parentbus", "parentbus"),
    ("parentdev", "parentdev"),
    ("numtxqueues", "num_tx_queues"),
    ("numrxqueues", "num_rx_queues"),
    ("addrgenmode", "inet6_addr_gen_mode"),
    ("group", "group"),
    ("mode", "mode"),
    ("protocol", "protocol"),
    ("id", "id"),
    ("remote", "remote"),
    ("local", "local"),
    ("dev", "link"),
    ("srcport", "srcport"),
    ("dstport", "port"),
    ("ttl", "ttl"),
    ("tos", "tos"),
    ("ageing", "ageing"),
    ("ikey", "ikey"),
    ("okey", "okey"),
    ("type", "type"),
    ("pi", "pi"),
    ("vnet_hdr", "vnet_hdr"),
    ("user", "user"),
    ("state", "state"),
    ("hairpin", "hairpin"),
    ("vlan_filtering", "vlan_filtering"),
    ("stp_state", "stp_state"),
    ("active_slave", "active_slave"),
    ("primary", "primary"),
    ("encap-dport", "encap_dport"),
];

/// Words that stand for themselves.
const FLAGS: [(&str, &str, &str); 12] = [
    ("external", "external", "true"),
    ("udpcsum", "udp_csum", "true"),
    ("noudpcsum", "udp_csum", "false"),
    ("udp6zerocsumtx", "udp_zero_csum6_tx", "true"),
    ("noudp6zerocsumtx", "udp_zero_csum6_tx", "false"),
    ("oseq", "oseq", "true"),
    ("seq", "oseq", "true"),
    ("multi_queue", "multi_queue", "true"),
    ("xdp", "xdp", "native"),
    ("xdpgeneric", "xdp", "generic"),
    ("xdpoffload", "xdp", "offload"),
    ("xdpmulti", "xdp", "multi"),
];

/// Facts from a line of words; unknown words are skipped.
pub(super) fn of_words<'a>(mut words: impl Iterator<Item = &'a str>, facts: &mut Facts) {
    while let Some(word) = words.next() {
        if let Some((_, name)) = VALUED.iter().find(|(known, _)| *known == word) {
            if let Some(value) = words.next() {
                facts.entry(name).or_insert_with(|| value.to_owned());
            }
        } else if let Some((_, name, value)) = FLAGS.iter().find(|(known, ..)| *known == word) {
            facts.entry(name).or_insert_with(|| (*value).to_owned());
        } else if let Some((mode, id)) = word.split_once("/id:") {
            of_words([mode].into_iter(), facts);
            facts.entry("xdp_id").or_insert_with(|| id.to_owned());
        }
    }
}

/// Facts from a JSON object; unknown members are skipped.
pub(super) fn of_json(object: &Map<String, Value>, facts: &mut Facts) {
    let flags = FLAGS
        .iter()
        .map(|(_, name, _)| *name)
        .filter(|name| *name != "xdp");
    let names = VALUED.iter().map(|(_, name)| *name).chain(flags);
    for name in names.chain(["remote6", "local6", "ifindex", "link_index", "min_mtu"]) {
        if let Some(value) = object.get(name).and_then(word) {
            facts.insert(plain(name), value);
        }
    }
}

/// Addresses of IPv6 have names of their own.
fn plain(name: &'static str) -> &'static str {
    match name {
        "remote6" => "remote",
        "local6" => "local",
        other => other,
    }
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A fact that is a number.
pub(super) fn number<T: std::str::FromStr>(facts: &Facts, name: &str) -> Option<T> {
    facts.get(name)?.parse().ok()
}

/// A fact that is on or off.
pub(super) fn flag(facts: &Facts, name: &str) -> Option<bool> {
    match facts.get(name)?.as_str() {
        "on" | "true" | "1" => Some(true),
        "off" | "false" | "0" => Some(false),
        _ => None,
    }
}

/// A fact that is a word.
pub(super) fn text(facts: &Facts, name: &str) -> Option<String> {
    facts.get(name).cloned()
}
