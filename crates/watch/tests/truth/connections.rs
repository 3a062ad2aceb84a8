//! TCP connections, beside what ss(8) says of the same ones.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use coalescope_needs as needs;
use coalescope_watch::facts::{Connection, Watched};
use coalescope_watch::live::{Options, Watcher};

use crate::room::Room;

fn watch(room: &Room, side: &str) -> Watcher {
    let options = Options {
        netns: Some(room.at(side)),
        connections: true,
        level: Some(coalescope_watch::facts::Level::Counters),
        ..Options::default()
    };
    Watcher::begin(options).unwrap()
}

/// The connections; none where the kernel does not tell.
fn connections(test: &str, look: &Watched) -> Option<Vec<Connection>> {
    let mut unseen = look.unseen.iter();
    if let Some(unseen) = unseen.find(|unseen| unseen.what == "connections") {
        needs::skipped(test, &unseen.why);
        return None;
    }
    Some(look.connections.clone())
}

/// Segments sent again so far: the second number of `retrans:0/1`, which ss leaves out where there are none.
fn repeats(text: &str) -> u64 {
    let all = text
        .split_once("retrans:")
        .and_then(|(_, rest)| rest.split_once('/'));
    let digits = all.map_or("", |(_, rest)| {
        rest.split(|one: char| !one.is_ascii_digit())
            .next()
            .unwrap_or_default()
    });
    digits.parse().unwrap_or(0)
}

/// A number behind a name in what ss says.
fn said(text: &str, name: &str) -> u64 {
    let word = text
        .split_whitespace()
        .find_map(|word| word.strip_prefix(name));
    let number = word.unwrap_or_else(|| panic!("{name} in {text}"));
    let end = number.find(|letter: char| !letter.is_ascii_digit());
    number[..end.unwrap_or(number.len())].parse().unwrap()
}

#[test]
fn counts_are_those_of_ss() {
    let test = "connections beside ss";
    if !needs::programs(test, &["ss"]) {
        return;
    }
    let Some(room) = Room::new(test) else { return };
    for to in ["10.9.2.2", "fd09:2::2"] {
        let listener = room.enter("right", || TcpListener::bind((to, 0))).unwrap();
        let end = listener.local_addr().unwrap();
        let mut sender = room.enter("left", || TcpStream::connect(end)).unwrap();
        let (mut taker, _) = listener.accept().unwrap();
        sender.write_all(&[1; 5000]).unwrap();
        let reader = thread::spawn(move || {
            let copied = std::io::copy(&mut taker, &mut std::io::sink());
            copied.unwrap()
        });
        thread::sleep(Duration::from_millis(100));
        let mut watcher = watch(&room, "left");
        let before = room.run("left", "ss -Htin").unwrap();
        sender.write_all(&vec![7; 3 << 20]).unwrap();
        thread::sleep(Duration::from_millis(400));
        let look = watcher.look().unwrap();
        let after = room.run("left", "ss -Htin").unwrap();
        let Some(all) = connections(test, &look) else {
            return;
        };
        let [one] = all.as_slice() else {
            panic!("{all:#?}")
        };
        assert_eq!(one.remote, end.to_string());
        assert_eq!(one.local, sender.local_addr().unwrap().to_string());
        assert_eq!(one.acked_bytes, 3 << 20);
        assert_eq!(
            one.acked_bytes,
            said(&after, "bytes_acked:") - said(&before, "bytes_acked:")
        );
        let segments = said(&after, "data_segs_out:") - said(&before, "data_segs_out:");
        assert_eq!(one.sent_segments, segments);
        assert_eq!(u64::from(one.segment_bytes), said(&after, "mss:"));
        assert_eq!(
            u64::from(one.congestion_window_segments),
            said(&after, "cwnd:")
        );
        assert_eq!(one.in_flight_segments, 0);
        // On a busy machine the kernel probes for a lost tail (RFC 8985, 7), though nothing is lost.
        assert_eq!(one.repeated_segments, repeats(&after) - repeats(&before));
        assert!(
            one.rtt_s > 0.0 && one.rtt_s < 1.0 && one.delivery_rate_bps > 0,
            "{one:?}"
        );
        drop(sender);
        assert_eq!(reader.join().unwrap(), (3 << 20) + 5000);
    }
}

/// The sender of the story: a router drops merged frames, single ones pass.
#[test]
fn where_merged_frames_die_a_round_trip_has_few_segments() {
    let test = "a connection whose merged frames die";
    if !needs::programs(test, &["nft"]) {
        return;
    }
    let Some(room) = Room::new(test) else { return };
    let rules = "nft 'add table ip t; add chain ip t f { type filter hook forward priority 0; }; \
                 add rule ip t f ip length > 2000 drop'";
    if needs::had(test, room.shell("middle", rules)).is_none() {
        return;
    }
    let mut watcher = watch(&room, "left");
    thread::scope(|scope| {
        scope.spawn(|| room.send(1 << 20, "10.9.2.2", Duration::from_secs(4)));
        thread::sleep(Duration::from_secs(3));
        let look = watcher.look().unwrap();
        let Some(all) = connections(test, &look) else {
            return;
        };
        let [one] = all.as_slice() else {
            panic!("{all:#?}")
        };
        assert!(
            one.effective_window_segments
                .is_some_and(|window| window <= 3.0),
            "{one:?}"
        );
        assert!(
            one.repeated_segments >= 5 && one.busy_s > look.took_s / 2.0,
            "{one:?}"
        );
        assert!(
            one.receiver_limited_s + one.buffer_limited_s < 0.5,
            "{one:?}"
        );
    });
}
