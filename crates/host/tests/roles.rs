//! Roles from saved text: whatever names the relation of a port to its master is used, and a port whose
//! master is not known is no endpoint.

use coalescope_host::roles::{RoleName, roles, undecided};
use coalescope_host::sources::{Limits, read_bytes};

/// The roles of one interface of a host whose commands and outputs these are.
fn roles_of(interface: &str, outputs: &[(&str, &str)]) -> Vec<RoleName> {
    let snapshot = host(outputs);
    let all = roles(&snapshot);
    let roles = all.get(interface).map(Vec::as_slice).unwrap_or_default();
    roles.iter().map(|role| role.role).collect()
}

fn host(outputs: &[(&str, &str)]) -> coalescope_host::model::Snapshot {
    let text: String = outputs
        .iter()
        .map(|(command, output)| format!("root@hv1:~# {command}\n{output}"))
        .collect();
    let mut hosts = read_bytes("given", text.as_bytes(), &Limits::default()).expect("understood");
    assert_eq!(hosts.len(), 1);
    hosts.remove(0).snapshot
}

const NO_FORWARDING: (&str, &str) = ("sysctl net.ipv4.ip_forward", "net.ipv4.ip_forward = 0\n");

const PLAIN_PORT: (&str, &str) = (
    "ip link",
    "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000\n    \
     link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00\n\
     2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq master sw0 state UP mode DEFAULT group default qlen 1000\n    \
     link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n\
     3: sw0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT group default qlen 1000\n    \
     link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n",
);

/// `ip -d link show eth0` of a port, with the line that says what its master is.
fn detailed(flags: &str, master: &str, line: &str) -> String {
    format!(
        "2: eth0: <BROADCAST,MULTICAST,{flags}UP,LOWER_UP> mtu 1500 qdisc mq master {master} state UP mode DEFAULT group default qlen 1000\n    \
         link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 1 minmtu 68 maxmtu 9000\n    {line}\n"
    )
}

#[test]
fn a_port_whose_master_is_not_known_is_undecided_and_no_endpoint() {
    assert_eq!(roles_of("eth0", &[PLAIN_PORT, NO_FORWARDING]), []);
    let host = host(&[PLAIN_PORT, NO_FORWARDING]);
    assert_eq!(undecided(&host), [("eth0".to_owned(), "sw0".to_owned())]);
}

#[test]
fn the_line_of_a_port_says_what_its_master_is() {
    let kinds = [
        (
            "",
            "bridge_slave state forwarding priority 32 cost 4 hairpin off",
            RoleName::BridgePort,
        ),
        (
            "SLAVE,",
            "bond_slave state ACTIVE mii_status UP link_failure_count 0",
            RoleName::BondMember,
        ),
        (
            "",
            "team_slave addrgenmode eui64 numtxqueues 8 numrxqueues 8",
            RoleName::BondMember,
        ),
        (
            "",
            "openvswitch_slave addrgenmode eui64 numtxqueues 8 numrxqueues 8",
            RoleName::BridgePort,
        ),
    ];
    for (flags, line, role) in kinds {
        let text = detailed(flags, "sw0", line);
        let outputs = [("ip -d link show eth0", text.as_str()), NO_FORWARDING];
        assert_eq!(roles_of("eth0", &outputs), [role], "{line}");
        assert_eq!(undecided(&host(&outputs)), [], "{line}");
    }
}

#[test]
fn flags_say_bond_without_details() {
    let text = detailed("SLAVE,", "bond0", "");
    let outputs = [("ip link show eth0", text.as_str()), NO_FORWARDING];
    assert_eq!(roles_of("eth0", &outputs), [RoleName::BondMember]);
}

#[test]
fn a_port_of_open_vswitch_is_a_bridge_port_by_either_text() {
    let link = detailed("", "ovs-system", "");
    let show = "0c1e2a34-5b6c-4d7e-8f90-a1b2c3d4e5f6\n    Bridge br-ex\n        Port eth0\n            \
                Interface eth0\n        Port br-ex\n            Interface br-ex\n                \
                type: internal\n    ovs_version: \"3.1.0\"\n";
    let ports = [
        vec![("ip link show eth0", link.as_str()), NO_FORWARDING],
        vec![
            ("ip link show eth0", link.as_str()),
            ("ovs-vsctl show", show),
            NO_FORWARDING,
        ],
    ];
    for outputs in ports {
        assert_eq!(roles_of("eth0", &outputs), [RoleName::BridgePort]);
    }
}

