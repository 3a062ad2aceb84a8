//! Hosts from saved output, written for these tests: what an operator wants to be told of each, and
//! nothing else.

#![expect(clippy::panic, reason = "a test says what went wrong by failing")]

use std::path::Path;

use coalescope_host::sources::{Limits, read_bytes};
use coalescope_knowledge::rules::{Checked, Rules, check};

fn checked(name: &str) -> Checked {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/saved/{name}.txt"));
    let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let hosts = read_bytes(name, &text, &Limits::default());
    let hosts = hosts.unwrap_or_else(|error| panic!("{name}: {error}"));
    let [host] = hosts.as_slice() else {
        panic!("{name}: {} hosts", hosts.len());
    };
    let rules = Rules::built_in().unwrap_or_else(|error| panic!("{error}"));
    let checked = check(&rules, &host.snapshot);
    assert_eq!(checked.errors, [], "{name}");
    checked
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
