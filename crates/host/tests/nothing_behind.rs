//! Interfaces behind which is nothing: who forwards packets and has nowhere to pass them on is an endpoint.

use coalescope_host::roles::{RoleName, roles};
use coalescope_host::sources::{Limits, read_bytes};

const LO: &str = "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000\n    \
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00\n    inet 127.0.0.1/8 scope host lo\n    inet6 ::1/128 scope host\n";

const ETH0: &str = "2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000\n    \
    link/ether 52:54:00:00:00:02 brd ff:ff:ff:ff:ff:ff\n    inet 10.0.0.5/24 brd 10.0.0.255 scope global eth0\n";

/// A second interface, with what stands below its first line.
fn second(name: &str, more: &str) -> String {
    format!(
        "3: {name}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000\n    \
         link/ether 52:54:00:00:00:03 brd ff:ff:ff:ff:ff:ff promiscuity 0\n{more}"
    )
}

/// Whether eth0 of a host forwards that has such a second interface.
fn forwards(second: &str, more: &str) -> bool {
    let text = format!(
        "root@h:~# ip -d addr\n{LO}{ETH0}{second}root@h:~# sysctl net.ipv4.ip_forward\nnet.ipv4.ip_forward = 1\n{more}"
    );
    let hosts = read_bytes("given", text.as_bytes(), &Limits::default()).expect("understood");
    assert_eq!(hosts.len(), 1, "{text}");
    let all = roles(&hosts[0].snapshot);
    let own = &all["eth0"];
    own.iter().any(|role| role.role == RoleName::Forwarder)
}

const ADDRESS: &str = "    inet 10.1.0.1/24 brd 10.1.0.255 scope global\n";

const ROUTES: &str = "root@h:~# ip route\ndefault via 10.0.0.1 dev eth0\n10.0.0.0/24 dev eth0 proto kernel scope link src 10.0.0.5\n";

const OLD_ROUTES: &str = "root@h:~# route -n\nKernel IP routing table\n\
    Destination     Gateway         Genmask         Flags Metric Ref    Use Iface\n\
    0.0.0.0         10.0.0.1        0.0.0.0         UG    0      0        0 eth0\n\
    198.51.100.0    0.0.0.0         255.255.255.0   U     0      0        0 eth1\n";

/// `ip addr` without `-d` says no kind: what leads to containers and guests needs no address.
#[test]
fn what_leads_to_containers_needs_no_address() {
    let local = "    inet6 fe80::5054:ff:fe00:3/64 scope link\n";
    let more = format!(
        "{ROUTES}root@h:~# sysctl net.ipv6.conf.all.forwarding\nnet.ipv6.conf.all.forwarding = 0\n"
    );
    for name in [
        "cali0a1b2c3d4e5@if3",
        "tap100i0",
        "vnet0",
        "veth1@if2",
        "ppp0",
        "lxc1",
        "swp1",
        "wlan0",
    ] {
        for own in ["", local] {
            assert!(forwards(&second(name, own), &more), "{name}");
        }
    }
}

/// `ip -4 addr` shows no address of an interface that has those of IPv6 alone.
#[test]
fn addresses_of_one_protocol_are_not_all() {
    let v6 = |value: u8| {
        format!(
            "root@h:~# sysctl net.ipv6.conf.all.forwarding\nnet.ipv6.conf.all.forwarding = {value}\n"
        )
    };
    let forwards_with = |more: &str| {
        let lo = LO.replace("    inet6 ::1/128 scope host\n", "");
        let text = format!(
            "root@h:~# ip -4 -d addr\n{lo}{ETH0}{}root@h:~# sysctl net.ipv4.ip_forward\nnet.ipv4.ip_forward = 1\n{more}",
            second("eth1", "")
        );
        let hosts = read_bytes("given", text.as_bytes(), &Limits::default()).expect("understood");
        let all = roles(&hosts[0].snapshot);
        all["eth0"]
            .iter()
            .any(|role| role.role == RoleName::Forwarder)
    };
    assert!(forwards_with("") && forwards_with(&v6(1)) && !forwards_with(&v6(0)));
}

