//! Merged frames that die, in each way that is known, beside whoever counts them there.

use std::net::UdpSocket;
use std::time::Duration;

use coalescope_needs as needs;
use coalescope_watch::facts::Watched;
use coalescope_watch::live::Watcher;

use crate::room::{Room, drops, frames, in_rounds, is_at, settled};

const PATIENCE: Duration = Duration::from_secs(2);

/// Sums of what was dropped for a reason in a function: merged frames, and single ones.
pub(crate) fn sums(look: &Watched, reason: &str, location: &str) -> (u64, u64) {
    let all = drops(look, reason).into_iter();
    let all = all.filter(|drop| is_at(drop, location));
    all.fold((0, 0), |(merged, single), drop| {
        (merged + drop.merged_frames, single + drop.single_frames)
    })
}

/// A room with what tc is told in the middle, if this kernel has it, and a watch of the room.
fn shaped(test: &str, lines: &[&str]) -> Option<(Room, Watcher)> {
    if !needs::programs(test, &["tc"]) {
        return None;
    }
    let room = Room::new(test)?;
    for line in lines {
        needs::had(test, room.run("middle", line))?;
    }
    let watcher = room.watch(test)?;
    Some((room, watcher))
}

/// What tc says that it dropped.
fn dropped(said: &str) -> u64 {
    let counted = said.split("dropped ").nth(1).unwrap();
    counted.split(',').next().unwrap().parse().unwrap()
}

#[test]
fn a_rule_that_drops_long_packets_drops_merged_ones() {
    in_rounds(|| {
        let test = "nft, by length";
        if !needs::programs(test, &["nft"]) {
            return;
        }
        let Some(room) = Room::new(test) else { return };
        room.shell(
            "middle",
            "nft 'add table ip t; add chain ip t f { type filter hook forward priority 0; }; \
         add rule ip t f ip length > 2000 counter drop'",
        )
        .unwrap();
        let Some(mut watcher) = room.watch(test) else {
            return;
        };
        room.send(1 << 20, "10.9.2.2", PATIENCE);
        let (look, said) = settled(&mut watcher, || {
            room.run("middle", "nft list ruleset").unwrap()
        });
        let counted = said.split("counter packets ").nth(1).unwrap();
        let counted: u64 = counted.split(' ').next().unwrap().parse().unwrap();
        assert!(counted >= 2, "{said}");
        assert_eq!(sums(&look, "NETFILTER_DROP", "nft_do_chain"), (counted, 0));
        let drop = drops(&look, "NETFILTER_DROP")[0];
        assert_eq!(drop.from.as_deref(), Some("left"));
        assert!(drop.merged_segments >= 2 * drop.merged_frames);
        let sample = &drop.samples[0];
        let flow = sample.flow.as_ref().unwrap();
        assert_eq!(
            (flow.protocol.as_str(), flow.destination_port),
            ("tcp", Some(5001))
        );
        assert_eq!(flow.source, "10.9.1.2");
        assert_eq!(sample.segment_bytes, 1448);
        let segments = sample.bytes.div_ceil(1500);
        assert!(sample.segments.abs_diff(segments) <= 1, "{sample:?}");
        assert_eq!(look.lost, Default::default());
    });
}

