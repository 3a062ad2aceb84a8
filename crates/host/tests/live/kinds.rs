//! Interfaces of every kind that this kernel can make, compared with ethtool(8) and ip(8).

use crate::compare;
use crate::room::{must, namespace, run};
use coalescope_host::live::{Options, collect};
use coalescope_needs as needs;

/// Kinds that stand alone; `NAME` is the interface's.
const ALONE: [&str; 35] = [
    "NAME type dummy",
    "NAME type ifb",
    "NAME type bridge vlan_filtering 1",
    "NAME type bridge stp_state 1",
    "NAME type bond mode 802.3ad",
    "NAME type bond mode balance-rr",
    "NAME type wireguard",
    "NAME type vrf table 10",
    "NAME type vxlan id 42 local 10.9.0.1 remote 10.9.0.2 dstport 4789",
    "NAME type vxlan id 43 group 239.1.1.1 dev base dstport 8472 udpcsum",
    "NAME type vxlan id 44 local fd09::1 remote fd09::2 dstport 4790",
    "NAME type vxlan id 45 local fd09::1 remote fd09::3 dstport 4790 udp6zerocsumtx",
    "NAME type vxlan id 46 local 10.9.0.1 dstport 4791",
    "NAME type vxlan external dstport 4792",
    "NAME type geneve id 7 remote 10.9.0.2",
    "NAME type geneve id 8 remote fd09::2 udp6zerocsumtx",
    "NAME type geneve external dstport 6082",
    "NAME type gre local 10.9.0.1 remote 10.9.0.2 key 7 seq csum",
    "NAME type gretap local 10.9.0.1 remote 10.9.0.3",
    "NAME type gretap local 10.9.0.1 remote 10.9.0.4 dev base",
    "NAME type gretap external",
    "NAME type erspan local 10.9.0.1 remote 10.9.0.5 seq key 10 erspan_ver 1 erspan 3",
    "NAME type ipip local 10.9.0.1 remote 10.9.0.2",
    "NAME type sit local 10.9.0.1 remote 10.9.0.2",
    "NAME type ip6tnl mode ip6ip6 local fd09::1 remote fd09::2",
    "NAME type ip6gre local fd09::1 remote fd09::2 key 9",
    "NAME type ip6gretap local fd09::1 remote fd09::3",
    "NAME type vti local 10.9.0.1 remote 10.9.0.9 key 5",
    "NAME type vti6 local fd09::1 remote fd09::9 key 6",
    "NAME type xfrm dev base if_id 3",
    "NAME type bareudp dstport 6635 ethertype ip",
    "NAME type nlmon",
    "NAME type netkit",
    "NAME type veth peer name NAMEp",
    "NAME type macsec",
];

/// Kinds on top of another interface.
const ABOVE: [&str; 8] = [
    "link base name NAME type macvlan mode bridge",
    "link base name NAME type macvlan mode private",
    "link base name NAME type macvtap mode vepa",
    "link base name NAME type ipvlan mode l3",
    "link base name NAME type vlan id 5",
    "link base name NAME type vlan id 6 protocol 802.1ad",
    "link base name NAME type macsec",
    "link other name NAME type ipvlan mode l2",
];

#[test]
fn every_kind_is_as_ethtool_and_ip_say() {
    let test = "every_kind_is_as_ethtool_and_ip_say";
    let Some(namespace) = namespace(test) else {
        return;
    };
    if needs::programs(test, &["ip", "ethtool"]) {
        namespace.enter(compare_kinds).expect("entered");
    }
}

/// Also run in user-mode Linux, whose kernel has more kinds.
pub(crate) fn compare_kinds() {
    // None of their own accord: a link-local address would come between our look and that of ip(8).
    let generate = "/proc/sys/net/ipv6/conf/default/addr_gen_mode";
    if let Err(error) = std::fs::write(generate, "1") {
        eprintln!("not here: {generate}: {error}");
    }
    must("ip link add base type veth peer name other");
    let (mut made, mut missing) = (0, Vec::new());
    let (alone, above) = (ALONE.iter(), ABOVE.iter());
    let lines = alone.map(|line| format!("ip link add {line}"));
    let lines = lines.chain(above.map(|line| format!("ip link add {line}")));
    for (number, line) in lines.enumerate() {
        let line = line.replace("NAME", &format!("k{number}"));
        match run(&line) {
            Ok(_) => made += 1,
            Err(_) => missing.push(line),
        }
    }
    for line in [
        "ip tuntap add t0 mode tap vnet_hdr",
        "ip tuntap add t1 mode tun",
        "ip link add b0 type bridge",
        "ip link add port type veth peer name cable",
        "ip link set cable up",
        "ip link set port master b0 up",
        "ip link set port type bridge_slave hairpin on",
        "ip link set b0 up",
        "ip link set base up alias uplink",
        "ip link set base gso_max_size 4096 gso_max_segs 3",
        "ip link set base gro_max_size 9000",
        "ip addr add 10.9.0.1/24 dev base",
        "ip addr add fd09::1/64 dev base nodad",
        "ip route add default via 10.9.0.254",
        "ethtool -K base gro on tx-tcp-segmentation off",
        "ethtool -K other rx off",
    ] {
        if let Err(error) = run(line) {
            eprintln!("not here: {error}");
        }
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    let before = compare::json("ip -j -d -s addr show");
    let snapshot = collect(&Options::default());
    compare::counters(&before, &snapshot);
    let compared = compare::all(&snapshot);
    println!("{compared} interfaces compared; {made} kinds made, not here: {missing:?}");
    meanings(&snapshot);
}

/// What ip(8) and ethtool(8) do not print.
fn meanings(snapshot: &coalescope_host::model::Snapshot) {
    let base = &snapshot.interfaces["base"];
    assert_eq!(base.default_route, Some(true));
    assert_eq!(base.description.as_deref(), Some("uplink"));
    assert_eq!(snapshot.interfaces["lo"].default_route, Some(false));
    let port = snapshot.interfaces["port"].bridge_port.as_ref();
    let port = port.expect("a port");
    assert_eq!(port.state.as_deref(), Some("forwarding"));
    assert_eq!(port.hairpin, Some(true));
    for interface in snapshot.interfaces.values() {
        let tunnel = interface.tunnel.as_ref();
        let bound = tunnel.is_some_and(|tunnel| tunnel.local.is_some() || tunnel.remote.is_some());
        if let (true, Some(tunnel)) = (bound, tunnel) {
            assert_eq!(tunnel.underlay, ["base"], "{}", interface.name);
        }
    }
    let napi = base.napi.as_ref().expect("settings of polling");
    assert_eq!(napi.gro_flush_timeout_ns, Some(0));
    assert_eq!(napi.threaded, Some(false));
}
