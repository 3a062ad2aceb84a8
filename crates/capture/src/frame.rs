//! What the analysis keeps of a frame.

mod fixed;
mod steady;

use coalescope_wire::{
    Flags, Ip, LengthSource, LinkType, Packet, Stop, StopReason, Tcp, TcpOptions, Transport,
    Tunnels, UDP, Vlans, fixed_tcp, plain_tcp, walk, walk_quoted,
};
use fixed::Before;
use steady::Steady;

use crate::file::RawFrame;
use crate::fragments::Fragments;
use crate::key::{Key, context};

/// A frame; what is behind its length is valid if the digest says TCP.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    pub(crate) number: u64,
    pub(crate) time_ns: i64,
    /// Bytes on the wire.
    pub(crate) original_len: u32,
    pub(crate) key: Key,
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    pub(crate) payload: u32,
    tsval: u32,
    tsecr: u32,
    pub(crate) flags: Flags,
    pub(crate) window: u16,
    pub(crate) checksum: u16,
    pub(crate) id: u16,
    /// TTL or hop limit.
    pub(crate) ttl: u8,
    pub(crate) tcp_header: u8,
    /// The sender is the key's lower end.
    pub(crate) from_low: bool,
    /// Of the same connection as the TCP frame before it in the file, unless it is a SYN.
    pub(crate) follows: bool,
    stamped: bool,
    odd: Odd,
    pub(crate) head_len: u8,
    /// The first payload bytes, as far as captured.
    pub(crate) head: [u8; 16],
    /// Kept for the next frame that is put here.
    rare: Option<Box<Rare>>,
}

/// What few frames are, in one byte of each.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Odd(u8);

impl Odd {
    /// Has options other than timestamps.
    const OPTIONS: Self = Self(1);
    /// Has VLAN tags or came in tunnels.
    const LAYERS: Self = Self(2);
    /// The IP header said 0 for a length that would have fitted: taken before segmentation.
    pub(crate) const LENGTH_ZERO: Self = Self(4);
    /// Came as several IP fragments.
    pub(crate) const FRAGMENTED: Self = Self(8);

    /// This, if it is so.
    fn when(self, is_so: bool) -> Self {
        Self(if is_so { self.0 } else { 0 })
    }
}

/// What few frames have.
#[derive(Clone, Debug, Default)]
struct Rare {
    /// Valid if [`Odd::OPTIONS`]: most frames have timestamps only.
    options: TcpOptions,
    /// Valid if [`Odd::LAYERS`]: most frames have none.
    layers: (Vlans, Tunnels),
    /// Valid if the digest says so.
    too_big: TooBig,
}

impl Frame {
    /// Takes what is known of any frame before its headers are read.
    #[inline(always)]
    fn note(&mut self, raw: &RawFrame<'_>, time_ns: i64) {
        self.number = raw.number;
        self.time_ns = time_ns;
        self.original_len = raw.original_len;
    }

    /// The "packet too big" message that this is, if the digest says so.
    pub(crate) fn too_big(&self) -> Option<&TooBig> {
        self.rare.as_ref().map(|rare| &rare.too_big)
    }

    /// Whether it is odd in any of these ways.
    #[inline]
    pub(crate) fn is(&self, odd: Odd) -> bool {
        self.odd.0 & odd.0 != 0
    }

    /// Says that it is odd.
    pub(crate) fn add(&mut self, odd: Odd) {
        self.odd.0 |= odd.0;
    }

    /// TSval and TSecr.
    #[inline]
    pub(crate) fn timestamps(&self) -> Option<(u32, u32)> {
        self.stamped.then_some((self.tsval, self.tsecr))
    }

    /// Nothing but an acknowledgment, with or without data: no SYN, FIN or RST, no options but
    /// timestamps, and a length in the IP header.
    #[inline]
    pub(crate) fn is_ordinary(&self) -> bool {
        let telling = Flags::SYN | Flags::FIN | Flags::RST | Flags::ACK;
        self.flags.0 & telling == Flags::ACK && !self.is(Odd(Odd::OPTIONS.0 | Odd::LENGTH_ZERO.0))
    }

