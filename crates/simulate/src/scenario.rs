//! The parts of a run: two hosts, the path between them, and the data that they exchange.
//!
//! Everything is public and plain, so that a test takes a scenario of [`crate::story`] and changes one parameter: the
//! seed, a loss rate, an MTU, a size.

use crate::path::{Element, Link, Point};
use crate::schedule::{MILLISECOND, Nanos, SECOND};
use crate::side::Side;

/// A run from beginning to end.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The name, as in [`crate::stories`].
    pub name: String,
    /// All random choices follow from this.
    pub seed: u64,
    /// IPv6 instead of IPv4.
    pub ipv6: bool,
    /// A VLAN tag on every frame.
    pub vlan: Option<u16>,
    /// The end that connects.
    pub client: Host,
    /// The end that accepts.
    pub server: Host,
    /// What lies between, from the client to the server.
    pub path: Vec<Element>,
    /// Number of connections.
    pub connections: usize,
    /// Sequence numbers and timestamps begin just below the largest, and go on from zero soon.
    pub near_wrap: bool,
    /// The client's ports are reused after so many connections.
    pub ports: usize,
    /// Time from one connection's start to the next one's.
    pub spacing: Nanos,
    /// The turns on every main connection.
    pub turns: Vec<Turn>,
    /// Connections beside these, numbered after them, with turns of their own.
    pub others: Vec<Other>,
    /// The run ends here even if connections are still open.
    pub limit: Nanos,
    /// The cause that makes it slow, if there is one.
    pub cause: Cause,
}

/// A connection that differs from the scenario's main ones.
#[derive(Clone, Debug)]
pub struct Other {
    /// When it starts.
    pub start: Nanos,
    /// The turns on it.
    pub turns: Vec<Turn>,
    /// Its client, if that isn't the main connections'.
    pub client: Option<Host>,
    /// Its server, if that isn't the main connections'.
    pub server: Option<Host>,
}

/// Why a scenario behaves as it does: what an analyser is to find out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// Nothing is wrong.
    Healthy,
    /// A hop loses merged frames and passes single segments.
    MergedFramesLost,
    /// Like `MergedFramesLost`, but the RTT is so short that nobody notices.
    MergedFramesLostUnnoticed,
    /// The path loses frames whatever their size.
    PathLoss,
    /// The receiver reads too slowly and closes its window.
    SlowReader,
    /// The sender has nothing to send most of the time.
    IdleSender,
    /// A shaper or a policer limits the rate.
    RateLimit,
    /// The network changes the order of frames.
    Reordering,
    /// The receive buffer is small for the path.
    SmallWindow,
}

