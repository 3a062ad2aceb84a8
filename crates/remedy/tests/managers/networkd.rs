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

fn text_of_new(machine: &Machine, interface: &str) -> String {
    let plan = machine.plan(&[off(interface, GRO)]);
    assert_eq!(plan.refused, []);
    let file = &plan.files[0];
    let name = format!("10-coalescope-{interface}.link");
    assert!(file.path.ends_with(&name), "{}", file.path.display());
    String::from_utf8(file.after.clone()).expect("it is text")
}

/// systemd.link(5): values of one key are one list, wherever they stand.
#[test]
fn a_file_with_several_values_of_a_key_is_about_several() {
    let own = "/etc/systemd/network/50-two.link";
    let other = "52:54:00:00:00:02";
    for matched in [
        format!("MACAddress={MAC}\nMACAddress={other}"),
        format!("MACAddress={other} {MAC}"),
        format!("PermanentMACAddress={MAC}\n[Link]\n[Match]\nPermanentMACAddress={other}"),
        format!("MACAddress={MAC} \\\n  {other}"),
        format!("MACAddress=\"{MAC} {other}\""),
        "Path=pci-0000:00:02.0\nPath=pci-*".to_owned(),
        "OriginalName=eth* ens3\nOriginalName=ens3".to_owned(),
    ] {
        let machine = networkd(own);
        machine.put(own, &format!("[Match]\n{matched}\n[Link]\nMTUBytes=9000\n"));
        let text = text_of_new(&machine, "ens3");
        assert!(
            text.contains(&format!("[Match]\nPermanentMACAddress={MAC}\n")),
            "{text}"
        );
        assert!(
            text.contains("MTUBytes=9000") && !text.contains(other),
            "{text}"
        );
        machine.there_and_back(&[off("ens3", GRO)]);
    }
    // An empty value takes back those before, and another key only narrows.
    let machine = networkd(own);
    let matched = format!("MACAddress={other}\nMACAddress=\nMACAddress={MAC}\nType=!vlan");
    machine.put(own, &format!("[Match]\n{matched}\n[Link]\nMTUBytes=9000\n"));
    machine.put("/sys/class/net/ens3/type", "1\n");
    assert!(
        machine.plan(&[off("ens3", GRO)]).files[0]
            .path
            .ends_with("50-two.link")
    );
}

#[test]
fn virtual_interfaces_of_one_file_are_told_apart() {
    for names in [
        "OriginalName=br0\nOriginalName=br1",
        "OriginalName=br0 br1",
        "OriginalName=br*\nOriginalName=br0",
    ] {
        let machine = Machine::new();
        let own = "/etc/systemd/network/50-two.link";
        machine.put(
            own,
            &format!("[Match]\n{names}\n[Link]\nDescription=both\n"),
        );
        for (index, name) in [(5, "br0"), (6, "br1")] {
            machine.interface(name, index, MAC);
            machine.put(&format!("/sys/class/net/{name}/uevent"), "DEVTYPE=bridge\n");
            machine.put(
                &format!("/run/udev/data/n{index}"),
                &format!("E:ID_NET_LINK_FILE={own}\n"),
            );
            let state = "NETWORK_FILE=/etc/systemd/network/br.network\n";
            machine.put(&format!("/run/systemd/netif/links/{index}"), state);
        }
        let text = text_of_new(&machine, "br0");
        assert!(
            text.contains("[Match]\nOriginalName=br0\n\n[Link]\nDescription=both\n"),
            "{text}"
        );
        machine.there_and_back(&[off("br0", GRO)]);
    }
}

/// A VLAN has its card's address from the beginning, so that udev applies the card's file to both.
#[test]
fn a_file_that_fits_another_interface_too_is_not_about_one_alone() {
    let own = "/etc/systemd/network/50-ens3.link";
    let machine = networkd(own);
    machine.put(
        own,
        &format!("[Match]\nMACAddress={MAC}\n[Link]\nMTUBytes=9000\n"),
    );
    machine.interface("ens3.5", 9, MAC);
    machine.put("/sys/class/net/ens3.5/addr_assign_type", "2\n");
    assert!(text_of_new(&machine, "ens3").contains(&format!("PermanentMACAddress={MAC}")));
    machine.put(
        own,
        &format!("[Match]\nPermanentMACAddress={MAC}\n[Link]\nMTUBytes=9000\n"),
    );
    assert!(
        machine.plan(&[off("ens3", GRO)]).files[0]
            .path
            .ends_with("50-ens3.link")
    );
}

