//! What somebody typed at a terminal, one command after the other: where each of them ran, and what it changed.

use coalescope_host::model::Snapshot;
use coalescope_host::sources::{Host, Limits, read_bytes};

fn hosts(text: &str) -> Vec<Host> {
    read_bytes("given", text.as_bytes(), &Limits::default()).expect("it is understood")
}

/// The host whose prompt is in the text, or the only one.
fn own(text: &str) -> Snapshot {
    let mut all = hosts(text);
    let at = all
        .iter()
        .position(|host| host.snapshot.name.as_deref() == Some("gw1"));
    all.swap_remove(at.unwrap_or_default()).snapshot
}

fn forwards(text: &str) -> Option<String> {
    own(text).stack.sysctls.get("net.ipv4.ip_forward").cloned()
}

fn lro(text: &str) -> Option<bool> {
    let host = own(text);
    let lro = host
        .interfaces
        .get("eth0")?
        .features
        .get("large-receive-offload")?;
    Some(lro.active)
}

const FEATURES: &str = "root@gw1:~# ethtool -k eth0\nFeatures for eth0:\nrx-checksumming: on\n\
    generic-receive-offload: on\nlarge-receive-offload: LRO\n";

/// `ethtool -K` prints nothing where all went as asked.
#[test]
fn a_change_that_printed_nothing_was_made() {
    for (before, after, expected) in [("on", "off", false), ("off", "on", true)] {
        for command in [
            "ethtool -K eth0 lro AFTER",
            "sudo /usr/sbin/ethtool -K eth0 gro on lro AFTER",
            "ethtool --offload eth0 lro AFTER",
            "ethtool --features eth0 large-receive-offload AFTER && ethtool -K eth1 lro on",
        ] {
            let command = command.replace("AFTER", after);
            let before = FEATURES.replace("LRO", before);
            let text = format!("{before}root@gw1:~# {command}\nroot@gw1:~# \n");
            assert_eq!(lro(&text), Some(expected), "{text}");
        }
    }
}

#[test]
fn a_change_that_failed_or_was_only_recommended_was_not_made() {
    let before = FEATURES.replace("LRO", "on");
    for rest in [
        "root@gw1:~# ethtool -K eth0 lro off\nCannot change large-receive-offload\n",
        "root@gw1:~# ethtool -K eth0 lro off\nnetlink error: Operation not permitted\n",
        "root@gw1:~# ethtool -K eth0 lro off\n-bash: ethtool: command not found\n",
        "root@gw1:~# # ethtool -K eth0 lro off\nroot@gw1:~# \n",
        "root@gw1:~# ssh gw2 ethtool -K eth0 lro off\nroot@gw1:~# \n",
        "# ethtool -K eth0 lro off\n",
        "$ ethtool -K eth0 lro off\n",
    ] {
        let text = format!("{before}{rest}");
        assert_eq!(lro(&text), Some(true), "{text}");
    }
}

const OWN: &str = "root@gw1:~# sysctl net.ipv4.ip_forward\nnet.ipv4.ip_forward = 0\n";
const THERE: &str = "net.ipv4.ip_forward = 1\n";

/// One command on another machine, in a container or in a namespace; or one that prints what is not in force.
#[test]
fn what_ran_elsewhere_is_not_this_hosts() {
    for command in [
        "cd /srv/vpn && docker compose exec vpn sysctl net.ipv4.ip_forward",
        "k -n kube-system exec cilium-x -- sysctl net.ipv4.ip_forward",
        "k3s kubectl -n a exec b -- sysctl net.ipv4.ip_forward",
        "sudo -u adm docker exec vpn sysctl net.ipv4.ip_forward",
        "timeout 5 docker exec vpn sysctl net.ipv4.ip_forward",
        "sshpass -p x ssh -o StrictHostKeyChecking=no gw2 sysctl net.ipv4.ip_forward",
        "ip net e r1 sysctl net.ipv4.ip_forward",
        "ip -all netns exec sysctl net.ipv4.ip_forward",
        "bash -c \"ssh gw2 sysctl net.ipv4.ip_forward\"",
        "echo sysctl net.ipv4.ip_forward | ssh gw2 sh",
        "unshare -n sysctl net.ipv4.ip_forward",
        "plink root@gw2 sysctl net.ipv4.ip_forward",
        "echo \"net.ipv4.ip_forward = 1\"",
        "rg -N ip_forward /etc/sysctl.d",
        "zcat /root/sysctl.conf.gz",
        "sysctl --dry-run -p /root/new.conf",
    ] {
        let text = format!("{OWN}root@gw1:~# {command}\n{THERE}root@gw1:~# \n");
        assert_eq!(forwards(&text).as_deref(), Some("0"), "{text}");
    }
}