#[test]
fn other_texts_say_what_a_master_is() {
    let brctl =
        "bridge name\tbridge id\t\tSTP enabled\tinterfaces\nsw0\t\t8000.525400000001\tno\t\teth0\n";
    let driver = "driver: bridge\nversion: 2.3\nfirmware-version: N/A\nbus-info: N/A\n";
    let bonding = "Ethernet Channel Bonding Driver: v3.7.1\n\nBonding Mode: load balancing (round-robin)\n\
                   MII Status: up\n\nSlave Interface: eth0\nMII Status: up\nSpeed: 10000 Mbps\n";
    let others = [
        ("brctl show", brctl, RoleName::BridgePort),
        ("ethtool -i sw0", driver, RoleName::BridgePort),
        ("cat /proc/net/bonding/sw0", bonding, RoleName::BondMember),
    ];
    for (command, text, role) in others {
        let outputs = [PLAIN_PORT, (command, text), NO_FORWARDING];
        assert_eq!(roles_of("eth0", &outputs), [role], "{command}");
    }
}

/// Counters and features name no master: nothing can be said of the place.
#[test]
fn without_a_list_of_links_nothing_is_an_endpoint() {
    let counters = "Inter-|   Receive                                                |  Transmit\n \
         face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n    \
         lo: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n  eth0: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n";
    let outputs = [("cat /proc/net/dev", counters), NO_FORWARDING];
    assert_eq!(roles_of("lo", &outputs), []);
    assert_eq!(roles_of("eth0", &outputs), []);
}

/// Before Linux 4.17 the mode of a TUN or TAP was not printed.
#[test]
fn a_tap_without_its_mode_is_known_by_its_driver_or_its_bridge() {
    let links = "2: em1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq master br0 state UP mode DEFAULT qlen 1000\n    \
         link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 1\n    bridge_slave state forwarding addrgenmode eui64\n\
         3: br0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT qlen 1000\n    \
         link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0\n    bridge forward_delay 1500 addrgenmode eui64\n\
         4: vnet0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc pfifo_fast master br0 state UNKNOWN mode DEFAULT qlen 1000\n    \
         link/ether fe:54:00:00:00:02 brd ff:ff:ff:ff:ff:ff promiscuity 1\n    tun\n    bridge_slave state forwarding addrgenmode eui64\n";
    let outputs = [("ip -d link", links), NO_FORWARDING];
    assert!(roles_of("vnet0", &outputs).contains(&RoleName::GuestPort));
    assert!(roles_of("em1", &outputs).contains(&RoleName::GuestUplink));
}

/// A VRF chooses the routes; what its ports receive ends here all the same, or is forwarded.
#[test]
fn a_port_of_a_vrf_keeps_its_frames() {
    let text = detailed("", "blue", "vrf_slave table 10 addrgenmode eui64");
    let outputs = [("ip -d link", text.as_str()), NO_FORWARDING];
    assert_eq!(roles_of("eth0", &outputs), [RoleName::Endpoint]);
}

/// ifconfig(8) names no master; two of its flags say that there is one.
#[test]
fn flags_of_ifconfig_say_bond() {
    let text = "bond0: flags=5187<UP,BROADCAST,RUNNING,MASTER,MULTICAST>  mtu 1500\n        \
         inet 192.0.2.1  netmask 255.255.255.0  broadcast 192.0.2.255\n        \
         ether 52:54:00:00:00:01  txqueuelen 1000  (Ethernet)\n\n\
         eth0: flags=6211<UP,BROADCAST,RUNNING,SLAVE,MULTICAST>  mtu 1500\n        \
         ether 52:54:00:00:00:01  txqueuelen 1000  (Ethernet)\n\n\
         eth1: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 1500\n        \
         ether 52:54:00:00:00:02  txqueuelen 1000  (Ethernet)\n";
    let outputs = [("ifconfig -a", text), NO_FORWARDING];
    assert_eq!(roles_of("bond0", &outputs), [RoleName::Endpoint]);
    assert_eq!(roles_of("eth0", &outputs), [RoleName::BondMember]);
    assert_eq!(roles_of("eth1", &outputs), []);
}

