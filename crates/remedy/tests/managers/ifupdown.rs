use crate::machine::{GRO, LRO, MAC, Machine, off};
use coalescope_remedy::Manager;

const MAIN: &str = "/etc/network/interfaces";
const PROXMOX: &str = "\
auto lo
iface lo inet loopback

iface eno1 inet manual
#uplink

auto vmbr0
iface vmbr0 inet static
\taddress 192.0.2.10/24
\tgateway 192.0.2.1
\tbridge-ports eno1
\tbridge-stp off
\tbridge-fd 0

source /etc/network/interfaces.d/*
";

fn debian(text: &str) -> Machine {
    let machine = Machine::new();
    machine
        .systemd_default()
        .nic("eno1", 2, MAC, "/usr/lib/systemd/network/99-default.link");
    machine.interface("vmbr0", 3, MAC);
    machine.put("/sys/class/net/vmbr0/uevent", "DEVTYPE=bridge\n");
    machine.put(MAIN, text);
    machine
}

#[test]
fn stanzas_of_a_hypervisor_get_a_command() {
    let machine = debian(PROXMOX);
    assert_eq!(machine.owner("eno1").manager, Some(Manager::Ifupdown));
    assert_eq!(
        machine.owner("eno1").reason,
        "/etc/network/interfaces has `iface eno1`"
    );
    let wishes = [off("eno1", GRO), off("eno1", LRO), off("vmbr0", GRO)];
    assert_eq!(
        machine.commands(&wishes)[0],
        ("ifdown eno1 && ifup eno1".to_owned(), true)
    );
    insta::assert_snapshot!(machine.there_and_back(&wishes));
}

#[test]
fn a_stanza_in_a_folder_is_found() {
    for (main, name) in [
        ("source interfaces.d/*.cfg\n", "50-cloud.cfg"),
        ("source-directory /etc/network/interfaces.d\n", "eno1"),
    ] {
        let machine = debian(main);
        // Neither is read.
        machine.put(
            "/etc/network/interfaces.d/.hidden.cfg",
            "iface eno1 inet manual\n",
        );
        machine.put(
            "/etc/network/interfaces.d/eno1.bak",
            "iface eno1 inet manual\n",
        );
        assert_eq!(machine.owner("eno1").manager, None);
        machine.put(
            &format!("/etc/network/interfaces.d/{name}"),
            "auto eno1\niface eno1 inet dhcp\n",
        );
        let plan = machine.plan(&[off("eno1", GRO)]);
        assert!(plan.files[0].path.ends_with(name));
        machine.there_and_back(&[off("eno1", GRO)]);
    }
}

#[test]
fn all_that_says_the_opposite_is_turned() {
    let text = "iface eno1 inet dhcp\n    offload-gro on\n    offload-tso on\n\
                iface eno1 inet6 auto\n    post-up /sbin/ethtool --offload $IFACE gro on gso off\n";
    let machine = debian(text);
    insta::assert_snapshot!(machine.there_and_back(&[off("eno1", GRO)]));
    // Two that contradict each other settle nothing.
    machine.put(MAIN, &text.replace("offload-gro on", "offload-gro off"));
    let held = machine.holds(&off("eno1", GRO));
    assert!(
        !held.persistent && held.why.starts_with("nothing there settles"),
        "{held:?}"
    );
}

#[test]
fn without_the_command_nothing_would_happen() {
    let machine = debian(PROXMOX);
    std::fs::remove_file(machine.real("/usr/sbin/ethtool")).unwrap();
    let refusal = machine.refusal(&off("eno1", GRO));
    assert!(refusal.contains("install the package ethtool"), "{refusal}");
}

#[test]
fn files_that_include_each_other_end() {
    let machine = debian("source interfaces.d/a\n");
    machine.put(
        "/etc/network/interfaces.d/a",
        "source ../interfaces\nsource a\niface eno1 inet dhcp",
    );
    machine.there_and_back(&[off("eno1", GRO)]);
}
