//! Bridges, TAPs, tunnels and directors: what they pass on, what they cut, and what dies there, beside their own counters.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use coalescope_needs as needs;

use crate::drops::sums;
use crate::room::{Room, drops, frames, in_rounds, settled};

const PATIENCE: Duration = Duration::from_secs(2);
/// Where the bridge's room on the right is reached; the left one has 10.9.1.2.
const BRIDGED: &str = "10.9.1.3";
/// The right end of the tunnel.
const TUNNELLED: &str = "10.9.7.2";

/// The room of a router, made one of a bridge.
fn bridged(test: &str) -> Option<Room> {
    let room = Room::new(test)?;
    needs::had(test, room.run("middle", "ip link add br0 type bridge"))?;
    for port in ["left", "right"] {
        room.set("middle", &format!("ip addr flush dev {port}"));
        room.set("middle", &format!("ip link set {port} master br0"));
    }
    room.set("middle", "ip link set br0 up");
    room.set("right", &format!("ip addr add {BRIDGED}/24 dev middle"));
    Some(room)
}

/// What a rule with a counter has dropped.
fn counted(room: &Room) -> u64 {
    let said = room.run("middle", "nft list ruleset").unwrap();
    let counted = said.split("counter packets ").nth(1).unwrap();
    counted.split(' ').next().unwrap().parse().unwrap()
}

fn statistic(room: &Room, side: &str, interface: &str, name: &str) -> u64 {
    let path = format!("cat /sys/class/net/{interface}/statistics/{name}");
    room.run(side, &path).unwrap().trim().parse().unwrap()
}

#[test]
fn a_bridges_filter_drops_merged_frames() {
    in_rounds(|| {
        let test = "nft on a bridge, by length";
        if !needs::programs(test, &["nft"]) {
            return;
        }
        let Some(room) = bridged(test) else { return };
        let rules = "nft 'add table bridge t; add chain bridge t f { type filter hook forward priority 0; }; \
             add rule bridge t f ip length > 2000 counter drop'";
        let Some(_) = needs::had(test, room.shell("middle", rules)) else {
            return;
        };
        let Some(mut watcher) = room.watch(test) else {
            return;
        };
        room.send(1 << 20, BRIDGED, PATIENCE);
        let (look, counted) = settled(&mut watcher, || counted(&room));
        assert!(counted >= 2, "{look:#?}");
        assert_eq!(sums(&look, "NETFILTER_DROP", ""), (counted, 0));
        let from = drops(&look, "NETFILTER_DROP")[0].from.as_deref();
        assert_eq!(from, Some("left"));
    });
}

/// A bridge asks for the length of single frames alone.
#[test]
fn a_bridge_port_of_a_smaller_mtu_passes_merged_frames() {
    in_rounds(|| {
        let test = "a bridge port of a smaller MTU";
        let Some(room) = bridged(test) else { return };
        room.set("middle", "ip link set right mtu 1400");
        let Some(mut watcher) = room.watch(test) else {
            return;
        };
        room.send(1 << 20, BRIDGED, PATIENCE);
        let (look, ()) = settled(&mut watcher, || ());
        let [left, right] = ["left", "right"].map(|name| frames(&look, name));
        assert!(left.received.merged_frames >= 2, "{left:?}");
        assert_eq!(look.dropped_merged(), 0, "{:#?}", look.drops);
        assert_eq!(right.forwarded.merged_frames, left.received.merged_frames);
    });
}

#[test]
fn what_a_router_forwards_is_what_the_kernel_says_that_it_forwards() {
    in_rounds(|| {
        let test = "IpForwDatagrams";
        let Some(room) = Room::new(test) else { return };
        let Some(mut watcher) = room.watch(test) else {
            return;
        };
        assert_eq!(room.send(4 << 20, "10.9.2.2", PATIENCE), 4 << 20);
        let (look, counted) = settled(&mut watcher, || {
            let said = room.run("middle", "cat /proc/net/snmp").unwrap();
            let mut lines = said.lines().filter(|line| line.starts_with("Ip: "));
            let names = lines.next().unwrap().split(' ');
            let mut both = names.zip(lines.next().unwrap().split(' '));
            let (_, value) = both.find(|(name, _)| *name == "ForwDatagrams").unwrap();
            value.parse::<u64>().unwrap()
        });
        let sides = ["left", "right"].map(|name| frames(&look, name).forwarded.frames);
        assert!(counted > 100);
        assert_eq!(sides.iter().sum::<u64>(), counted, "{sides:?}");
    });
}

