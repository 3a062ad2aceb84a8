//! A host is the same, looked at live and through what `scripts/collect.sh` printed at the same moment: the same
//! findings, roles and gaps. What differs is a defect of a reader or of the script.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use coalescope_lab::uml::Uml;
use coalescope_needs as needs;
use coalescope_netlink::namespace::Namespace;
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{coalescope, stderr};

/// A host to look at.
struct Topology {
    name: &'static str,
    /// What it takes besides ip(8) and ethtool(8).
    programs: &'static [&'static str],
    /// Lines without quotes, which make it.
    lines: &'static [&'static str],
    /// What a process holds meanwhile, in Python.
    holds: Option<&'static str>,
    /// Kernels of small machines have no such interfaces: user-mode Linux has.
    is_rare: bool,
}

/// Two ends of a cable, `eth0` and `far`, up.
const CABLE: [&str; 3] = [
    "ip link add eth0 type veth peer name far",
    "ip link set eth0 up",
    "ip link set far up",
];

const SNIFFER: &str = "
import socket, time
one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
one.bind(('eth0', 3))
two = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x88cc))
time.sleep(600)
";

const TAP: &str = "
import fcntl, os, struct, time
tap = os.open('/dev/net/tun', os.O_RDWR)
fcntl.ioctl(tap, 0x400454ca, struct.pack('16sH22x', b'tap0', 0x5002))
os.system('ip link set tap0 master br0 up')
time.sleep(600)
";

