//! A collected snapshot against ethtool(8) and ip(8), value by value.

use crate::room::{must, run};
use coalescope_host::model::{Feature, Interface, Setting, Snapshot};
use serde_json::Value;
use std::collections::BTreeMap;

/// Compares every interface; how many there were.
pub(crate) fn all(snapshot: &Snapshot) -> usize {
    let links = json("ip -j -d -s addr show");
    let links = links.as_array().expect("a list");
    assert_eq!(links.len(), snapshot.interfaces.len(), "as many interfaces");
    for link in links {
        let name = link["ifname"].as_str().expect("a name");
        let interface = snapshot.interfaces.get(name).expect("collected");
        plain(interface, link);
        kind(interface, link);
        tunnel(interface, link);
        addresses(interface, link);
        features(interface);
        tables(interface);
    }
    links.len()
}

pub(crate) fn json(line: &str) -> Value {
    serde_json::from_str(&must(line)).expect("JSON")
}

fn number(link: &Value, key: &str) -> Option<u64> {
    link[key].as_u64()
}

fn text<'a>(link: &'a Value, key: &str) -> Option<&'a str> {
    link[key].as_str()
}

fn plain(interface: &Interface, link: &Value) {
    let name = &interface.name;
    assert_eq!(
        interface.index.map(u64::from),
        number(link, "ifindex"),
        "{name}"
    );
    assert_eq!(interface.mtu_bytes, number(link, "mtu"), "{name}");
    let max_mtu = number(link, "max_mtu").filter(|&mtu| mtu != 0);
    assert_eq!(interface.max_mtu_bytes, max_mtu, "{name}");
    assert_eq!(interface.master.as_deref(), text(link, "master"), "{name}");
    let flags = link["flags"].as_array().expect("flags");
    let has = |flag: &str| flags.iter().any(|one| one == flag);
    assert_eq!(interface.up, Some(has("UP")), "{name}");
    if has("UP") {
        assert_eq!(interface.carrier, Some(has("LOWER_UP")), "{name}");
    }
    if link["link_type"] == "ether" {
        assert_eq!(interface.mac.as_deref(), text(link, "address"), "{name}");
    }
    gso(interface, link);
    beneath(interface, link);
    xdp(interface, link);
}

/// Of limits that this ip(8) is too old for it prints nothing.
fn gso(interface: &Interface, link: &Value) {
    let gso = interface.gso.clone().unwrap_or_default();
    let read = [
        ("gso_max_size", gso.gso_max_size_bytes),
        ("gso_max_segs", gso.gso_max_segs),
        ("gro_max_size", gso.gro_max_size_bytes),
        ("gso_ipv4_max_size", gso.gso_ipv4_max_size_bytes),
        ("gro_ipv4_max_size", gso.gro_ipv4_max_size_bytes),
        ("tso_max_size", gso.tso_max_size_bytes),
        ("tso_max_segs", gso.tso_max_segs),
    ];
    for (key, value) in read {
        if let Some(printed) = number(link, key) {
            assert_eq!(value, Some(printed), "{} {key}", interface.name);
        }
    }
    assert!(gso.gso_max_size_bytes.is_some(), "{}", interface.name);
}

/// Counters are between what was printed before and what is printed now.
pub(crate) fn counters(before: &Value, snapshot: &Snapshot) {
    let now = json("ip -j -d -s addr show");
    let both = before
        .as_array()
        .expect("a list")
        .iter()
        .zip(now.as_array().expect("a list"));
    for (before, now) in both {
        let name = now["ifname"].as_str().expect("a name");
        for (way, counter) in [
            ("rx", "packets"),
            ("rx", "bytes"),
            ("rx", "dropped"),
            ("tx", "packets"),
            ("tx", "bytes"),
            ("tx", "errors"),
        ] {
            let printed = |link: &Value| link["stats64"][way][counter].as_u64().expect("a number");
            let read = snapshot.interfaces[name].counters[&format!("{way}_{counter}")];
            let range = printed(before)..=printed(now);
            assert!(
                range.contains(&read),
                "{name} {way} {counter}: {read}, {range:?}"
            );
        }
    }
}

