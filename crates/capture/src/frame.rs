//! What the analysis keeps of a frame.

use std::hash::{BuildHasher, Hasher};

use coalescope_wire::{
    Flags, Ip, LengthSource, Packet, Sent, Stop, StopReason, Tcp, TcpOptions, Transport,
    TunnelKind, Tunnels, Vlans, walk, walk_quoted,
};

use crate::file::{Direction, RawFrame};
use crate::fragments::Fragments;

/// Both ends of a connection, lower one first, so that both directions have the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) low: (u128, u16),
    pub(crate) high: (u128, u16),
    /// IP version and the tunnels the connection came in. The same connection inside and outside
    /// of a tunnel is two, or each byte would seem to be sent twice.
    pub(crate) context: u32,
}

impl Key {
    /// The key, and whether the source is the lower end.
    #[inline]
    pub(crate) fn new(ip: &Ip, ports: (u16, u16), context: u32) -> (Self, bool) {
        let source = (u128::from_be_bytes(ip.source.0), ports.0);
        let destination = (u128::from_be_bytes(ip.destination.0), ports.1);
        if source <= destination {
            (
                Self {
                    low: source,
                    high: destination,
                    context,
                },
                true,
            )
        } else {
            (
                Self {
                    low: destination,
                    high: source,
                    context,
                },
                false,
            )
        }
    }

    #[inline]
    pub(crate) fn hash(&self, state: &foldhash::fast::RandomState) -> u64 {
        let mut hasher = state.build_hasher();
        hasher.write_u128(self.low.0 ^ self.high.0.rotate_left(64));
        hasher.write_u64(
            u64::from(self.low.1) << 48 | u64::from(self.high.1) << 32 | u64::from(self.context),
        );
        hasher.finish()
    }

    /// Addresses without the context: a hint for finding the connection at another point.
    pub(crate) fn version(&self) -> u8 {
        (self.context >> 28) as u8
    }
}

/// The IP version and a hash of the tunnels that are part of the path. A mirror's transport
/// (ERSPAN), labels and sessions that differ by direction (MPLS, GRE keys, PPPoE) are not.
#[inline]
fn context(version: u8, tunnels: &Tunnels) -> u32 {
    let mut hash = 0u32;
    if tunnels.count > 0 {
        for tunnel in tunnels.layers.iter().flatten() {
            let mark = match tunnel.kind {
                TunnelKind::Vxlan => 1 << 24 | tunnel.id,
                TunnelKind::Geneve => 2 << 24 | tunnel.id,
                TunnelKind::Gre => 3 << 24,
                TunnelKind::IpInIp => 4 << 24,
                TunnelKind::Erspan | TunnelKind::Mpls | TunnelKind::Pppoe => continue,
            };
            hash = (hash ^ mark).wrapping_mul(0x9E37_79B1).rotate_left(13);
        }
    }
    u32::from(version) << 28 | hash >> 4
}

/// A TCP frame.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) number: u64,
    pub(crate) time_ns: i64,
    pub(crate) key: Key,
    /// The sender is the key's lower end.
    pub(crate) from_low: bool,
    pub(crate) flags: Flags,
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    pub(crate) payload: u32,
    pub(crate) window: u16,
    pub(crate) checksum: u16,
    pub(crate) id: u16,
    pub(crate) tcp_header: u8,
    /// The IP header said 0 for a length that would have fitted: taken before segmentation.
    pub(crate) length_zero: bool,
    /// Came as several IP fragments.
    pub(crate) fragmented: bool,
    pub(crate) sent: Sent,
    pub(crate) options: TcpOptions,
    /// The first payload bytes, as far as captured.
    pub(crate) head: [u8; 16],
    pub(crate) head_len: u8,
    pub(crate) vlans: Vlans,
    pub(crate) tunnels: Tunnels,
}