/// Managers name masters, or say at least that there is one.
#[test]
fn managers_of_the_network_tell_roles() {
    let list = "IDX LINK TYPE     OPERATIONAL SETUP     \n  1 lo   loopback carrier     unmanaged \n  \
         2 eth0 ether    enslaved    configured\n  3 eth1 ether    routable    configured\n";
    let outputs = [("networkctl list", list), NO_FORWARDING];
    assert_eq!(roles_of("eth0", &outputs), []);
    assert_eq!(roles_of("eth1", &outputs), [RoleName::Endpoint]);
    let open = undecided(&host(&outputs));
    assert_eq!(open.len(), 1, "{open:?}");

    let status = "\u{25cf} 2: eth0\n          Link File: n/a\n               Type: ether\n             \
         Master: br0\n\u{25cf} 3: br0\n          Link File: n/a\n               Type: bridge\n";
    let outputs = [("networkctl status -a", status), NO_FORWARDING];
    assert_eq!(roles_of("eth0", &outputs), [RoleName::BridgePort]);

    let shown = "GENERAL.DEVICE:    bond0\nGENERAL.TYPE:      bond\nBOND.SLAVES:       eth0 eth1\n\n\
         GENERAL.DEVICE:    eth0\nGENERAL.TYPE:      ethernet\n";
    let outputs = [("nmcli -f all device show", shown), NO_FORWARDING];
    assert_eq!(roles_of("eth0", &outputs), [RoleName::BondMember]);
}

const VXLAN: &str = "2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP mode DEFAULT qlen 1000\n    \
     link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 addrgenmode eui64\n    \
     inet 192.0.2.1/24 scope global eth0\n\
     3: vx0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UNKNOWN mode DEFAULT qlen 1000\n    \
     link/ether 52:54:00:00:00:02 brd ff:ff:ff:ff:ff:ff promiscuity 0\n    \
     vxlan id 5 remote 198.51.100.9 srcport 0 0 dstport 4789 ttl auto ageing 300 udpcsum addrgenmode eui64\n";

/// The same way whatever the text: a route, a network, the only default route.
#[test]
fn a_route_or_an_address_tells_the_underlay() {
    let underlay =
        |outputs: &[(&str, &str)]| roles_of("eth0", outputs).contains(&RoleName::TunnelUnderlay);
    let links = ("ip -d addr", VXLAN);
    assert!(!underlay(&[links]));
    assert!(underlay(&[
        links,
        (
            "ip route",
            "default via 192.0.2.254 dev eth0 proto static\n"
        )
    ]));
    let asked = "198.51.100.9 via 192.0.2.254 dev eth0 src 192.0.2.1 uid 0\n    cache\n";
    assert!(underlay(&[links, ("ip route get 198.51.100.9", asked)]));
    let bound = VXLAN.replace(" remote 198.51.100.9", " local 192.0.2.1");
    assert!(underlay(&[("ip -d addr", &bound)]));
    let near = VXLAN.replace(" remote 198.51.100.9", " remote 192.0.2.9");
    assert!(underlay(&[("ip -d addr", &near)]));
    let elsewhere = near.replace("vx0: <", "vx0@if2: <").replace(
        "promiscuity 0\n    vxlan",
        "link-netnsid 0 promiscuity 0\n    vxlan",
    );
    assert!(!underlay(&[("ip -d addr", &elsewhere)]));
}

/// Guests at one bridge, the uplink at the other: patch ports join them. A tunnel of Open vSwitch
/// leads to where its ports say.
#[test]
fn patch_ports_join_bridges_of_open_vswitch() {
    let shown = "5f2a0b8e-0000-4000-8000-000000000001\n    Bridge br-ex\n        Port eth1\n            Interface eth1\n        \
         Port patch-int\n            Interface patch-int\n                type: patch\n                options: {peer=patch-ex}\n        \
         Port br-ex\n            Interface br-ex\n                type: internal\n    Bridge br-int\n        Port tap1\n            Interface tap1\n        \
         Port patch-ex\n            Interface patch-ex\n                type: patch\n                options: {peer=patch-int}\n        \
         Port br-int\n            Interface br-int\n                type: internal\n    ovs_version: \"2.17.9\"\n";
    let drivers = "driver: tun\nversion: 1.6\nbus-info: tap\n";
    let nic = "driver: ixgbe\nversion: 5.1\nbus-info: 0000:03:00.0\n";
    let outputs = [
        ("ovs-vsctl show", shown),
        ("ethtool -i tap1", drivers),
        ("ethtool -i eth1", nic),
        NO_FORWARDING,
    ];
    let roles = roles_of("eth1", &outputs);
    assert_eq!(roles, [RoleName::BridgePort, RoleName::GuestUplink]);
    let apart = shown
        .replace("options: {peer=patch-ex}", "options: {}")
        .replace("options: {peer=patch-int}", "options: {}");
    let outputs = [
        ("ovs-vsctl show", apart.as_str()),
        outputs[1],
        outputs[2],
        NO_FORWARDING,
    ];
    assert_eq!(roles_of("eth1", &outputs), [RoleName::BridgePort]);
}