const TOPOLOGIES: [Topology; 20] = [
    Topology {
        name: "an endpoint",
        programs: &[],
        lines: &[
            "ip addr add 10.9.0.1/24 dev eth0",
            "ip route add default via 10.9.0.2",
            "ethtool -K eth0 gro off",
        ],
        holds: None,
        is_rare: false,
    },
    Topology {
        name: "a bridge",
        programs: &[],
        lines: &[
            "ip link add br0 type bridge",
            "ip link set eth0 master br0",
            "ip link set br0 up",
            "ethtool -K eth0 gro on",
        ],
        holds: None,
        is_rare: false,
    },
    Topology {
        name: "a bridge with a guest's TAP",
        programs: &["python3"],
        lines: &[
            "ip link add br0 type bridge",
            "ip link set eth0 master br0",
            "ip link set br0 up",
        ],
        holds: Some(TAP),
        is_rare: false,
    },
    Topology {
        name: "a bond beneath a VLAN",
        programs: &[],
        lines: &[
            "ip link add bond0 type bond mode balance-rr",
            "ip link set eth0 down",
            "ip link set eth0 master bond0",
            "ip link set bond0 up",
            "ip link add link bond0 name bond0.7 type vlan id 7",
            "ip link set bond0.7 up",
            "ip addr add 10.9.0.1/24 dev bond0.7",
        ],
        holds: None,
        is_rare: true,
    },
    Topology {
        name: "a VXLAN",
        programs: &[],
        lines: &[
            "ip addr add 10.9.0.1/24 dev eth0",
            "ip link add vx0 type vxlan id 42 local 10.9.0.1 remote 10.9.0.2 dstport 4789",
            "ip link set vx0 up",
            "ip link add br0 type bridge",
            "ip link set vx0 master br0",
            "ip link set br0 up",
        ],
        holds: None,
        is_rare: false,
    },
    Topology {
        name: "a VXLAN to many, and GRE",
        programs: &[],
        lines: &[
            "ip addr add 10.9.0.1/24 dev eth0",
            "ip link add vx0 type vxlan id 43 group 239.1.1.1 dev eth0 dstport 8472",
            "ip link set vx0 up",
            "ip link add gre9 type gretap local 10.9.0.1 remote 10.9.0.3",
            "ip link set gre9 up",
        ],
        holds: None,
        is_rare: true,
    },
    Topology {
        name: "WireGuard in a router",
        programs: &[],
        lines: &[
            "ip link add wg0 type wireguard",
            "ip link set wg0 up",
            "ip addr add 10.8.0.1/24 dev wg0",
            "ip addr add 10.9.0.1/24 dev eth0",
            "sysctl -qw net.ipv4.ip_forward=1",
        ],
        holds: None,
        is_rare: true,
    },
    Topology {
        name: "guests on macvlan and macvtap",
        programs: &[],
        lines: &[
            "ip link add link eth0 name mv0 type macvlan mode bridge",
            "ip link add link eth0 name mt0 type macvtap mode bridge",
            "ip link set mv0 up",
            "ip link set mt0 up",
        ],
        holds: None,
        is_rare: false,
    },
    Topology {
        name: "a guest in a namespace, routed and translated",
        programs: &["nft"],
        lines: &[
            "ip netns add guest",
            "ip link add port type veth peer name inside netns guest",
            "ip link set port up",
            "ip -n guest link set inside up",
            "ip addr add 10.9.0.1/24 dev eth0",
            "ip addr add 10.7.0.1/24 dev port",
            "sysctl -qw net.ipv4.ip_forward=1",
            "ethtool -K port gro on",
            "ethtool -K eth0 gro on",
            "nft add table ip t",
            "nft add chain ip t post { type nat hook postrouting priority 100 ; }",
            "nft add rule ip t post masquerade",
        ],
        holds: None,
        is_rare: false,
    },
    Topology {
        name: "a filter by length in a router",
        programs: &["nft"],
        lines: &[
            "ip addr add 10.9.0.1/24 dev eth0",
            "ip addr add 10.7.0.1/24 dev far",
            "sysctl -qw net.ipv4.ip_forward=1",
            "ethtool -K eth0 gro on",
            "nft add table inet f",
            "nft add chain inet f pass { type filter hook forward priority 0 ; }",
            "nft add rule inet f pass meta length > 1500 drop",
        ],
        holds: None,
        is_rare: false,
    },
    Topology {
        name: "filters by length that ask for more, or that no packet of TCP meets",
        programs: &["nft"],
        lines: &[
            "ip addr add 10.9.0.1/24 dev eth0",
            "ip addr add 10.7.0.1/24 dev far",
            "sysctl -qw net.ipv4.ip_forward=1",
            "ethtool -K eth0 gro on",
            "nft add table inet f",
            "nft add chain inet f pass { type filter hook forward priority 0 ; }",
            "nft add rule inet f pass ip saddr 203.0.113.7 meta length > 1500 drop",
            "nft add rule inet f pass iifname != eth0 meta length > 1600 drop",
            "nft add rule inet f pass iifname eth0 meta l4proto tcp meta length > 1700 counter drop",
            "nft add rule inet f pass tcp dport 25 meta length > 1800 drop",
            "nft add rule inet f pass meta mark 5 meta length > 1900 drop",
            "nft add rule inet f pass meta length > 2000 limit rate over 10/second drop",
            "nft add rule inet f pass meta l4proto tcp counter accept",
            "nft add rule inet f pass meta length > 2100 drop",
            "nft add chain inet f in { type filter hook input priority 0 ; }",
            "nft add rule inet f in accept",
            "nft add rule inet f in meta length > 2200 drop",
        ],
        holds: None,
        is_rare: false,
    },
    Topology {
        name: "filters by length in sets, maps, other chains, at the way out, and by what is left",
        programs: &["nft"],
        lines: &[
            "ip addr add 10.9.0.1/24 dev eth0",
            "ip addr add 10.7.0.1/24 dev far",
            "sysctl -qw net.ipv4.ip_forward=1",
            "ethtool -K eth0 gro on",
            "nft add table inet f",
            "nft add chain inet f more",
            "nft add rule inet f more meta length > 1600 drop",
            "nft add chain inet f never",
            "nft add rule inet f never meta length > 1700 drop",
            "nft add chain inet f pass { type filter hook forward priority 0 ; }",
            "nft add rule inet f pass meta length { 1801-3000, 3001-65535 } counter drop",
            "nft add rule inet f pass meta length { 1900, 40 } counter drop",
            "nft add rule inet f pass meta length vmap { 0-64 : accept, 2001-65535 : goto more }",
            "nft add rule inet f pass ip length vmap { 0-2100 : accept, 2101-65535 : drop }",
            "nft add rule inet f pass meta l4proto tcp jump more",
            "nft add rule inet f pass oifname far meta length > 2200 drop",
            "nft add chain inet f rest { type filter hook forward priority 1 ; policy drop ; }",
            "nft add rule inet f rest meta length <= 2300 accept",
            "nft add table netdev n",
            "nft add chain netdev n out { type filter hook egress device far priority 0 ; }",
            "nft add rule netdev n out meta length > 2400 drop",
        ],
        holds: None,
        is_rare: false,
    },
    Topology {
        name: "a router that drops what its filter does not accept",
        programs: &["nft"],
        lines: &[
            "ip addr add 10.9.0.1/24 dev eth0",
            "ip addr add 10.7.0.1/24 dev far",
            "sysctl -qw net.ipv4.ip_forward=1",
            "ethtool -K eth0 gro on",
            "nft add table inet f",
            "nft add chain inet f pass { type filter hook forward priority 0 ; policy drop ; }",
            "nft add rule inet f pass ct state established,related accept",
            "nft add rule inet f pass iifname eth0 ip saddr 10.9.0.0/24 accept",
        ],
        holds: None,
        is_rare: false,
    },
    Topology {
        name: "policers",
        programs: &["tc"],
        lines: &[
            "ip addr add 10.9.0.1/24 dev eth0",
            "ip addr add 10.7.0.1/24 dev far",
            "sysctl -qw net.ipv4.ip_forward=1",
            "ethtool -K eth0 gro on",
            "tc qdisc add dev eth0 clsact",
            "tc filter add dev eth0 ingress matchall action police rate 100mbit burst 64k mtu 1500 conform-exceed drop",
            "tc filter add dev eth0 egress matchall action police rate 10mbit burst 64k mtu 64k conform-exceed drop",
            "tc qdisc add dev far ingress",
            "tc filter add dev far ingress matchall action police rate 100mbit burst 64k mtu 2000 conform-exceed drop",
        ],
        holds: None,
        is_rare: true,
    },
    Topology {
        name: "redirects",
        programs: &["tc"],
        lines: &[
            "ip addr add 10.9.0.1/24 dev eth0",
            "tc qdisc add dev eth0 clsact",
            "tc filter add dev eth0 ingress protocol all u32 match u32 0 0 action mirred egress redirect dev far",
            "tc filter add dev eth0 egress protocol all u32 match u32 0 0 action mirred egress mirror dev far",
            "tc qdisc add dev far ingress",
            "tc filter add dev far ingress protocol all u32 match u32 0 0 action mirred egress mirror dev eth0",
        ],
        holds: None,
        is_rare: true,
    },
    Topology {
        name: "an IPVS director",
        programs: &["ipvsadm"],
        lines: &[
            "ip addr add 10.9.0.1/24 dev eth0",
            "sysctl -qw net.ipv4.ip_forward=1",
            "ipvsadm -A -t 10.9.0.1:80 -s rr",
            "ipvsadm -a -t 10.9.0.1:80 -r 10.9.0.2:80 -m",
        ],
        holds: None,
        is_rare: true,
    },
    Topology {
        name: "a sniffer",
        programs: &["python3"],
        lines: &["ip addr add 10.9.0.1/24 dev eth0", "ethtool -K eth0 gro on"],
        holds: Some(SNIFFER),
        is_rare: false,
    },
    Topology {
        name: "Open vSwitch",
        programs: &["ovs-dpctl"],
        lines: &[
            "ovs-dpctl add-dp dp0",
            "ovs-dpctl add-if dp0 eth0",
            "ip link set dp0 up",
        ],
        holds: None,
        is_rare: true,
    },
    Topology {
        name: "polling that is put off, and lists of UDP",
        programs: &[],
        lines: &[
            "ip addr add 10.9.0.1/24 dev eth0",
            "ethtool -K eth0 gro on rx-gro-list on rx-udp-gro-forwarding on",
            "sh -c echo\u{a0}200000>/sys/class/net/eth0/gro_flush_timeout",
            "sh -c echo\u{a0}5>/sys/class/net/eth0/napi_defer_hard_irqs",
        ],
        holds: None,
        is_rare: false,
    },
    Topology {
        name: "sizes",
        programs: &[],
        lines: &[
            "ip addr add 10.9.0.1/24 dev eth0",
            "ip link set eth0 mtu 9000",
            "ip link set eth0 gso_max_size 4096",
            "ip link add br0 type bridge",
            "ip link set far master br0",
            "ip link set br0 up gso_max_size 8192",
        ],
        holds: None,
        is_rare: false,
    },
];

