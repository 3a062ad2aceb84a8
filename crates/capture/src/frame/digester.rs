//! From a captured frame to what the analysis keeps of it.

use coalescope_wire::checksum::udp_checksum_holds;
use coalescope_wire::{
    Flags, Ip, LengthSource, LinkType, Packet, Stop, StopReason, Tcp, TcpOptions, Transport,
    Tunnels, UDP, Udp, Unread, Vlans, plain_tcp, walk, walk_quoted,
};

use super::fixed::Before;
use super::steady::Steady;
use super::{Frame, NotRead, Odd, Piece, TooBig, dns, fill_head};
use crate::file::RawFrame;
use crate::fragments::Fragments;
use crate::key::{Key, context};
use crate::row::Kind;

/// Payload of the longest datagram that fits an Ethernet frame (1,500 bytes, RFC 894, less 20 of IPv4 and 8 of UDP).
pub(crate) const LONGEST: u32 = 1472;

/// Length of a UDP header (RFC 768).
const UDP_HEADER: usize = 8;

/// Turns raw frames of one point into digests.
#[derive(Debug, Default)]
pub(crate) struct Digester {
    fragments: Fragments,
    before: Before,
    clock: Steady,
    /// Fragments are passed on as they are.
    keeps_pieces: bool,
    not_read: NotRead,
}

impl Digester {
    /// A digester for a point whose clock may be set back during the capture.
    pub(crate) fn with_steady_time() -> Self {
        Self {
            clock: Steady::followed(),
            ..Self::default()
        }
    }

    /// A digester that leaves reassembly to the caller.
    pub(crate) fn with_pieces() -> Self {
        Self {
            keeps_pieces: true,
            ..Self::default()
        }
    }

    /// Digests one frame; if it is TCP, what is kept of it goes into `slot`, in place, since
    /// moving it would cost as much as reading it.
    pub(crate) fn digest(&mut self, raw: &RawFrame<'_>, slot: &mut Frame) -> Kind {
        slot.note(raw, self.clock.time_of_new_ns(raw));
        if self.fill_fixed(raw, slot) {
            return Kind::Tcp;
        }
        let digest = self.digest_any(raw, slot);
        if digest == Kind::Tcp {
            slot.follows = self.before.is(&slot.key) && !slot.flags.has(Flags::SYN);
        }
        digest
    }

    /// Digests one frame if it is TCP of the commonest shape, and new by its time.
    #[inline(always)]
    pub(crate) fn digest_fixed(&mut self, raw: &RawFrame<'_>, slot: &mut Frame) -> bool {
        let Some(time_ns) = self.clock.time_ns(raw) else {
            return false;
        };
        slot.note(raw, time_ns);
        self.fill_fixed(raw, slot)
    }

    #[inline(always)]
    fn fill_fixed(&mut self, raw: &RawFrame<'_>, slot: &mut Frame) -> bool {
        raw.link == LinkType::Ethernet && slot.fill_fixed(raw.data, &mut self.before)
    }

    fn digest_any(&mut self, raw: &RawFrame<'_>, slot: &mut Frame) -> Kind {
        if raw.link == LinkType::Ethernet
            && let Some((ip, tcp)) = plain_tcp(raw.data, raw.original_len)
        {
            let unlayered = (Vlans::default(), Tunnels::default());
            fill(slot, raw, (&ip, &tcp), &unlayered);
            return Kind::Tcp;
        }
        match walk(raw.link, raw.data, raw.original_len) {
            Ok(packet) => {
                self.note_not_read(Unread::inside(&packet, raw.data));
                self.packet(raw, &packet, slot)
            }
            Err(stop) => {
                self.note_not_read(Unread::behind(stop, raw.link, raw.data));
                stopped(stop)
            }
        }
    }

    fn note_not_read(&mut self, unread: Option<Unread>) {
        if let Some(unread) = unread {
            self.not_read.note(unread);
        }
    }

    /// Counts of what was not looked into, since they were last asked for.
    pub(crate) fn take_not_read(&mut self) -> NotRead {
        std::mem::take(&mut self.not_read)
    }

