//! Ways to keep a setting are shown for the releases that have them: what an old release ignores without a word would be gone with
//! the next boot.

#![expect(clippy::panic, reason = "a test says what went wrong by failing")]

use coalescope_host::model::Snapshot;
use coalescope_knowledge::rules::{HostFinding, Remedy, RemedyKind, Rules, check};

/// Of the only finding about a host.
fn remedies(host: &str) -> Vec<Remedy> {
    let snapshot: Snapshot =
        serde_saphyr::from_str(host).unwrap_or_else(|error| panic!("{host}: {error}"));
    let rules = Rules::built_in().unwrap_or_else(|error| panic!("{error}"));
    let mut checked = check(&rules, &snapshot);
    let harms = |one: &HostFinding| one.blame.name() == "harms";
    checked.findings.retain(harms);
    let [finding] = checked.findings.as_slice() else {
        panic!("{:?}", checked.findings);
    };
    finding.remedies.clone()
}

/// What keeps LRO off on a router of this distribution.
fn of_router(distribution: &str) -> Vec<Remedy> {
    remedies(&format!(
        "{{platform: linux, name: gw, {distribution} stack: {{sysctls: {{net.ipv4.ip_forward: '1'}}}}, interfaces: {{
        eth0: {{name: eth0, kind: physical, mac: '02:00:00:00:00:01', features: {{large-receive-offload: {{active: true}}}}}},
        eth1: {{name: eth1, kind: physical, features: {{large-receive-offload: {{active: false}}}}}}}}}}"
    ))
}

/// The managers for which a way is shown to keep LRO off, on a router of this distribution.
fn ways(distribution: &str) -> Vec<String> {
    let remedies = of_router(distribution);
    let lasting = |kind| {
        let all = remedies.iter().filter(move |one| one.kind == kind);
        all.map(|one| one.platform.clone()).collect::<Vec<_>>()
    };
    let kept = lasting(RemedyKind::Persistent);
    for way in lasting(RemedyKind::Undo) {
        assert!(
            way == "linux" || kept.contains(&way),
            "{way} undoes what is not kept"
        );
    }
    kept
}

#[test]
fn releases_have_the_ways_that_they_know() {
    let (link, nm) = ("systemd-networkd", "NetworkManager");
    for (id, version, expected) in [
        ("rhel", "6.10", vec!["rhel-ifcfg"]),
        ("centos", "7", vec!["rhel-ifcfg"]),
        ("rhel", "7.9", vec![nm, "rhel-ifcfg"]),
        ("rhel", "8.6", vec![link, nm, "rhel-ifcfg"]),
        ("rocky", "9.4", vec![link, nm]),
        ("fedora", "41", vec![link, nm]),
        ("debian", "9", vec!["ifupdown"]),
        ("debian", "12", vec![link, nm, "ifupdown"]),
        ("ubuntu", "16.04", vec!["ifupdown"]),
        ("ubuntu", "18.04", vec![link, "ifupdown"]),
        ("ubuntu", "24.04", vec![link, nm, "netplan", "ifupdown"]),
        ("sles", "12.5", vec![]),
        ("sles", "15.6", vec![link, nm]),
        ("nixos", "23.11", vec!["nixos"]),
        ("openwrt", "23.05.3", vec!["openwrt"]),
    ] {
        let found = ways(&format!(
            "distribution: {{id: {id}, version: '{version}'}},"
        ));
        assert_eq!(found, expected, "{id} {version}");
    }
    // Nothing is known of the release: each way that most have.
    assert_eq!(ways(""), [link, nm, "netplan", "ifupdown", "rhel-ifcfg"]);
}

/// netplan takes the ID for the kernel's name otherwise, and udev looks before the interface is renamed.
#[test]
fn netplan_matches_by_no_name_of_an_interface() {
    let remedies = of_router("distribution: {id: ubuntu, version: '24.04'},");
    let mut all = remedies.iter();
    let netplan = all.find(|one| one.platform == "netplan" && one.kind == RemedyKind::Persistent);
    let command = netplan.map_or("", |one| &one.command);
    assert!(
        command.contains("match: {name: \"*\", macaddress: \"02:"),
        "{command}"
    );
}

/// What is shown to keep LRO off at a bond or team, or at one of its members, which has the address of the first of them: by that
/// a file would name another NIC.
#[test]
fn no_bond_and_no_member_is_named_by_its_address() {
    for (kind, member, is_named) in [
        ("bond", true, false),
        ("team", true, false),
        ("bridge", true, true),
        ("bond", false, false),
        ("team", false, false),
    ] {
        let port = if member {
            format!("master: m0, master_kind: {kind},")
        } else {
            String::new()
        };
        let (nic, master) = if member {
            ("true", "false")
        } else {
            ("false", "true")
        };
        let host = format!(
            "{{platform: linux, name: gw, stack: {{sysctls: {{net.ipv4.ip_forward: '1'}}}}, interfaces: {{
            eth0: {{name: eth0, kind: physical, {port} mac: '02:00:00:00:00:01', features: {{large-receive-offload: {{active: {nic}}}}}}},
            m0: {{name: m0, kind: {kind}, mac: '02:00:00:00:00:01', features: {{large-receive-offload: {{active: {master}}}}}}},
            eth1: {{name: eth1, kind: physical, {port} features: {{large-receive-offload: {{active: false}}}}}},
            eth2: {{name: eth2, kind: physical, features: {{large-receive-offload: {{active: false}}}}}}}}}}"
        );
        let remedies = remedies(&host);
        assert!(!remedies.is_empty(), "{host}");
        let mut all = remedies.iter();
        let named = all.any(|one| one.command.contains("02:00:00:00:00:01"));
        assert_eq!(named, is_named, "{host}\n{remedies:#?}");
        if !member {
            let ways = ["systemd-networkd", "netplan", "nixos"];
            assert!(
                !remedies
                    .iter()
                    .any(|one| ways.contains(&one.platform.as_str()))
            );
        }
    }
}