/// Says what was read of rules about a packet's length, which no rule of ours may ask for on the kernel at hand.
const LENGTHS: &str = r#"
- id: lengths-that-were-read
  title: "{% for r in host.length_rules %}{{ r.by }} {{ r.hook }} {{ r.interface }} {{ r.to }} {{ r.longer_than_bytes }} {{ r.up_to_bytes }} {{ r.verdict }} {{ r.protocol }} {{ r.narrow }}; {% endfor %}"
  blame: ask
  platforms: [linux]
  each: host
  when: size(host.length_rules) > 0
  mechanism: It only says what was read.
  evidence: [see above]
  cost: None.
  sources: [this test]
"#;

/// A process that is ended with the test.
struct Held(Child);

impl Held {
    fn new(script: &str) -> Self {
        let mut command = Command::new("python3");
        let quiet = command
            .args(["-c", script])
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let held = Self(quiet.spawn().unwrap());
        std::thread::sleep(Duration::from_secs(2));
        held
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a line; a space that breaks nothing stands for one within a word.
fn run(line: &str) -> Result<(), String> {
    let words: Vec<String> = line
        .split(' ')
        .map(|word| word.replace('\u{a0}', " "))
        .collect();
    let output = Command::new(&words[0]).args(&words[1..]).output();
    let output = output.map_err(|error| format!("{line}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "{line}: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}

impl Topology {
    fn make(&self) -> Result<(), String> {
        // Names of namespaces are this test's own.
        run("mkdir -p /run/netns")?;
        run("mount -t tmpfs none /run/netns")?;
        run("ip link set lo up")?;
        let lines = CABLE.iter().chain(self.lines);
        lines.copied().try_for_each(run)
    }
}

/// What has to be the same.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    findings: BTreeSet<String>,
    roles: BTreeSet<String>,
    gaps: BTreeSet<String>,
}

impl Seen {
    /// Namespaces without a name have none in a bundle.
    fn of(document: &Value) -> Self {
        let text = |value: &Value, field: &str| value[field].as_str().unwrap_or("-").to_owned();
        let is_named = |said: &String| !said.contains("ns/pid ");
        let of = |list: &str| {
            let all = document[list].as_array().unwrap().iter();
            let said = all.map(|one| {
                let fields = ["id", "interface", "switch", "proof", "blame", "title"];
                fields.map(|field| text(one, field)).join(" ")
            });
            said.collect::<Vec<_>>()
        };
        let host = &document["hosts"][0];
        let interfaces = host["interfaces"].as_array().unwrap().iter();
        let roles = interfaces.map(|one| format!("{}: {}", text(one, "name"), one["because"]));
        let missing = host["missing"].as_array().unwrap().iter();
        let findings = of("findings").into_iter().chain(of("left_alone"));
        Self {
            findings: findings.filter(is_named).collect(),
            roles: roles.filter(is_named).collect(),
            gaps: missing.map(ToString::to_string).collect(),
        }
    }
}

fn seen(more: &[&str]) -> Seen {
    let folder = TempDir::new().unwrap();
    let rules = folder.path().join("lengths.yaml");
    std::fs::write(&rules, LENGTHS).unwrap();
    let mut command = coalescope();
    let output = command
        .args(["check", "--format", "json", "--max-memory", "2G", "--rules"])
        .arg(&rules)
        .args(more)
        .output()
        .unwrap();
    let document = serde_json::from_slice(&output.stdout);
    assert!(document.is_ok(), "{more:?}: {}", stderr(&output));
    Seen::of(&document.unwrap())
}

/// How the two differ; nothing if they do not.
fn differs(topology: &Topology) -> Option<String> {
    let held = topology.holds.map(Held::new);
    let live = seen(&["--all-netns"]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/collect.sh");
    let bundle = Command::new("sh").arg(script).output().unwrap();
    drop(held);
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("bundle.txt");
    std::fs::write(&file, &bundle.stdout).unwrap();
    let saved = seen(&["--from", file.to_str().unwrap()]);
    assert!(!live.roles.is_empty(), "{}", topology.name);
    let asks = |line: &&str| line.contains("meta length") || line.contains(" police ");
    let stopped = |found: &String| found.starts_with("lengths-that-were-read ");
    let is_asked = topology.lines.iter().any(asks);
    assert_eq!(
        live.findings.iter().any(stopped),
        is_asked,
        "{}",
        topology.name
    );
    if live == saved {
        return None;
    }
    let lines = |seen: &Seen| -> BTreeSet<String> {
        let all = [&seen.findings, &seen.roles, &seen.gaps];
        all.into_iter().flatten().cloned().collect()
    };
    let (live, saved) = (lines(&live), lines(&saved));
    let only = |these: &BTreeSet<String>, those: &BTreeSet<String>| {
        these
            .difference(those)
            .cloned()
            .collect::<Vec<_>>()
            .join("\n  ")
    };
    Some(format!(
        "{}\n live only:\n  {}\n bundle only:\n  {}",
        topology.name,
        only(&live, &saved),
        only(&saved, &live)
    ))
}

/// Looks at topologies that this kernel and this machine can make, each in a namespace of its own.
fn all(test: &str, wanted: impl Fn(&Topology) -> bool) {
    let mut wrong = Vec::new();
    for topology in TOPOLOGIES.iter().filter(|one| wanted(one)) {
        let test = format!("{test}, {}", topology.name);
        let programs = ["ip", "ethtool", "mount"].iter().chain(topology.programs);
        if !needs::programs(&test, &programs.copied().collect::<Vec<_>>()) {
            continue;
        }
        let Some(namespace) = needs::had(&test, Namespace::create()) else {
            return;
        };
        let look = || needs::had(&test, topology.make()).and_then(|()| differs(topology));
        wrong.extend(namespace.enter(look).unwrap());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_bundle_says_the_same_as_a_live_look() {
    all("a_bundle_says_the_same_as_a_live_look", |_| true);
}

/// What bonds, VLANs, WireGuard, IPVS, Open vSwitch, policers and redirects take.
const MODULES: [&str; 24] = [
    "ipv6",
    "af_packet",
    "af_packet_diag",
    "bonding",
    "8021q",
    "bridge",
    "veth",
    "tun",
    "macvlan",
    "macvtap",
    "vxlan",
    "ip_gre",
    "wireguard",
    "ip_vs",
    "ip_vs_rr",
    "nf_tables",
    "nft_chain_nat",
    "nft_masq",
    "openvswitch",
    "sch_ingress",
    "cls_matchall",
    "act_police",
    "cls_u32",
    "act_mirred",
];

#[test]
fn a_bundle_says_the_same_inside_of_user_mode_linux() {
    let test = "a_bundle_says_the_same_inside_of_user_mode_linux";
    let Some(uml) = needs::had(test, Uml::find()) else {
        return;
    };
    let limit = Duration::from_secs(1200);
    let folder = TempDir::new().unwrap();
    let finished = uml.run_test("parity::guest", folder.path(), &MODULES, limit);
    let finished = finished.unwrap();
    println!("{}", finished.console);
    assert_eq!(finished.status, Some(0), "{}", finished.console);
    assert!(finished.console.contains("all were looked at"));
}

#[test]
#[ignore = "runs inside of user-mode Linux, started by a_bundle_says_the_same_inside_of_user_mode_linux"]
fn guest() {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    assert!(cpuinfo.contains("User Mode Linux"), "not on a machine");
    all("guest", |topology| topology.is_rare);
    println!("all were looked at");
}
