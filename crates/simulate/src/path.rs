//! What lies between the two hosts of a scenario: points, links, NICs and hops.

mod merge;
mod place;

use crate::schedule::Nanos;
use crate::side::Side;
pub use merge::{Merge, MergeKind, Timing};
pub use place::{Format, Point};

/// A part of the path.
#[derive(Clone, Debug)]
pub enum Element {
    /// A place where frames are captured.
    Point(Point),
    /// A wire.
    Link(Link),
    /// The lines of a round-robin bond: each packet takes the next one, in both directions. Each line is
    /// the same both ways.
    Bond(Vec<Lane>),
    /// A sending NIC: cuts TSO frames and fills in checksums of frames toward a side.
    Cut(Cut),
    /// A receiving NIC that merges frames toward a side.
    Merge(Merge),
    /// A bridge, router, switch or middlebox.
    Hop(Hop),
    /// An element that only connections with a number divisible by `every` meet; not a point.
    OfSome {
        /// 1 for all of them.
        every: usize,
        /// The element.
        element: Box<Element>,
    },
    /// An element that connections meet from some time on; not a point.
    Since {
        /// From when on.
        begin: Begin,
        /// The element.
        element: Box<Element>,
    },
}

/// When an element comes into the path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Begin {
    /// At a time: a route changes, or a firewall fails over.
    At(Nanos),
    /// When a connection has sent so many bytes toward a side: its flow is known, and taken by hardware (flow offload).
    Bytes(Side, u64),
}

/// A wire, each direction for itself.
#[derive(Clone, Debug)]
pub struct Link {
    /// Indexed by the side that frames travel toward.
    pub toward: [Lane; 2],
}

impl Link {
    /// A link with the same lane in both directions.
    #[must_use]
    pub fn both(lane: Lane) -> Self {
        Self {
            toward: [lane.clone(), lane],
        }
    }
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct Lane {
    /// Bits per second, Ethernet's preamble, FCS and gap counted.
    pub rate_bps: u64,
    /// Propagation delay.
    pub delay: Nanos,
    /// Random addition to the delay, up to this, that keeps the order.
    pub jitter: Nanos,
    /// Probability of loss.
    pub loss: f64,
    /// Probability that a bit is wrong, which loses the frame: the longer, the likelier.
    pub bit_errors: f64,
    /// Losses in bursts.
    pub bursts: Option<Bursts>,
    /// Frames that overtake others.
    pub reorder: Option<Reorder>,
    /// Bytes that may wait; further ones are dropped.
    pub queue: usize,
    /// Frames that so many bytes wait in front of are marked rather than dropped, if their hosts agreed to
    /// marks (RFC 3168).
    pub marks_from: usize,
    /// Nothing gets through from a time to another.
    pub outage: Option<(Nanos, Nanos)>,
    /// Pauses in which nothing comes out, and after which all packets come out that came in: a guest that is not
    /// scheduled, a radio that sleeps. Time from one pause to the next, and the length of a pause.
    pub pauses: Option<(Nanos, Nanos)>,
    /// From this time on the delay is longer by so much.
    pub detour: Option<(Nanos, Nanos)>,
}

impl Lane {
    /// A faultless lane with a queue of 4 MB.
    #[must_use]
    pub fn new(rate_bps: u64, delay: Nanos) -> Self {
        Self {
            rate_bps,
            delay,
            jitter: 0,
            loss: 0.0,
            bit_errors: 0.0,
            bursts: None,
            reorder: None,
            queue: 4 << 20,
            marks_from: usize::MAX,
            outage: None,
            pauses: None,
            detour: None,
        }
    }

    /// With random loss.
    #[must_use]
    pub fn losing(mut self, loss: f64) -> Self {
        self.loss = loss;
        self
    }
}

/// Gilbert's model of bursts of loss (Bell System Technical Journal 39, 1960): every frame may
/// change the state of the lane, and a lane in the bad state loses frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bursts {
    /// Probability that a good lane turns bad.
    pub begin: f64,
    /// Probability that a bad lane turns good.
    pub end: f64,
    /// Probability of loss in the bad state.
    pub loss: f64,
}

/// Some frames take longer and are overtaken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    /// Probability that a frame is late.
    pub probability: f64,
    /// How much later it is, at most.
    pub extra: Nanos,
}

/// A sending NIC. A frame that has lost its segment size goes on whole.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// Frames toward this side are cut.
    pub toward: Side,
}

/// The encapsulation of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrap {
    /// A tag (IEEE 802.1Q).
    Vlan(u16),
    /// A service tag and a customer tag (IEEE 802.1ad).
    QinQ(u16, u16),
    /// GRE without a key, over IPv4 (RFC 2784).
    Gre,
    /// VXLAN over IPv4 (RFC 7348).
    Vxlan,
    /// Geneve without options, over IPv4 (RFC 8926).
    Geneve,
}

impl Wrap {
    /// Bytes that the encapsulation adds to a frame.
    #[must_use]
    pub fn overhead(self) -> usize {
        match self {
            Self::Vlan(_) => 4,
            Self::QinQ(..) => 8,
            // IPv4 and GRE.
            Self::Gre => 20 + 4,
            // Ethernet, IPv4, UDP and eight bytes of header.
            Self::Vxlan | Self::Geneve => 14 + 20 + 8 + 8,
        }
    }
}

