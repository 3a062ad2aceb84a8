//! Cases, and the runner.

use std::fmt::Write as _;

use gro::{Coalescer, LinkType, Outgoing, Profile, Reason, Settings};

use crate::build::{Around, Built, Frame, Streams};

/// Every profile by name; `linux-7` is the kernel that the selftest belongs to.
pub(crate) const ALL: &[&str] = &[
    "linux-gro",
    "linux-gro-udp",
    "linux-7",
    "virtio-rsc",
    "linux-lro",
    "freebsd-lro",
    "ndis-rsc",
    "dpdk-gro",
    "wireguard",
];
/// All that follow Linux GRO.
pub(crate) const LINUX: &[&str] = &["linux-gro", "linux-gro-udp", "linux-7", "virtio-rsc"];
/// Linux GRO before 7.0.
pub(crate) const LINUX_6: &[&str] = &["linux-gro", "linux-gro-udp", "virtio-rsc"];
pub(crate) const LINUX_7: &[&str] = &["linux-7"];
pub(crate) const LRO: &[&str] = &["linux-lro"];
pub(crate) const FREEBSD: &[&str] = &["freebsd-lro"];
pub(crate) const NDIS: &[&str] = &["ndis-rsc"];
pub(crate) const DPDK: &[&str] = &["dpdk-gro"];
pub(crate) const WIREGUARD: &[&str] = &["wireguard"];
/// Those that keep the latest acknowledgment and window, and record no segment size.
pub(crate) const STREAMS: &[&str] = &["linux-lro", "freebsd-lro", "ndis-rsc"];
/// Those that merge UDP.
pub(crate) const UDP: &[&str] = &["linux-gro-udp", "wireguard"];

fn profile(name: &str) -> Profile {
    match name {
        "linux-gro" => Profile::linux_gro(),
        "linux-gro-udp" => Profile::linux_gro_udp(),
        "linux-7" => Profile::linux_gro_7(),
        "linux-gro-4.6" => Profile::linux_gro_4_6(),
        "linux-gro-2.6" => Profile::linux_gro_2_6(),
        "virtio-rsc" => Profile::virtio_rsc(),
        "linux-lro" => Profile::linux_lro(),
        "freebsd-lro" => Profile::freebsd_lro(),
        "ndis-rsc" => Profile::ndis_rsc(),
        "dpdk-gro" => Profile::dpdk_gro(),
        _ => Profile::wireguard(),
    }
}

/// Around what a case's packets are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrap {
    V4,
    V6,
    Ipip,
    Ip6ip6,
    Pppoe4,
    Pppoe6,
}

pub(crate) use Wrap::{Ip6ip6, Ipip, Pppoe4, Pppoe6, V4, V6};

/// The encapsulations that most cases of the selftest run in.
pub(crate) const FOUR: &[Wrap] = &[V4, V6, Ipip, Ip6ip6];
pub(crate) const SIX: &[Wrap] = &[V4, V6, Ipip, Ip6ip6, Pppoe4, Pppoe6];
pub(crate) const BOTH: &[Wrap] = &[V4, V6];

impl Wrap {
    fn apply(self, frame: &Frame) -> Frame {
        let mut frame = frame.clone();
        if frame.around == Around::Nothing {
            frame.around = match self {
                V4 | V6 => Around::Nothing,
                Ipip => Around::Ip(4),
                Ip6ip6 => Around::Ip(6),
                Pppoe4 | Pppoe6 => Around::Pppoe(7),
            };
        }
        if matches!(self, V6 | Ip6ip6 | Pppoe6) {
            frame.version = 6;
        }
        frame
    }

    /// Bytes of headers between Ethernet and TCP's payload.
    pub(crate) fn headers(self) -> u32 {
        match self {
            V4 => 40,
            V6 | Ipip => 60,
            Ip6ip6 => 100,
            Pppoe4 => 48,
            Pppoe6 => 68,
        }
    }

    /// Whether a profile looks into this at all: tunnels are Linux's, PPPoE is Linux 7's, and
    /// `inet_lro` knows IPv4 only.
    fn is_entered(self, profile: &str) -> bool {
        match self {
            V4 => true,
            V6 => profile != "linux-lro",
            Ipip | Ip6ip6 => LINUX.contains(&profile) && profile != "virtio-rsc",
            Pppoe4 | Pppoe6 => profile == "linux-7",
        }
    }
}

/// A frame that must come out: its payload's length, and what else matters.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Out {
    len: u32,
    seq: Option<u32>,
    ack: Option<u32>,
    window: Option<u16>,
    flags: Option<u8>,
    ttl: Option<u8>,
    stamp: Option<(u32, u32)>,
    reason: Option<Reason>,
}

/// A frame with so many bytes of payload.
pub(crate) fn len(len: u32) -> Out {
    Out {
        len,
        ..Out::default()
    }
}

