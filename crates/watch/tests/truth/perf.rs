//! Without BPF: what perf's events tell, beside what the programs, the kernel's counters and nftables count of the same frames.

use std::cell::RefCell;
use std::net::UdpSocket;
use std::time::Duration;

use coalescope_needs as needs;
use coalescope_watch::facts::{Interface, Level, Lost, Watched};
use coalescope_watch::live::Watcher;

use crate::room::{Room, drops, frames, in_rounds, settled};

const PATIENCE: Duration = Duration::from_secs(5);
const BYTES: usize = 4 << 20;

/// Frames that an interface has received and sent, as `ip -s link` has them.
fn link(room: &Room, name: &str) -> (u64, u64) {
    let of = |what: &str| {
        let file = format!("cat /sys/class/net/{name}/statistics/{what}_packets");
        let said = room.run("middle", &file).unwrap();
        said.trim().parse::<u64>().unwrap()
    };
    (of("rx"), of("tx"))
}

/// What grew between two looks, of an interface: frames and segments in; queued; sent, and merged ones of these.
fn grown(before: &[Interface], after: &[Interface], name: &str) -> [u64; 5] {
    let of = |all: &[Interface]| {
        let frames = all.iter().find(|one| one.name == name);
        let frames = frames.and_then(|one| one.frames).unwrap_or_default();
        let (received, sent) = (frames.received, frames.sent);
        [
            received.frames,
            received.segments,
            frames.queued.frames,
            sent.frames,
            sent.merged_frames,
        ]
    };
    let (before, after) = (of(before), of(after));
    std::array::from_fn(|n| after[n] - before[n])
}

/// Events that came, but that nobody could read, of the whole machine: some are missing beside other tests, as BPF's are
/// (docs/watch.md, "How exact"). A round of many tells nothing.
fn missed(look: &Watched) -> u64 {
    assert_eq!(look.level, Level::Perf);
    assert!(look.unseen.iter().any(|one| one.what.contains("merged")));
    let Lost {
        frames,
        drops,
        samples,
    } = look.lost;
    assert!((frames, drops) == (0, 0) && samples < 100, "{samples}");
    samples
}

/// Sends, and compares what perf tells of both interfaces with the kernel's counters, and with the programs where these
/// are allowed. Returns what perf tells in the end.
fn compared(room: &Room, watcher: &mut Watcher, test: &str) -> Watched {
    let names = ["left", "right"].map(|side| room.own(side));
    let programs = RefCell::new(room.watch(test));
    let others = || {
        let look = programs
            .borrow_mut()
            .as_mut()
            .map(|one| one.look().unwrap());
        let links = names.clone().map(|name| link(room, &name));
        (links, look.map(|look| look.interfaces))
    };
    let (before, others_before) = settled(watcher, others);
    assert_eq!(room.send(BYTES, "10.9.2.2", PATIENCE), BYTES);
    let (after, others_after) = settled(watcher, others);
    let missed = missed(&after);
    let near = |one: u64, other: u64| one.abs_diff(other) <= missed;
    for (n, name) in names.iter().enumerate() {
        let seen = grown(&before.interfaces, &after.interfaces, name);
        let (was, now) = (others_before.0[n], others_after.0[n]);
        let (received, sent) = (now.0 - was.0, now.1 - was.1);
        assert!(near(seen[3], sent), "{sent} {name}: {seen:?}");
        // A veth counts what it receives before GRO merges.
        let is_near = near(seen[0], received) || near(seen[1], received);
        assert!(is_near, "{received} {name}: {seen:?}");
        if let (Some(was), Some(now)) = (&others_before.1, &others_after.1) {
            let truth = grown(was, now, name);
            let mut both = seen.into_iter().zip(truth);
            assert!(
                both.all(|(seen, truth)| near(seen, truth)),
                "{name}: {seen:?} {truth:?}"
            );
        }
    }
    after
}

#[test]
fn merged_frames_as_they_come() {
    let test = "perf, merged frames";
    in_rounds(|| {
        let Some(room) = Room::alone(test) else {
            return;
        };
        let Some(mut watcher) = room.watch_by_perf(test) else {
            return;
        };
        let look = compared(&room, &mut watcher, test);
        let left = frames(&look, &room.own("left")).received;
        assert!(
            left.merged_frames > 10 && left.segments > 2 * left.frames,
            "{left:?}"
        );
    });
}