/// Some of many frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Which {
    /// Those that are every second one of all frames, every third one, and so on, as on one of several lines.
    Every(u64),
    /// Each with this probability.
    Chance(f64),
    /// Those that come in this time.
    Between(Nanos, Nanos),
}

/// A bridge, router, switch or middlebox.
#[derive(Clone, Debug)]
pub enum Hop {
    /// Passes everything on.
    Bridge,
    /// Decrements the TTL. Cuts reversible merged frames again; drops others over the MTU.
    Router {
        /// MTU of both interfaces.
        mtu: u16,
        /// Whether it answers dropped packets by ICMP.
        icmp: bool,
    },
    /// Like Linux's bridge, or a switch: drops IP packets longer than the MTU of the egress interface, except for
    /// merged frames with a segment size.
    Forward {
        /// The interfaces' MTUs, indexed by the side that frames travel toward.
        mtu: [u16; 2],
    },
    /// Drops every merged frame that isn't a TSO frame of its own host.
    DropMerged {
        /// Frames toward this side are dropped.
        toward: Side,
    },
    /// Drops some merged frames that aren't TSO frames of their own host, and never a single one.
    DropSomeMerged {
        /// Frames toward this side are dropped.
        toward: Side,
        /// Which of them.
        which: Which,
    },
    /// Cuts merged frames again, and of each passes only the first segments.
    CutShort {
        /// Frames toward this side.
        toward: Side,
        /// How many segments pass.
        keep: usize,
    },
    /// As story E: drops merged frames when the guest behind it has an MTU over a limit.
    DropMergedIfMtuOver {
        /// The guest.
        guest: Side,
        /// The limit; 2850 on Windows Server 2019.
        limit: u32,
    },
    /// Drops IP packets longer than this.
    DropLargerThan {
        /// Frames toward this side are dropped.
        toward: Side,
        /// The longest packet that passes.
        bytes: usize,
    },
    /// Drops merged frames of more segments than this.
    DropMergedOver {
        /// Frames toward this side are dropped.
        toward: Side,
        /// The most segments that pass in one frame.
        segments: usize,
    },
    /// Changes the segment size in merged frames' metadata.
    SegmentSize {
        /// Frames toward this side.
        toward: Side,
        /// The segment size to set; `None` removes it.
        gso_size: Option<u16>,
    },
    /// Passes everything but ICMP.
    NoIcmp,
    /// Damages some frames, which the host they go to then throws away for their checksum.
    Damage {
        /// Frames toward this side are damaged.
        toward: Side,
        /// How probable that is.
        probability: f64,
    },
    /// Damages merged frames, so that the host they go to throws them away.
    DamageMerged {
        /// Frames toward this side are damaged.
        toward: Side,
    },
    /// Some frames come twice, as where a switch floods or a bond fails over.
    Repeat {
        /// Frames toward this side.
        toward: Side,
        /// How probable that is.
        probability: f64,
        /// How much later the second one comes.
        later: Nanos,
    },
    /// Lowers the segment size that SYNs announce.
    ClampMss {
        /// SYNs toward this side are rewritten.
        toward: Side,
        /// The largest that passes.
        mss: u16,
    },
    /// Holds acknowledgements back, and of each connection's passes on only the newest.
    ThinAcks {
        /// Acknowledgements toward this side.
        toward: Side,
        /// For how long.
        every: Nanos,
    },
    /// The client's address and ports are rewritten.
    Nat,
    /// A firewall that adds a number of its own to the sequence numbers of each direction of each connection (Cisco ASA, pf's
    /// `modulate state`), or of one direction (a SYN proxy).
    Renumber {
        /// What is added to numbers of the client's data and of the server's, times the connection's odd number.
        by: [u32; 2],
        /// SACK blocks are left as they are, as an old fault of such firewalls has it.
        leaves_sack: bool,
    },
    /// An IPVS director: the server's address is virtual on the client's side of it. Merged frames
    /// over the MTU are dropped.
    Director {
        /// MTU of both interfaces.
        mtu: u16,
    },
    /// One end of a tunnel or of a tagged link: frames away from `inner` are wrapped, those toward it
    /// unwrapped.
    Wrap {
        /// The side on which frames are as their sender made them.
        inner: Side,
        /// The encapsulation.
        with: Wrap,
    },
    /// Cuts merged frames again, and loses some of the segments.
    Splitter {
        /// Frames toward this side are cut.
        toward: Side,
        /// Probability of loss of a segment of a merged frame.
        loss: f64,
    },
    /// Cuts packets over the MTU into IP fragments, if they may be.
    Fragmenter {
        /// The MTU.
        mtu: u16,
    },
    /// A firewall that drops what ends further ahead of the last acknowledgment than it takes the window for, as one does that
    /// has not seen the window scale.
    WindowCheck {
        /// Frames toward this side are checked.
        toward: Side,
        /// The window that it believes in.
        bytes: u32,
    },
    /// A token bucket in one direction.
    TokenBucket {
        /// Frames toward this side are limited.
        toward: Side,
        /// Bits per second.
        rate_bps: u64,
        /// Depth in bytes.
        burst: usize,
        /// Bytes that may wait for tokens; 0 makes it a policer.
        queue: usize,
    },
}