/// A shell elsewhere, until it ends or the host's own prompt comes again.
#[test]
fn what_was_typed_in_a_shell_elsewhere_is_not_this_hosts() {
    let typed = |prompt: &str| format!("{prompt}sysctl net.ipv4.ip_forward\n{THERE}");
    for (command, prompt, end) in [
        ("docker exec -it vpn sh", "/ # ", "/ # exit\n"),
        ("docker exec -it vpn sh", "/ # ", ""),
        ("kubectl exec -it -n a b -- sh", "/ # ", "/ # exit\n"),
        (
            "ip netns exec r1 bash",
            "root@gw1:~# ",
            "root@gw1:~# exit\n",
        ),
        (
            "nsenter -t 4242 -n",
            "root@gw1:~# ",
            "root@gw1:~# exit\nlogout\n",
        ),
        ("ssh root@gw2", "# ", "# exit\nConnection to gw2 closed.\n"),
        ("dsh -m gw2 sh", "$ ", "$ exit\n"),
    ] {
        let there = typed(prompt);
        let text = format!("{OWN}root@gw1:~# {command}\n{there}{end}");
        assert_eq!(forwards(&text).as_deref(), Some("0"), "{text}");
        // What comes after that is the host's own.
        let text =
            format!("{text}root@gw1:~# sysctl net.ipv4.ip_forward\nnet.ipv4.ip_forward = 2\n");
        assert_eq!(forwards(&text).as_deref(), Some("2"), "{text}");
    }
}

/// Where no prompt names a host, a login is one below what was typed, and a comment above everything.
#[test]
fn a_login_at_a_bare_prompt_leads_away_until_it_ends() {
    let own = OWN.replace("root@gw1:~# ", "# ");
    let there = format!("# sysctl net.ipv4.ip_forward\n{THERE}");
    for login in ["ssh root@10.1.0.9", "ssh web1", "docker exec -it vpn sh"] {
        let text = format!("{own}# {login}\n{there}# exit\n");
        assert_eq!(forwards(&text).as_deref(), Some("0"), "{text}");
        let text = format!("{text}# sysctl net.ipv4.ip_forward\nnet.ipv4.ip_forward = 2\n");
        assert_eq!(forwards(&text).as_deref(), Some("2"), "{text}");
    }
    let text = format!("# ssh root@10.1.0.9\n{there}");
    assert_eq!(forwards(&text).as_deref(), Some("1"), "{text}");
}

/// A pod by which a node is debugged has the node's network, and its files below /host.
#[test]
fn a_debugged_node_is_seen_from_its_own_root() {
    let text = format!("{OWN}root@gw1:~# chroot /host sysctl net.ipv4.ip_forward\n{THERE}");
    assert_eq!(forwards(&text).as_deref(), Some("1"), "{text}");
    let text = format!("{OWN}root@gw1:~# chroot /srv/old sysctl net.ipv4.ip_forward\n{THERE}");
    assert_eq!(forwards(&text).as_deref(), Some("0"), "{text}");
}

