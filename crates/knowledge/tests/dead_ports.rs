//! Bridges between a NIC with LRO and ports of every state: only a port that can send passes merged frames on.

#![expect(clippy::panic, reason = "a test says what went wrong by failing")]

use coalescope_host::model::Snapshot;
use coalescope_knowledge::rules::{Rules, check};

fn found(host: &str) -> Vec<String> {
    let snapshot: Snapshot =
        serde_saphyr::from_str(host).unwrap_or_else(|error| panic!("{host}: {error}"));
    let rules = Rules::built_in().unwrap_or_else(|error| panic!("{error}"));
    let checked = check(&rules, &snapshot);
    assert_eq!(checked.errors, []);
    let harms = checked
        .findings
        .into_iter()
        .filter(|one| one.blame.name() == "harms");
    harms
        .map(|finding| format!("{} {}", finding.id, finding.interface.unwrap_or_default()))
        .collect()
}

/// States of an interface: whether it can send or receive.
const STATES: [(&str, bool); 4] = [
    ("", true),
    ("up: true, carrier: true,", true),
    ("up: true, carrier: false,", false),
    ("up: false,", false),
];

#[test]
fn of_linux() {
    for (nic, receives) in STATES {
        for (port, sends) in STATES {
            for (bridge, passes) in [("", true), ("up: true,", true), ("up: false,", false)] {
                let host = format!(
                    "{{platform: linux, name: h, interfaces: {{
                    eth0: {{name: eth0, kind: physical, {nic} master: br0, features: {{large-receive-offload: {{active: true}}}}}},
                    eth1: {{name: eth1, kind: physical, {port} master: br0, features: {{large-receive-offload: {{active: false}}}}}},
                    br0: {{name: br0, {bridge} kind: bridge}}}}}}"
                );
                // What is down receives nothing either, yet may be up again while its flag stays: the flag of a NIC without
                // a cable alone is no accusation.
                let is_harm = found(&host).contains(&"linux-lro-forwarding eth0".to_owned());
                let harms = sends && passes && receives;
                if !nic.contains("up: false") {
                    assert_eq!(is_harm, harms, "{host}");
                }
            }
        }
    }
}

#[test]
fn of_freebsd() {
    for (port, sends) in STATES {
        let host = format!(
            "{{platform: freebsd, name: h, stack: {{sysctls: {{net.inet.ip.forwarding: '0', net.inet6.ip6.forwarding: '0'}}}}, interfaces: {{
            ix0: {{name: ix0, kind: physical, master: bridge0, features: {{LRO: {{active: true}}, RXCSUM: {{active: true}}}}}},
            tap0: {{name: tap0, kind: tap, {port} master: bridge0}},
            bridge0: {{name: bridge0, kind: bridge}}}}}}"
        );
        assert_eq!(!found(&host).is_empty(), sends, "{host}");
    }
}

/// The flag of a bond or team is no merging of its own.
#[test]
fn of_bonds_whose_members_have_lro_off() {
    for kind in ["bond", "team"] {
        for (member, harms) in [
            ("active: true", true),
            ("active: false, fixed: true", false),
            ("active: false", false),
        ] {
            let host = format!(
                "{{platform: linux, name: h, stack: {{sysctls: {{net.ipv4.ip_forward: '1'}}}}, interfaces: {{
                agg0: {{name: agg0, kind: {kind}, features: {{large-receive-offload: {{active: true}}}}}},
                eth0: {{name: eth0, kind: physical, master: agg0, features: {{large-receive-offload: {{{member}}}}}}},
                eth1: {{name: eth1, kind: physical, features: {{large-receive-offload: {{active: false}}}}}}}}}}"
            );
            assert_eq!(!found(&host).is_empty(), harms, "{host}");
        }
    }
}
