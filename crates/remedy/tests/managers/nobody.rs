use crate::machine::{GRO, LRO, MAC, Machine, off};
use coalescope_remedy::{Error, Ownership, Wish};
use rustix::fs::{CWD, FileType, Mode, mknodat};

#[test]
fn an_interface_that_nobody_has_is_named() {
    let machine = Machine::new();
    machine.nic("eth0", 2, MAC, "");
    let owner = machine.owner("eth0");
    assert_eq!((owner.manager, owner.file), (None, None));
    let refusal = machine.refusal(&off("eth0", GRO));
    assert!(refusal.contains("ethtool -K eth0"), "{refusal}");
}

#[test]
fn what_programs_make_is_theirs() {
    let machine = Machine::new();
    machine
        .interface("vnet0", 5, MAC)
        .put("/sys/class/net/vnet0/tun_flags", "0x1002\n");
    machine
        .interface("veth12ab", 6, MAC)
        .put("/sys/class/net/veth12ab/iflink", "2\n");
    machine
        .interface("ovs-br", 7, MAC)
        .put("/run/udev/data/n7", "E:ID_NET_DRIVER=openvswitch\n");
    // A wide match of networkd fits them as well.
    machine.put(
        "/run/systemd/netif/links/6",
        "NETWORK_FILE=/etc/systemd/network/any.network\n",
    );
    for (name, what) in [
        ("vnet0", "TUN or TAP"),
        ("veth12ab", "veth"),
        ("ovs-br", "openvswitch"),
    ] {
        let refusal = machine.refusal(&off(name, GRO));
        assert!(
            refusal.contains("made by a program") && refusal.contains(what),
            "{refusal}"
        );
        assert_eq!(machine.owner(name).manager, None);
    }
}

#[test]
fn a_namespace_is_its_makers() {
    let machine = Machine::new();
    machine.nic("eth0", 2, MAC, "");
    let wish = Wish {
        namespace: Some("blue".to_owned()),
        ..off("eth0", GRO)
    };
    let refusal = machine.refusal(&wish);
    assert!(
        refusal.contains("in the network namespace blue"),
        "{refusal}"
    );
}

#[test]
fn what_is_not_there_is_an_error() {
    let machine = Machine::new();
    for name in ["eth7", "", "../net/eth0", "."] {
        let error = Ownership::detect(&machine.root(), name).unwrap_err();
        assert_eq!(error, Error::NoInterface(name.to_owned()));
    }
}

/// All that the kernel allows in a name, and none of it in a file that a shell may run.
#[test]
fn a_name_that_is_more_than_a_word_is_in_no_file() {
    let machine = Machine::new();
    for name in [
        "x$(id>PWN)",
        "a;reboot",
        "a`id`",
        "a'b\"",
        "\u{1b}[2J",
        "\u{202e}0hte",
        "#a",
        "[Match]",
        "*",
    ] {
        machine.nic(name, 2, MAC, "");
        let refusal = machine.refusal(&off(name, GRO));
        let why = format!("the name {name} has characters that a file or a shell");
        assert!(refusal.starts_with(&why), "{refusal}");
    }
}

/// Reading a pipe that nobody writes to would wait for ever.
#[test]
fn what_is_no_file_is_named() {
    let machine = Machine::new();
    machine.nic("eth0", 2, MAC, "");
    let path = machine.real("/etc/network/interfaces");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let own = Mode::RWXU;
    mknodat(CWD, &path, FileType::Fifo, own, 0).unwrap();
    let refusal = machine.refusal(&off("eth0", GRO));
    assert!(refusal.contains("it is not a plain file"), "{refusal}");
}

#[test]
fn files_that_are_no_text_are_named() {
    let machine = Machine::new();
    machine.nic("eth0", 2, MAC, "");
    let path = machine.real("/etc/network/interfaces");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, [0xff, 0xfe]).unwrap();
    assert!(
        machine
            .refusal(&off("eth0", GRO))
            .contains("interfaces is not understood: it is not UTF-8")
    );
}

#[test]
fn one_refusal_does_not_stop_the_others() {
    let machine = Machine::new();
    machine
        .nic("eth0", 2, MAC, "")
        .put("/etc/network/interfaces", "iface eth0 inet dhcp\n");
    let plan = machine.plan(&[off("eth9", GRO), off("eth0", GRO)]);
    assert_eq!((plan.files.len(), plan.refused.len()), (1, 1));
    let json = serde_json::to_value(&plan).unwrap();
    assert_eq!(json["files"][0]["owner"], "ifupdown");
    assert_eq!(json["refused"][0]["wish"]["interface"], "eth9");
}

/// What systemd-networkd has would be written anew by the product.
#[test]
fn products_keep_their_own_configuration() {
    for (file, text, name, remedy) in [
        (
            "/etc/os-release",
            "NAME=\"VyOS\"\nID=vyos\n",
            "VyOS",
            "offload",
        ),
        (
            "/etc/os-release",
            "ID=\"openwrt\"\n",
            "OpenWrt",
            "hotplug.d",
        ),
        (
            "/proc/sys/kernel/osrelease",
            "6.6.44-production+truenas\n",
            "TrueNAS SCALE",
            "post-init",
        ),
        (
            "/proc/sys/kernel/osrelease",
            "5.4.213-ui-ipq9574\n",
            "UniFi OS",
            "each start",
        ),
    ] {
        let machine = Machine::new();
        machine
            .systemd_default()
            .nic("ens3", 2, MAC, "/usr/lib/systemd/network/99-default.link");
        let state = "ADMIN_STATE=configured\nNETWORK_FILE=/etc/systemd/network/20-wired.network\n";
        machine.put("/run/systemd/netif/links/2", state);
        machine.put(
            "/etc/systemd/network/20-wired.network",
            "[Match]\nName=ens3\n",
        );
        machine.put(file, text);
        let why = machine.refusal(&off("ens3", LRO));
        assert!(why.starts_with(name) && why.contains(remedy), "{why}");
        assert_eq!(machine.owner("ens3").manager, None);
    }
}
