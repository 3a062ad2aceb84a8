//! Whole hosts: those of the five stories give their finding, their look-alikes and plain hosts none.

#![expect(clippy::panic, reason = "a test says what went wrong by failing")]

use std::path::Path;

use coalescope_host::model::Snapshot;
use coalescope_knowledge::rules::{Checked, Rules, check};

fn host(name: &str) -> Snapshot {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/hosts/{name}.yaml"));
    let text = std::fs::read_to_string(&path);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn checked(name: &str) -> Checked {
    let rules = Rules::built_in().unwrap_or_else(|error| panic!("{error}"));
    let checked = check(&rules, &host(name));
    assert_eq!(checked.errors, [], "{name}");
    checked
}

/// Ids and places of what is found.
fn found(name: &str) -> Vec<(String, String)> {
    let findings = checked(name).findings.into_iter();
    findings
        .map(|f| (f.id, f.interface.or(f.switch).unwrap_or_default()))
        .collect()
}

fn left_alone(name: &str) -> Vec<(String, String)> {
    let left = checked(name).left_alone.into_iter();
    left.map(|l| (l.id, l.interface.unwrap_or_default()))
        .collect()
}

fn pair(id: &str, place: &str) -> (String, String) {
    (id.to_owned(), place.to_owned())
}

#[test]
fn story_a_is_suspected_at_the_uplink_of_the_old_hypervisor() {
    assert_eq!(
        found("a-openstack"),
        [pair("hypervisor-gro-wan-download", "enp3s0f0")]
    );
}

#[test]
fn story_b_is_suspected_at_the_nic_beneath_the_bridge() {
    assert_eq!(found("b-freebsd"), [pair("freebsd-bridge-jail-lro", "ix0")]);
}

#[test]
fn story_c_asks_for_merging_where_it_is_off_and_leaves_it_alone_where_it_is_on() {
    let missed = ["eth1", "eth2", "eth3"].map(|slave| pair("balance-rr-gro-helps", slave));
    assert_eq!(found("c-bond-off"), missed);
    assert_eq!(found("c-bond-on"), []);
    assert!(!left_alone("c-bond-on").is_empty());
}

#[test]
fn story_d_is_suspected_at_the_forgotten_nic_and_innocent_on_later_kernels() {
    assert_eq!(found("d-director"), [pair("ipvs-director-gro", "eth1")]);
    assert_eq!(found("d-director-modern"), []);
    assert!(!left_alone("d-director-modern").is_empty());
}

#[test]
fn story_e_is_suspected_on_the_host_and_in_the_guest() {
    assert_eq!(
        found("e-hyperv"),
        [pair("hyperv-ws2019-rsc-jumbo", "External")]
    );
    assert_eq!(found("e-guest"), [pair("hyperv-guest-rsc-jumbo", "eth0")]);
}

#[test]
fn plain_hosts_give_no_finding_at_all() {
    for name in [
        "laptop",
        "web",
        "docker",
        "hypervisor",
        "router",
        "opnsense",
    ] {
        assert_eq!(found(name), [], "{name}");
    }
}
