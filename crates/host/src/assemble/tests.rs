use serde_json::{Value, json};

use super::*;

fn part(origin: &str, snapshot: Value) -> Part {
    Part {
        origin: origin.to_owned(),
        kind: "test",
        host: None,
        snapshot: serde_json::from_value(snapshot).unwrap(),
    }
}

fn together(snapshots: &[Value]) -> Snapshot {
    let parts = snapshots.iter().zip(["a", "b", "c", "d", "e"]);
    assemble(
        parts
            .map(|(snapshot, origin)| part(origin, snapshot.clone()))
            .collect(),
    )
}

fn eth0(fields: Value) -> Value {
    let mut host = json!({"interfaces": {}});
    host["interfaces"]["eth0"] = fields;
    host
}

fn why(snapshot: &Snapshot) -> Vec<String> {
    let lines = snapshot.unread.iter();
    lines
        .map(|line| format!("{}: {}", line.what, line.why))
        .collect()
}

#[test]
fn what_only_one_tells_is_taken() {
    let host = together(&[
        json!({"name": "hv1", "platform": "linux", "kernel": "6.1.0"}),
        eth0(json!({"mtu_bytes": 1500, "addresses": ["192.0.2.1/24"]})),
        eth0(
            json!({"mtu_bytes": 1500, "driver": {"name": "ixgbe", "bus": "0000:03:00.0"},
            "addresses": ["192.0.2.2/24"]}),
        ),
        json!({"name": "hv1.example.org", "kernel": "6.1.0-25-amd64"}),
    ]);
    assert_eq!(why(&host), [""; 0]);
    assert_eq!(host.schema, SCHEMA);
    assert_eq!(host.name.as_deref(), Some("hv1.example.org"));
    assert_eq!(host.kernel.as_deref(), Some("6.1.0-25-amd64"));
    let interface = &host.interfaces["eth0"];
    assert_eq!(
        (interface.name.as_str(), interface.mtu_bytes),
        ("eth0", Some(1500))
    );
    assert_eq!(interface.kind.as_deref(), Some("physical"));
    assert_eq!(interface.addresses, ["192.0.2.1/24", "192.0.2.2/24"]);
}

#[test]
fn of_settings_that_differ_the_first_is_kept_and_both_are_named() {
    let host = together(&[
        eth0(json!({"mtu_bytes": 1500})),
        eth0(json!({"mtu_bytes": 9000})),
    ]);
    assert_eq!(host.interfaces["eth0"].mtu_bytes, Some(1500));
    let expected = "interfaces eth0 mtu_bytes: a says 1500, b says 9000: what a says is kept; \
                    give only the newer one";
    assert_eq!(why(&host), [expected]);
}

#[test]
fn counters_may_differ() {
    let counters = |count: u64| {
        json!({
            "softnet": {"dropped": count},
            "stack": {
                "counters": {"TcpRetransSegs": count},
                "sysctls": {
                    "kernel.random.uuid": count.to_string(),
                    "net.netfilter.nf_conntrack_count": count.to_string(),
                    "net.ipv4.tcp_rmem": if count == 1 { "1 2" } else { "1\t2" },
                },
            },
            "interfaces": {"eth0": {"statistics": {"rx": count}, "counters": {"rx_bytes": count}}},
        })
    };
    let host = together(&[counters(1), counters(2)]);
    assert_eq!(why(&host), [""; 0]);
    assert_eq!(host.stack.counters["TcpRetransSegs"], 1);
}

#[test]
fn another_host_is_left_out_and_named() {
    let hv1 = json!({"name": "hv1", "platform": "linux"});
    let host = together(&[
        json!({"name": "hv2", "platform": "linux", "cpus": 8}),
        hv1.clone(),
        hv1,
        json!({"platform": "freebsd", "cpus": 2}),
    ]);
    assert_eq!((host.name.as_deref(), host.cpus), (Some("hv1"), None));
    let lines = why(&host);
    assert!(
        lines[0].starts_with("d: two hosts mixed: its platform is FreeBSD"),
        "{lines:?}"
    );
    assert!(
        lines[1].starts_with("a: two hosts mixed: its host name is hv2"),
        "{lines:?}"
    );
}