#[test]
fn what_has_a_network_behind_it_is_routed_to() {
    assert!(!forwards("", ""));
    for name in ["eth1", "br0", "dummyload", "candy0", "wg0"] {
        assert!(forwards(&second(name, ADDRESS), ""), "{name}");
    }
    // Frames of a tunnel or a container need no address of the host.
    for kind in [
        "wireguard",
        "veth",
        "tun type tun pi off",
        "macvlan mode bridge",
    ] {
        let of_kind = second("x0", &format!("    {kind} numtxqueues 1\n"));
        assert!(forwards(&of_kind, ""), "{kind}");
    }
}

#[test]
fn a_dead_end_is_not() {
    for kind in ["dummy", "ifb", "nlmon", "vsockmon", "vcan", "vxcan"] {
        let of_kind = second("x0", &format!("    {kind} numtxqueues 1\n{ADDRESS}"));
        assert!(!forwards(&of_kind, ""), "{kind}");
    }
    for name in [
        "dummy0",
        "ifb1",
        "kube-ipvs0",
        "nodelocaldns",
        "can0",
        "nlmon0",
    ] {
        assert!(!forwards(&second(name, ADDRESS), ""), "{name}");
    }
    let driven = "root@h:~# ethtool -i x0\ndriver: dummy\nversion: 1.0\n";
    assert!(!forwards(&second("x0", ADDRESS), driven));
    let other = driven.replace("dummy", "ixgbe").replace("x0", "dummy0");
    assert!(forwards(&second("dummy0", ADDRESS), &other));
}

#[test]
fn a_nic_without_address_and_route_is_not() {
    let local = "    inet6 fe80::5054:ff:fe00:3/64 scope link\n";
    let zero = "    inet 169.254.0.2/16 brd 169.254.255.255 scope link\n";
    let routed = format!("{ROUTES}10.9.0.0/16 dev eth1 scope link\n");
    let links =
        format!("{ROUTES}169.254.0.0/16 dev eth1 proto kernel scope link src 169.254.0.2\n");
    let off6 = "root@h:~# sysctl net.ipv6.conf.all.forwarding\nnet.ipv6.conf.all.forwarding = 0\n";
    let routes6 = "root@h:~# ip -6 route\nfe80::/64 dev eth1 proto kernel metric 256 pref medium\n";
    let way6 = format!("{routes6}2001:db8::/64 via fe80::1 dev eth1 metric 1024\n");
    for (own, more, expected) in [
        ("", "", false),
        ("", ROUTES, false),
        ("", &routed, true),
        (ADDRESS, ROUTES, true),
        // Routes by addresses of the link are IPv6's: forwarding of IPv6 or its routes have to be known.
        (local, "", true),
        (local, off6, true),
        (local, routes6, true),
        (local, &format!("{ROUTES}{off6}"), false),
        (local, &format!("{ROUTES}{routes6}"), false),
        (local, &format!("{ROUTES}{way6}"), true),
        // Unnumbered, and its route read by an old command.
        ("", OLD_ROUTES, true),
        (zero, "", true),
        (zero, &links, false),
        (zero, &routed, true),
    ] {
        assert_eq!(
            forwards(&second("eth1", own), more),
            expected,
            "{own}{more}"
        );
    }
}

/// Where no address was read at all, nobody knows.
#[test]
fn without_addresses_a_nic_counts() {
    let text = format!("root@h:~# ip -d addr\n{LO}{ETH0}{}", second("eth1", ""));
    let bare: String = text
        .split_inclusive('\n')
        .filter(|line| !line.contains(" inet "))
        .collect();
    let text = format!("{bare}root@h:~# sysctl net.ipv4.ip_forward\nnet.ipv4.ip_forward = 1\n");
    let hosts = read_bytes("given", text.as_bytes(), &Limits::default()).expect("understood");
    let all = roles(&hosts[0].snapshot);
    assert!(
        all["eth0"]
            .iter()
            .any(|role| role.role == RoleName::Forwarder)
    );
}