impl From<u32> for Out {
    fn from(bytes: u32) -> Self {
        len(bytes)
    }
}

impl Out {
    pub(crate) fn seq(self, seq: u32) -> Self {
        let seq = Some(seq);
        Self { seq, ..self }
    }
    pub(crate) fn ack(self, ack: u32) -> Self {
        let ack = Some(ack);
        Self { ack, ..self }
    }
    pub(crate) fn window(self, window: u16) -> Self {
        let window = Some(window);
        Self { window, ..self }
    }
    /// These flags, ACK included.
    pub(crate) fn flags(self, flags: u8) -> Self {
        let flags = Some(flags);
        Self { flags, ..self }
    }
    pub(crate) fn ttl(self, ttl: u8) -> Self {
        let ttl = Some(ttl);
        Self { ttl, ..self }
    }
    pub(crate) fn stamp(self, value: u32, echo: u32) -> Self {
        let stamp = Some((value, echo));
        Self { stamp, ..self }
    }
    pub(crate) fn why(self, reason: Reason) -> Self {
        let reason = Some(reason);
        Self { reason, ..self }
    }

    fn fits(&self, got: &Self) -> bool {
        fn same<T: PartialEq + Copy>(wanted: Option<T>, got: Option<T>) -> bool {
            wanted.is_none() || wanted == got
        }
        self.len == got.len
            && same(self.seq, got.seq)
            && same(self.ack, got.ack)
            && same(self.window, got.window)
            && same(self.flags, got.flags)
            && same(self.ttl, got.ttl)
            && same(self.stamp, got.stamp)
            && same(self.reason, got.reason)
    }
}

impl std::fmt::Display for Out {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.len)?;
        let numbers = [
            ("seq", self.seq),
            ("ack", self.ack),
            ("window", self.window.map(u32::from)),
            ("flags", self.flags.map(u32::from)),
            ("ttl", self.ttl.map(u32::from)),
        ];
        for (name, value) in numbers {
            value.map_or(Ok(()), |value| write!(f, " {name} {value}"))?;
        }
        if let Some((value, echo)) = self.stamp {
            write!(f, " stamp {value}/{echo}")?;
        }
        self.reason
            .map_or(Ok(()), |reason| write!(f, " ({reason})"))
    }
}

/// What some profiles must give.
struct Row {
    profiles: &'static [&'static str],
    out: Vec<Out>,
    /// The document's words, or why this where no document says.
    why: &'static str,
}

/// A case.
pub(crate) struct Case {
    name: &'static str,
    wraps: Vec<Wrap>,
    frames: Vec<Frame>,
    rows: Vec<Row>,
    one_bucket: bool,
}

/// Frames, in the packets that they are sent in.
pub(crate) fn case(
    name: &'static str,
    wraps: &[Wrap],
    frames: impl IntoIterator<Item = Frame>,
) -> Case {
    Case {
        name,
        wraps: wraps.to_vec(),
        frames: frames.into_iter().collect(),
        rows: Vec::new(),
        one_bucket: false,
    }
}

impl Case {
    /// What these profiles must give. The last row that names a profile counts.
    pub(crate) fn out<O: Into<Out>>(
        mut self,
        profiles: &'static [&'static str],
        out: impl IntoIterator<Item = O>,
    ) -> Self {
        let out = out.into_iter().map(Into::into).collect();
        let why = "";
        self.rows.push(Row { profiles, out, why });
        self
    }

    /// What the last row rests on.
    pub(crate) fn since(mut self, why: &'static str) -> Self {
        if let Some(row) = self.rows.last_mut() {
            row.why = why;
        }
        self
    }

    /// The last row stands in no document that was read: why it is so nevertheless.
    pub(crate) fn not_stated(self, why: &'static str) -> Self {
        self.since(why)
    }

    /// These profiles let every frame pass alone.
    pub(crate) fn alone(self, profiles: &'static [&'static str]) -> Self {
        let sent: Vec<u32> = self.frames.iter().map(|frame| frame.len).collect();
        self.out(profiles, sent)
    }

    /// All frames share a bucket, as on TAP and veth.
    pub(crate) fn one_bucket(mut self) -> Self {
        self.one_bucket = true;
        self
    }

    fn row(&self, profile: &str) -> &Row {
        let found = self
            .rows
            .iter()
            .rev()
            .find(|row| row.profiles.contains(&profile));
        found.unwrap_or_else(|| unreachable!("{}: nothing said of {profile}", self.name))
    }

    /// What differs, as lines for a person.
    fn check(&self, name: &str, wrap: Wrap, raw: bool) -> Option<String> {
        let frames: Vec<Frame> = self
            .frames
            .iter()
            .map(|frame| Frame {
                raw,
                ..wrap.apply(frame)
            })
            .collect();
        let row = self.row(name);
        let wanted = match wrap.is_entered(name) {
            true => row.out.clone(),
            false => frames.iter().map(|frame| len(frame.len)).collect(),
        };
        let got = run(&profile(name), &frames, raw, self.one_bucket);
        let fits = wanted.len() == got.len() && wanted.iter().zip(&got).all(|(a, b)| a.fits(b));
        (!fits).then(|| {
            let mut lines = format!("{} in {wrap:?} under {name}", self.name);
            let sent: Vec<Out> = frames.iter().map(|frame| len(frame.len)).collect();
            let _ = write!(lines, "\n    sent   {}", list(&sent));
            let _ = write!(lines, "\n    wanted {}   {}", list(&wanted), row.why);
            let _ = write!(lines, "\n    got    {}", list(&got));
            lines
        })
    }
}