/// A host's TCP and what its NIC does when sending.
#[derive(Clone, Debug)]
pub struct Host {
    /// The interface's MTU; the MSS that is announced follows from it.
    pub mtu: u32,
    /// Initial window in segments (RFC 6928: 10).
    pub initial_window: u32,
    /// Receive buffer in bytes, which the advertised window never exceeds.
    pub receive_buffer: u64,
    /// How fast the application takes data out of that buffer.
    pub reader: Reader,
    /// RFC 7323 timestamps are offered.
    pub timestamps: bool,
    /// RFC 2018 selective acknowledgements are offered.
    pub sack: bool,
    /// Window scale shift.
    pub window_scale: u8,
    /// Tail loss probes (RFC 8985 section 7); kernels before Linux 3.10 have none.
    pub tail_probe: bool,
    /// Frames of up to 64 KB are handed to the NIC.
    pub tso: bool,
    /// The TCP checksum is left to the NIC, so captures here show the pseudo-header sum.
    pub checksum_offload: bool,
    /// TSO frames are captured with an IP total length of 0.
    pub zero_total_length: bool,
    /// Which frames have PSH set.
    pub push: Push,
    /// Don't Fragment is set.
    pub dont_fragment: bool,
    /// Idle time after which a keep-alive is sent.
    pub keepalive: Option<Nanos>,
    /// Initial TTL or hop limit.
    pub ttl: u8,
    /// Its congestion control.
    pub congestion: Congestion,
    /// After two timeouts of the same bytes it goes on with smaller segments (RFC 4821; Linux's
    /// `tcp_mtu_probing`).
    pub mtu_probing: bool,
    /// Segments that a delayed acknowledgement waits for, at most (RFC 5681: 2). With more than 2 merged
    /// frames wait, too.
    pub ack_every: u32,
    /// How long it waits for them (Linux: 40 ms; Windows: up to 200 ms).
    pub ack_delay: Nanos,
    /// Segments acknowledged at once at the start, and after something irregular (Linux's
    /// `TCP_MAX_QUICKACKS`: 16).
    pub quick_acks: u32,
    /// SACK still reports data that has just filled a hole, although the data is acknowledged (against RFC 2018,
    /// section 4).
    pub stale_sack: bool,
    /// How its IPv4 packets are identified.
    pub ip_ids: IpIds,
    /// The time in which its timestamps count one (RFC 7323, 5.4: a millisecond to a second; Linux has microseconds, too).
    pub tick: Nanos,
    /// Bytes of a further option on every segment but the SYNs, a multiple of four: MPTCP's (RFC 8684), a signature.
    pub more_options: u8,
    /// Every IPv6 packet has an extension header of eight bytes.
    pub extension: bool,
    /// It supports ECN (RFC 3168).
    pub ecn: bool,
    /// It closes its own direction as soon as it has sent all of its data.
    pub half_close: bool,
    /// It ends the connection with a reset, so long after it was set up.
    pub reset_after: Option<Nanos>,
    /// The window begins with so many bytes, and doubles each time as many were received, as far as the buffer goes.
    pub first_window: Option<u64>,
    /// The most bytes that are written and not acknowledged.
    pub send_buffer: u64,
}

/// Which of a host's frames have PSH set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Push {
    /// The last of what the application has written (RFC 9293, 3.9.1.2).
    Written,
    /// Each with data.
    Always,
    /// None.
    Never,
}

/// How a host identifies its IPv4 packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpIds {
    /// One more for each packet of a connection.
    Counted,
    /// Always 0, as packets may be that are never cut (RFC 6864).
    Zero,
    /// By chance.
    Random,
}

/// How a host decides how fast to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// A window that losses reduce (RFC 5681, with RFC 9438's factor).
    Window,
    /// A model of the path, and pacing, in the manner of BBR.
    Bbr,
}

impl Default for Host {
    fn default() -> Self {
        Self {
            mtu: 1500,
            initial_window: 10,
            receive_buffer: 1 << 20,
            reader: Reader::AtOnce,
            timestamps: true,
            sack: true,
            window_scale: 7,
            tail_probe: true,
            tso: true,
            checksum_offload: true,
            zero_total_length: false,
            push: Push::Written,
            dont_fragment: true,
            keepalive: None,
            ttl: 64,
            congestion: Congestion::Window,
            mtu_probing: false,
            ack_every: 2,
            ack_delay: 40 * MILLISECOND,
            quick_acks: 16,
            stale_sack: false,
            ip_ids: IpIds::Counted,
            tick: MILLISECOND,
            more_options: 0,
            extension: false,
            ecn: false,
            half_close: false,
            reset_after: None,
            first_window: None,
            send_buffer: u64::MAX,
        }
    }
}

/// How an application reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// Whatever arrives is read at once.
    AtOnce,
    /// `bytes` every `every` nanoseconds.
    Steady {
        /// Bytes per read.
        bytes: u64,
        /// Time between reads.
        every: Nanos,
    },
    /// Whatever arrives is read at once, but for pauses in which nothing is.
    Pausing {
        /// Time from the beginning of one pause to that of the next.
        every: Nanos,
        /// How long it is.
        pause: Nanos,
    },
}

