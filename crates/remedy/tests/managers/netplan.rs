use crate::machine::{GRO, LRO, MAC, Machine, off};
use coalescope_remedy::Manager;

const CLOUD: &str = "/etc/netplan/50-cloud-init.yaml";

fn ubuntu(name: &str, id: &str) -> Machine {
    let machine = Machine::new();
    machine
        .systemd_default()
        .nic(name, 2, MAC, "/usr/lib/systemd/network/99-default.link");
    let state = format!(
        "ADMIN_STATE=configured\nNETWORK_FILE=/run/systemd/network/10-netplan-{id}.network\n"
    );
    machine.put("/run/systemd/netif/links/2", &state);
    machine
}

#[test]
fn a_device_matched_by_address_gets_a_file_beside() {
    let machine = ubuntu("ens3", "nic0");
    let text = format!(
        "# By cloud-init.\nnetwork:\n    version: 2\n    ethernets:\n        nic0:\n            dhcp4: true\n\
         \x20           match:\n                macaddress: {MAC}\n            set-name: ens3\n"
    );
    machine.put(CLOUD, &text);
    let owner = machine.owner("ens3");
    assert_eq!(owner.manager, Some(Manager::Netplan));
    let wishes = [off("ens3", GRO), off("ens3", LRO)];
    let commands = machine.commands(&wishes);
    assert_eq!(
        commands,
        [
            ("netplan generate".to_owned(), false),
            ("netplan apply".to_owned(), true)
        ]
    );
    assert_eq!(machine.plan(&wishes).files[0].mode_if_new, 0o600);
    insta::assert_snapshot!(machine.there_and_back(&wishes));
    assert_eq!(machine.text(CLOUD), text);
}

#[test]
fn a_device_by_its_name_is_matched_by_its_address() {
    let machine = ubuntu("enp5s0", "enp5s0");
    machine.put(
        CLOUD,
        "network:\n  version: 2\n  ethernets:\n    enp5s0: {dhcp4: true}\n",
    );
    insta::assert_snapshot!(machine.there_and_back(&[off("enp5s0", GRO)]));
    machine.put("/sys/class/net/enp5s0/addr_assign_type", "1\n");
    assert!(
        machine
            .refusal(&off("enp5s0", GRO))
            .contains("no address of its own")
    );
}

#[test]
fn a_group_is_not_narrowed() {
    let machine = ubuntu("enp5s0", "all-en");
    machine.put(
        CLOUD,
        "network:\n  ethernets:\n    all-en:\n      match: {name: \"en*\"}\n      dhcp4: true\n",
    );
    let refusal = machine.refusal(&off("enp5s0", GRO));
    assert!(refusal.contains("may fit others") && refusal.contains("set-name: enp5s0"));
}

#[test]
fn the_last_file_has_the_last_word() {
    let machine = ubuntu("ens3", "ens3");
    machine.put(
        CLOUD,
        "network:\n  ethernets:\n    ens3: {dhcp4: true, generic-receive-offload: true}\n",
    );
    machine.there_and_back(&[off("ens3", GRO)]);
    machine.put(
        "/etc/netplan/99-local.yaml",
        "network:\n  ethernets:\n    ens3:\n      generic-receive-offload: yes\n",
    );
    let refusal = machine.refusal(&off("ens3", GRO));
    assert!(
        refusal.contains("/etc/netplan/99-local.yaml says something else"),
        "{refusal}"
    );
    // One of the same name in /run stands for it.
    machine.put("/run/netplan/99-local.yaml", "network: {version: 2}\n");
    machine.there_and_back(&[off("ens3", GRO)]);
}

#[test]
fn our_own_file_is_extended_unless_somebody_changed_it() {
    let machine = ubuntu("ens3", "ens3");
    machine.put(CLOUD, "network:\n  ethernets:\n    ens3: {dhcp4: true}\n");
    let first = machine.plan(&[off("ens3", GRO)]);
    let own = "/etc/netplan/90-coalescope-ens3.yaml";
    let text = String::from_utf8(first.files[0].after.clone()).unwrap();
    machine.put(own, &text);
    let diff = machine.there_and_back(&[off("ens3", LRO)]);
    assert!(
        diff.contains("+      large-receive-offload: false") && !diff.contains("\n-"),
        "{diff}"
    );
    machine.put(own, &format!("{text}      mtu: 9000\n"));
    let refusal = machine.refusal(&off("ens3", LRO));
    assert!(
        refusal.contains("was changed since it was made"),
        "{refusal}"
    );
    assert!(machine.holds(&off("ens3", GRO)).persistent);
}