#[test]
fn a_smaller_mtu_refuses_frames_in_both_protocols() {
    in_rounds(|| {
        let test = "forwarding to a smaller MTU";
        let Some(room) = Room::new(test) else { return };
        room.set("middle", "ip link set right mtu 1300");
        let Some(mut watcher) = room.watch(test) else {
            return;
        };
        let fails = |name: &str| -> u64 {
            let said = room.run("middle", "cat /proc/net/snmp /proc/net/snmp6");
            let said = said.unwrap();
            match name {
                "IpFragFails" => {
                    let mut lines = said.lines().filter(|line| line.starts_with("Ip:"));
                    let names = lines.next().unwrap().split(' ');
                    let values = lines.next().unwrap().split(' ');
                    let mut both = names.zip(values);
                    both.find(|(name, _)| *name == "FragFails").unwrap().1
                }
                _ => {
                    let line = said
                        .lines()
                        .find(|line| line.starts_with("Ip6InTooBigErrors"));
                    line.unwrap().split_whitespace().nth(1).unwrap()
                }
            }
            .parse()
            .unwrap()
        };
        room.send(1 << 20, "10.9.2.2", PATIENCE);
        let (look, failed) = settled(&mut watcher, || fails("IpFragFails"));
        let (merged, single) = sums(&look, "PKT_TOO_BIG", "ip_forward");
        assert!(merged >= 1, "{:#?}", look.drops);
        assert_eq!(merged + single, failed);
        room.send(1 << 20, "fd09:2::2", PATIENCE);
        let (look, failed) = settled(&mut watcher, || fails("Ip6InTooBigErrors"));
        let (merged, single) = sums(&look, "PKT_TOO_BIG", "ip6_forward");
        // The first flight of a connection may come in single frames.
        assert!(merged + single >= 1, "{:#?}", look.drops);
        assert_eq!(merged + single, failed);
    });
}

#[test]
fn a_policer_drops_what_its_bucket_cannot_hold() {
    in_rounds(|| {
        let test = "tc police";
        let lines = [
            "tc qdisc add dev left ingress",
            "tc filter add dev left ingress protocol ip matchall action police rate 1gbit burst 100k mtu 2000 drop",
        ];
        let Some((room, mut watcher)) = shaped(test, &lines) else {
            return;
        };
        room.send(1 << 20, "10.9.2.2", PATIENCE);
        let (look, counted) = settled(&mut watcher, || {
            let said = room.run("middle", "tc -s filter show dev left ingress");
            dropped(&said.unwrap())
        });
        let (merged, single) = sums(&look, "TC_INGRESS", "");
        assert!(merged >= 1, "{counted} {:#?}", look.drops);
        assert_eq!(merged + single, counted);
    });
}

#[test]
fn a_full_queue_drops_merged_frames_and_cuts_none() {
    in_rounds(|| {
        let test = "tbf";
        let line = "tc qdisc add dev right root tbf rate 50mbit burst 128k limit 128k";
        let Some((room, mut watcher)) = shaped(test, &[line]) else {
            return;
        };
        room.send(3 << 20, "10.9.2.2", PATIENCE);
        let (look, counted) = settled(&mut watcher, || {
            let said = room.run("middle", "tc -s qdisc show dev right");
            dropped(&said.unwrap())
        });
        let in_queue = look.drops.iter().filter(|drop| match &drop.reason {
            Some(reason) => reason.starts_with("QDISC"),
            None => drop.merged_frames > 0,
        });
        let (merged, single) = in_queue.fold((0, 0), |sum, drop| {
            (sum.0 + drop.merged_frames, sum.1 + drop.single_frames)
        });
        assert!(merged >= 1, "{counted} {:#?}", look.drops);
        assert_eq!(merged + single, counted, "{:#?}", look.drops);
        let right = frames(&look, "right");
        assert_eq!(right.sent.cut_frames, 0, "{right:?}");
    });
}

#[test]
fn without_a_route_frames_end_there() {
    in_rounds(|| {
        let test = "no route";
        let Some(room) = Room::new(test) else { return };
        room.set("left", "ip route add 10.77.0.0/16 via 10.9.1.1");
        let Some(mut watcher) = room.watch(test) else {
            return;
        };
        room.enter("left", || {
            let socket = UdpSocket::bind("10.9.1.2:0").unwrap();
            socket.send_to(&[1; 4000], "10.77.0.1:9").unwrap();
        });
        let (look, ()) = settled(&mut watcher, || ());
        // Of the three fragments, none is merged.
        assert_eq!(sums(&look, "IP_INNOROUTES", "ip_error"), (0, 3));
    });
}