/// A tunnel between left and right, through the router.
fn tunnelled(test: &str) -> Option<Room> {
    let room = Room::new(test)?;
    for (side, own, other) in [("left", 1, 2), ("right", 2, 1)] {
        let line = format!(
            "ip link add vx type vxlan id 7 local 10.9.{own}.2 remote 10.9.{other}.2 dstport 4789"
        );
        needs::had(test, room.run(side, &line))?;
        room.set(side, &format!("ip addr add 10.9.7.{own}/24 dev vx"));
        room.set(side, "ip link set vx up");
    }
    Some(room)
}

#[test]
fn frames_in_a_tunnel_are_counted_at_both_of_its_interfaces() {
    in_rounds(|| {
        let test = "VXLAN";
        let Some(room) = tunnelled(test) else { return };
        let Some(mut watcher) = room.watch_of("right", test) else {
            return;
        };
        let count = || statistic(&room, "right", "vx", "rx_packets");
        let before = count();
        assert_eq!(room.send(2 << 20, TUNNELLED, PATIENCE), 2 << 20);
        let (look, after) = settled(&mut watcher, count);
        let [below, inner] = ["middle", "vx"].map(|name| frames(&look, name));
        assert!(inner.received.merged_frames > 20, "{inner:?}");
        assert!(below.received.merged_frames > 20, "{below:?}");
        // Neighbour discovery may have come in between beginning to watch and the first reading.
        let near = inner.received.frames.abs_diff(after - before) <= 4;
        assert!(near, "{} {inner:?}", after - before);
        // 1,450 bytes of MTU without the headers of IPv4 and TCP, and time stamps.
        let segments = (2 << 20) / 1398;
        let counted = inner.received.segments;
        assert!(counted.abs_diff(segments) < segments / 20, "{inner:?}");
    });
}

#[test]
fn a_rule_on_a_tunnels_way_drops_merged_frames_of_it() {
    in_rounds(|| {
        let test = "nft on the way of VXLAN";
        if !needs::programs(test, &["nft"]) {
            return;
        }
        let Some(room) = tunnelled(test) else { return };
        let rules = "nft 'add table ip t; add chain ip t f { type filter hook forward priority 0; }; \
             add rule ip t f udp dport 4789 ip length > 2000 counter drop'";
        room.shell("middle", rules).unwrap();
        let Some(mut watcher) = room.watch(test) else {
            return;
        };
        room.send(1 << 20, TUNNELLED, PATIENCE);
        let (look, counted) = settled(&mut watcher, || counted(&room));
        assert!(counted >= 2, "{look:#?}");
        assert_eq!(sums(&look, "NETFILTER_DROP", "nft_do_chain"), (counted, 0));
        let sample = &drops(&look, "NETFILTER_DROP")[0].samples[0];
        let flow = sample.flow.as_ref().unwrap();
        assert_eq!(
            (flow.protocol.as_str(), flow.source.as_str()),
            ("tcp", "10.9.7.1"),
            "whose connection is in the tunnel"
        );
        assert_eq!(flow.destination_port, Some(5001));
        let tunnel = flow.tunnel.as_ref().unwrap();
        assert_eq!(tunnel.name, "vxlan 7");
        assert_eq!(
            [&tunnel.source, &tunnel.destination],
            ["10.9.1.2", "10.9.2.2"]
        );
        assert_eq!(sample.segment_bytes, 1398);
    });
}