    /// Options, if there are others than timestamps.
    #[inline]
    pub(crate) fn options(&self) -> Option<&TcpOptions> {
        let rare = self.rare.as_ref().filter(|_| self.is(Odd::OPTIONS));
        rare.map(|rare| &rare.options)
    }

    /// SACK blocks.
    #[inline]
    pub(crate) fn sack(&self) -> &[(u32, u32)] {
        self.options().map_or(&[], |options| {
            let count = usize::from(options.sack_count).min(options.sack.len());
            &options.sack[..count]
        })
    }

    /// VLAN tags and tunnel layers, if there are any.
    pub(crate) fn layers(&self) -> Option<Box<(Vlans, Tunnels)>> {
        let rare = self.rare.as_ref().filter(|_| self.is(Odd::LAYERS));
        rare.map(|rare| Box::new(rare.layers))
    }

    /// Whether it opens a connection.
    #[inline]
    pub(crate) fn is_syn(&self) -> bool {
        self.flags.has(Flags::SYN)
    }

    /// What stays the same when one frame is captured twice (at ingress and at egress of a mirror,
    /// before and after a router), and differs when it is sent twice: identification, timestamps,
    /// acknowledgment, window and SACK along with the bytes it carries. The checksum says no more, and
    /// is filled in on the way; TTL and Ethernet's addresses are the routers'.
    ///
    /// 64 bits: of 10 million frames, each looked up among 65,536, 32 bits take 150 for another.
    #[inline]
    pub(crate) fn signature(&self) -> u64 {
        let sacked = if self.is(Odd::OPTIONS) {
            self.sack_signature()
        } else {
            0
        };
        let both = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let rest = u32::from(self.id) << 16 | u32::from(self.window);
        let carried = self.payload << 8 | u32::from(self.flags.0);
        let sum = mixed(self.key.mark(self.from_low), both(self.ack, self.seq));
        let sum = mixed(sum, both(self.tsval ^ sacked, self.tsecr));
        mixed(sum, both(rest, carried))
    }

    /// What tells an acknowledgment from others of one position, at any point of the path: its TSval, or else its window
    /// and what it reports beyond a hole, which duplicates add to (RFC 2018, 4). Never 0.
    pub(crate) fn ack_mark(&self) -> u32 {
        if self.tsval != 0 {
            return self.tsval;
        }
        let reported = self.sack().iter().fold(0, |sum: u32, (left, right)| {
            let (left, right) = (left.wrapping_sub(self.ack), right.wrapping_sub(self.ack));
            sum.rotate_left(7)
                .wrapping_add(left ^ right.rotate_left(16))
        });
        (reported ^ u32::from(self.window) << 8).max(1)
    }

    #[cold]
    fn sack_signature(&self) -> u32 {
        self.sack().iter().fold(0, |sum: u32, (left, right)| {
            sum.rotate_left(7)
                .wrapping_add(left ^ right.rotate_left(16))
        })
    }

    /// Whether the stored checksum is the sum over the pseudo-header alone: the host that captured
    /// this frame left the rest to its NIC (`CHECKSUM_PARTIAL`), or merged it (GRO does the same).
    pub(crate) fn checksum_is_partial(&self) -> bool {
        let length = u64::from(self.tcp_header) + u64::from(self.payload);
        let mut sum = 6 + length + self.key.sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        self.checksum == sum as u16
    }
}

/// Both numbers in one, so that any of their bits changes about half of the highest ones. The factor is 2^64 divided
/// by the golden ratio (Knuth, The Art of Computer Programming, 6.4: multiplicative hashing).
#[inline]
fn mixed(sum: u64, number: u64) -> u64 {
    (sum.rotate_left(29) ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// A "packet too big" message and the frame it quotes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TooBig {
    pub(crate) number: u64,
    pub(crate) key: Key,
    pub(crate) from_low: bool,
    pub(crate) mtu: u32,
    /// IP length of the quoted packet in bytes, headers included.
    pub(crate) quoted_len: u32,
    /// Length of its IP header.
    pub(crate) quoted_ip_header: u32,
}

/// What a frame turned out to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Digest {
    /// TCP: what is kept of it is in the slot.
    Tcp,
    /// "Packet too big": it is in the slot.
    TooBig,
    /// UDP, in which QUIC is.
    Udp,
    /// Not TCP, or a fragment whose datagram is not complete yet.
    #[default]
    Other,
    /// Headers damaged, or cut by the snap length.
    Unparsed,
    /// A link type that the walk does not know.
    UnknownLink,
}