/// A VLAN's NIC has no address, and forwards what its VLANs do, by old ifconfig(8) as well.
#[test]
fn a_nic_beneath_vlans_forwards() {
    let block = |name: &str, address: &str| {
        format!(
            "{name:10}Link encap:Ethernet  HWaddr 52:54:00:00:00:02\n{address}          UP BROADCAST RUNNING MULTICAST  MTU:1500  Metric:1\n\n"
        )
    };
    let inet = |last: u8| {
        format!("          inet addr:10.0.{last}.1  Bcast:10.0.{last}.255  Mask:255.255.255.0\n")
    };
    let lo = "lo        Link encap:Local Loopback\n          inet addr:127.0.0.1  Mask:255.0.0.0\n          UP LOOPBACK RUNNING  MTU:16436  Metric:1\n\n";
    let all = [
        block("eth0", ""),
        block("eth0.10", &inet(10)),
        block("eth0.20", &inet(20)),
        lo.to_owned(),
    ]
    .concat();
    let text = format!(
        "root@h:~# ifconfig\n{all}root@h:~# sysctl net.ipv4.ip_forward\nnet.ipv4.ip_forward = 1\n"
    );
    let hosts = read_bytes("given", text.as_bytes(), &Limits::default()).expect("understood");
    let all = roles(&hosts[0].snapshot);
    assert!(
        all["eth0"]
            .iter()
            .any(|role| role.role == RoleName::Forwarder),
        "{all:?}"
    );
}

/// A bridge leads nowhere while all of its ports are dead, whatever carrier an older kernel shows at it.
#[test]
fn a_bridge_of_dead_ports_is_not_routed_to() {
    let bridge = second("br0", &format!("    bridge forward_delay 1500\n{ADDRESS}"));
    let port = |name: &str, flags: &str| {
        format!(
            "4: {name}: <{flags}> mtu 1500 qdisc mq master br0 state UNKNOWN group default qlen 1000\n    \
                 link/ether 52:54:00:00:00:04 brd ff:ff:ff:ff:ff:ff promiscuity 1\n    bridge_slave state forwarding\n"
        )
    };
    let alive = "BROADCAST,MULTICAST,UP,LOWER_UP";
    for (port, expected) in [
        (port("eth1", alive), true),
        (port("eth1", "BROADCAST,MULTICAST"), false),
        (port("eth1", "NO-CARRIER,BROADCAST,MULTICAST,UP"), false),
        (port("br0-nic", alive), false),
        (String::new(), true),
    ] {
        assert_eq!(forwards(&format!("{bridge}{port}"), ""), expected, "{port}");
    }
}

#[test]
fn policies_of_ipsec_for_networks_make_a_gateway_of_one_nic() {
    let policy = |to: &str, dir: &str, mode: &str| {
        format!(
            "root@h:~# ip xfrm policy\nsrc 10.2.0.0/24 dst {to} \n\tdir {dir} priority 375423 ptype main \n\t\
                 tmpl src 198.51.100.7 dst 203.0.113.2\n\t\tproto esp reqid 1 mode {mode}\n"
        )
    };
    let of_routes = policy("0.0.0.0/0", "fwd", "tunnel").replace("10.2.0.0/24", "0.0.0.0/0");
    for (text, expected) in [
        (of_routes, false),
        (policy("0.0.0.0/0", "fwd", "tunnel"), true),
        (policy("10.1.0.0/24", "fwd", "tunnel"), true),
        (policy("10.0.0.5/32", "fwd", "tunnel"), false),
        (policy("10.1.0.0/24", "out", "tunnel"), false),
        (policy("10.1.0.0/24", "fwd", "transport"), false),
    ] {
        assert_eq!(forwards("", &text), expected, "{text}");
    }
}
