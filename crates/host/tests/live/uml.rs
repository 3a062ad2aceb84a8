//! The same inside of user-mode Linux, whose kernel has bonds, VLAN, IPVS, xfrm interfaces and more
//! kinds of tunnels than that of a small machine.

use crate::kinds::compare_kinds;
use crate::room::{must, run};
use coalescope_host::live::{Options, collect};
use coalescope_lab::uml::Uml;
use coalescope_needs as needs;
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// What the kinds of links, IPVS and address translation need.
const MODULES: [&str; 37] = [
    "ipv6",
    "af_packet",
    "af_packet_diag",
    "dummy",
    "ifb",
    "bonding",
    "8021q",
    "bridge",
    "veth",
    "tun",
    "macvlan",
    "macvtap",
    "ipvlan",
    "vxlan",
    "geneve",
    "ip_gre",
    "ip6_gre",
    "ipip",
    "sit",
    "ip6_tunnel",
    "ip_vti",
    "esp4",
    "esp4_offload",
    "ip6_vti",
    "xfrm_interface",
    "bareudp",
    "nlmon",
    "vrf",
    "wireguard",
    "macsec",
    "ip_vs",
    "ip_vs_rr",
    "ip_vs_wlc",
    "nf_tables",
    "nft_chain_nat",
    "nft_masq",
    "openvswitch",
];

#[test]
fn inside_of_user_mode_linux() {
    let test = "inside_of_user_mode_linux";
    let Some(uml) = needs::had(test, Uml::find()) else {
        return;
    };
    let parts = PARTS.iter().filter(|part| part.is_possible()).count();
    if parts == 0 {
        return;
    }
    let limit = Duration::from_secs(300);
    let folder = TempDir::new().expect("a folder");
    let finished = uml.run_test("uml::guest", folder.path(), &MODULES, limit);
    let finished = finished.expect("it boots");
    println!("{}", finished.console);
    assert_eq!(finished.status, Some(0), "{}", finished.console);
    assert!(finished.console.contains(&format!("{parts} parts done")));
}

/// A part of what the guest does, and the programs that it takes.
struct Part {
    name: &'static str,
    programs: &'static [&'static str],
    work: fn(),
}

impl Part {
    fn is_possible(&self) -> bool {
        needs::programs(
            &format!("inside_of_user_mode_linux, {}", self.name),
            self.programs,
        )
    }
}

const PARTS: [Part; 5] = [
    Part {
        name: "kinds of interfaces",
        programs: &["ip", "ethtool"],
        work: compare_kinds,
    },
    Part {
        name: "bonds and modules",
        programs: &["ip"],
        work: bonds_have_members,
    },
    Part {
        name: "IPVS",
        programs: &["ipvsadm"],
        work: services_of_ipvs,
    },
    Part {
        name: "packet sockets",
        programs: &["ip", "python3"],
        work: packet_sockets_are_diagnosed,
    },
    Part {
        name: "Open vSwitch",
        programs: &["ip", "ovs-dpctl"],
        work: ports_of_open_vswitch,
    },
];

#[test]
#[ignore = "runs inside of user-mode Linux, started by inside_of_user_mode_linux"]
fn guest() {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").expect("/proc");
    assert!(cpuinfo.contains("User Mode Linux"), "not on a machine");
    let possible = PARTS.iter().filter(|part| part.is_possible());
    let done = possible.map(|part| (part.work)()).count();
    println!("{done} parts done");
}

