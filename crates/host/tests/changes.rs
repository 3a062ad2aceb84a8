//! Settings that somebody changed at a terminal, by commands that print nothing where all goes as asked: what was printed
//! before them is over.

use coalescope_host::model::{Setting, Snapshot};
use coalescope_host::sources::{Limits, read_bytes};

fn one(text: &str) -> Snapshot {
    let hosts = read_bytes("given", text.as_bytes(), &Limits::default());
    let mut hosts = hosts.expect("it is understood");
    assert_eq!(hosts.len(), 1, "{text}");
    hosts.remove(0).snapshot
}

const P: &str = "root@gw1:~# ";

fn lro_after(command: &str, printed: &str) -> Option<bool> {
    let features = "Features for eth0:\nrx-checksumming: on\nlarge-receive-offload: on\n";
    let text = format!("{P}ethtool -k eth0\n{features}{P}{command}\n{printed}{P}\n");
    let host = one(&text);
    let lro = host.interfaces["eth0"]
        .features
        .get("large-receive-offload")?;
    Some(lro.active)
}

#[test]
fn features_are_changed_in_loops_and_in_spite_of_complaints_about_others() {
    let old = "Cannot get device udp-fragmentation-offload settings: Operation not supported\n";
    for (command, printed, expected) in [
        (
            "for i in eth0 eth1; do ethtool -K $i lro off; done",
            "",
            false,
        ),
        (
            "for i in eth1 eth0; do sudo ethtool -K \"${i}\" gro on lro off; done",
            "",
            false,
        ),
        ("ethtool -K eth0 lro off; ethtool -K eth1 lro on", "", false),
        ("ethtool -K eth0 lro off", old, false),
        (
            "for i in eth1 eth2; do ethtool -K $i lro off; done",
            "",
            true,
        ),
        (
            "for i in $(ls /sys/class/net); do ethtool -K $x lro off; done",
            "",
            true,
        ),
        (
            "ethtool -K eth0 gro off || ethtool -K eth0 lro off",
            "",
            true,
        ),
        (
            "ethtool -K eth0 lro off",
            "Cannot change large-receive-offload\n",
            true,
        ),
        ("ssh gw2 'ethtool -K eth0 lro off'", "", true),
    ] {
        assert_eq!(
            lro_after(command, printed),
            Some(expected),
            "{command}\n{printed}"
        );
    }
}

fn forwards_after(command: &str, printed: &str) -> Option<String> {
    let text = format!(
        "{P}sysctl net.ipv4.ip_forward\nnet.ipv4.ip_forward = 1\n{P}{command}\n{printed}{P}\n"
    );
    one(&text).stack.sysctls.get("net.ipv4.ip_forward").cloned()
}

#[test]
fn settings_of_the_stack_are_changed_without_a_word() {
    for (command, printed, expected) in [
        ("sysctl -qw net.ipv4.ip_forward=0", "", "0"),
        ("sysctl -w net.ipv4.ip_forward=0 >/dev/null", "", "0"),
        (
            "sysctl -w net.ipv4.ip_forward=0",
            "net.ipv4.ip_forward = 0\n",
            "0",
        ),
        ("echo 0 > /proc/sys/net/ipv4/ip_forward", "", "0"),
        (
            "echo 0 | sudo tee /proc/sys/net/ipv4/ip_forward",
            "0\n",
            "0",
        ),
        (
            "echo 0 > /proc/sys/net/ipv4/ip_forward",
            "-bash: /proc/sys/net/ipv4/ip_forward: Permission denied\n",
            "1",
        ),
        ("echo 0 > /etc/sysctl.d/ip_forward", "", "1"),
        (
            "ip netns exec r1 sysctl -w net.ipv4.ip_forward=0",
            "net.ipv4.ip_forward = 0\n",
            "1",
        ),
        ("ip netns exec r1 sysctl -qw net.ipv4.ip_forward=0", "", "1"),
    ] {
        assert_eq!(
            forwards_after(command, printed).as_deref(),
            Some(expected),
            "{command}\n{printed}"
        );
    }
}

fn listed(eth0: &str) -> String {
    format!(
        "{P}ip -d link\n2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc mq {eth0}state UP\n    \
         link/ether 52:54:00:00:00:02 brd ff:ff:ff:ff:ff:ff\n\
         3: br0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP\n    \
         link/ether 52:54:00:00:00:03 brd ff:ff:ff:ff:ff:ff\n    bridge forward_delay 0\n"
    )
}