#[test]
fn a_text_of_which_many_settings_differ_is_left_out() {
    let features = |active: bool, also: &str| {
        let names = (0..10).map(|at| format!("feature-{at}"));
        let mut map: serde_json::Map<String, Value> = names
            .map(|name| (name, json!({"active": active})))
            .collect();
        map.insert(also.to_owned(), json!({"active": true}));
        eth0(json!({"features": map}))
    };
    let host = together(&[features(true, "x"), features(false, "y")]);
    let features = &host.interfaces["eth0"].features;
    assert!(features["feature-0"].active && !features.contains_key("y"));
    assert!(
        why(&host)[0].contains("10 of its settings differ"),
        "{:?}",
        why(&host)
    );
}

#[test]
fn members_have_masters() {
    let host = together(&[
        json!({"interfaces": {"bridge0": {"bridge": {"members": ["ix0", "tap0"]}},
            "tap0": {"kind": "tap", "master": "bridge9"}}}),
        json!({"interfaces": {"ns/blue/br0": {"bridge": {"members": ["v0"]}}},
            "ovs": {"bridges": {"br-int": {"ports": {"br-int": {}, "tap1": {}, "patch": {}}}}}}),
        json!({"interfaces": {"tap1": {"driver": {"name": "tun", "bus": "tap"}}, "br-int": {}}}),
    ]);
    let master = |key: &str| host.interfaces[key].master.as_deref();
    assert_eq!(master("ix0"), Some("bridge0"));
    assert_eq!(master("tap0"), Some("bridge9"));
    assert_eq!(master("ns/blue/v0"), Some("br0"));
    assert_eq!((master("tap1"), master("br-int")), (Some("br-int"), None));
    assert_eq!(host.interfaces["tap1"].kind.as_deref(), Some("tun"));
    assert!(!host.interfaces.contains_key("patch"));
    assert!(why(&host)[0].starts_with("interfaces tap0 master"));
}

#[test]
fn what_will_be_set_tells_nothing_of_what_is() {
    let mut conf = part(
        "sysctl.conf",
        json!({"stack": {"sysctls": {"net.a": "0", "net.b": "0"}}}),
    );
    conf.kind = "sysctl.conf";
    let now = part("sysctl -a", json!({"stack": {"sysctls": {"net.a": "1"}}}));
    let host = assemble(vec![conf, now]);
    assert_eq!(host.stack.sysctls["net.a"], "1");
    assert!(!host.stack.sysctls.contains_key("net.b"));
    assert_eq!(why(&host), [""; 0]);
}

#[test]
fn what_a_reader_did_not_understand_is_named_with_its_text() {
    let unread = json!({"unread": [{"what": "a: rx-new", "why": "not known"}], "cpus": 1});
    assert_eq!(why(&together(&[unread])), ["a: rx-new: not known"]);
}

#[test]
fn packet_sockets_have_names() {
    let sockets = |names: &[&str]| -> Value {
        let all = names.iter().map(|name| json!({"interface": name}));
        json!({"packet_sockets": all.collect::<Vec<_>>()})
    };
    let host = together(&[
        json!({"stack": sockets(&["if2", "if3", "if4", "br0"]),
            "namespaces": {"blue": sockets(&["if2"])}}),
        json!({"interfaces": {"eth0": {"index": 2}, "ns/blue/v0": {"index": 2},
            "eth4": {"index": 4}, "eth5": {"index": 4}}}),
    ]);
    let names = |stack: &crate::model::Stack| -> Vec<String> {
        let sockets = stack.packet_sockets.iter().flatten();
        sockets
            .filter_map(|socket| socket.interface.clone())
            .collect()
    };
    assert_eq!(names(&host.stack), ["eth0", "if3", "if4", "br0"]);
    assert_eq!(names(&host.namespaces["blue"]), ["v0"]);
}

/// A process holds a device of this namespace, and one of a namespace that nothing else speaks of.
#[test]
fn a_device_that_is_only_held_is_none_of_this_namespace() {
    let held = json!({"tun": {"owners": [{"pid": 7, "process": "qemu"}]}});
    let host = together(&[
        json!({"interfaces": {"tap0": {"mtu_bytes": 1500}}}),
        json!({"interfaces": {"tap0": held, "tap9": held}}),
    ]);
    assert_eq!(host.interfaces.keys().collect::<Vec<_>>(), ["tap0"]);
    let tun = host.interfaces["tap0"].tun.as_ref().unwrap();
    assert_eq!(tun.owners.as_ref().unwrap()[0].process, "qemu");
}
