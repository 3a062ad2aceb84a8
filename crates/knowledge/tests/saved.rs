//! Hosts from saved output, written for these tests: what an operator wants to be told of each, and
//! nothing else. The table in `saved/README.md` has it, with the roles of their interfaces.

#![expect(clippy::panic, reason = "a test says what went wrong by failing")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use coalescope_host::model::Snapshot;
use coalescope_host::roles::roles;
use coalescope_host::sources::{Limits, read_bytes};
use coalescope_knowledge::rules::{Checked, Rules, check};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/saved")
}

fn snapshot(name: &str) -> Snapshot {
    let path = folder().join(format!("{name}.txt"));
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

/// What is found, as `harms RULE PLACE`; `-` if nothing is.
fn findings(checked: &Checked) -> String {
    let found = checked.findings.iter().map(|finding| {
        let words = [
            finding.blame.name(),
            &finding.id,
            finding.place().unwrap_or(""),
        ];
        words.join(" ").trim_end().to_owned()
    });
    joined(found)
}

/// What lacks, where that decides; `-` if nothing does.
fn lacks(checked: &Checked) -> String {
    let lacks = checked.gaps.iter().filter(|_| checked.undecided).cloned();
    joined(lacks)
}

/// The roles of interfaces, as `eth0 bridge-port+guest-uplink`.
fn plays(snapshot: &Snapshot) -> String {
    let all = roles(snapshot);
    let said = all.iter().filter(|(_, roles)| !roles.is_empty());
    joined(said.map(|(key, roles)| {
        let names: Vec<&str> = roles.iter().map(|role| role.role.name()).collect();
        format!("{key} {}", names.join("+"))
    }))
}

fn joined(all: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = all.collect();
    match all.as_slice() {
        [] => "-".to_owned(),
        all => all.join("; "),
    }
}

/// The file of a row of the table, and its last three columns; a `|` within one has a backslash before it.
fn row(line: &str) -> Option<(String, [String; 3])> {
    let line = line.replace(r"\|", "\0");
    let columns: Vec<&str> = line
        .trim()
        .trim_matches('|')
        .split('|')
        .map(str::trim)
        .collect();
    let [file, _, findings, lacks, plays] = columns.as_slice() else {
        return None;
    };
    let file = file.strip_prefix('`')?.strip_suffix(".txt`")?;
    let whole = |column: &&str| column.replace('\0', "|");
    Some((file.to_owned(), [findings, lacks, plays].map(whole)))
}

#[test]
fn each_host_is_told_what_the_table_says() {
    let path = folder().join("README.md");
    let table = std::fs::read_to_string(&path).unwrap_or_default();
    let rows: Vec<_> = table.lines().filter_map(row).collect();
    let mut wrong = Vec::new();
    for (file, expected) in &rows {
        let checked = checked(file);
        let found = [findings(&checked), lacks(&checked), plays(&snapshot(file))];
        if found != *expected {
            let found = found.map(|column| column.replace('|', r"\|"));
            wrong.push(format!("{file}: | {} |", found.join(" | ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let listed: BTreeSet<String> = rows.into_iter().map(|(file, _)| file).collect();
    assert_eq!(listed, files());
}

/// The names of all hosts in the folder.
fn files() -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder()).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let hosts = names.filter_map(|name| name.strip_suffix(".txt").map(str::to_owned));
    hosts.collect()
}

/// Of hosts that were saved whole, every line is understood.
#[test]
fn nothing_is_left_unread_of_hosts_that_are_whole() {
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
        "ovn",
        "sriov",
        "truenas",
        "wireguard",
    ] {
        let unread = snapshot(name).unread;
        assert!(unread.is_empty(), "{name}: {unread:?}");
    }
}

/// Of a port whose line of options was cut it is not known that nothing is wrong, on whatever system.
#[test]
fn lro_that_was_not_read_of_a_port_is_missing() {
    for (host, lro) in [
        ("freebsd-vtnet-bridge", "LRO"),
        ("deb12-router", "large-receive-offload"),
    ] {
        let mut snapshot = snapshot(host);
        for interface in snapshot.interfaces.values_mut() {
            interface.features.remove(lro);
        }
        let rules = Rules::built_in().unwrap_or_else(|error| panic!("{error}"));
        let checked = check(&rules, &snapshot);
        let lacks = |gap: &String| gap.starts_with("whether LRO is on at");
        assert!(
            checked.undecided && checked.gaps.iter().any(lacks),
            "{host}: {:?}",
            checked.gaps
        );
    }
}

fn ways(name: &str) -> Vec<String> {
    let checked = checked(name);
    let remedies = checked
        .findings
        .iter()
        .flat_map(|finding| &finding.remedies);
    remedies.map(|remedy| remedy.platform.clone()).collect()
}

#[track_caller]
fn is_mended_by(name: &str, own: &str, others: &[&str]) {
    let ways = ways(name);
    assert!(ways.iter().any(|way| way == own), "{name}: {ways:?}");
    for other in others {
        assert!(!ways.iter().any(|way| way == other), "{name}: {ways:?}");
    }
}

#[test]
fn an_appliance_is_mended_by_its_own_configuration() {
    is_mended_by("opnsense", "opnsense", &["freebsd-rc.conf", "pfsense"]);
    is_mended_by("pfsense", "pfsense", &["freebsd-rc.conf", "opnsense"]);
    let files = ["netplan", "ifupdown", "systemd-networkd", "rhel-ifcfg"];
    is_mended_by("vyos-vmxnet3", "vyos", &files);
    is_mended_by("openwrt-dsa", "openwrt", &files);
}

/// Names of these hosts are plain: each remedy is a command that can be run, or says where to click.
#[test]
fn every_remedy_is_a_command() {
    for name in files() {
        let checked = checked(&name);
        for remedy in checked
            .findings
            .iter()
            .flat_map(|finding| &finding.remedies)
        {
            let command = &remedy.command;
            assert!(
                !command.contains("no command is given"),
                "{name}: {remedy:?}"
            );
        }
    }
}

/// NetworkManager alone reads what is said of interfaces there.
#[test]
fn files_that_nothing_reads_are_not_offered_on_el9() {
    let others = ["rhel-ifcfg", "netplan", "ifupdown"];
    is_mended_by("router-el9", "NetworkManager", &others);
}