    fn packet(&mut self, raw: &RawFrame<'_>, packet: &Packet, slot: &mut Frame) -> Kind {
        let digest = match &packet.transport {
            Transport::Tcp(tcp) => {
                let layers = (packet.vlans, packet.tunnels);
                fill(slot, raw, (&packet.ip, tcp), &layers);
                Kind::Tcp
            }
            Transport::TooBig(error) => {
                return too_big(raw, packet, error.mtu, error.quoted_offset, slot);
            }
            Transport::Udp(udp) => {
                fill_datagram(slot, raw, packet, udp);
                Kind::Udp
            }
            Transport::Other | Transport::LaterFragment => Kind::Other,
        };
        match packet.ip.fragment {
            None => digest,
            // No frame has the whole payload of a fragmented datagram, so the datagram is not looked for at other
            // points.
            Some(_) if packet.ip.protocol == UDP => {
                slot.head_len = 0;
                Kind::Udp
            }
            Some(fragment) => {
                let is_first = matches!(digest, Kind::Tcp);
                let piece = Piece::new(&packet.ip, fragment);
                self.piece(piece, is_first, slot)
            }
        }
    }

    fn piece(&mut self, piece: Piece, is_first: bool, slot: &mut Frame) -> Kind {
        if !self.keeps_pieces {
            return self.fragments.add(piece, is_first, slot);
        }
        slot.rare.get_or_insert_default().piece = piece;
        if is_first {
            Kind::FirstFragment
        } else {
            Kind::LaterFragment
        }
    }

    /// Whether a time lies so far back that a frame of this time may be an earlier one.
    #[inline]
    pub(crate) fn is_behind(&self, time_ns: i64) -> bool {
        self.clock.is_behind(time_ns)
    }

    /// The latest time, as the file has it.
    pub(crate) fn latest_ns(&self) -> i64 {
        self.clock.latest_ns()
    }

    /// By how much the clock was set back during the capture, if it was.
    pub(crate) fn set_back_ns(&self) -> Option<i64> {
        self.clock.set_back_ns()
    }

    /// Datagrams that never became whole.
    pub(crate) fn incomplete_datagrams(&self) -> u64 {
        self.fragments.incomplete()
    }
}

fn stopped(stop: Stop) -> Kind {
    match stop.reason {
        StopReason::NotIp => Kind::Other,
        StopReason::UnknownLink => Kind::UnknownLink,
        StopReason::Truncated | StopReason::Malformed | StopReason::TooDeep => Kind::Unparsed,
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

fn fill_datagram(slot: &mut Frame, raw: &RawFrame<'_>, packet: &Packet, udp: &Udp) {
    let context = context(packet.ip.version, &packet.tunnels);
    (slot.key, slot.from_low) =
        Key::new(&packet.ip, (udp.source_port, udp.destination_port), context);
    (slot.id, slot.ttl) = (packet.ip.id, packet.ip.ttl);
    let payload = raw.data.get(udp.offset + UDP_HEADER..).unwrap_or_default();
    let captured = payload.get(..udp.payload_len as usize).unwrap_or(payload);
    let is_dns = [udp.source_port, udp.destination_port].contains(&dns::PORT);
    let first = Some(captured).filter(|_| is_dns);
    let first = first.and_then(|payload| dns::first_message(payload, udp.payload_len));
    let is_whole = udp.payload_len > LONGEST && udp_checksum_holds(raw.data, packet);
    let whole = is_whole.then_some(udp.payload_len);
    (slot.payload, slot.seq) = (udp.payload_len, first.or(whole).unwrap_or(0));
    fill_head(slot, captured, udp.payload_len);
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

/// BIG TCP frames have an IP length of 0 because the length does not fit; a shorter frame has one only before its
/// sender's TSO.
#[inline]
fn length_zero(ip: &Ip) -> bool {
    ip.length_source == LengthSource::Frame && ip.payload_len <= 65_515
}

/// Ties a "packet too big" to the frame that it quotes.
fn too_big(
    raw: &RawFrame<'_>,
    packet: &Packet,
    mtu: u32,
    quoted_offset: usize,
    slot: &mut Frame,
) -> Kind {
    let quoted = raw.data.get(quoted_offset..).map(walk_quoted);
    let Some(Ok(quoted)) = quoted else {
        return Kind::Unparsed;
    };
    if quoted.protocol != 6 {
        return Kind::Other;
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
    Kind::TooBig
}