/// Holds a TAP open and reads nothing; sends datagrams that are cut on their way there when it is told to.
const HOLDER: &str = "
import fcntl, os, socket, struct, sys
tap = os.open('/dev/net/tun', os.O_RDWR)
fcntl.ioctl(tap, 0x400454ca, struct.pack('16sH', b'tap0', 0x1002))
for line in ['ip addr add 10.9.8.1/24 dev tap0', 'ip link set tap0 up',
             'ip neigh add 10.9.8.2 lladdr 02:00:00:00:00:02 dev tap0']:
    if os.system(line):
        sys.exit(1)
print('open', flush=True)
sys.stdin.readline()
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.setsockopt(17, 103, 1000)
out.setsockopt(1, 7, 1 << 22)
sent = 0
for n in range(100):
    try:
        out.sendto(bytes(20000), ('10.9.8.2', 9))
        sent += 1
    except OSError:
        pass
print('sent', sent, flush=True)
sys.stdin.readline()
";

/// A process in the middle that goes with this value.
struct Holder(Child);

impl Holder {
    fn new(room: &Room) -> Self {
        let name = room.at("middle");
        let child = Command::new("ip")
            .args(["netns", "exec", &name, "python3", "-c", HOLDER])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        Self(child.unwrap())
    }

    /// The next line that it says.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let source = self.0.stdout.as_mut()?;
        BufReader::with_capacity(1, source)
            .read_line(&mut line)
            .ok()?;
        Some(line.trim().to_owned()).filter(|line| !line.is_empty())
    }

    fn go_on(&mut self) {
        self.0.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_tap_that_nobody_reads_drops_what_was_cut_before() {
    in_rounds(|| {
        let test = "a TAP whose ring is full";
        if !needs::programs(test, &["ip", "python3"]) {
            return;
        }
        let Some(room) = Room::new(test) else { return };
        let mut holder = Holder::new(&room);
        let Some(_) = needs::had(test, holder.line().ok_or("no TAP may be made")) else {
            return;
        };
        let Some(mut watcher) = room.watch(test) else {
            return;
        };
        holder.go_on();
        let said = holder.line().unwrap();
        let sent: u64 = said.strip_prefix("sent ").unwrap().parse().unwrap();
        let count = || statistic(&room, "middle", "tap0", "tx_dropped");
        let (look, dropped) = settled(&mut watcher, count);
        let tap = frames(&look, "tap0");
        assert!(sent >= 50, "{said}");
        assert_eq!(tap.queued.merged_frames, sent, "{tap:?}");
        assert_eq!((tap.sent.merged_frames, tap.sent.cut_frames), (0, sent));
        assert!(dropped > 100, "{tap:?}");
        assert_eq!(sums(&look, "FULL_RING", "tun_net_xmit"), (0, dropped));
    });
}

#[test]
fn a_director_refuses_merged_frames_to_a_smaller_mtu() {
    in_rounds(|| {
        let test = "IPVS by NAT";
        if !needs::programs(test, &["ipvsadm"]) {
            return;
        }
        let Some(room) = Room::new(test) else { return };
        let service = room.run("middle", "ipvsadm -A -t 10.9.1.1:5001 -s rr");
        let Some(_) = needs::had(test, service) else {
            return;
        };
        let server = "ipvsadm -a -t 10.9.1.1:5001 -r 10.9.2.2:5001 -m";
        room.set("middle", server);
        room.set("middle", "ip link set right mtu 1300");
        let Some(mut watcher) = room.watch(test) else {
            return;
        };
        room.send_by("10.9.1.1", 1 << 20, "10.9.2.2", PATIENCE);
        let (look, ()) = settled(&mut watcher, || ());
        let at = look.drops.iter().filter(|drop| {
            let name = drop.location.as_deref().unwrap_or_default();
            name.starts_with("ip_vs_nat_xmit")
        });
        assert!(
            at.map(|drop| drop.merged_frames).sum::<u64>() >= 1,
            "{:#?}",
            look.drops
        );
        assert_eq!(frames(&look, "right").forwarded.merged_frames, 0);
    });
}