/// `link` is the name of what is beneath or of the peer; `link_index` that of another namespace.
fn beneath(interface: &Interface, link: &Value) {
    let peer = interface.peer.as_ref();
    let read = peer.map_or(interface.parent.as_deref(), |peer| peer.name.as_deref());
    if let Some(printed) = text(link, "link").filter(|link| *link != "NONE") {
        assert_eq!(read, Some(printed), "{}", interface.name);
    }
    if number(link, "link_netnsid").is_some() || text(link, "link_netns").is_some() {
        let elsewhere = peer.and_then(|peer| peer.namespace.as_ref());
        let noted = interface.properties.get("link-namespace");
        assert!(elsewhere.is_some() || noted.is_some(), "{}", interface.name);
    }
}

fn xdp(interface: &Interface, link: &Value) {
    let printed = link["xdp"]["mode"].as_u64().map(|mode| match mode {
        1 => "native",
        2 => "generic",
        3 => "offload",
        _ => "multi",
    });
    let read = interface.xdp.as_ref();
    assert_eq!(
        read.map(|xdp| xdp.mode.as_str()),
        printed,
        "{}",
        interface.name
    );
    let program = link["xdp"]["prog"]["id"].as_u64();
    let id = read.and_then(|xdp| xdp.program_id).map(u64::from);
    assert_eq!(id, program, "{}", interface.name);
}

fn kind(interface: &Interface, link: &Value) {
    let name = &interface.name;
    let info = &link["linkinfo"];
    let data = &info["info_data"];
    let expected = text(info, "info_kind").unwrap_or(match link["link_type"].as_str() {
        Some("loopback") => "loopback",
        _ => "physical",
    });
    assert_eq!(interface.kind.as_deref(), Some(expected), "{name}");
    if let Some(bridge) = &interface.bridge {
        let filtering = number(data, "vlan_filtering").map(|on| on != 0);
        assert_eq!(bridge.vlan_filtering, filtering, "{name}");
        let stp = number(data, "stp_state").map(|on| on != 0);
        assert_eq!(bridge.stp, stp, "{name}");
    }
    let port = &info["info_slave_data"];
    if info["info_slave_kind"] == "bridge" {
        let read = interface.bridge_port.as_ref().expect("a port");
        assert_eq!(read.state.as_deref(), text(port, "state"), "{name}");
        assert_eq!(read.hairpin, port["hairpin"].as_bool(), "{name}");
    }
    if let Some(bond) = &interface.bond {
        assert_eq!(bond.mode.as_deref(), text(data, "mode"), "{name}");
    }
    if let Some(vlan) = &interface.vlan {
        assert_eq!(vlan.id.map(u64::from), number(data, "id"), "{name}");
        assert_eq!(vlan.protocol.as_deref(), text(data, "protocol"), "{name}");
    }
    if let Some(tun) = &interface.tun {
        assert_eq!(tun.mode.as_deref(), text(data, "type"), "{name}");
        assert_eq!(tun.vnet_header, data["vnet_hdr"].as_bool(), "{name}");
    }
    if matches!(expected, "macvlan" | "macvtap" | "ipvlan") {
        let mode = text(data, "mode").map(|mode| Setting::Text(mode.to_owned()));
        assert_eq!(interface.properties.get("mode"), mode.as_ref(), "{name}");
    }
    for kind in ["bridge", "bond", "vlan", "tun"] {
        let read = [
            interface.bridge.is_some(),
            interface.bond.is_some(),
            interface.vlan.is_some(),
            interface.tun.is_some(),
        ];
        let of = ["bridge", "bond", "vlan", "tun"]
            .iter()
            .position(|one| *one == kind);
        assert_eq!(of.map(|at| read[at]), Some(expected == kind), "{name}");
    }
}

