use crate::machine::{GRO, LRO, MAC, Machine, off};
use coalescope_remedy::Manager;

const DEFAULT: &str = "/usr/lib/systemd/network/99-default.link";

fn networkd(link_file: &str) -> Machine {
    let machine = Machine::new();
    machine.systemd_default().nic("ens3", 2, MAC, link_file);
    let state = "# This is private data. Do not parse.\nADMIN_STATE=configured\n\
                 NETWORK_FILE=/etc/systemd/network/20-wired.network\n";
    machine.put("/run/systemd/netif/links/2", state);
    machine.put(
        "/etc/systemd/network/20-wired.network",
        "[Match]\nName=ens3\n",
    );
    machine
}

#[test]
fn the_default_is_repeated_for_one_interface() {
    let machine = networkd(DEFAULT);
    let owner = machine.owner("ens3");
    assert_eq!(owner.manager, Some(Manager::SystemdNetworkd));
    assert!(owner.reason.contains("/run/systemd/netif/links/2"));
    let wishes = [off("ens3", GRO), off("ens3", LRO)];
    let commands = machine.commands(&wishes);
    assert_eq!(commands[0], ("udevadm control --reload".to_owned(), false));
    assert!(commands[1].1);
    insta::assert_snapshot!(machine.there_and_back(&wishes));
}

#[test]
fn drop_ins_of_what_counted_are_repeated_too() {
    let machine = networkd(DEFAULT);
    machine.put(
        "/etc/systemd/network/99-default.link.d/mtu.conf",
        "[Link]\nMTUBytes=9000\nGenericReceiveOffload=yes\n",
    );
    insta::assert_snapshot!(machine.there_and_back(&[off("ens3", GRO)]));
}

#[test]
fn a_file_about_it_alone_is_edited() {
    let own = "/etc/systemd/network/50-ens3.link";
    let machine = networkd(own);
    machine.put(
        own,
        &format!(
            "[Match]\r\nMACAddress={}\r\n\r\n[Link]\r\nName=ens3\r\n# end\r\n",
            MAC.to_uppercase()
        ),
    );
    insta::assert_snapshot!(machine.there_and_back(&[off("ens3", GRO)]));
    // What comes behind it has the last word.
    let drop_in = "/run/systemd/network/50-ens3.link.d/x.conf";
    machine.put(drop_in, "[Link]\nGenericReceiveOffload=1\n");
    let refusal = machine.refusal(&off("ens3", GRO));
    assert!(refusal.contains("has the last word"), "{refusal}");
}

#[test]
fn a_file_about_several_is_not() {
    for matched in ["OriginalName=en*", "Driver=virtio_net", "Path=pci-0000:*"] {
        let own = "/etc/systemd/network/05-all.link";
        let machine = networkd(own);
        machine.put(own, &format!("[Match]\n{matched}\n[Link]\nMTUBytes=9000\n"));
        let plan = machine.plan(&[off("ens3", GRO)]);
        let new = &plan.files[0];
        assert!(
            new.path
                .ends_with("etc/systemd/network/00-coalescope-ens3.link")
        );
        let text = String::from_utf8(new.after.clone()).unwrap();
        assert!(text.contains(MAC) && text.contains("MTUBytes=9000") && !text.contains(matched));
        machine.there_and_back(&[off("ens3", GRO)]);
    }
    let machine = networkd("/etc/systemd/network/00-all.link");
    machine.put(
        "/etc/systemd/network/00-all.link",
        "[Match]\nOriginalName=*\n",
    );
    let refusal = machine.refusal(&off("ens3", GRO));
    assert!(
        refusal.contains("comes before any file of ours"),
        "{refusal}"
    );
}

#[test]
fn twins_with_one_address_are_told_apart() {
    let machine = networkd(DEFAULT);
    machine.nic("enP1s1", 3, MAC, DEFAULT);
    let plan = machine.plan(&[off("ens3", GRO)]);
    let text = String::from_utf8(plan.files[0].after.clone()).unwrap();
    assert!(text.contains(&format!(
        "PermanentMACAddress={MAC}\nPath=pci-0000:00:02.0\n"
    )));
}

#[test]
fn a_virtual_interface_has_the_name_that_it_was_made_with() {
    let machine = networkd(DEFAULT);
    machine.interface("bond0", 7, MAC);
    machine.put("/sys/class/net/bond0/uevent", "DEVTYPE=bond\n");
    machine.put(
        "/run/udev/data/n7",
        &format!("E:ID_NET_LINK_FILE={DEFAULT}\n"),
    );
    let state = "ADMIN_STATE=configured\nNETWORK_FILE=/etc/systemd/network/30-bond.network\n";
    machine.put("/run/systemd/netif/links/7", state);
    let plan = machine.plan(&[off("bond0", GRO)]);
    let text = String::from_utf8(plan.files[0].after.clone()).unwrap();
    assert!(
        text.contains("[Match]\nOriginalName=bond0\n")
            && text.contains("MACAddressPolicy=persistent")
    );
    machine.there_and_back(&[off("bond0", GRO)]);
}

#[test]
fn what_cannot_be_said_or_matched_is_refused() {
    let machine = networkd(DEFAULT);
    let refusal = machine.refusal(&off("ens3", "rx-gro-list"));
    assert!(refusal.starts_with("systemd-networkd has no name for rx-gro-list"));
    machine.put("/sys/class/net/ens3/addr_assign_type", "3");
    machine.put("/run/udev/data/n2", "E:ID_NET_DRIVER=virtio_net\n");
    let refusal = machine.refusal(&off("ens3", GRO));
    assert!(refusal.contains("nothing lasting tells ens3"), "{refusal}");
    std::fs::remove_file(machine.real("/run/udev/data/n2")).unwrap();
    let refusal = machine.refusal(&off("ens3", GRO));
    assert!(refusal.contains("udev knows nothing of ens3"), "{refusal}");
}
