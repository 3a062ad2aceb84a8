use crate::machine::{GRO, LRO, MAC, Machine, off};
use coalescope_remedy::Manager;

const IFCFG: &str = "/etc/sysconfig/network-scripts/ifcfg-eth0";

fn centos(text: &str) -> Machine {
    let machine = Machine::new();
    machine.nic("eth0", 2, MAC, "");
    machine.put(IFCFG, text);
    machine
}

#[test]
fn options_are_added_and_extended() {
    let machine =
        centos("TYPE=Ethernet\nBOOTPROTO=none\nDEVICE=\"eth0\"\nONBOOT=yes\nNM_CONTROLLED=no\n");
    let owner = machine.owner("eth0");
    assert_eq!(owner.manager, Some(Manager::RhelIfcfg));
    assert_eq!(owner.file.unwrap().to_str(), Some(IFCFG));
    insta::assert_snapshot!(machine.there_and_back(&[off("eth0", GRO), off("eth0", LRO)]));
}

#[test]
fn a_copy_is_not_the_file() {
    let machine = centos("ONBOOT=yes\nETHTOOL_OPTS='-G eth0 rx 4096'\n");
    machine.put(&format!("{IFCFG}.bak"), "DEVICE=eth0\n");
    machine.put("/etc/sysconfig/network-scripts/ifcfg-lan", "DEVICE=eth1\n");
    insta::assert_snapshot!(machine.there_and_back(&[off("eth0", GRO)]));
}

#[test]
fn what_a_shell_computes_is_left_alone() {
    let machine = centos("DEVICE=eth0\nETHTOOL_OPTS=\"$(cat /etc/opts)\"\n");
    let refusal = machine.refusal(&off("eth0", GRO));
    assert!(refusal.contains("more than one quoted text"), "{refusal}");
}

#[test]
fn copies_that_nobody_reads_are_left_alone() {
    let folder = "/etc/sysconfig/network-scripts";
    let machine = centos("DEVICE=eth1\n");
    machine.put(&format!("{folder}/ifcfg-lan"), "DEVICE=eth0\n");
    for copy in [
        "eth0~",
        "eth0.bak",
        "eth0.old",
        "eth0.orig",
        "eth0.rpmnew",
        "eth0.rpmorig",
        "eth0.rpmsave",
    ] {
        machine.put(&format!("{folder}/ifcfg-{copy}"), "DEVICE=eth0\n");
    }
    assert!(
        machine.plan(&[off("eth0", GRO)]).files[0]
            .path
            .ends_with("ifcfg-lan")
    );
    machine.there_and_back(&[off("eth0", GRO)]);
    machine.put(&format!("{folder}/ifcfg-eth0.rej"), "DEVICE=eth0\n");
    let refusal = machine.refusal(&off("eth0", GRO));
    assert!(
        refusal.contains("ifcfg-eth0.rej and") && refusal.contains("both are read"),
        "{refusal}"
    );
}

/// NetworkManager's list is another one.
#[test]
fn copies_that_networkmanager_does_not_read_are_left_alone() {
    let folder = "/etc/sysconfig/network-scripts";
    let machine = centos("DEVICE=eth0\nUUID=u-u-i-d\n");
    machine.put(
        "/run/NetworkManager/devices/2",
        "[device]\nmanaged=true\nconnection-uuid=u-u-i-d\n",
    );
    for copy in ["~", ".rej", ".augnew", ".orig"] {
        machine.put(&format!("{folder}/ifcfg-a{copy}"), "UUID=u-u-i-d\n");
    }
    assert!(
        machine.plan(&[off("eth0", GRO)]).files[0]
            .path
            .ends_with("ifcfg-eth0")
    );
    machine.put(&format!("{folder}/ifcfg-a.old"), "UUID=u-u-i-d\n");
    assert!(machine.refusal(&off("eth0", GRO)).contains("both are read"));
}