impl Frame {
    /// What stays the same when one frame is captured twice (at ingress and at egress of a mirror,
    /// before and after a router), and differs when it is sent twice: identification, timestamps,
    /// acknowledgment and window along with the bytes it carries.
    #[inline]
    pub(crate) fn signature(&self) -> u32 {
        let (tsval, tsecr) = self.options.timestamps.unwrap_or_default();
        let a = u64::from(self.seq) << 32 | u64::from(self.ack);
        let b = u64::from(tsval) << 32 | u64::from(tsecr);
        let c = u64::from(self.id) << 48
            | u64::from(self.window) << 32
            | u64::from(self.payload) << 9
            | u64::from(self.flags.0);
        let mixed = (a ^ c.rotate_left(23)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            ^ (b ^ 0xD6E8_FEB8_6659_FD93).wrapping_mul(0xA076_1D64_78BD_642F);
        (mixed ^ mixed >> 32) as u32
    }

    /// Whether the stored checksum is the sum over the pseudo-header alone: the host that captured
    /// this frame left the rest to its NIC (`CHECKSUM_PARTIAL`), or merged it (GRO does the same).
    pub(crate) fn checksum_is_partial(&self) -> bool {
        let length = u32::from(self.tcp_header) + self.payload;
        let mut sum = u64::from(6 + (length & 0xffff) + (length >> 16));
        for address in [self.key.low.0, self.key.high.0] {
            sum += (0..8)
                .map(|i| (address >> (16 * i)) as u64 & 0xffff)
                .sum::<u64>();
        }
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        self.checksum == sum as u16 || self.checksum == 0
    }
}

/// A "packet too big" message and the frame it quotes.
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
// A TCP frame is the common case and goes by reference into the tracker; a box would cost an
// allocation for each.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Digest {
    Tcp(Frame),
    TooBig(TooBig),
    /// Not TCP, or a fragment whose datagram is not complete yet.
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
}

impl Digester {
    /// Digests one frame.
    #[inline]
    pub(crate) fn digest(&mut self, raw: &RawFrame<'_>) -> Digest {
        match walk(raw.link, raw.data, raw.original_len) {
            Ok(packet) => self.packet(raw, &packet),
            Err(stop) => stopped(stop),
        }
    }

    #[inline]
    fn packet(&mut self, raw: &RawFrame<'_>, packet: &Packet) -> Digest {
        let digest = match &packet.transport {
            Transport::Tcp(tcp) => Digest::Tcp(tcp_frame(raw, packet, tcp)),
            Transport::TooBig(error) => {
                return too_big(raw, packet, error.mtu, error.quoted_offset);
            }
            Transport::Udp(_) | Transport::Other | Transport::LaterFragment => Digest::Other,
        };
        match packet.ip.fragment {
            None => digest,
            Some(fragment) => self
                .fragments
                .add(&packet.ip, fragment, digest, raw.time_ns),
        }
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

#[inline]
fn tcp_frame(raw: &RawFrame<'_>, packet: &Packet, tcp: &Tcp) -> Frame {
    let ip = &packet.ip;
    let context = context(ip.version, &packet.tunnels);
    let (key, from_low) = Key::new(ip, (tcp.source_port, tcp.destination_port), context);
    let (head, head_len) = payload_head(raw.data, tcp);
    Frame {
        number: raw.number,
        time_ns: raw.time_ns,
        key,
        from_low,
        flags: tcp.flags,
        seq: tcp.seq,
        ack: tcp.ack,
        payload: tcp.payload_len,
        window: tcp.window,
        checksum: tcp.checksum,
        id: ip.id,
        tcp_header: tcp.header_len,
        length_zero: length_zero(ip),
        fragmented: false,
        sent: sent(raw.direction, packet.sent),
        options: tcp.options(raw.data),
        head,
        head_len,
        vlans: packet.vlans,
        tunnels: packet.tunnels,
    }
}

/// BIG TCP frames say 0 because their length does not fit; below that only a sender's TSO does.
fn length_zero(ip: &Ip) -> bool {
    ip.length_source == LengthSource::Frame && ip.payload_len <= 65_515
}

fn sent(file: Direction, link: Sent) -> Sent {
    match file {
        Direction::Inbound => Sent::Inbound,
        Direction::Outbound => Sent::Outbound,
        Direction::Unknown => link,
    }
}

#[inline]
fn payload_head(data: &[u8], tcp: &Tcp) -> ([u8; 16], u8) {
    let mut head = [0; 16];
    let start = (tcp.offset + usize::from(tcp.header_len)).min(data.len());
    let captured = (data.len() - start).min(tcp.payload_len as usize).min(16);
    head[..captured].copy_from_slice(&data[start..start + captured]);
    (head, captured as u8)
}

/// Ties a "packet too big" to the frame that it quotes.
fn too_big(raw: &RawFrame<'_>, packet: &Packet, mtu: u32, quoted_offset: usize) -> Digest {
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
    Digest::TooBig(TooBig {
        number: raw.number,
        key,
        from_low,
        mtu,
        quoted_len: quoted.ip.payload_len + quoted_ip_header,
        quoted_ip_header,
    })
}
