//! Merged frames that die are counted to the last one, at the first attempt.
//!
//! They are frames of UDP, sent and dropped while the test's own thread runs. With TCP, whose timers send as well, an event
//! may be left out: `room::in_rounds`.

use coalescope_needs as needs;
use coalescope_watch::facts::Watched;
use coalescope_watch::live::Watcher;

use crate::room::{Room, SEGMENT, SEGMENTS, drops, frames, is_at, settled};

/// Frames of a test.
const FRAMES: u64 = 500;

/// Merged frames, segments in them, and single frames that died for a reason in a function.
fn sums(look: &Watched, reason: &str, location: &str) -> (u64, u64, u64) {
    let all = drops(look, reason).into_iter();
    let all = all.filter(|drop| is_at(drop, location));
    all.fold((0, 0, 0), |(merged, segments, single), drop| {
        let (more, pieces) = (drop.merged_frames, drop.merged_segments);
        (
            merged + more,
            segments + pieces,
            single + drop.single_frames,
        )
    })
}

fn is_exact(look: &Watched, reason: &str, location: &str, sent: u64) {
    let counted = sums(look, reason, location);
    assert_eq!(
        counted,
        (sent, sent * SEGMENTS as u64, 0),
        "{:#?}",
        look.drops
    );
    let left = frames(look, "left").received;
    assert_eq!(left.merged_frames, sent, "{left:?}");
    assert_eq!(look.lost, Default::default());
}

/// A room that does what it was told in the middle, if this kernel has the parts.
fn room(test: &str, programs: &[&str], lines: &[&str]) -> Option<Room> {
    if !needs::programs(test, programs) {
        return None;
    }
    let room = Room::new(test)?;
    room.takes_merged_datagrams(test)?;
    for line in lines {
        needs::had(test, room.shell("middle", line))?;
    }
    Some(room)
}

/// What was seen when all frames were dropped, as nftables counts them.
fn dropped_by_rules(room: &Room, watcher: &mut Watcher) -> Watched {
    let (look, said) = settled(watcher, || room.run("middle", "nft list ruleset").unwrap());
    assert!(
        said.contains(&format!("counter packets {FRAMES} ")),
        "{said}"
    );
    look
}

#[test]
fn by_a_rule_of_the_firewall() {
    let test = "nft, exactly";
    let rule = "nft 'add table ip t; add chain ip t f { type filter hook forward priority 0; }; \
                add rule ip t f ip length > 2000 counter drop'";
    let Some(room) = room(test, &["nft"], &[rule]) else {
        return;
    };
    let Some(mut watcher) = room.watch(test) else {
        return;
    };
    room.send_merged(FRAMES, "10.9.2.2");
    let look = dropped_by_rules(&room, &mut watcher);
    is_exact(&look, "NETFILTER_DROP", "nft_do_chain", FRAMES);
    let sample = &drops(&look, "NETFILTER_DROP")[0].samples[0];
    assert_eq!(
        (sample.segment_bytes as usize, sample.segments as usize),
        (SEGMENT, SEGMENTS)
    );
}

#[test]
fn by_a_policer() {
    let test = "tc police, exactly";
    // A bucket that no merged frame fits into, however slowly they come. `mtu` would not do: from Linux 5.18 on it is
    // for segments (act_police, "more accurate MTU policing").
    let lines = [
        "tc qdisc add dev left ingress",
        "tc filter add dev left ingress protocol ip matchall action police rate 8mbit burst 5000 mtu 64kb drop",
    ];
    let Some(room) = room(test, &["tc"], &lines) else {
        return;
    };
    let Some(mut watcher) = room.watch(test) else {
        return;
    };
    room.send_merged(FRAMES, "10.9.2.2");
    let (look, said) = settled(&mut watcher, || {
        room.run("middle", "tc -s filter show dev left ingress")
            .unwrap()
    });
    assert!(said.contains(&format!("dropped {FRAMES},")), "{said}");
    is_exact(&look, "TC_INGRESS", "", FRAMES);
}

#[test]
fn by_a_smaller_mtu() {
    let cases = [
        ("10.9.2.2", "ip_forward", "IpFragFails"),
        ("fd09:2::2", "ip6_forward", "Ip6InTooBigErrors"),
    ];
    for (to, place, counter) in cases {
        let test = format!("{place}, exactly");
        let line = "ip link set right mtu 1300";
        let Some(room) = room(&test, &["nstat"], &[line]) else {
            return;
        };
        let Some(mut watcher) = room.watch(&test) else {
            return;
        };
        room.send_merged(FRAMES, to);
        let (look, counted) = settled(&mut watcher, || stack(&room, counter));
        assert_eq!(counted, FRAMES);
        is_exact(&look, "PKT_TOO_BIG", place, FRAMES);
    }
}

/// A counter of the router's network stack.
fn stack(room: &Room, name: &str) -> u64 {
    let said = room.run("middle", &format!("nstat -asz {name}")).unwrap();
    let mut words = said.split_whitespace().skip_while(|word| *word != name);
    words.nth(1).unwrap().parse().unwrap()
}

/// Of a bridge's port: a rule of its own family of tables.
#[test]
fn on_a_bridge() {
    let test = "nft on a bridge, exactly";
    let lines = [
        "ip link add br0 type bridge",
        "ip addr flush dev left",
        "ip link set left master br0",
        "ip addr add 10.9.1.1/24 dev br0",
        "ip link set br0 up",
        "nft 'add table bridge t; add chain bridge t f { type filter hook input priority 0; }; \
         add rule bridge t f ether type ip ip length > 2000 counter drop'",
    ];
    let Some(room) = room(test, &["nft"], &lines) else {
        return;
    };
    let Some(mut watcher) = room.watch(test) else {
        return;
    };
    room.send_merged(FRAMES, "10.9.2.2");
    let look = dropped_by_rules(&room, &mut watcher);
    is_exact(&look, "NETFILTER_DROP", "", FRAMES);
    let port = look.interfaces.iter().find(|one| one.name == "left");
    assert_eq!(port.unwrap().master.as_deref(), Some("br0"));
}

/// In a tunnel: what the way out of the tunnel cannot take dies inside of it.
#[test]
fn on_the_way_into_a_tunnel() {
    let test = "VXLAN, exactly";
    let lines = [
        "ip link add vx0 type vxlan id 7 dstport 4789 local 10.9.2.1 remote 10.9.2.2",
        "ip addr add 10.9.3.1/24 dev vx0",
        "ip link set vx0 mtu 1300 up",
    ];
    let Some(room) = room(test, &["nstat"], &lines) else {
        return;
    };
    let Some(mut watcher) = room.watch(test) else {
        return;
    };
    room.send_merged(FRAMES, "10.9.3.2");
    let (look, counted) = settled(&mut watcher, || stack(&room, "IpFragFails"));
    assert_eq!(counted, FRAMES);
    is_exact(&look, "PKT_TOO_BIG", "ip_forward", FRAMES);
}
