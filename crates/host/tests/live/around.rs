//! What is around the interfaces: namespaces, processes, the stack, address translation.

use crate::compare;
use crate::room::{must, namespace, run};
use coalescope_host::live::{Options, collect};
use coalescope_host::model::Setting;
use coalescope_needs as needs;
use std::process::{Child, Command, Stdio};

/// A process that is ended with the test.
struct Helper(Child);

impl Helper {
    fn new(line: &str) -> Self {
        let mut words = line.split_whitespace();
        let mut command = Command::new(words.next().expect("a program"));
        let command = command
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        Self(command.spawn().expect("it starts"))
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_stack_is_as_proc_says() {
    let test = "the_stack_is_as_proc_says";
    let Some(namespace) = namespace(test) else {
        return;
    };
    if !needs::programs(test, &["ip"]) {
        return;
    }
    let work = || {
        must("ip link add eth0.5 type veth peer name other");
        let write = |path: &str, value: &str| std::fs::write(path, value).expect("written");
        write("/proc/sys/net/ipv4/ip_forward", "1");
        write("/proc/sys/net/ipv4/conf/eth0.5/forwarding", "0");
        collect(&Options::default())
    };
    let snapshot = namespace.enter(work).expect("entered");
    let sysctl = |name: &str| snapshot.stack.sysctls.get(name).map(String::as_str);
    assert_eq!(sysctl("net.ipv4.ip_forward"), Some("1"));
    assert_eq!(sysctl("net.ipv4.conf.other.forwarding"), Some("1"));
    assert_eq!(sysctl("net.ipv4.conf.eth0/5.forwarding"), Some("0"));
    assert!(sysctl("net.ipv4.tcp_rmem").is_some_and(|value| value.contains('\t')));
    assert!(sysctl("net.ipv4.tcp_congestion_control").is_some());
    assert_eq!(snapshot.stack.counters.get("TcpRetransSegs"), Some(&0));
    assert!(snapshot.stack.counters.contains_key("TcpExtTCPRcvCoalesce"));
    assert!(snapshot.stack.counters.contains_key("IpExtInOctets"));
    assert!(snapshot.softnet.contains_key("time_squeeze"));
    assert_eq!(snapshot.schema, "coalescope/host/1");
    assert_eq!(snapshot.stack.packet_sockets.as_deref(), Some(&[][..]));
    assert!(snapshot.unread.is_empty(), "{:?}", snapshot.unread);
}

#[test]
fn translation_of_addresses_is_found_where_there_are_rules() {
    let test = "translation_of_addresses_is_found_where_there_are_rules";
    let Some(namespace) = namespace(test) else {
        return;
    };
    if !needs::programs(test, &["nft"]) {
        return;
    }
    let nftables = || {
        let nat = collect(&Options::default()).stack.nat.expect("it is read");
        nat.nftables
    };
    let work = || {
        assert_eq!(nftables(), Some(false));
        must("nft add table ip t");
        must("nft add chain ip t post { type nat hook postrouting priority 100 ; }");
        must("nft add chain ip t filter { type filter hook input priority 0 ; }");
        must("nft add rule ip t filter accept");
        assert_eq!(
            nftables(),
            Some(false),
            "a chain without rules translates nothing"
        );
        must("nft add rule ip t post masquerade");
        assert_eq!(nftables(), Some(true));
    };
    namespace.enter(work).expect("entered");
}

/// Waits until this namespace has so many packet sockets, for half a minute at most.
fn await_packet_sockets(wanted: usize) {
    let listed = || std::fs::read_to_string("/proc/thread-self/net/packet").unwrap_or_default();
    for _ in 0..300 {
        if listed().lines().count() > wanted {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

#[test]
fn who_holds_taps_and_packet_sockets_is_found() {
    let test = "who_holds_taps_and_packet_sockets_is_found";
    let Some(namespace) = namespace(test) else {
        return;
    };
    if !needs::programs(test, &["ip", "python3"]) {
        return;
    }
    let work = || {
        must("ip link add base type veth peer name other");
        let script = std::env::temp_dir().join(format!("coalescope-{}.py", std::process::id()));
        std::fs::write(&script, HOLDER).expect("written");
        let helper = Helper::new(&format!("python3 {}", script.display()));
        await_packet_sockets(2);
        let snapshot = collect(&Options::default());
        drop(helper);
        let _ = std::fs::remove_file(script);
        snapshot
    };
    let snapshot = namespace.enter(work).expect("entered");
    let tap = snapshot.interfaces["held"].tun.as_ref().expect("a tap");
    let owners = tap.owners.as_ref().expect("its owners");
    assert_eq!(owners.len(), 1);
    assert!(owners[0].process.starts_with("python3"), "{owners:?}");
    assert_eq!(
        (tap.mode.as_deref(), tap.vnet_header),
        (Some("tap"), Some(true))
    );
    let sockets = snapshot
        .stack
        .packet_sockets
        .as_ref()
        .expect("they are read");
    assert_eq!(sockets.len(), 2, "{sockets:?}");
    let bound = sockets
        .iter()
        .find(|socket| socket.interface.as_deref() == Some("base"));
    let bound = bound.expect("one that is bound");
    assert_eq!(bound.protocol, Some(3));
    assert!(
        bound
            .process
            .as_ref()
            .is_some_and(|process| process.starts_with("python3"))
    );
}

/// Holds a TAP, and two packet sockets.
const HOLDER: &str = "
import fcntl, os, socket, struct, time
tap = os.open('/dev/net/tun', os.O_RDWR)
fcntl.ioctl(tap, 0x400454ca, struct.pack('16sH22x', b'held', 0x5002))
one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
one.bind(('base', 3))
two = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88cc))
time.sleep(30)
";

#[test]
fn other_namespaces_are_looked_into() {
    let test = "other_namespaces_are_looked_into";
    let (Some(one), Some(two)) = (namespace(test), namespace(test)) else {
        return;
    };
    if !needs::programs(test, &["ip", "sleep"]) {
        return;
    }
    let helper = two.enter(|| Helper::new("sleep 60")).expect("entered");
    let pid = helper.0.id();
    one.enter(|| {
        must("ip link add here type veth peer name there");
        must(&format!("ip link set there netns {pid}"));
        must("ip link set here mtu 1400 up");
    })
    .expect("entered");
    let named = format!("pid {pid}");
    let alone = one.enter(|| collect(&Options::default())).expect("entered");
    let peer = alone.interfaces["here"].peer.as_ref().expect("a peer");
    assert_eq!(peer.name.as_deref(), Some("there"));
    assert_eq!(peer.namespace.as_deref(), Some(named.as_str()));
    let all = Options {
        all_netns: true,
        ..Options::default()
    };
    let all = one.enter(|| collect(&all)).expect("entered");
    let there = &all.interfaces[&format!("ns/{named}/there")];
    assert_eq!(there.namespace.as_deref(), Some(named.as_str()));
    let peer = there.peer.as_ref().expect("a peer");
    assert_eq!(peer.name.as_deref(), Some("here"));
    assert_eq!(peer.namespace.as_deref(), Some("host"));
    assert!(there.napi.is_some(), "its /sys is its own");
    assert!(
        all.namespaces[&named]
            .counters
            .contains_key("TcpRetransSegs")
    );
    assert_eq!(all.interfaces["here"].mtu_bytes, Some(1400));
}

#[test]
fn a_namespace_is_looked_into_by_its_path() {
    let test = "a_namespace_is_looked_into_by_its_path";
    let Some(namespace) = namespace(test) else {
        return;
    };
    if !needs::programs(test, &["ip", "ethtool", "sleep"]) {
        return;
    }
    let helper = namespace
        .enter(|| {
            must("ip link add inside type veth peer name other");
            Helper::new("sleep 60")
        })
        .expect("entered");
    let options = Options {
        netns: Some(format!("/proc/{}/ns/net", helper.0.id())),
        ..Options::default()
    };
    let snapshot = collect(&options);
    assert!(
        snapshot.interfaces.contains_key("inside"),
        "the main one, by plain names"
    );
    let compared = namespace
        .enter(|| compare::all(&snapshot))
        .expect("entered");
    assert_eq!(compared, 3);
}

#[test]
fn a_namespace_that_is_not_there_is_named() {
    let options = Options {
        netns: Some("no such namespace".to_owned()),
        ..Options::default()
    };
    let snapshot = collect(&options);
    assert!(snapshot.interfaces.is_empty());
    assert!(snapshot.kernel.is_some());
    let named =
        |unread: &&coalescope_host::model::Unread| unread.what.contains("no such namespace");
    assert_eq!(snapshot.unread.iter().filter(named).count(), 1);
}

#[test]
fn settings_of_polling_are_read() {
    let test = "settings_of_polling_are_read";
    let Some(namespace) = namespace(test) else {
        return;
    };
    if !needs::programs(test, &["ip"]) {
        return;
    }
    let work = || {
        must("ip link add base type veth peer name other");
        must("ip link set base up");
        let write = |file: &str, value: &str| {
            std::fs::write(format!("/sys/class/net/base/{file}"), value).expect("written");
        };
        write("gro_flush_timeout", "20000");
        write("napi_defer_hard_irqs", "3");
        collect(&Options::default())
    };
    let snapshot = namespace.enter(work).expect("entered");
    let napi = snapshot.interfaces["base"].napi.as_ref().expect("read");
    assert_eq!(napi.gro_flush_timeout_ns, Some(20_000));
    assert_eq!(napi.defer_hard_irqs, Some(3));
    assert_eq!(napi.instances.len(), 0, "none differs");
}

#[test]
fn an_xdp_program_is_seen() {
    let test = "an_xdp_program_is_seen";
    let Some(namespace) = namespace(test) else {
        return;
    };
    if !needs::programs(test, &["ip", "llvm-mc"]) {
        return;
    }
    let work = || {
        must("ip link add base type veth peer name other");
        let folder = std::env::temp_dir().join(format!("coalescope-xdp-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let (text, object) = (folder.join("pass.s"), folder.join("pass.o"));
        std::fs::write(&text, PASS).expect("written");
        must(&format!(
            "llvm-mc -triple bpfel -filetype=obj -o {} {}",
            object.display(),
            text.display()
        ));
        let attached = ["xdpgeneric", "xdpdrv"].map(|mode| {
            let load = run(&format!(
                "ip link set base {mode} obj {} sec xdp",
                object.display()
            ));
            if let Err(error) = &load {
                needs::skipped(&format!("{test}, {mode}"), error);
                return None;
            }
            let snapshot = collect(&Options::default());
            compare::all(&snapshot);
            must(&format!("ip link set base {mode} off"));
            snapshot.interfaces["base"].xdp.clone()
        });
        let _ = std::fs::remove_dir_all(folder);
        attached
    };
    let modes = namespace.enter(work).expect("entered");
    let [generic, native] = modes.map(|xdp| xdp.map(|xdp| xdp.mode));
    assert!(matches!(generic.as_deref(), None | Some("generic")));
    assert!(matches!(native.as_deref(), None | Some("native")));
}

/// Lets every frame pass.
const PASS: &str = "
.section xdp,\"ax\",@progbits
.globl pass
.type pass,@function
pass:
r0 = 2
exit
.size pass, .-pass
.section license,\"aw\",@progbits
.asciz \"GPL\"
";

#[test]
fn the_model_is_written_and_read_again() {
    let snapshot = collect(&Options::default());
    let text = serde_json::to_string(&snapshot).expect("written");
    let again: coalescope_host::model::Snapshot = serde_json::from_str(&text).expect("read");
    assert_eq!(again, snapshot);
    let lo = &snapshot.interfaces["lo"];
    assert_eq!(lo.kind.as_deref(), Some("loopback"));
    assert!(matches!(
        lo.properties.get("promiscuity"),
        Some(Setting::Number(_))
    ));
}
