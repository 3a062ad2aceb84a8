//! What the tables of facts are made of.

use coalescope_lab::craft::*;
use coalescope_lab::{Delivered, KernelGro, Options};

/// Name, frames sent, and what comes out: a word for each frame, with the numbers of the segments
/// in it. `0-2 4 3` are three segments merged, then the fifth, then the fourth; `empty` is a frame
/// without payload.
pub(crate) type Fact = (&'static str, Batch, &'static str);

/// The first byte of a payload is this plus its number, and so are all others.
const MARK: u8 = 0xc0;

/// Frames, and the length of the shortest headers.
pub(crate) struct Batch {
    pub(crate) frames: Vec<Vec<u8>>,
    headers: usize,
}

/// The oracle, or the test is skipped, which has its thread's name.
pub(crate) fn kernel(options: Options) -> Option<KernelGro> {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test of the kernel's GRO");
    coalescope_needs::had(test, KernelGro::of_release("6.18", options))
}

/// Sends every batch twice and compares what comes out; says all differences at once.
pub(crate) fn assert_facts(options: Options, facts: Vec<Fact>) {
    let Some(mut gro) = kernel(options) else {
        return;
    };
    let mut wrong = Vec::new();
    for (name, batch, expected) in facts {
        let once = gro.run(&batch.frames).expect("the batch runs");
        let again = gro.run(&batch.frames).expect("the batch runs again");
        assert_eq!(once, again, "{name}: not the same twice");
        let found = batch.describe(&once);
        if found != expected {
            wrong.push(format!("FACT|{name}|{found}|"));
        }
    }
    assert!(
        wrong.is_empty(),
        "this kernel does otherwise:\n{}",
        wrong.join("\n")
    );
}

impl Batch {
    fn describe(&self, delivered: &[Delivered]) -> String {
        let words: Vec<_> = delivered
            .iter()
            .map(|one| ranges(&self.segments(&one.frame)))
            .collect();
        words.join(" ")
    }

    /// Numbers of the segments in a frame: its payload from behind, without padding.
    fn segments(&self, frame: &[u8]) -> Vec<u8> {
        let payload = frame[self.headers..]
            .iter()
            .rev()
            .skip_while(|byte| **byte == 0);
        let marks = payload.map_while(|byte| byte.checked_sub(MARK));
        let mut numbers: Vec<_> = marks.collect();
        numbers.dedup();
        numbers.reverse();
        numbers
    }

    /// Frames in another order.
    pub(crate) fn order<const N: usize>(self, order: [usize; N]) -> Self {
        let frames = order.map(|at| self.frames[at].clone()).to_vec();
        Self {
            frames,
            headers: self.headers,
        }
    }
}

/// Numbers with runs drawn together.
fn ranges(numbers: &[u8]) -> String {
    if numbers.is_empty() {
        return "empty".to_owned();
    }
    let runs = numbers.chunk_by(|one, two| one + 1 == *two);
    let words = runs.map(|run| match run {
        [one] => one.to_string(),
        _ => format!("{}-{}", run[0], run[run.len() - 1]),
    });
    words.collect::<Vec<_>>().join(",")
}

/// Segments of a TCP connection with timestamps and 100 bytes each, changed by `change`.
pub(crate) fn v4(count: usize, change: impl Fn(usize, &mut Segment)) -> Batch {
    train(count, &Segment::v4(Ipv4::default()), change)
}

/// The same over IPv6.
pub(crate) fn v6(count: usize, change: impl Fn(usize, &mut Segment)) -> Batch {
    train(count, &Segment::v6(Ipv6::default()), change)
}

/// UDP over IPv4.
pub(crate) fn udp4(count: usize, change: impl Fn(usize, &mut Segment)) -> Batch {
    train(count, &Segment::new(Ip::V4(Ipv4::default()), udp()), change)
}

/// UDP over IPv6.
pub(crate) fn udp6(count: usize, change: impl Fn(usize, &mut Segment)) -> Batch {
    train(count, &Segment::new(Ip::V6(Ipv6::default()), udp()), change)
}

/// TCP over IPv4 or IPv6 in a tunnel.
pub(crate) fn tunnelled(
    inner_v6: bool,
    outer: Ip,
    encapsulation: Encapsulation,
    change: impl Fn(usize, &mut Segment),
) -> Batch {
    let mut first = if inner_v6 {
        Segment::v6(Ipv6::default())
    } else {
        Segment::v4(Ipv4::default())
    };
    first.tunnels.push(Tunnel {
        outer,
        encapsulation,
    });
    train(4, &first, change)
}

/// A default outer header.
pub(crate) fn outer4() -> Ip {
    Ip::V4(Ipv4 {
        source: [198, 51, 100, 1],
        destination: [198, 51, 100, 2],
        ..Ipv4::default()
    })
}

/// A default outer header.
pub(crate) fn outer6() -> Ip {
    Ip::V6(Ipv6::default())
}

fn udp() -> Transport {
    Transport::Udp(Udp {
        source: 5000,
        destination: 443,
        ..Udp::default()
    })
}

/// The IPv4 identification goes up in every header; sequence numbers follow the payload before.
fn train(count: usize, first: &Segment, change: impl Fn(usize, &mut Segment)) -> Batch {
    let (mut frames, mut sent, mut headers) = (Vec::new(), 0, usize::MAX);
    for at in 0..count {
        let mut segment = first.clone();
        number(&mut segment, at, sent);
        change(at, &mut segment);
        segment.payload.fill(MARK + at as u8);
        sent += segment.payload.len();
        let empty = Segment {
            payload: Vec::new(),
            padding: 0,
            ..segment.clone()
        };
        headers = headers.min(empty.frame().len());
        frames.push(segment.frame());
    }
    Batch { frames, headers }
}

fn number(segment: &mut Segment, at: usize, sent: usize) {
    segment.payload = vec![0; 100];
    if let Some(tcp) = segment.tcp_mut() {
        tcp.seq = 1000 + sent as u32;
        tcp.options = timestamps(1, 7);
    }
    let outer = segment.tunnels.iter_mut().map(|tunnel| &mut tunnel.outer);
    for ip in outer.chain([&mut segment.ip]) {
        if let Ip::V4(ip) = ip {
            ip.id = 100 + at as u16;
        }
    }
}

/// The TCP header of a segment known to have one.
pub(crate) fn tcp(segment: &mut Segment) -> &mut Tcp {
    segment.tcp_mut().expect("a TCP segment")
}

/// The inner IPv4 header of a segment known to have one.
pub(crate) fn ip4(segment: &mut Segment) -> &mut Ipv4 {
    segment.ipv4_mut().expect("an IPv4 segment")
}

/// The inner IPv6 header of a segment known to have one.
pub(crate) fn ip6(segment: &mut Segment) -> &mut Ipv6 {
    segment.ipv6_mut().expect("an IPv6 segment")
}

/// The UDP header of a segment known to have one.
pub(crate) fn udp_header(segment: &mut Segment) -> &mut Udp {
    segment.udp_mut().expect("a UDP segment")
}

/// The outer IPv4 header.
pub(crate) fn outer(segment: &mut Segment) -> &mut Ipv4 {
    match &mut segment.tunnels[0].outer {
        Ip::V4(ip) => ip,
        Ip::V6(_) => unreachable!("the outer header is IPv6"),
    }
}