fn bonds_have_members() {
    must("ip link add bond9 type bond mode active-backup");
    must("ip link add leg type dummy");
    must("ip link set leg master bond9");
    must("ip link add link bond9 name bond9.7 type vlan id 7");
    let snapshot = collect(&Options::default());
    let of = |name: &str| &snapshot.interfaces[name];
    assert_eq!(of("leg").master.as_deref(), Some("bond9"));
    assert_eq!(of("bond9.7").parent.as_deref(), Some("bond9"));
    let bond = of("bond9").bond.as_ref().expect("a bond");
    assert_eq!(bond.mode.as_deref(), Some("active-backup"));
    assert_eq!(snapshot.virtualisation.as_deref(), Some("uml"));
    let modules = snapshot.modules.expect("they are read");
    // What rules ask of ESP: its offload has no switch, it is there if its module is. The interfaces
    // over it (VTI) are compared with the other kinds.
    for module in ["bonding", "esp4", "esp4_offload"] {
        assert!(modules.iter().any(|known| known == module), "{module}");
    }
}

fn services_of_ipvs() {
    must("ipvsadm -A -t 192.0.2.1:80 -s rr");
    must("ipvsadm -a -t 192.0.2.1:80 -r 10.9.0.2:8080 -m -w 5");
    must("ipvsadm -a -t 192.0.2.1:80 -r 10.9.0.3:80 -g");
    must("ipvsadm -A -u [2001:db8::1]:53 -s wlc");
    must("ipvsadm -a -u [2001:db8::1]:53 -r [fd09::2]:53 -i");
    must("ipvsadm -A -f 7 -s rr");
    let snapshot = collect(&Options::default());
    let services = snapshot.stack.ipvs.expect("they are read");
    let mut said: Vec<_> = services
        .iter()
        .map(|service| {
            let real = service.destinations.iter().map(|real| {
                let weight = real.weight.unwrap_or_default();
                format!(" {} {} {weight}", real.address, real.forward)
            });
            let mut real: Vec<_> = real.collect();
            real.sort();
            let scheduler = service.scheduler.as_deref().unwrap_or("?");
            let service = format!("{} {} {scheduler}", service.protocol, service.address);
            service + &real.concat()
        })
        .collect();
    said.sort();
    let expected = [
        "fwmark 7 rr",
        "tcp 192.0.2.1:80 rr 10.9.0.2:8080 nat 5 10.9.0.3:80 route 1",
        "udp [2001:db8::1]:53 wlc [fd09::2]:53 tunnel 1",
    ];
    assert_eq!(said, expected);
}

/// Through socket diagnosis, which also tells of rings.
fn packet_sockets_are_diagnosed() {
    let script = "import socket, time\n\
        one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))\n\
        one.bind(('bound', 3))\n\
        time.sleep(60)\n";
    must("ip link add bound type dummy");
    let mut command = Command::new("python3");
    let command = command.args(["-c", script]).stdin(Stdio::null());
    let mut helper = command.spawn().expect("it starts");
    std::thread::sleep(Duration::from_secs(3));
    let snapshot = collect(&Options::default());
    let _ = helper.kill();
    let _ = helper.wait();
    let sockets = snapshot.stack.packet_sockets.expect("they are read");
    assert_eq!(sockets.len(), 1, "{sockets:?}");
    assert_eq!(sockets[0].interface.as_deref(), Some("bound"));
    assert_eq!(
        (sockets[0].protocol, sockets[0].ring),
        (Some(3), Some(false))
    );
    assert!(sockets[0].process.is_some());
}

fn ports_of_open_vswitch() {
    if let Err(error) = run("ovs-dpctl add-dp dp0") {
        return needs::skipped("ports_of_open_vswitch", error);
    }
    must("ip link add patch type dummy");
    must("ovs-dpctl add-if dp0 patch");
    let snapshot = collect(&Options::default());
    let ovs = snapshot.ovs.expect("it is there");
    let bridge = &ovs.bridges["dp0"];
    assert_eq!(bridge.datapath.as_deref(), Some("system"));
    assert_eq!(bridge.ports["dp0"].kind.as_deref(), Some("internal"));
    assert_eq!(bridge.ports["patch"].kind.as_deref(), Some("system"));
    assert_eq!(
        snapshot.interfaces["dp0"].kind.as_deref(),
        Some("openvswitch")
    );
    assert_eq!(snapshot.interfaces["patch"].master.as_deref(), Some("dp0"));
}