#[test]
fn networkmanager_gets_it_through_netplan() {
    let machine = ubuntu("enp1s0", "unused");
    let state = "[device]\nmanaged=true\nconnection-uuid=u-u-i-d\n";
    machine.put("/run/NetworkManager/devices/2", state);
    let run = "/run/NetworkManager/system-connections";
    let profile = "[connection]\nid=netplan-enp1s0\nuuid=u-u-i-d\n";
    machine.put(&format!("{run}/netplan-enp1s0.nmconnection"), profile);
    machine.put(
        CLOUD,
        "network:\n  renderer: NetworkManager\n  ethernets:\n    enp1s0: {dhcp4: true}\n",
    );
    let owner = machine.owner("enp1s0");
    assert_eq!(owner.manager, Some(Manager::Netplan));
    insta::assert_snapshot!(
        machine.there_and_back(&[off("enp1s0", GRO), off("enp1s0", "rx-gro-hw")])
    );
    // A profile that NetworkManager keeps in netplan by itself.
    std::fs::remove_dir_all(machine.real(run)).unwrap();
    machine.put(&format!("{run}/netplan-NM-1.nmconnection"), profile);
    assert!(
        machine
            .refusal(&off("enp1s0", GRO))
            .contains("nmcli connection modify")
    );
}

#[test]
fn what_netplan_makes_has_its_offloads_in_link_files() {
    let machine = ubuntu("ens3", "ens3");
    machine.put(
        CLOUD,
        "network:\n  ethernets: {ens3: {}}\n  bonds:\n    bond0: {interfaces: [ens3]}\n",
    );
    machine.interface("bond0", 9, MAC);
    machine.put(
        "/run/udev/data/n9",
        "E:ID_NET_LINK_FILE=/usr/lib/systemd/network/99-default.link\n",
    );
    let state = "NETWORK_FILE=/run/systemd/network/10-netplan-bond0.network\n";
    machine.put("/run/systemd/netif/links/9", state);
    let owner = machine.owner("bond0");
    assert_eq!(owner.manager, Some(Manager::SystemdNetworkd));
    assert!(owner.reason.contains("netplan writes"));
    machine.there_and_back(&[off("bond0", GRO)]);
}

#[test]
fn files_alone_are_enough_and_damage_is_named() {
    let machine = ubuntu("ens3", "ens3");
    std::fs::remove_dir_all(machine.real("/run/systemd")).unwrap();
    let text = "network:\n  ethernets:\n    lan:\n      match: {driver: [e1000*, virtio_*]}\n    wan: {}\n";
    machine.put(CLOUD, text);
    assert_eq!(machine.owner("ens3").manager, Some(Manager::Netplan));
    machine.put(CLOUD, "network: [\n");
    let refusal = machine.refusal(&off("ens3", GRO));
    assert!(
        refusal.contains("50-cloud-init.yaml is not understood"),
        "{refusal}"
    );
    machine.put(CLOUD, &text.replace("virtio_*", "mlx5_core"));
    assert_eq!(machine.owner("ens3").manager, None);
}

#[test]
fn features_that_netplan_does_not_know_are_refused() {
    let machine = ubuntu("ens3", "ens3");
    machine.put(CLOUD, "network:\n  ethernets:\n    ens3: {dhcp4: true}\n");
    assert!(
        machine
            .refusal(&off("ens3", "rx-gro-hw"))
            .contains("netplan has no name for rx-gro-hw")
    );
}