/// Turns raw frames of one point into digests.
#[derive(Debug, Default)]
pub(crate) struct Digester {
    fragments: Fragments,
    before: Before,
    clock: Steady,
}

impl Digester {
    /// One whose clock may be set back meanwhile.
    pub(crate) fn with_steady_time() -> Self {
        Self {
            clock: Steady::followed(),
            ..Self::default()
        }
    }

    /// Digests one frame; if it is TCP, what is kept of it goes into `slot`, in place, since
    /// moving it would cost as much as reading it.
    pub(crate) fn digest(&mut self, raw: &RawFrame<'_>, slot: &mut Frame) -> Digest {
        if self.digest_fixed(raw, slot) {
            return Digest::Tcp;
        }
        let digest = self.digest_any(raw, slot);
        if digest == Digest::Tcp {
            slot.follows = self.before.is(&slot.key) && !slot.flags.has(Flags::SYN);
        }
        digest
    }

    /// Digests one frame if it is TCP of the commonest shape.
    #[inline(always)]
    pub(crate) fn digest_fixed(&mut self, raw: &RawFrame<'_>, slot: &mut Frame) -> bool {
        slot.note(raw, self.clock.time_ns(raw));
        let tcp = fixed_tcp(raw.data).filter(|_| raw.link == LinkType::Ethernet);
        if let Some(tcp) = tcp {
            slot.fill_fixed(&tcp, &mut self.before);
        }
        tcp.is_some()
    }

    fn digest_any(&mut self, raw: &RawFrame<'_>, slot: &mut Frame) -> Digest {
        if raw.link == LinkType::Ethernet
            && let Some((ip, tcp)) = plain_tcp(raw.data, raw.original_len)
        {
            let unlayered = (Vlans::default(), Tunnels::default());
            fill(slot, raw, (&ip, &tcp), &unlayered);
            return Digest::Tcp;
        }
        match walk(raw.link, raw.data, raw.original_len) {
            Ok(packet) => self.packet(raw, &packet, slot),
            Err(stop) => stopped(stop),
        }
    }

    fn packet(&mut self, raw: &RawFrame<'_>, packet: &Packet, slot: &mut Frame) -> Digest {
        let digest = match &packet.transport {
            Transport::Tcp(tcp) => {
                let layers = (packet.vlans, packet.tunnels);
                fill(slot, raw, (&packet.ip, tcp), &layers);
                Digest::Tcp
            }
            Transport::TooBig(error) => {
                return too_big(raw, packet, error.mtu, error.quoted_offset, slot);
            }
            Transport::Udp(_) => Digest::Udp,
            Transport::Other | Transport::LaterFragment => Digest::Other,
        };
        match packet.ip.fragment {
            None => digest,
            Some(_) if packet.ip.protocol == UDP => Digest::Udp,
            Some(fragment) => {
                let is_first = matches!(digest, Digest::Tcp);
                self.fragments.add(&packet.ip, fragment, is_first, slot)
            }
        }
    }

    /// By how much the clock was set back meanwhile, if it was.
    pub(crate) fn set_back_ns(&self) -> Option<i64> {
        self.clock.set_back_ns()
    }

    /// Datagrams that never became whole.
    pub(crate) fn incomplete_datagrams(&self) -> u64 {
        self.fragments.incomplete()
    }
}

fn stopped(stop: Stop) -> Digest {
    match stop.reason {
        StopReason::NotIp => Digest::Other,
        StopReason::UnknownLink => Digest::UnknownLink,
        StopReason::Truncated | StopReason::Malformed | StopReason::TooDeep => Digest::Unparsed,
    }
}