fn tunnel(interface: &Interface, link: &Value) {
    let Some(tunnel) = &interface.tunnel else {
        return;
    };
    let name = &interface.name;
    let data = &link["linkinfo"]["info_data"];
    let any = |address: &&str| !matches!(*address, "any" | "0.0.0.0" | "::");
    let remote = text(data, "remote").or(text(data, "remote6"));
    let remote = remote.or(text(data, "group")).or(text(data, "group6"));
    let local = text(data, "local").or(text(data, "local6"));
    assert_eq!(
        tunnel.remote.as_deref(),
        remote.filter(any),
        "{name} {data}"
    );
    assert_eq!(tunnel.local.as_deref(), local.filter(any), "{name} {data}");
    if let Some(id) = number(data, "id") {
        assert_eq!(tunnel.id.map(u64::from), Some(id), "{name}");
    }
    if let Some(port) = number(data, "port") {
        assert_eq!(tunnel.port.map(u64::from), Some(port), "{name}");
    }
    if let Some(key) = text(data, "okey") {
        let key: std::net::Ipv4Addr = key.parse().expect("a key");
        assert_eq!(tunnel.id, Some(u32::from(key)), "{name}");
    }
    let printed = data["external"].as_bool().unwrap_or(false);
    assert_eq!(tunnel.external, Some(printed), "{name} {data}");
    let over_ipv6 = remote
        .or(local)
        .is_some_and(|address| address.contains(':'));
    let key = if over_ipv6 {
        "udp_zero_csum6_tx"
    } else {
        "udp_csum"
    };
    if let (Some(printed), Some(read)) = (data[key].as_bool(), tunnel.udp_checksum) {
        assert_eq!(read, printed != over_ipv6, "{name} {data}");
    }
}

fn addresses(interface: &Interface, link: &Value) {
    let printed = link["addr_info"].as_array().into_iter().flatten();
    let mut printed: Vec<_> = printed
        .map(|one| {
            let local = one["local"].as_str().expect("an address");
            format!("{local}/{}", one["prefixlen"])
        })
        .collect();
    printed.sort();
    let mut read = interface.addresses.clone();
    read.sort();
    assert_eq!(read, printed, "{}", interface.name);
}

fn features(interface: &Interface) {
    let name = &interface.name;
    let Ok(printed) = run(&format!("ethtool --json -k {name}")) else {
        return assert!(interface.features.is_empty(), "{name}");
    };
    let printed: Value = serde_json::from_str(&printed).expect("JSON");
    let printed = printed[0].as_object().expect("an object").iter();
    let printed: BTreeMap<_, _> = printed
        .filter(|(key, _)| *key != "ifname")
        .map(|(key, value)| (key.clone(), feature(value)))
        .collect();
    assert!(printed.len() > 40, "{name}");
    assert_eq!(interface.features, printed, "{name}");
}

fn feature(value: &Value) -> Feature {
    Feature {
        active: value["active"].as_bool().expect("on or off"),
        wanted: value["requested"].as_bool(),
        fixed: value["fixed"].as_bool(),
    }
}

/// Driver, statistics, rings, channels and coalescing, as far as this ethtool prints them.
fn tables(interface: &Interface) {
    let name = &interface.name;
    let driver = run(&format!("ethtool -i {name}")).unwrap_or_default();
    let field = |key: &str| {
        let line = driver.lines().find_map(|line| line.strip_prefix(key))?;
        Some(line.trim().to_owned()).filter(|value| !value.is_empty() && value != "N/A")
    };
    let read = interface.driver.clone().unwrap_or_default();
    assert_eq!(
        Some(read.name).filter(|name| !name.is_empty()),
        field("driver:"),
        "{name}"
    );
    assert_eq!(read.version, field("version:"), "{name}");
    assert_eq!(read.bus, field("bus-info:"), "{name}");
    statistics(interface);
    channels(interface);
}

fn statistics(interface: &Interface) {
    let printed = run(&format!("ethtool -S {}", interface.name)).unwrap_or_default();
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for line in printed.lines().skip(1) {
        let (name, value) = line.trim().rsplit_once(": ").expect("name and value");
        *sums.entry(name.to_owned()).or_default() += value.parse::<u64>().expect("a number");
    }
    assert_eq!(interface.statistics, sums, "{}", interface.name);
}

fn channels(interface: &Interface) {
    let printed = run(&format!("ethtool -l {}", interface.name)).unwrap_or_default();
    let mut end = "-max";
    for line in printed.lines() {
        if line.starts_with("Current") {
            end = "";
        }
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        if let Ok(value) = value.trim().parse::<u64>() {
            let key = format!("{}{end}", key.to_lowercase());
            let read = interface.channels.get(&key).copied();
            // Of a kind of channel that it does not have, the driver says zero or nothing.
            assert_eq!(read.unwrap_or(0), value, "{} {key}", interface.name);
        }
    }
}
