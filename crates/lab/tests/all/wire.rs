//! A wire between veth pairs in namespaces of their own.

use coalescope_lab::craft::{Ipv4, Ipv6, Segment};
use coalescope_lab::packet::{Buffers, PacketSocket};
use coalescope_lab::wire::{Direction, Middlebox, Outgoing, Unchanged, run};
use coalescope_lab::{Link, Namespace, Veth};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The namespace, or the test is skipped.
fn namespace(test: &str) -> Option<Namespace> {
    coalescope_needs::had(test, Namespace::new())
}

/// Ends of the two pairs: outside, inside, inside, outside.
fn links() -> [Link; 4] {
    let [one, two] =
        [("a0", "a1"), ("b0", "b1")].map(|(left, right)| Veth::new(left, right, Veth::MAX_MTU));
    let (one, two) = (one.expect("a pair"), two.expect("another pair"));
    [one.left, one.right, two.left, two.right]
}

/// Runs a wire between the inner ends while `work` does something with the outer ones.
fn with_wire<T>(
    links: &[Link; 4],
    middlebox: &mut (dyn Middlebox + Send),
    work: impl FnOnce() -> T,
) -> (T, [Direction; 2]) {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        // The scope's thread is in the namespace of the thread that starts it.
        let wire = scope.spawn(|| run([&links[1], &links[2]], [middlebox, &mut Unchanged], &stop));
        thread::sleep(Duration::from_millis(100));
        let result = work();
        stop.store(true, Ordering::Relaxed);
        (
            result,
            wire.join().expect("no panic").expect("the wire runs"),
        )
    })
}

fn samples() -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let mut segment = Segment::v4(Ipv4::default());
    for (payload, tags) in [
        (0, vec![]),
        (1448, vec![]),
        (60_000, vec![]),
        (100, vec![(0x8100, 5)]),
        (9, vec![(0x88a8, 7), (0x8100, 5)]),
    ] {
        (segment.payload, segment.tags) = (vec![7; payload], tags);
        frames.push(segment.frame());
    }
    let mut six = Segment::v6(Ipv6::default());
    six.destination_mac = [1, 2, 3, 4, 5, 6];
    frames.extend([six.frame(), [&[2; 12][..], &[0x88, 0xb5, 1, 2, 3]].concat()]);
    frames
}

/// Sends on one end and gives back what comes out of the other.
fn through(from: &Link, to: &Link, frames: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let output = PacketSocket::promiscuous(to).expect("a receiver");
    output
        .set_timeout(Duration::from_millis(500))
        .expect("a time-out");
    PacketSocket::sender(from)
        .expect("a sender")
        .send(frames)
        .expect("frames are sent");
    let (mut got, mut buffers) = (Vec::new(), Buffers::new(16));
    while got.len() < frames.len() && output.receive(&mut buffers).expect("frames") > 0 {
        got.extend(buffers.frames().map(|frame| frame.bytes.to_vec()));
    }
    got
}

fn sorted(mut frames: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    frames.sort();
    frames
}

#[test]
fn frames_pass_both_ways_unchanged() {
    let Some(namespace) = namespace("frames_pass_both_ways_unchanged") else {
        return;
    };
    let work = || {
        let links = links();
        let there_and_back = || {
            [
                through(&links[0], &links[3], &samples()),
                through(&links[3], &links[0], &samples()),
            ]
        };
        with_wire(&links, &mut Unchanged, there_and_back)
    };
    let (got, counts) = namespace.enter(work).unwrap();
    for frames in got {
        assert_eq!(sorted(frames), sorted(samples()));
    }
    let sent = samples().len() as u64;
    assert_eq!(
        counts.map(|way| (way.received, way.sent, way.refused)),
        [(sent, sent, 0); 2]
    );
}

/// Holds every frame for 20 ms, and lets them go in the opposite order.
#[derive(Default)]
struct Holder {
    held: Vec<Vec<u8>>,
    until: u64,
}