/// A prompt there that names its host is of that host.
#[test]
fn who_logs_in_elsewhere_is_at_the_host_that_the_prompt_names() {
    for command in [
        "ssh root@gw2",
        "docker exec -it vpn bash",
        "kubectl exec -it b -- bash",
    ] {
        let text = format!(
            "{OWN}root@gw1:~# {command}\nroot@gw2:~# sysctl net.ipv4.ip_forward\n{THERE}root@gw2:~# exit\n\
             root@gw1:~# sysctl -n net.ipv6.conf.all.forwarding\n0\n"
        );
        let all = hosts(&text).into_iter();
        let all = all.map(|host| {
            let forwards = host
                .snapshot
                .stack
                .sysctls
                .get("net.ipv4.ip_forward")
                .cloned();
            (
                host.snapshot.name.unwrap_or_default(),
                forwards.unwrap_or_default(),
            )
        });
        let mut all: Vec<_> = all.collect();
        all.sort();
        let expected =
            [("gw1", "0"), ("gw2", "1")].map(|(name, set)| (name.to_owned(), set.to_owned()));
        assert_eq!(all, expected, "{text}");
    }
}

#[test]
fn prompts_of_many_shells_are_known() {
    for prompt in [
        "gw1:~ # ",
        "gw1:/etc/sysctl.d # ",
        "gw1 ~ # ",
        "[10:00:01] root@gw1:~# ",
        "[0.12] root@gw1:~# ",
        "17 root@gw1:~# ",
        "root@gw1 10:00:01 ~# ",
        "➜  ~ ",
        "➜  net git:(main) ✗ ",
        "└─# ",
        "❯ ",
        "root@gw1:~ [1001]# ",
        "#> ",
        "┌──(root㉿gw1)-[~]\n└─# ",
        "╭─root@gw1 ~\n╰─➤ # ",
        "gw1 in ~\n❯ ",
        "\nroot in gw1 in ~/net on main\n❯ ",
        "\n~/net main\n❯ ",
    ] {
        let text = format!(
            "{prompt}ethtool -k eth0 | grep large\nlarge-receive-offload: on\n{prompt}sysctl net.ipv4.ip_forward\n{THERE}"
        );
        assert_eq!(lro(&text), Some(true), "{text}");
        assert_eq!(forwards(&text).as_deref(), Some("1"), "{text}");
        // No line of a prompt is output of the command above.
        let host = own(&text);
        assert_eq!(host.unread, [], "{text}");
    }
}

/// watch(1) names the command and the host above what it shows.
#[test]
fn screens_of_watch_are_read() {
    let screen = |command: &str, body: &str| {
        format!("Every 2.0s: {command}      gw1: Sun Nov 29 10:00:00 2026\n\n{body}\n")
    };
    let features = screen("ethtool -k eth0 | grep large", "large-receive-offload: on");
    let text = features + &screen("sysctl net.ipv4.ip_forward", THERE.trim());
    assert_eq!(own(&text).name.as_deref(), Some("gw1"));
    assert_eq!(lro(&text), Some(true));
    assert_eq!(forwards(&text).as_deref(), Some("1"));
}

/// `ip -d link` of iproute2 before 3.18 has a kind alone on a line.
#[test]
fn a_kind_alone_on_its_line_names_no_host() {
    for (one, other) in [("veth", "dummy"), ("openvswitch", "tun"), ("ifb", "veth")] {
        let text = format!(
            "root@gw1:~# ip -d link\n2: a0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP\n    \
             link/ether 52:54:00:00:00:02 brd ff:ff:ff:ff:ff:ff\n    {one} \n\
             3: b0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP\n    \
             link/ether 52:54:00:00:00:03 brd ff:ff:ff:ff:ff:ff\n    {other} \n\
             4: eth1: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP\n    \
             link/ether 52:54:00:00:00:04 brd ff:ff:ff:ff:ff:ff\n{FEATURES}"
        );
        let names: Vec<_> = hosts(&text)
            .into_iter()
            .filter_map(|host| host.snapshot.name)
            .collect();
        assert_eq!(names, ["gw1"], "{text}");
        assert!(own(&text).interfaces.contains_key("eth1"), "{text}");
    }
}

/// Authors mark the line that they speak of.
#[test]
fn a_marked_line_is_read() {
    for line in [
        "large-receive-offload: on  <--- HERE",
        "large-receive-offload: on [fixed]   <== this one",
        "**large-receive-offload: on**",
        "[b]large-receive-offload: on[/b]",
        "large-receive-offload: on ← LRO",
        "large-receive-offload: **on**",
        "large-receive-offload: `on`",
        "27:large-receive-offload: on",
    ] {
        let text = FEATURES.replace("large-receive-offload: LRO", line);
        assert_eq!(lro(&text), Some(true), "{text}");
    }
}

