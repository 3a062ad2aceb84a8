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

/// ifupdown takes the line after a backslash for more of the same, and ifupdown2 looks for that line behind white space.
#[test]
fn a_line_that_goes_on_does_not_swallow_the_command() {
    let command = "\tpost-up ethtool -K eno1 gro off || true\n";
    for last in [
        "\tup echo a \\\n",
        "\tup echo a \\",
        "\tup echo a \\ \n",
        "\tup echo a \\\n\n",
        "\tup echo a \\\n# c \\\n",
    ] {
        let machine = debian(&format!("iface eno1 inet manual\n\tmtu 1400\n{last}"));
        let plan = machine.plan(&[off("eno1", GRO)]);
        let text = String::from_utf8(plan.files[0].after.clone()).unwrap();
        assert_eq!(
            text,
            format!("iface eno1 inet manual\n\tmtu 1400\n{command}{last}")
        );
        machine.there_and_back(&[off("eno1", GRO)]);
    }
    for head in ["iface eno1 inet manual \\\n", "iface eno1 inet manual \\"] {
        let refusal = debian(head).refusal(&off("eno1", GRO));
        assert!(refusal.contains("ends in a backslash"), "{refusal}");
    }
    // For ifupdown what comes before the carriage return is none at the end.
    let machine = debian("iface eno1 inet manual\r\n\tup a \\\r\n\tmtu 1400\r\n");
    machine.there_and_back(&[off("eno1", GRO)]);
}

#[test]
fn a_command_of_another_stanza_is_turned_as_well() {
    let bridge = "auto vmbr0\niface vmbr0 inet manual\n\tbridge-ports eno1\n";
    for command in [
        "post-up ethtool -K eno1 gro on",
        "pre-up /sbin/ethtool --features eno1 tso off generic-receive-offload on",
        "up sh -c \"ethtool -K eno1 rx-gro on\"",
    ] {
        let machine = debian(&format!("iface eno1 inet manual\n\n{bridge}\t{command}\n"));
        let diff = machine.there_and_back(&[off("eno1", GRO)]);
        assert!(
            diff.contains("+    post-up ethtool -K eno1 gro off || true\n"),
            "{diff}"
        );
        assert!(diff.contains(&format!("-\t{command}\n")), "{diff}");
    }
    // None of these is about it, or is run at the start.
    for line in [
        "down ethtool -K eno1 gro on",
        "up ethtool -K $IFACE gro on",
        "up ethtool -K eno2 gro on",
    ] {
        let machine = debian(&format!("iface eno1 inet manual\n\n{bridge}\t{line}\n"));
        let diff = machine.there_and_back(&[off("eno1", GRO)]);
        assert!(!diff.contains("\n-\t"), "{diff}");
    }
}

#[test]
fn what_a_shell_computes_is_named_and_nothing_is_written() {
    let own = "auto eno1\niface eno1 inet manual\n";
    for (text, named) in [
        (format!("{own}iface eno1 inet6 manual\n\tup for f in gro; do ethtool -K eno1 $f on; done\n"), "for f in gro"),
        (format!("{own}iface br0 inet manual\n\tup for i in eno1 eno2; do ethtool -K $i gro on; done\n"), "for i in eno1"),
        ("iface t inet manual\n\tup ethtool -K $IFACE gro on\niface eno1 inet manual inherits t\n".to_owned(), "$IFACE gro on"),
        (format!("{own}mapping eno*\n\tscript /bin/x\n"), "mapping eno*"),
        (format!("auto eno1=lan\n{own}"), "auto eno1=lan"),
    ] {
        let refusal = debian(&text).refusal(&off("eno1", GRO));
        assert!(refusal.contains(named) && refusal.contains("by hand"), "{refusal}");
        assert!(refusal.contains("/etc/network/interfaces has `"), "{refusal}");
    }
}

/// As wordexp(3) finds names: tried with ifquery 0.8.41.
#[test]
fn patterns_of_sources_are_a_shells() {
    let stanza = "iface eno1 inet manual\n";
    for (source, is_found) in [
        ("source /etc/network/mo*/*.cfg", true),
        ("source mo*/[xy].cfg", true),
        ("source more/[!y].cfg", true),
        ("source nope more/?.cfg", true),
        ("source */../more/x.cfg", true),
        ("source more", false),
        ("source more/[yz].cfg", false),
        ("source more/{x,y}.cfg", false),
        ("source-directory mo*", true),
    ] {
        let machine = debian(&format!("auto eno1\n{source}\n"));
        machine.put("/etc/network/more/x.cfg", stanza);
        machine.put("/etc/network/more/sub.cfg/z", stanza);
        if source.starts_with("source-directory") {
            machine.put("/etc/network/more/x", stanza);
        }
        let manager = machine.owner("eno1").manager;
        assert_eq!(manager.is_some(), is_found, "{source}");
        if is_found {
            machine.there_and_back(&[off("eno1", GRO)]);
        }
    }
    let machine = debian("source /etc/network/$HOST.cfg\niface eno1 inet manual\n");
    let refusal = machine.refusal(&off("eno1", GRO));
    assert!(
        refusal.contains("`source /etc/network/$HOST.cfg` names is for a shell"),
        "{refusal}"
    );
}