impl Middlebox for Holder {
    fn frame(&mut self, frame: &[u8], now_ns: u64, _out: &mut Outgoing) {
        self.until = now_ns + 20_000_000;
        self.held.push(frame.to_vec());
    }

    fn deadline(&self) -> Option<u64> {
        (!self.held.is_empty()).then_some(self.until)
    }

    fn tick(&mut self, now_ns: u64, out: &mut Outgoing) {
        if now_ns >= self.until {
            self.held.drain(..).rev().for_each(|frame| out.push(&frame));
        }
    }
}

#[test]
fn what_is_held_leaves_at_its_deadline_and_at_the_end() {
    let Some(namespace) = namespace("what_is_held_leaves_at_its_deadline_and_at_the_end") else {
        return;
    };
    let mut frames = [1, 2, 3].map(|fill| vec![fill; 60]).to_vec();
    let work = || {
        let links = links();
        let mut holder = Holder::default();
        let at_deadline = with_wire(&links, &mut holder, || {
            through(&links[0], &links[3], &frames)
        })
        .0;
        let mut forever = Holder::default();
        let unheard = || {
            PacketSocket::sender(&links[0])
                .expect("a sender")
                .send(&frames)
                .expect("frames are sent");
        };
        let (_, counts) = with_wire(&links, &mut forever, unheard);
        (at_deadline, counts[0].sent)
    };
    let (at_deadline, at_end) = namespace.enter(work).unwrap();
    frames.reverse();
    assert_eq!((at_deadline, at_end), (frames, 3));
}

#[test]
fn a_frame_that_is_too_long_is_counted_and_the_rest_goes_on() {
    let Some(namespace) = namespace("a_frame_that_is_too_long_is_counted_and_the_rest_goes_on")
    else {
        return;
    };
    let work = || {
        let (one, two) = (
            Veth::new("a0", "a1", 9000).expect("a pair"),
            Veth::new("b0", "b1", 1500).expect("a pair"),
        );
        let links = [one.left, one.right, two.left, two.right];
        let frames = [60, 4000, 61].map(|length| vec![2; length]);
        with_wire(&links, &mut Unchanged, || {
            through(&links[0], &links[3], &frames).len()
        })
    };
    let (arrived, counts) = namespace.enter(work).unwrap();
    assert_eq!((arrived, counts[0].sent, counts[0].refused), (2, 2, 1));
}

#[test]
fn tcp_with_checksums_left_to_the_card_gets_through() {
    let test = "tcp_with_checksums_left_to_the_card_gets_through";
    let (Some(client), Some(middle), Some(server)) =
        (namespace(test), namespace(test), namespace(test))
    else {
        return;
    };
    let ends = |namespace: &Namespace, name: &'static str, host: u8| {
        let set_up = move || {
            let link = Link::named(name)?;
            link.add_address(Ipv4Addr::new(192, 0, 2, host), 24)?;
            link.set_up()
        };
        namespace
            .enter(set_up)
            .expect("entered")
            .expect("an address");
    };
    let links = middle.enter(links).unwrap();
    middle
        .enter(|| {
            links[0]
                .clone()
                .move_to(&client)
                .and_then(|()| links[3].clone().move_to(&server))
        })
        .unwrap()
        .unwrap();
    ends(&client, "a0", 1);
    ends(&server, "b1", 2);
    let listener = server
        .enter(|| TcpListener::bind("192.0.2.2:9"))
        .unwrap()
        .unwrap();
    let transfer = || {
        let mut sender = client
            .enter(|| TcpStream::connect("192.0.2.2:9"))
            .unwrap()
            .unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        let writer = thread::spawn(move || sender.write_all(&[7; 4 << 20]));
        let mut got = Vec::new();
        receiver.read_to_end(&mut got).unwrap();
        writer.join().unwrap().unwrap();
        got.len()
    };
    let (bytes, counts) = middle
        .enter(|| with_wire(&links, &mut Unchanged, transfer))
        .unwrap();
    assert_eq!(bytes, 4 << 20);
    assert!(
        counts[0].checksummed > 0,
        "{counts:?}: the sender leaves checksums to the card"
    );
}
