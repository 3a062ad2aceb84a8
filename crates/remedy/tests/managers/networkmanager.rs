use crate::machine::{GRO, LRO, MAC, Machine, off};
use coalescope_remedy::Manager;

const UUID: &str = "9c9a8d5e-7f64-4a0b-b1d7-2f1b6c3d4e5f";
const PROFILE: &str = "/etc/NetworkManager/system-connections/Wired connection 1.nmconnection";

fn machine() -> Machine {
    let machine = Machine::new();
    machine
        .systemd_default()
        .nic("enp1s0", 2, MAC, "/usr/lib/systemd/network/99-default.link");
    let state = format!("[device]\nmanaged=true\nconnection-uuid={UUID}\nnm-owned=false\n");
    machine.put("/run/NetworkManager/devices/2", &state);
    machine
}

fn profile(rest: &str) -> String {
    format!(
        "[connection]\nid=Wired connection 1\nuuid={UUID}\ntype=ethernet\ninterface-name=enp1s0\n\n{rest}"
    )
}

#[test]
fn the_profile_gets_a_section() {
    let machine = machine();
    machine.put(PROFILE, &profile("[ethernet]\n\n[ipv4]\nmethod=auto\n"));
    // Another profile for the same interface, which is not used now.
    let other = profile("[ethtool]\nfeature-gro=true\n").replace(UUID, "other");
    machine.put(
        "/etc/NetworkManager/system-connections/a.nmconnection",
        &other,
    );
    let owner = machine.owner("enp1s0");
    assert_eq!(owner.manager, Some(Manager::NetworkManager));
    assert!(owner.reason.contains("Wired connection 1.nmconnection"));
    let wishes = [off("enp1s0", GRO), off("enp1s0", "rx-udp-gro-forwarding")];
    let commands = machine.commands(&wishes);
    assert_eq!(commands[0], ("nmcli connection reload".to_owned(), false));
    insta::assert_snapshot!(machine.there_and_back(&wishes));
}

#[test]
fn a_section_is_extended_and_a_key_turned() {
    let machine = machine();
    let rest = "[ethtool]\nring-rx=4096\nfeature-gro=true\n\n[ipv4]\nmethod=auto";
    machine.put(
        PROFILE,
        &profile(rest).replace("interface-name=enp1s0\n", ""),
    );
    let wishes = [off("enp1s0", GRO), off("enp1s0", LRO)];
    let plan = machine.plan(&wishes);
    assert!(plan.files[0].why.contains("not bound to the interface"));
    insta::assert_snapshot!(machine.there_and_back(&wishes));
}

#[test]
fn what_a_package_brings_is_copied() {
    let machine = machine();
    machine.put(
        "/usr/lib/NetworkManager/system-connections/eth.nmconnection",
        &profile(""),
    );
    let wishes = [off("enp1s0", GRO), off("enp1s0", LRO)];
    let plan = machine.plan(&wishes);
    let file = &plan.files[0];
    assert!(
        file.path
            .ends_with("etc/NetworkManager/system-connections/eth.nmconnection")
    );
    assert_eq!((file.mode_if_new, file.before.as_ref()), (0o600, None));
    machine.there_and_back(&wishes);
}

#[test]
fn what_a_reboot_forgets_is_not_written_to() {
    let machine = machine();
    machine.put(
        "/run/NetworkManager/system-connections/Wired.nmconnection",
        &profile(""),
    );
    let refusal = machine.refusal(&off("enp1s0", GRO));
    assert!(refusal.contains("a reboot forgets") && refusal.contains("nmcli connection modify"));
    std::fs::remove_dir_all(machine.real("/run/NetworkManager/system-connections")).unwrap();
    let refusal = machine.refusal(&off("enp1s0", GRO));
    assert!(refusal.contains("no file has its profile"), "{refusal}");
}

#[test]
fn an_ifcfg_file_is_edited_for_it() {
    let machine = machine();
    let path = "/etc/sysconfig/network-scripts/ifcfg-System_eth";
    machine.put(
        path,
        &format!("TYPE=Ethernet\nUUID={UUID}\nDEVICE=enp1s0\nETHTOOL_OPTS=\"-K enp1s0 tso off\"\nONBOOT=yes\n"),
    );
    assert_eq!(
        machine.owner("enp1s0").manager,
        Some(Manager::NetworkManager)
    );
    // An interface that NetworkManager sets up needs no command.
    std::fs::remove_file(machine.real("/usr/sbin/ethtool")).unwrap();
    insta::assert_snapshot!(machine.there_and_back(&[off("enp1s0", GRO)]));
}

#[test]
fn an_interface_that_it_leaves_alone_is_not_its() {
    let machine = machine();
    machine.put("/run/NetworkManager/devices/2", "[device]\nmanaged=false\n");
    machine.put(PROFILE, &profile(""));
    assert_eq!(machine.owner("enp1s0").manager, None);
}

#[test]
fn copies_that_it_does_not_read_are_left_alone() {
    let machine = machine();
    let folder = "/etc/NetworkManager/system-connections";
    machine.put(PROFILE, &profile(""));
    for copy in [
        "A.nmconnection~",
        ".A.nmconnection.swp",
        "A.backup",
        "A.Xy12Z9",
        "A.pem",
    ] {
        machine.put(&format!("{folder}/{copy}"), &profile(""));
    }
    machine.put("/usr/lib/NetworkManager/system-connections/A", &profile(""));
    std::fs::create_dir_all(machine.real(&format!("{folder}/A"))).unwrap();
    let plan = machine.plan(&[off("enp1s0", GRO)]);
    assert!(
        plan.files[0]
            .path
            .ends_with("Wired connection 1.nmconnection"),
        "{plan:?}"
    );
    machine.there_and_back(&[off("enp1s0", GRO)]);
    // Names with any other ending are read in /etc.
    machine.put(&format!("{folder}/A.orig"), &profile(""));
    let refusal = machine.refusal(&off("enp1s0", GRO));
    assert!(
        refusal.contains("A.orig and") && refusal.contains("NetworkManager reads both"),
        "{refusal}"
    );
}

#[test]
fn a_word_that_glib_does_not_take_says_nothing() {
    for word in ["off", "False", "no"] {
        let machine = machine();
        machine.put(
            PROFILE,
            &profile(&format!("[ethtool]\nfeature-gro={word}\n")),
        );
        let diff = machine.there_and_back(&[off("enp1s0", GRO)]);
        assert!(diff.contains("+feature-gro=false\n"), "{diff}");
    }
    let machine = machine();
    machine.put(PROFILE, &profile("[ethtool]\nfeature-gro=0 \n"));
    assert!(machine.holds(&off("enp1s0", GRO)).persistent);
}