#[test]
fn frames_that_gro_merges() {
    let test = "perf, GRO";
    in_rounds(|| {
        let Some(room) = Room::alone(test) else {
            return;
        };
        room.set("middle", "ethtool -K left gro on");
        room.set("left", "ethtool -K middle tso off gso off");
        let Some(mut watcher) = room.watch_by_perf(test) else {
            return;
        };
        let look = compared(&room, &mut watcher, test);
        if look.events["net/napi_gro_receive_entry"] == 0 {
            return needs::skipped(test, "this kernel's veth gives nothing to GRO");
        }
        let left = frames(&look, &room.own("left")).received;
        assert!(
            left.merged_frames > 10 && left.segments > left.frames,
            "{left:?}"
        );
    });
}

#[test]
fn frames_that_nobody_merges() {
    let test = "perf, no GRO";
    in_rounds(|| {
        let Some(room) = Room::alone(test) else {
            return;
        };
        room.set("middle", "ethtool -K left gro off");
        room.set("left", "ethtool -K middle tso off gso off");
        let Some(mut watcher) = room.watch_by_perf(test) else {
            return;
        };
        let look = compared(&room, &mut watcher, test);
        let left = frames(&look, &room.own("left")).received;
        let more = left.segments.abs_diff(left.frames);
        assert!(more <= missed(&look) && left.merged_frames == 0, "{left:?}");
        assert!(left.frames as usize > BYTES / 1500, "{left:?}");
    });
}

/// Full queues anywhere on this machine are taken off.
#[test]
fn what_is_cut_in_software() {
    let test = "perf, cut in software";
    in_rounds(|| {
        let Some(room) = Room::alone(test) else {
            return;
        };
        room.set("middle", "ethtool -K right tso off gso on");
        let Some(mut watcher) = room.watch_by_perf(test) else {
            return;
        };
        let mut programs = room.watch(test);
        assert_eq!(room.send(BYTES, "10.9.2.2", PATIENCE), BYTES);
        let (look, ()) = settled(&mut watcher, || ());
        let missed = missed(&look);
        let right = frames(&look, &room.own("right"));
        let full = drops(&look, "QDISC_DROP").into_iter();
        let full: u64 = full.map(|drop| drop.unknown_frames).sum();
        let cut = right.sent.cut_frames;
        assert!(cut > 10 && right.sent.merged_frames == 0, "{right:?}");
        if let Some(programs) = &mut programs {
            let truth = frames(&programs.look().unwrap(), &room.own("right"));
            let truth = truth.sent.cut_frames;
            assert!(
                cut <= truth + missed && truth <= cut + full + missed,
                "{cut} {truth} {full}"
            );
        }
    });
}

/// Drops have no interface, so that those of other tests are among these.
#[test]
fn drops_have_a_reason_and_a_place() {
    const FRAMES: u64 = 500;
    let test = "perf, drops";
    if !needs::programs(test, &["nft"]) {
        return;
    }
    let Some(room) = Room::alone(test) else {
        return;
    };
    let rule = "nft 'add table ip t; add chain ip t f { type filter hook forward priority 0; }; \
                add rule ip t f udp dport 9 counter drop'";
    if needs::had(test, room.shell("middle", rule)).is_none() {
        return;
    }
    let Some(mut watcher) = room.watch_by_perf(test) else {
        return;
    };
    room.send_merged(FRAMES, "10.9.2.2");
    let look = watcher.look().unwrap();
    let all = drops(&look, "NETFILTER_DROP");
    let there = all.iter().filter(|drop| {
        let function = drop.location.as_deref();
        function.is_none_or(|name| name.starts_with("nft_do_chain") || name.starts_with("nf_"))
    });
    let frames: u64 = there.clone().map(|drop| drop.unknown_frames).sum();
    assert!(
        frames + look.lost.samples >= FRAMES && frames > 0,
        "{:#?}",
        look.drops
    );
    for drop in there {
        assert_eq!(
            (drop.merged_frames, drop.single_frames, drop.place()),
            (0, 0, None)
        );
    }
}

#[test]
fn frames_of_a_name_that_several_namespaces_have_are_nobodys() {
    let test = "perf, one name in several namespaces";
    let Some(room) = Room::alone(test) else {
        return;
    };
    let Some(mut watcher) = room.watch_by_perf(test) else {
        return;
    };
    room.enter("middle", || {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.send_to(&[7], socket.local_addr().unwrap()).unwrap();
    });
    let look = watcher.look().unwrap();
    assert!(look.interfaces.iter().all(|one| one.name != "lo"));
    let said = look.unseen.iter().find(|one| one.what == "frames of lo");
    assert!(said.is_some(), "{:#?}", look.unseen);
}
