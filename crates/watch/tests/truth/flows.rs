//! Merged and single frames of the same flow, and frames that have no interface when they are dropped.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::thread;
use std::time::Duration;

use coalescope_needs as needs;
use coalescope_watch::facts::{Compared, Drop as Dropped, Watched};
use nix::sys::socket::{setsockopt, sockopt::UdpGsoSegment};

use crate::room::{Room, SEGMENT, SEGMENTS, drops};

/// Flows are those of which merged frames die a second or more apart.
const APART: Duration = Duration::from_millis(1050);
const TO: &str = "10.9.2.2";
/// Merged frames and single ones in each of two rounds.
const FRAMES: u64 = 20;

/// A room, with rules of a chain in one of its hosts; none where the kernel has no nftables.
fn ruled(test: &str, side: &str, hook: &str, rule: &str) -> Option<Room> {
    if !needs::programs(test, &["nft"]) {
        return None;
    }
    let room = Room::new(test)?;
    room.takes_merged_datagrams(test)?;
    let rules = format!(
        "nft 'add table ip t; add chain ip t c {{ type filter hook {hook} priority 0; }}; add rule ip t c {rule} drop'"
    );
    needs::had(test, room.shell(side, &rules))?;
    Some(room)
}

/// Sends merged frames and single ones from left, by one socket.
fn send(room: &Room) {
    room.enter("left", || {
        let to: SocketAddr = (TO.parse::<IpAddr>().unwrap(), 9).into();
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        for round in 0..2 {
            for _ in 0..FRAMES {
                // A rule of this host refuses what it drops, and that nobody listens is told by an error.
                setsockopt(&socket, UdpGsoSegment, &(SEGMENT as i32)).unwrap();
                let _ = socket.send_to(&[7; SEGMENT * SEGMENTS], to);
                setsockopt(&socket, UdpGsoSegment, &0).unwrap();
                let _ = socket.send_to(&[7; SEGMENT], to);
            }
            if round == 0 {
                thread::sleep(APART);
            }
        }
    });
}

/// A flow of so many merged frames, all of which died, and as many single ones since the first of them.
fn of_one_flow(frames: u64, single_died: u64) -> Compared {
    Compared {
        flows: 1,
        merged_frames: frames,
        merged_died: frames,
        single_frames: frames,
        single_died,
    }
}

fn by_rule(look: &Watched) -> &Dropped {
    let all = drops(look, "NETFILTER_DROP");
    all.first().unwrap_or_else(|| panic!("{look:#?}"))
}

fn watched(test: &str, side: &str, hook: &str, rule: &str) -> Option<Watched> {
    let room = ruled(test, side, hook, rule)?;
    let mut watcher = room.watch_of(side, test)?;
    send(&room);
    Some(watcher.look().unwrap())
}

#[test]
fn a_rule_about_lengths_drops_merged_frames_of_a_flow_and_no_single_ones() {
    let test = "a flow, by length";
    let Some(look) = watched(test, "middle", "forward", "ip length > 2000") else {
        return;
    };
    let expected = of_one_flow(2 * FRAMES, 0);
    assert_eq!(by_rule(&look).compared, Some(expected), "{look:#?}");
}

#[test]
fn a_rule_about_a_flow_drops_its_frames_of_any_shape() {
    let test = "a flow, by port";
    let Some(look) = watched(test, "middle", "forward", "udp dport 9") else {
        return;
    };
    let expected = of_one_flow(2 * FRAMES, 2 * FRAMES);
    assert_eq!(by_rule(&look).compared, Some(expected), "{look:#?}");
}

/// A frame of this host has no interface before it is sent, but a route.
#[test]
fn what_a_rule_of_the_sender_drops_is_counted_by_its_way_out() {
    let test = "a rule of the sender";
    let Some(look) = watched(test, "left", "output", "ip length > 2000") else {
        return;
    };
    let drop = by_rule(&look);
    assert_eq!(drop.interface.as_deref(), Some("middle"));
    assert_eq!((drop.from.as_ref(), drop.merged_frames), (None, 2 * FRAMES));
    let expected = of_one_flow(2 * FRAMES, 0);
    assert_eq!(drop.compared, Some(expected), "{look:#?}");
}

/// The kernel tells of what a macvlan receives as of what the interface below receives.
#[test]
fn a_flow_that_comes_by_an_interface_above_another_one_is_known() {
    let test = "a flow by a macvlan";
    let Some(room) = ruled(test, "middle", "forward", "ip length > 2000") else {
        return;
    };
    let line = "ip link add link left name upper type macvlan mode bridge";
    if needs::had(test, room.run("middle", line)).is_none() {
        return;
    }
    let ignore = "echo 1 > /proc/sys/net/ipv4/conf/all/arp_ignore";
    room.shell("middle", ignore).unwrap();
    room.set("middle", "ip addr flush dev left");
    room.set("middle", "ip link set upper up");
    room.set("middle", "ip addr add 10.9.1.1/24 dev upper");
    room.set("left", "ip neigh flush all");
    let Some(mut watcher) = room.watch(test) else {
        return;
    };
    send(&room);
    let look = watcher.look().unwrap();
    let drop = by_rule(&look);
    assert_eq!(drop.from.as_deref(), Some("upper"), "{look:#?}");
    let compared = drop.compared.unwrap();
    assert!(
        compared.merged_died > FRAMES && compared.single_died == 0,
        "{compared:?}"
    );
    assert_eq!(compared.merged_frames, compared.merged_died);
    assert!(compared.single_frames > FRAMES, "{compared:?}");
}

/// A rule before the address is translated back sees other addresses than are received.
#[test]
fn a_flow_whose_addresses_are_translated_is_known_by_what_is_sent() {
    let test = "a flow, translated";
    let Some(room) = ruled(test, "middle", "forward", "ip length > 2000") else {
        return;
    };
    let rules = "nft 'add chain ip t p { type nat hook prerouting priority -100; }; add rule ip t p ip daddr 10.9.1.1 dnat to 10.9.2.2'";
    if needs::had(test, room.shell("middle", rules)).is_none() {
        return;
    }
    let Some(mut watcher) = room.watch(test) else {
        return;
    };
    room.enter("left", || {
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        for _ in 0..2 {
            setsockopt(&socket, UdpGsoSegment, &(SEGMENT as i32)).unwrap();
            let _ = socket.send_to(&[7; SEGMENT * SEGMENTS], "10.9.1.1:9");
            setsockopt(&socket, UdpGsoSegment, &0).unwrap();
            let _ = socket.send_to(&[7; SEGMENT], "10.9.1.1:9");
            thread::sleep(APART);
        }
    });
    let look = watcher.look().unwrap();
    let expected = of_one_flow(2, 0);
    assert_eq!(by_rule(&look).compared, Some(expected), "{look:#?}");
}

#[test]
fn a_datagram_that_was_put_together_from_fragments_was_not_merged() {
    let test = "fragments";
    let Some(room) = Room::new(test) else { return };
    let Some(mut watcher) = room.watch_of("right", test) else {
        return;
    };
    room.enter("left", || {
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        for _ in 0..FRAMES {
            let _ = socket.send_to(&[7; 8000], (TO, 9));
        }
    });
    let look = watcher.look().unwrap();
    let nobody = drops(&look, "NO_SOCKET");
    let dead = nobody.iter().map(|drop| drop.single_frames).max();
    assert!(dead >= Some(FRAMES), "{look:#?}");
    assert!(look.drops.iter().all(|drop| drop.died() == 0), "{look:#?}");
}