/// One side's turn to send. It begins when all data of the turns before has been received.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Who sends.
    pub from: Side,
    /// How many bytes.
    pub bytes: u64,
    /// Time to think before the first byte.
    pub think: Nanos,
    /// Bytes per write of the application; 0 for one write.
    pub write: u64,
    /// Time between writes.
    pub pause: Nanos,
    /// What the bytes look like.
    pub content: Content,
}

/// What a turn's bytes look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Bytes without a structure.
    Plain,
    /// TLS handshake records (first bytes 0x16 0x03).
    Handshake,
    /// TLS application data records (first bytes 0x17 0x03).
    Records,
}

impl Turn {
    /// A turn of one write, without thinking.
    #[must_use]
    pub fn new(from: Side, bytes: u64) -> Self {
        Self {
            from,
            bytes,
            think: 0,
            write: 0,
            pause: 0,
            content: Content::Plain,
        }
    }

    /// With time to think first.
    #[must_use]
    pub fn after(mut self, think: Nanos) -> Self {
        self.think = think;
        self
    }

    /// In writes of `write` bytes with a pause in between.
    #[must_use]
    pub fn in_writes(mut self, write: u64, pause: Nanos) -> Self {
        self.write = write;
        self.pause = pause;
        self
    }

    /// With other content.
    #[must_use]
    pub fn holding(mut self, content: Content) -> Self {
        self.content = content;
        self
    }
}

impl Scenario {
    /// A scenario without a path: 60 virtual seconds, one connection, nothing said.
    #[must_use]
    pub fn new(name: &str, cause: Cause) -> Self {
        Self {
            name: name.to_owned(),
            seed: 1,
            ipv6: false,
            vlan: None,
            client: Host::default(),
            server: Host::default(),
            path: Vec::new(),
            connections: 1,
            near_wrap: false,
            ports: usize::from(u16::MAX),
            spacing: MILLISECOND,
            turns: Vec::new(),
            others: Vec::new(),
            limit: 600 * SECOND,
            cause,
        }
    }

    /// The host at a side.
    #[must_use]
    pub fn host(&self, side: Side) -> &Host {
        match side {
            Side::Client => &self.client,
            Side::Server => &self.server,
        }
    }

    /// All connections: the main ones, then the others.
    #[must_use]
    pub fn flows(&self) -> usize {
        self.connections + self.others.len()
    }

    /// The turns on a connection.
    #[must_use]
    pub(crate) fn turns_of(&self, flow: usize) -> &[Turn] {
        self.other(flow).map_or(&self.turns, |other| &other.turns)
    }

    /// The host at a side of a connection.
    pub(crate) fn host_of(&self, flow: usize, side: Side) -> &Host {
        let own = self.other(flow).and_then(|other| match side {
            Side::Client => other.client.as_ref(),
            Side::Server => other.server.as_ref(),
        });
        own.unwrap_or(self.host(side))
    }

    /// When a connection starts.
    pub(crate) fn start_of(&self, flow: usize) -> Nanos {
        let main = flow as u64 * self.spacing;
        self.other(flow).map_or(main, |other| other.start)
    }

    fn other(&self, flow: usize) -> Option<&Other> {
        self.others.get(flow.checked_sub(self.connections)?)
    }

    /// The points, in path order from the client.
    pub fn points(&self) -> impl Iterator<Item = &Point> {
        self.path.iter().filter_map(|element| match element {
            Element::Point(point) => Some(point),
            _ => None,
        })
    }

    /// The point of that name, to be changed.
    pub fn point_mut(&mut self, name: &str) -> Option<&mut Point> {
        self.path.iter_mut().find_map(|element| match element {
            Element::Point(point) if point.name == name => Some(point),
            _ => None,
        })
    }

    /// The links, to be changed.
    pub fn links_mut(&mut self) -> impl Iterator<Item = &mut Link> {
        self.path.iter_mut().filter_map(|element| match element {
            Element::Link(link) => Some(link),
            _ => None,
        })
    }
}