/// The NICs of ESXi are there for its switches; its own interfaces are ends.
#[test]
fn a_nic_of_esxi_is_no_endpoint() {
    let nics = "Name    PCI          Driver      Link Speed      Duplex MAC Address       MTU    Description\n\
         vmnic0  0000:18:00.0 i40en       Up   10000Mbps  Full   3c:fd:fe:00:00:01 1500   Intel X710\n";
    assert_eq!(roles_of("vmnic0", &[("esxcfg-nics -l", nics)]), []);
}

/// Two interfaces that could route to each other.
const TWO: (&str, &str) = (
    "ip addr",
    "2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000\n    \
     link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n    \
     inet 192.0.2.1/24 brd 192.0.2.255 scope global eth0\n       valid_lft forever preferred_lft forever\n\
     3: eth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000\n    \
     link/ether 52:54:00:00:00:02 brd ff:ff:ff:ff:ff:ff\n    \
     inet 198.51.100.1/24 brd 198.51.100.255 scope global eth1\n       valid_lft forever preferred_lft forever\n",
);

/// Whether eth0 forwards, by each sysctl's value.
#[test]
fn who_forwards_is_asked_of_the_interface_that_packets_come_in_at() {
    let cases: [(&[(&str, u8)], bool); 9] = [
        (&[("ipv4.ip_forward", 1)], true),
        (&[("ipv4.ip_forward", 0)], false),
        // As the kernel has it where `ip_forward` was set first, and the interface's own setting after.
        (
            &[("ipv4.ip_forward", 1), ("ipv4.conf.eth0.forwarding", 0)],
            false,
        ),
        (
            &[("ipv4.ip_forward", 0), ("ipv4.conf.eth0.forwarding", 1)],
            true,
        ),
        (
            &[("ipv4.ip_forward", 1), ("ipv4.conf.eth1.forwarding", 0)],
            true,
        ),
        (
            &[
                ("ipv4.ip_forward", 1),
                ("ipv4.conf.eth0.forwarding", 0),
                ("ipv6.conf.all.forwarding", 1),
            ],
            true,
        ),
        (
            &[("ipv4.ip_forward", 0), ("ipv6.conf.eth0.forwarding", 1)],
            false,
        ),
        (
            &[
                ("ipv4.ip_forward", 0),
                ("ipv6.conf.eth0.force_forwarding", 1),
            ],
            true,
        ),
        (
            &[
                ("ipv4.ip_forward", 0),
                ("ipv6.conf.eth1.force_forwarding", 1),
            ],
            false,
        ),
    ];
    for (settings, forwards) in cases {
        let lines: String = settings
            .iter()
            .map(|(name, value)| format!("net.{name} = {value}\n"))
            .collect();
        let roles = roles_of("eth0", &[TWO, ("sysctl -a", &lines)]);
        assert_eq!(
            roles.contains(&RoleName::Forwarder),
            forwards,
            "{settings:?}: {roles:?}"
        );
    }
}

