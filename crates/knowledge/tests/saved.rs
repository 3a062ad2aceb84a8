//! Hosts from saved output, written for these tests: what an operator wants to be told of each, and
//! nothing else.

#![expect(clippy::panic, reason = "a test says what went wrong by failing")]

use std::path::Path;

use coalescope_host::model::Snapshot;
use coalescope_host::roles::roles;
use coalescope_host::sources::{Limits, read_bytes};
use coalescope_knowledge::rules::{Checked, Rules, check};

fn snapshot(name: &str) -> Snapshot {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/saved/{name}.txt"));
    let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let hosts = read_bytes(name, &text, &Limits::default());
    let hosts = hosts.unwrap_or_else(|error| panic!("{name}: {error}"));
    let [host] = hosts.as_slice() else {
        panic!("{name}: {} hosts", hosts.len());
    };
    host.snapshot.clone()
}

fn checked(name: &str) -> Checked {
    let rules = Rules::built_in().unwrap_or_else(|error| panic!("{error}"));
    let checked = check(&rules, &snapshot(name));
    assert_eq!(checked.errors, [], "{name}");
    checked
}

/// The roles of interfaces, as `name: role, role`.
#[track_caller]
fn plays(name: &str, expected: &[&str]) {
    let all = roles(&snapshot(name));
    let said = all.iter().filter(|(_, roles)| !roles.is_empty());
    let said = said.map(|(key, roles)| {
        let names: Vec<&str> = roles.iter().map(|role| role.role.name()).collect();
        format!("{key}: {}", names.join(", "))
    });
    assert_eq!(said.collect::<Vec<_>>(), expected, "{name}");
}

/// Whom it blames, what it finds and where, and whether too little was read.
#[track_caller]
fn says(name: &str, expected: &[(&str, &str, &str)], undecided: bool) {
    let checked = checked(name);
    let found = checked.findings.iter().map(|f| {
        let place = f.place();
        (f.blame.name(), f.id.as_str(), place.unwrap_or(""))
    });
    assert_eq!(found.collect::<Vec<_>>(), expected, "{name}");
    assert_eq!(checked.undecided, undecided, "{name}: {:?}", checked.gaps);
}

#[test]
fn a_filter_that_drops_long_packets_is_named_where_frames_are_merged() {
    says(
        "filter",
        &[("harms", "length-filter-drops-merged", "wan")],
        false,
    );
}

#[test]
fn lro_at_the_uplink_of_open_vswitch_is_named_from_plain_text() {
    says(
        "openvswitch",
        &[("harms", "ovs-ivs-lro-datapath", "ens1f0")],
        false,
    );
}

#[test]
fn a_healthy_hypervisor_with_a_rule_about_short_packets_is_left_alone() {
    says("proxmox", &[], false);
}

#[test]
fn a_fast_endpoint_without_gro_is_told_what_it_misses() {
    says(
        "storage",
        &[("missed", "fast-endpoint-gro-off", "ens2")],
        false,
    );
}

#[test]
fn a_host_of_esxi_is_asked_about_its_guests() {
    says("esxi", &[("ask", "esxi-lro-forwarding-guest", "")], false);
}

#[test]
fn a_port_of_nobody_knows_what_is_not_called_well() {
    says("plain-port", &[], true);
}

#[test]
fn an_appliance_is_mended_by_its_own_configuration() {
    let checked = checked("opnsense");
    let finding = checked.findings.first();
    let finding = finding.unwrap_or_else(|| panic!("{checked:?}"));
    assert_eq!(finding.id, "freebsd-vmxnet3-lro-router");
    let ways: Vec<&str> = finding
        .remedies
        .iter()
        .map(|r| r.platform.as_str())
        .collect();
    assert!(ways.contains(&"opnsense"), "{ways:?}");
    assert!(!ways.contains(&"freebsd-rc.conf"), "{ways:?}");
    assert!(!ways.contains(&"pfsense"), "{ways:?}");
}

#[test]
fn a_tunnel_without_any_address_is_not_judged_to_the_end() {
    says("tunnel", &[], true);
}

/// Hosts as most are: nobody is accused, and every interface does what it does.
#[test]
fn healthy_hosts_are_left_alone() {
    for name in [
        "aws",
        "calico",
        "cilium",
        "carp",
        "hyperv-set",
        "k3s",
        "lvs",
        "macvlan",
        "nfs",
        "openwrt",
        "ovs-bond",
        "sriov",
        "wireguard",
    ] {
        says(name, &[], false);
        let unread = snapshot(name).unread;
        assert!(unread.is_empty(), "{name}: {unread:?}");
    }
}

#[test]
fn hosts_with_a_fault_hear_of_that_alone() {
    says(
        "database",
        &[("missed", "fast-endpoint-gro-off", "enp129s0f0np0")],
        false,
    );
    says(
        "router-el9",
        &[("harms", "linux-lro-forwarding", "ens1f0")],
        false,
    );
    says(
        "vmware-docker",
        &[("harms", "linux-vmxnet3-router-lro", "ens192")],
        false,
    );
    let pf = "freebsd-vtnet-pf-nat-checksum";
    says(
        "vtnet-pf",
        &[("harms", pf, "vtnet0"), ("harms", pf, "vtnet1")],
        false,
    );
}

#[test]
fn interfaces_have_the_roles_that_an_operator_would_name() {
    plays("aws", &["ens5: endpoint"]);
    plays(
        "nfs",
        &[
            "bond0: endpoint",
            "bond0.30: endpoint",
            "ens2f0np0: bond-member",
            "ens2f1np1: bond-member",
        ],
    );
    // What an internal port of Open vSwitch receives is for the host itself.
    plays(
        "ovs-bond",
        &[
            "enp65s0f0np0: bridge-port, guest-uplink",
            "enp65s0f1np1: bridge-port, guest-uplink",
            "tap101i0: bridge-port, guest-port",
            "vlan50: endpoint",
            "vmbr0: endpoint",
        ],
    );
    // What a switch chip's ports receive comes through the conduit.
    plays(
        "openwrt",
        &[
            "br-lan: forwarder",
            "eth0: bridge-port, forwarder",
            "lan1: bridge-port",
            "lan2: bridge-port",
            "phy0-ap0: bridge-port",
            "wan: forwarder",
        ],
    );
    plays(
        "carp",
        &[
            "ix0: forwarder, bond-member",
            "ix1: forwarder, bond-member",
            "lagg0: forwarder",
            "vlan10: forwarder",
            "vlan20: forwarder",
        ],
    );
    plays(
        "k3s",
        &[
            "cni0: forwarder",
            "enp1s0: forwarder, tunnel-underlay",
            "flannel.1: forwarder",
            "veth0a1b2c3d: bridge-port, guest-port",
        ],
    );
    plays(
        "sriov",
        &[
            "br0: endpoint",
            "enp4s0f0: bridge-port, guest-uplink",
            "enp4s0f0v2: endpoint",
            "vnet0: bridge-port, guest-port",
        ],
    );
}

/// NetworkManager alone reads what is said of interfaces there.
#[test]
fn files_that_nothing_reads_are_not_offered_on_el9() {
    let checked = checked("router-el9");
    let remedies = checked
        .findings
        .iter()
        .flat_map(|finding| &finding.remedies);
    let ways: Vec<&str> = remedies.map(|remedy| remedy.platform.as_str()).collect();
    assert!(ways.contains(&"NetworkManager"), "{ways:?}");
    assert!(!ways.contains(&"rhel-ifcfg"), "{ways:?}");
}