#[test]
fn a_version_that_would_refuse_the_file_is_not_given_one() {
    let machine = ubuntu("ens3", "ens3");
    machine.put(CLOUD, "network:\n  ethernets:\n    ens3: {dhcp4: true}\n");
    let status = |version: &str| {
        let text = format!(
            "Package: netplan.iox\nVersion: 0.1\n\nPackage: netplan.io\nStatus: install ok installed\n\
             Version: {version}\n\nPackage: z\nVersion: 9\n"
        );
        machine.put("/var/lib/dpkg/status", &text);
    };
    status("0.99-0ubuntu3~18.04.5");
    let refusal = machine.refusal(&off("ens3", GRO));
    assert!(
        refusal.contains("netplan 0.99") && refusal.contains("0.104"),
        "{refusal}"
    );
    for version in ["0.104-0ubuntu2~20.04.6", "1.1.2-2"] {
        status(version);
        machine.there_and_back(&[off("ens3", GRO)]);
    }
}

/// As netplan's generator 0.106 does: an ID without `match` is the kernel's name for good.
#[test]
fn the_kernels_name_is_never_what_is_matched() {
    let with = "match: {macaddress: \"52:54:00:12:34:56\"}, set-name: ens3";
    let named = with.replace("{mac", "{name: \"en*\", mac");
    let any = with.replace("{mac", "{name: \"*\", mac");
    let other = with.replace("34:56", "00:01");
    let mac = "  macaddress: \"52:54:00:12:34:56\"";
    let name = "  name: \"*\"";
    for (first, second, lines) in [
        (
            "dhcp4: true",
            "",
            vec!["match:", mac, name, "set-name: ens3"],
        ),
        (with, "", vec![]),
        (&any, "", vec![]),
        (&named, "", vec!["match:", name]),
        ("dhcp4: true", with, vec!["match:", name]),
        (with, "dhcp4: true", vec![]),
    ] {
        let machine = ubuntu("ens3", "ens3");
        let file = |keys: &str| format!("network:\n  ethernets:\n    ens3: {{{keys}}}\n");
        machine.put(CLOUD, &file(first));
        if !second.is_empty() {
            machine.put("/etc/netplan/60-more.yaml", &file(second));
        }
        let plan = machine.plan(&[off("ens3", GRO)]);
        let text = String::from_utf8(plan.files[0].after.clone()).unwrap();
        let keys = text.split_once("    ens3:\n").unwrap().1;
        let lines = lines.into_iter().chain(["generic-receive-offload: false"]);
        let expected: String = lines.map(|line| format!("      {line}\n")).collect();
        assert_eq!(keys, expected, "{first} {second}");
        machine.there_and_back(&[off("ens3", GRO)]);
    }
    // That card is another one, whatever it is called.
    let machine = ubuntu("ens3", "ens3");
    machine.put(
        CLOUD,
        &format!("network:\n  ethernets:\n    ens3: {{{other}}}\n"),
    );
    assert!(
        machine
            .refusal(&off("ens3", GRO))
            .contains("may fit others")
    );
}

/// What is there already and matches by name has no effect.
#[test]
fn a_key_without_an_effect_is_not_enough() {
    let machine = ubuntu("ens3", "ens3");
    machine.put(
        CLOUD,
        "network:\n  ethernets:\n    ens3: {generic-receive-offload: false}\n",
    );
    let diff = machine.there_and_back(&[off("ens3", GRO)]);
    assert!(diff.contains("+        name: \"*\""), "{diff}");
}

#[test]
fn a_link_file_before_netplans_own_is_named() {
    let machine = ubuntu("ens3", "ens3");
    machine.put(CLOUD, "network:\n  ethernets:\n    ens3: {dhcp4: true}\n");
    let folder = "/etc/systemd/network";
    machine.put(
        &format!("{folder}/09-a.link"),
        "[Match]\nDriver=igb\n[Link]\n",
    );
    machine.put(
        &format!("{folder}/11-z.link"),
        "[Match]\nDriver=virtio*\n[Link]\n",
    );
    machine.there_and_back(&[off("ens3", GRO)]);
    machine.put(
        &format!("{folder}/10-b.link"),
        "[Match]\nDriver=virtio*\n[Link]\n",
    );
    let refusal = machine.refusal(&off("ens3", GRO));
    let expected = "/etc/systemd/network/10-b.link comes before 10-netplan-ens3.link";
    assert!(refusal.contains(expected), "{refusal}");
}