/// `tc filter show dev eth0 HOOK` with one filter, as tc of iproute2 6.1 prints it.
fn filtered(hook: &str, action: &str) -> [(&'static str, String); 1] {
    let output = format!(
        "filter protocol all pref 49152 matchall chain 0 \n\
         filter protocol all pref 49152 matchall chain 0 handle 0x1 \n  not_in_hw\n\
         \taction order 1: {action}\n \tindex 1 ref 1 bind 1\n\n"
    );
    let command = match hook {
        "ingress" => "tc filter show dev eth0 ingress",
        "parent" => "tc -s filter show dev eth0 parent ffff:",
        _ => "tc filter show dev eth0 egress",
    };
    [(command, output)]
}

/// A mirror sends a copy, and from an ifb or an ingress frames come back to the stack.
#[test]
fn what_tc_redirects_to_another_interface_is_passed_on() {
    let cases = [
        (
            "ingress",
            "mirred (Egress Redirect to device eth1) stolen",
            true,
        ),
        (
            "parent",
            "mirred (Egress Redirect to device eth1) stolen",
            true,
        ),
        (
            "ingress",
            "mirred (Egress Mirror to device eth1) pipe",
            false,
        ),
        (
            "ingress",
            "mirred (Egress Redirect to device ifb0) stolen",
            false,
        ),
        (
            "ingress",
            "mirred (Ingress Redirect to device eth1) stolen",
            false,
        ),
        (
            "egress",
            "mirred (Egress Redirect to device eth1) stolen",
            false,
        ),
        ("ingress", "gact action drop", false),
    ];
    for (hook, action, is_passed_on) in cases {
        let filters = filtered(hook, action);
        let [(command, output)] = &filters;
        let roles = roles_of("eth0", &[TWO, NO_FORWARDING, (command, output)]);
        let expected = if is_passed_on {
            RoleName::Forwarder
        } else {
            RoleName::Endpoint
        };
        assert_eq!(roles, [expected], "{hook} {action}");
    }
}

/// Both redirects, whatever the order, and whether an interface is an ifb its kind tells.
#[test]
fn each_interface_redirects_by_its_own_filters() {
    let links = "2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP\n    link/ether 52:54:00:00:00:01\n\
        3: eth1: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP\n    link/ether 52:54:00:00:00:02\n\
        4: shape: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP\n    link/ether 52:54:00:00:00:03 promiscuity 0\n    ifb \n";
    let to = |name: &str| {
        format!("\taction order 1: mirred (Egress Redirect to device {name}) stolen\n")
    };
    let head = "filter protocol all pref 49152 matchall chain 0 handle 0x1 \n";
    let (one, two) = (
        format!("{head}{}", to("shape")),
        format!("{head}{}", to("eth0")),
    );
    let outputs = [
        ("ip -d link", links),
        NO_FORWARDING,
        ("tc filter show dev eth0 ingress", one.as_str()),
        ("tc filter show dev eth1 ingress", two.as_str()),
    ];
    assert_eq!(roles_of("eth0", &outputs), [RoleName::Endpoint]);
    assert_eq!(roles_of("eth1", &outputs), [RoleName::Forwarder]);
}

/// A guest behind a TAP is routed to where its stack forwards for some interface, not for those to come.
#[test]
fn what_ends_in_forwarding_need_not_forward() {
    let links = "2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP\n    link/ether 52:54:00:00:00:01\n\
        3: tap0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP\n    link/ether 52:54:00:00:00:02 promiscuity 0\n    tun type tap pi off\n";
    for (name, routes) in [
        ("ipv4.conf.eth0.forwarding", true),
        ("ipv6.conf.all.forwarding", true),
        ("ipv4.conf.default.forwarding", false),
        ("ipv6.conf.default.forwarding", false),
        ("ipv4.conf.all.mc_forwarding", false),
        ("ipv4.conf.eth0.bc_forwarding", false),
    ] {
        let setting = format!("net.ipv4.ip_forward = 0\nnet.{name} = 1\n");
        let roles = roles_of("tap0", &[("ip -d link", links), ("sysctl -a", &setting)]);
        assert_eq!(
            roles.contains(&RoleName::GuestPort),
            routes,
            "{name}: {roles:?}"
        );
    }
}

/// No adapter is listed of it, and nothing is routed to it.
#[test]
fn the_loopback_of_windows_is_no_place_to_route_to() {
    let adapter = "Name                 : Ethernet\nInterfaceDescription : vmxnet3 Ethernet Adapter\nIPv4Enabled          : True\n\
        IPv6Enabled          : True\nIPv4OperationalState : True\nIPv6OperationalState : True\n";
    let of = |other: &str| {
        let stack = format!(
            "\nifIndex InterfaceAlias              AddressFamily NlMtu Forwarding\n\
             ------- --------------              ------------- ----- ----------\n\
             5       Ethernet                    IPv4           1500    Enabled\n{other}\n"
        );
        let text = format!(
            "PS C:\\> Get-NetAdapterRsc | fl\n\n{adapter}\nPS C:\\> Get-NetIPInterface\n{stack}"
        );
        let hosts = read_bytes("given", text.as_bytes(), &Limits::default()).expect("understood");
        let all = roles(&hosts[0].snapshot);
        all["Ethernet"]
            .iter()
            .any(|role| role.role == RoleName::Forwarder)
    };
    assert!(!of(
        "1       Loopback Pseudo-Interface 1 IPv4     4294967295   Disabled"
    ));
    assert!(of(
        "7       Ethernet 2                  IPv4           1500   Disabled"
    ));
}