/// udev's database has what counted when udev last looked.
#[test]
fn what_will_count_is_read_from_the_files() {
    let gone = "/etc/systemd/network/50-old.link";
    let machine = networkd(gone);
    let text = text_of_new(&machine, "ens3");
    assert!(
        text.contains("NamePolicy=keep") && text.contains(DEFAULT) && !text.contains(gone),
        "{text}"
    );
    machine.there_and_back(&[off("ens3", GRO)]);
    // Nothing is left that could be repeated.
    std::fs::remove_file(machine.real(DEFAULT)).unwrap();
    let refusal = machine.refusal(&off("ens3", GRO));
    assert!(
        refusal.contains("50-old.link, which is gone") && refusal.contains("net_setup_link"),
        "{refusal}"
    );
    // One that was written since, and says the opposite.
    let machine = networkd(DEFAULT);
    let mine = "/etc/systemd/network/05-mine.link";
    machine.put(
        mine,
        &format!("[Match]\nPermanentMACAddress={MAC}\n[Link]\nGenericReceiveOffload=yes\n"),
    );
    let diff = machine.there_and_back(&[off("ens3", GRO)]);
    assert!(
        diff.contains("b/etc/systemd/network/05-mine.link"),
        "{diff}"
    );
}

#[test]
fn files_that_do_not_count_are_passed_over() {
    let machine = networkd(DEFAULT);
    let folder = "/usr/lib/systemd/network";
    for (name, text) in [
        (
            "10-other.link",
            "[Match]\nOriginalName=enp5s0 enp6*\n[Link]\nMTUBytes=1\n",
        ),
        ("73-usb.link", "[Match]\nPath=*-usb-*\n[Link]\nMTUBytes=1\n"),
        (
            "80-ve.link",
            "[Match]\nKind=veth\nOriginalName=ve-*\n[Link]\nMTUBytes=1\n",
        ),
        (
            "80-wlan.link",
            "[Match]\nType=wlan\nHost=other\n[Link]\nMTUBytes=1\n",
        ),
        (
            "80-mac.link",
            "[Match]\nMACAddress=52-54-00-00-00-09\n[Link]\nMTUBytes=1\n",
        ),
        (
            "80-driver.link",
            "[Match]\nDriver=!virtio_net igb\n[Link]\nMTUBytes=1\n",
        ),
        (
            "80-empty.link",
            "[Match]\nOriginalName=*\nOriginalName=\n[Link]\nMTUBytes=1\n",
        ),
        (
            "80-masked.link",
            "[Match]\nOriginalName=*\n[Link]\nMTUBytes=1\n",
        ),
        (
            "80-x.link~",
            "[Match]\nOriginalName=*\n[Link]\nMTUBytes=1\n",
        ),
    ] {
        machine.put(&format!("{folder}/{name}"), text);
    }
    machine.put("/sys/class/net/ens3/type", "1\n");
    machine.put("/etc/systemd/network/80-masked.link", "");
    let text = text_of_new(&machine, "ens3");
    assert!(
        text.contains("NamePolicy=keep") && !text.contains("MTUBytes"),
        "{text}"
    );
}

#[test]
fn a_match_that_cannot_be_judged_is_named() {
    let machine = networkd(DEFAULT);
    let path = "/etc/systemd/network/60-host.link";
    for matched in [
        "Host=web1",
        "Property=ID_BUS=usb",
        "OriginalName=ens3",
        "KernelVersion=>6",
    ] {
        machine.put(
            path,
            &format!("[Match]\n{matched}\n[Link]\nMTUBytes=9000\n"),
        );
        let refusal = machine.refusal(&off("ens3", GRO));
        let key = matched.split('=').next().unwrap();
        assert!(
            refusal.contains(&format!("60-host.link matches by {key}=")),
            "{refusal}"
        );
    }
    // What udev has applied did match.
    machine.nic("ens3", 2, MAC, path);
    assert!(text_of_new(&machine, "ens3").contains("MTUBytes=9000"));
}