/// The items; a long run of equal ones as one.
fn list(items: &[Out]) -> String {
    let texts: Vec<String> = items.iter().map(ToString::to_string).collect();
    let runs = texts.chunk_by(|a, b| a == b);
    let runs = runs.map(|run| match run.len() {
        0..4 => run.join(", "),
        count => format!("{count} x {}", run[0]),
    });
    runs.collect::<Vec<_>>().join(", ")
}

/// Runs cases under all profiles, as Ethernet frames and where there are packets only as these.
pub(crate) fn check(cases: &[Case]) {
    check_under(ALL, cases);
}

/// The same, under some profiles.
pub(crate) fn check_under(profiles: &[&str], cases: &[Case]) {
    let mut failures = Vec::new();
    let mut runs = 0;
    for case in cases {
        for &wrap in &case.wraps {
            for name in profiles {
                for raw in [false, true] {
                    let link_matters = case.frames.iter().any(|frame| {
                        !frame.vlans.is_empty()
                            || frame.mac != 1
                            || matches!(frame.around, Around::Pppoe(_))
                    });
                    if raw && (link_matters || matches!(wrap, Pppoe4 | Pppoe6)) {
                        continue;
                    }
                    runs += 1;
                    failures.extend(case.check(name, wrap, raw));
                }
            }
        }
    }
    let count = failures.len();
    let text = failures.join("\n");
    assert!(failures.is_empty(), "{count} of {runs} differ:\n{text}\n");
}

fn run(profile: &Profile, frames: &[Frame], raw: bool, one_bucket: bool) -> Vec<Out> {
    let mut streams = Streams::default();
    let built: Vec<Built> = frames.iter().map(|frame| streams.build(frame)).collect();
    let settings = Settings {
        link: if raw {
            LinkType::Raw
        } else {
            LinkType::Ethernet
        },
        one_bucket,
        ..Settings::default()
    };
    let mut coalescer = Coalescer::new(profile, settings);
    let mut got = Vec::new();
    let mut out = Outgoing::each(|outgoing| got.push(seen(&built, outgoing)));
    for (token, frame) in built.iter().enumerate() {
        coalescer.push(&frame.bytes, token, 0, &mut out);
        if frame.frame.flush_after {
            coalescer.flush(&mut out);
        }
    }
    coalescer.flush(&mut out);
    assert!(coalescer.is_empty());
    got
}

fn seen(built: &[Built], outgoing: Outgoing<'_, usize>) -> Out {
    match outgoing {
        Outgoing::Unchanged { token, about } => {
            let one = &built[token];
            let out = fields(&one.bytes, one);
            Out {
                len: one.payload.len() as u32,
                reason: Some(about.reason),
                ..out
            }
        }
        Outgoing::Merged {
            header,
            parts,
            about,
        } => {
            let parts: Vec<_> = parts.collect();
            let header: Vec<u8> = header.to_vec();
            let out = fields(&header, &built[parts[0].token]);
            let len = parts.iter().map(|part| part.payload.len() as u32).sum();
            Out {
                len,
                reason: Some(about.reason),
                ..out
            }
        }
    }
}

fn fields(bytes: &[u8], like: &Built) -> Out {
    let at = like.transport;
    let word = |at: usize| {
        bytes
            .get(at..at + 4)
            .map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
    };
    let (version, ip) = *like.ips.last().unwrap_or(&(4, 0));
    let ttl = bytes.get(ip + if version == 4 { 8 } else { 7 }).copied();
    if like.frame.udp {
        return Out {
            ttl,
            ..Out::default()
        };
    }
    let stamp = (like.frame.options.len() == 12).then(|| word(at + 24).zip(word(at + 28)));
    Out {
        seq: word(at + 4),
        ack: word(at + 8),
        window: word(at + 12).map(|word| word as u16),
        flags: bytes.get(at + 13).copied(),
        ttl,
        stamp: stamp.flatten(),
        ..Out::default()
    }
}