/// By the one command and the other, and by a listing that says so in silence.
#[test]
fn a_port_leaves_its_bridge() {
    let brctl = format!(
        "{P}brctl show\nbridge name\tbridge id\t\tSTP enabled\tinterfaces\n\
         br0\t\t8000.525400000003\tno\t\teth0\n\t\t\t\t\t\t\tvnet0\n"
    );
    let bound = listed("master br0 ");
    for (before, after, master) in [
        (&bound, format!("{P}brctl delif br0 eth0\n{P}\n"), None),
        (&bound, format!("{P}ip link set eth0 nomaster\n{P}\n"), None),
        (
            &bound,
            format!("{P}ip link set dev eth0 down nomaster\n{P}\n"),
            None,
        ),
        (&brctl, format!("{P}brctl delif br0 eth0\n{P}\n"), None),
        (&brctl, listed(""), None),
        (
            &brctl,
            format!("{P}brctl delif br0 eth1\n{P}\n"),
            Some("br0"),
        ),
        (
            &bound,
            format!("{P}brctl delif br0 eth0\n{P}brctl addif br0 eth0\n{P}\n"),
            Some("br0"),
        ),
        (
            &listed(""),
            format!("{P}ip link set eth0 master br0\n{P}\n"),
            Some("br0"),
        ),
    ] {
        let text = format!("{before}{after}");
        let host = one(&text);
        assert_eq!(host.interfaces["eth0"].master.as_deref(), master, "{text}");
        let bridge = host.interfaces["br0"].bridge.clone().unwrap_or_default();
        assert!(
            master.is_some() || !bridge.members.contains(&"eth0".to_owned()),
            "{text}"
        );
    }
}

#[test]
fn an_interface_goes_down_and_has_another_mtu() {
    for command in [
        "ip link set eth0 down",
        "ip l set dev eth0 down",
        "ifconfig eth0 down",
    ] {
        let host = one(&format!("{}{P}{command}\n{P}\n", listed("")));
        assert_eq!(host.interfaces["eth0"].up, Some(false), "{command}");
    }
    let host = one(&format!(
        "{}{P}ip link set eth0 mtu 9000\n{P}\n",
        listed("")
    ));
    assert_eq!(host.interfaces["eth0"].mtu_bytes, Some(9000));
}

#[test]
fn other_platforms_have_such_commands_as_well() {
    let p = "PS C:\\> ";
    let switch = format!(
        "{p}Get-VMSwitch | fl *\n\nName               : vSwitch1\nSwitchType         : External\n\
         SoftwareRscEnabled : True\n\n{p}Set-VMSwitch -Name vSwitch1 -EnableSoftwareRsc $false\n{p}\n"
    );
    assert_eq!(one(&switch).switches["vSwitch1"].software_rsc, Some(false));
    let adapter = format!(
        "{p}Get-NetAdapterRsc | fl *\n\nName                 : Ethernet 2\nIPv4Enabled          : True\nIPv6Enabled          : True\n\
         IPv4OperationalState : True\nIPv6OperationalState : True\n\n\
         {p}Disable-NetAdapterRsc -Name \"Ethernet 2\" -IPv4\n{p}\n"
    );
    let host = one(&adapter);
    let is_on = |name: &str| host.interfaces["Ethernet 2"].features[name].active;
    assert_eq!((is_on("rsc-ipv4"), is_on("rsc-ipv6")), (false, true));
    let p = "[root@esx1:~] ";
    let path = "/Net/Vmxnet3HwLRO";
    let esxi = format!(
        "{p}esxcfg-advcfg -g {path}\nValue of Vmxnet3HwLRO is 1\n\
         {p}esxcli system settings advanced set -o {path} -i 0\n{p}\n"
    );
    assert_eq!(one(&esxi).settings[path], Setting::Number(0));
}

/// Nothing says that somebody typed what stands behind a sign that begins comments too.
#[test]
fn what_is_recommended_was_not_done() {
    let text = format!(
        "{}\n# ip link set eth0 down\n$ ip link set eth0 down\n",
        listed("")
    );
    assert_eq!(one(&text).interfaces["eth0"].up, Some(true));
}
