//! Frames and segments, beside the kernel's own counters.

use std::time::Duration;

use coalescope_needs as needs;
use coalescope_watch::facts::Unseen;

use crate::room::{Room, frames, in_rounds, settled};

const PATIENCE: Duration = Duration::from_secs(5);

/// A counter of `ip -s link`, which for a veth counts frames as they pass.
fn counter(room: &Room, side: &str, interface: &str, name: &str) -> u64 {
    let path = format!("cat /sys/class/net/{interface}/statistics/{name}");
    room.run(side, &path).unwrap().trim().parse().unwrap()
}

#[test]
fn frames_that_pass_are_those_that_interfaces_count() {
    in_rounds(|| {
        let test = "frames that pass";
        let Some(room) = Room::new(test) else { return };
        let Some(mut watcher) = room.watch(test) else {
            return;
        };
        let names = ["rx_packets", "tx_packets", "rx_bytes"];
        let before = names.map(|name| counter(&room, "middle", "left", name));
        assert_eq!(room.send(8 << 20, "10.9.2.2", PATIENCE), 8 << 20);
        let (look, after) = settled(&mut watcher, || {
            names.map(|name| counter(&room, "middle", "left", name))
        });
        let [received, sent, bytes] = std::array::from_fn(|n| after[n] - before[n]);
        let left = frames(&look, "left");
        // Neighbour discovery may have come in between beginning to watch and the first reading.
        let near = |counted: u64, kernel: u64| counted.abs_diff(kernel) <= 4;
        assert!(near(left.received.frames, received), "{received} {left:?}");
        assert!(near(left.sent.frames, sent), "{sent} {left:?}");
        // A veth counts the Ethernet header.
        assert!(
            (left.received.bytes + 14 * left.received.frames).abs_diff(bytes) <= 1000,
            "{bytes} {left:?}"
        );
        let segments = (8 << 20) / 1448;
        assert!(
            left.received.segments.abs_diff(segments) < segments / 50,
            "{segments} {left:?}"
        );
        assert!(left.received.merged_frames > 100, "{left:?}");
        assert!(left.per_frame().unwrap() > 4.0, "{left:?}");
        let right = frames(&look, "right");
        assert_eq!(
            right.forwarded.merged_frames, left.received.merged_frames,
            "all are passed on"
        );
        assert_eq!(right.sent.cut_frames, 0, "a veth takes them as they are");
        assert_eq!(look.dropped_merged(), 0, "{:#?}", look.drops);
    });
}

#[test]
fn what_the_way_out_cannot_take_is_cut_in_software() {
    in_rounds(|| {
        let test = "cut in software";
        let Some(room) = Room::new(test) else { return };
        room.set("middle", "ethtool -K right tso off gso off");
        let Some(mut watcher) = room.watch(test) else {
            return;
        };
        assert_eq!(room.send(4 << 20, "10.9.2.2", PATIENCE), 4 << 20);
        let (look, ()) = settled(&mut watcher, || ());
        let right = frames(&look, "right");
        assert!(right.queued.merged_frames > 50, "{right:?}");
        assert_eq!(right.sent.cut_frames, right.queued.merged_frames);
        assert_eq!(right.sent.merged_frames, 0);
        // Where the kernel does not let the function be timed that cuts, the report says so.
        let untimed = |one: &&Unseen| one.what.contains("takes to cut");
        let why = look.unseen.iter().find(untimed).map(|one| &one.why);
        assert_eq!(right.sent.cut_ns.is_none(), why.is_some(), "{why:?}");
        let each = right.sent.cut_ns.map(|ns| ns / right.sent.cut_frames);
        assert!(
            each.is_none_or(|ns| (100..100_000_000).contains(&ns)),
            "{each:?} ns a frame"
        );
        if let Some(why) = why {
            needs::skipped("time of cutting", why);
        }
        assert!(right.sent.frames >= right.queued.segments, "{right:?}");
        assert_eq!(look.dropped_merged(), 0, "{:#?}", look.drops);
    });
}

#[test]
fn without_merging_each_frame_is_one_segment() {
    in_rounds(|| {
        let test = "single frames";
        let Some(room) = Room::new(test) else { return };
        room.set("left", "ethtool -K middle tso off gso off");
        room.set("middle", "ethtool -K left gro off");
        let Some(mut watcher) = room.watch(test) else {
            return;
        };
        assert_eq!(room.send(2 << 20, "fd09:2::2", PATIENCE), 2 << 20);
        let (look, ()) = settled(&mut watcher, || ());
        let left = frames(&look, "left");
        assert_eq!(left.received.frames, left.received.segments);
        assert_eq!(left.received.merged_frames, 0);
        assert_eq!(left.received.long_frames, 0);
        let received = left.received;
        // One in 64 is looked into; nearly all of them carry data here.
        assert!(
            received.looked_frames > received.frames / 200,
            "{received:?}"
        );
        assert!(received.looked_tcp_frames > received.looked_frames / 2);
        assert_eq!(received.looked_tcp_merged_frames, 0);
    });
}