/// A guest that is off has no interface: nothing is a port of its bridge.
#[test]
fn a_guest_that_is_off_is_no_port() {
    let list = |name: &str| {
        format!(
            "root@gw1:~# virsh domiflist vm1\n Interface   Type     Source   Model    MAC\n\
             -------------------------------------------------------\n \
             {name}           bridge   br0      virtio   52:54:00:11:22:33\n{FEATURES}"
        )
    };
    assert!(own(&list("vnet0")).interfaces.contains_key("vnet0"));
    let off = own(&list("-"));
    assert_eq!(off.interfaces.keys().collect::<Vec<_>>(), ["eth0"]);
}

/// LRO of virtio_net before Linux 5.15 is the hypervisor's, also where nobody pasted `ethtool -i`.
#[test]
fn virtio_is_known_by_its_bus_or_by_its_features() {
    let driver = |text: &str| {
        let host = own(text);
        host.interfaces["eth0"]
            .driver
            .as_ref()
            .map(|driver| driver.name.clone())
    };
    let features = |rx: &str, vlan: &str| {
        format!(
            "root@gw1:~# ethtool -k eth0\nFeatures for eth0:\nrx-checksumming: {rx}\n\
             large-receive-offload: on [fixed]\nrx-vlan-offload: {vlan}\ntx-vlan-offload: {vlan}\n"
        )
    };
    let virtio = Some("virtio_net".to_owned());
    assert_eq!(driver(&features("on [fixed]", "off [fixed]")), virtio);
    assert_eq!(driver(&features("on", "off [fixed]")), None);
    assert_eq!(driver(&features("on [fixed]", "on")), None);
    let link = "root@gw1:~# ip -d link\n2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP\n    \
        link/ether 52:54:00:00:00:02 brd ff:ff:ff:ff:ff:ff promiscuity 0 addrgenmode eui64 parentbus BUS parentdev virtio0\n";
    assert_eq!(driver(&link.replace("BUS", "virtio")), virtio);
    assert_eq!(driver(&link.replace("BUS", "pci")), None);
}

/// A port that left its bridge, a guest that is gone: the later listing counts, in whatever words it was asked for.
#[test]
fn what_a_later_listing_does_not_say_is_over() {
    let link = |index: u32, name: &str, master: &str| {
        format!(
            "{index}: {name}: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc mq {master}state UP\n    \
             link/ether 52:54:00:00:00:0{index} brd ff:ff:ff:ff:ff:ff\n"
        )
    };
    let before = format!(
        "{}{}{}",
        link(2, "eth0", "master br0 "),
        link(3, "vnet0", "master br0 "),
        link(4, "br0", "")
    );
    let after = format!("{}{}", link(2, "eth0", ""), link(4, "br0", ""));
    let shell = |one: &str, other: &str| {
        own(&format!(
            "root@gw1:~# {one}\n{before}root@gw1:~# bridge link\n2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500 master br0 state \
             forwarding priority 32 cost 100 \nroot@gw1:~# {other}\n{after}root@gw1:~# \n"
        ))
    };
    for (one, other) in [
        ("ip -d addr", "ip -d addr"),
        ("ip a", "ip addr show"),
        ("ip -d link", "ip addr"),
        ("ip link show", "/sbin/ip -s link ls"),
    ] {
        let host = shell(one, other);
        assert_eq!(host.interfaces["eth0"].master, None, "{one}, {other}");
        assert!(!host.interfaces.contains_key("vnet0"), "{one}, {other}");
    }
    // One of some, and one without masters.
    for other in [
        "ip link show dev eth0",
        "ip link show type veth",
        "ip -4 addr",
        "ip -6 addr show",
        "ip link show up",
    ] {
        let host = shell("ip link", other);
        assert_eq!(
            host.interfaces["eth0"].master.as_deref(),
            Some("br0"),
            "{other}"
        );
    }
}