#[inline(always)]
fn fill(slot: &mut Frame, raw: &RawFrame<'_>, (ip, tcp): (&Ip, &Tcp), layers: &(Vlans, Tunnels)) {
    let context = context(ip.version, &layers.1);
    (slot.key, slot.from_low) = Key::new(ip, (tcp.source_port, tcp.destination_port), context);
    slot.flags = tcp.flags;
    slot.seq = tcp.seq;
    slot.ack = tcp.ack;
    slot.payload = tcp.payload_len;
    slot.window = tcp.window;
    slot.checksum = tcp.checksum;
    slot.id = ip.id;
    slot.ttl = ip.ttl;
    slot.tcp_header = tcp.header_len;
    slot.odd = Odd::LENGTH_ZERO.when(length_zero(ip));
    if layers.0.count > 0 || layers.1.count > 0 {
        slot.add(Odd::LAYERS);
        slot.rare.get_or_insert_default().layers = *layers;
    }
    fill_options(slot, tcp.option_bytes(raw.data), tcp);
    let after_headers = tcp.offset + usize::from(tcp.header_len);
    let payload = raw.data.get(after_headers..).unwrap_or_default();
    fill_head(slot, payload, tcp.payload_len);
}

/// NOP, NOP, timestamps: what nearly all frames of a connection carry (RFC 7323, appendix A).
const STAMP: [u8; 4] = [1, 1, 8, 10];

#[inline]
fn fill_options(slot: &mut Frame, bytes: &[u8], tcp: &Tcp) {
    slot.stamped = false;
    (slot.tsval, slot.tsecr) = (0, 0);
    if let Some((STAMP, stamp)) = bytes
        .split_first_chunk::<4>()
        .map(|(kind, rest)| (*kind, rest))
        && let Some((tsval, rest)) = stamp.split_first_chunk::<4>()
        && let Some((tsecr, [])) = rest.split_first_chunk::<4>()
    {
        slot.stamped = true;
        slot.tsval = u32::from_be_bytes(*tsval);
        slot.tsecr = u32::from_be_bytes(*tsecr);
    } else if tcp.header_len > 20 {
        fill_other_options(slot, bytes, tcp);
    }
}

#[cold]
fn fill_other_options(slot: &mut Frame, bytes: &[u8], tcp: &Tcp) {
    let options = TcpOptions::parse(bytes, usize::from(tcp.header_len) - 20);
    slot.rare.get_or_insert_default().options = options;
    slot.add(Odd::OPTIONS);
    if let Some((tsval, tsecr)) = options.timestamps {
        (slot.stamped, slot.tsval, slot.tsecr) = (true, tsval, tsecr);
    }
}

/// BIG TCP frames say 0 because their length does not fit; below that only a sender's TSO does.
#[inline]
fn length_zero(ip: &Ip) -> bool {
    ip.length_source == LengthSource::Frame && ip.payload_len <= 65_515
}

/// Keeps the first bytes of what was captured of a payload.
#[inline(always)]
fn fill_head(slot: &mut Frame, captured: &[u8], payload_len: u32) {
    slot.head_len = 0;
    if payload_len == 0 {
        return;
    }
    if let Some(first) = captured.first_chunk::<16>()
        && payload_len >= 16
    {
        slot.head = *first;
        slot.head_len = 16;
    } else {
        fill_short_head(slot, captured, payload_len);
    }
}

#[cold]
fn fill_short_head(slot: &mut Frame, captured: &[u8], payload_len: u32) {
    let captured = &captured[..captured.len().min(payload_len as usize).min(16)];
    slot.head = [0; 16];
    slot.head[..captured.len()].copy_from_slice(captured);
    slot.head_len = captured.len() as u8;
}

/// Ties a "packet too big" to the frame that it quotes.
fn too_big(
    raw: &RawFrame<'_>,
    packet: &Packet,
    mtu: u32,
    quoted_offset: usize,
    slot: &mut Frame,
) -> Digest {
    let quoted = raw.data.get(quoted_offset..).map(walk_quoted);
    let Some(Ok(quoted)) = quoted else {
        return Digest::Unparsed;
    };
    if quoted.protocol != 6 {
        return Digest::Other;
    }
    let ports = (quoted.source_port, quoted.destination_port);
    let context = context(quoted.ip.version, &packet.tunnels);
    let (key, from_low) = Key::new(&quoted.ip, ports, context);
    let quoted_ip_header = (quoted.ip.payload_offset - quoted.ip.offset) as u32;
    slot.rare.get_or_insert_default().too_big = TooBig {
        number: raw.number,
        key,
        from_low,
        mtu,
        quoted_len: quoted.ip.payload_len + quoted_ip_header,
        quoted_ip_header,
    };
    Digest::TooBig
}
