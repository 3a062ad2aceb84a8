//! What identifies a connection at one point.

use std::hash::{BuildHasher, Hasher};
use std::ops::Range;

use coalescope_wire::{Address, Ip, TunnelKind, Tunnels};

/// Both ends of a connection, lower one first, so that both directions have the same key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    low: Halves,
    high: Halves,
    low_port: u16,
    pub(crate) high_port: u16,
    /// IP version and the tunnels around the connection. One connection inside and outside of a tunnel counts as two:
    /// else each byte would seem to be sent twice. Where one direction only is in the tunnel, the table makes one of both.
    context: u32,
}

/// An address in two halves: as one number it would be padded to 16 bytes wherever it is kept.
type Halves = [u64; 2];

impl Key {
    /// The key, and whether the source is the lower end.
    #[inline]
    pub(crate) fn new(ip: &Ip, ports: (u16, u16), context: u32) -> (Self, bool) {
        let source = (address(ip, &ip.source), ports.0);
        let destination = (address(ip, &ip.destination), ports.1);
        // For IPv4 one short comparison: nearly always the addresses differ.
        let source_is_low = if ip.version == 4 {
            let number = |end: (u128, u16)| (end.0 as u64) << 16 | u64::from(end.1);
            number(source) <= number(destination)
        } else {
            source <= destination
        };
        if source_is_low {
            (Self::between(source, destination, context), true)
        } else {
            (Self::between(destination, source, context), false)
        }
    }

    /// Like `new`, for IPv4 without tunnels: source and destination, address and port of each.
    #[inline]
    pub(crate) fn v4(addresses: u64, ports: u32) -> (Self, bool) {
        let end = |address: u64, port: u32| (u128::from(address as u32), port as u16);
        let source = end(addresses >> 32, ports >> 16);
        let destination = end(addresses, ports);
        let context = context(4, &Tunnels::default());
        if source <= destination {
            (Self::between(source, destination, context), true)
        } else {
            (Self::between(destination, source, context), false)
        }
    }

    #[inline]
    fn between(low: (u128, u16), high: (u128, u16), context: u32) -> Self {
        Self {
            low: halves(low.0),
            high: halves(high.0),
            low_port: low.1,
            high_port: high.1,
            context,
        }
    }

    #[inline]
    pub(crate) fn hash(&self, state: &foldhash::fast::RandomState) -> u64 {
        let mut hasher = state.build_hasher();
        let ([low, low_rest], [high, high_rest]) = (self.low, self.high);
        hasher.write_u64(low ^ high_rest);
        hasher.write_u64(low_rest ^ high);
        hasher.write_u64(
            u64::from(self.low_port) << 48
                | u64::from(self.high_port) << 32
                | u64::from(self.context),
        );
        hasher.finish()
    }

    /// Some bits of both ends, mixed.
    pub(crate) fn mark(&self) -> u64 {
        let ports = u64::from(self.low_port) << 16 | u64::from(self.high_port);
        let addresses = self.low[1] ^ self.high[1].rotate_left(13);
        addresses ^ ports.rotate_left(40) ^ u64::from(self.context)
    }

    /// The addresses as a sum of 32-bit numbers, which folds to the same 16 bits as a sum of 16-bit numbers.
    #[inline]
    pub(crate) fn sum(&self) -> u64 {
        let [a, b] = self.low;
        let [c, d] = self.high;
        let parts = [a, b, c, d].map(|half| (half >> 32) + (half & 0xffff_ffff));
        parts.iter().sum()
    }

    /// The key as bytes: both addresses, the lower end's first, both ports, and the context; numbers are big-endian.
    pub(crate) fn to_bytes(self) -> [u8; 40] {
        let mut bytes = [0; 40];
        bytes[..16].copy_from_slice(&whole(self.low).to_be_bytes());
        bytes[16..32].copy_from_slice(&whole(self.high).to_be_bytes());
        bytes[32..34].copy_from_slice(&self.low_port.to_be_bytes());
        bytes[34..36].copy_from_slice(&self.high_port.to_be_bytes());
        bytes[36..].copy_from_slice(&self.context.to_be_bytes());
        bytes
    }

    /// The key from its bytes.
    pub(crate) fn from_bytes(bytes: &[u8; 40]) -> Self {
        let half = |at: usize| number(bytes, at..at + 8);
        let port = |at: usize| number(bytes, at..at + 2) as u16;
        Self {
            low: [half(0), half(8)],
            high: [half(16), half(24)],
            low_port: port(32),
            high_port: port(34),
            context: number(bytes, 36..40) as u32,
        }
    }

    /// The IP version and the tunnels.
    pub(crate) fn context(&self) -> u32 {
        self.context
    }

    /// The same ends in these tunnels.
    pub(crate) fn within(&self, context: u32) -> Self {
        Self { context, ..*self }
    }

    /// Whether both are between the same ends, whatever the tunnels.
    pub(crate) fn has_ends_of(&self, other: &Self) -> bool {
        self.within(other.context) == *other
    }

    /// 4 or 6.
    pub(crate) fn version(&self) -> u8 {
        (self.context >> 28) as u8
    }

    /// Without a SYN the server is taken to have the lower port.
    pub(crate) fn client_is_low_by_ports(&self) -> bool {
        let [low, high] = self.ends();
        low.1 > high.1
    }

    /// The lower and the higher end.
    pub(crate) fn ends(&self) -> [(u128, u16); 2] {
        [
            (whole(self.low), self.low_port),
            (whole(self.high), self.high_port),
        ]
    }
}

fn number(bytes: &[u8], range: Range<usize>) -> u64 {
    bytes[range]
        .iter()
        .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

#[inline]
fn halves(address: u128) -> Halves {
    [(address >> 64) as u64, address as u64]
}

#[inline]
fn whole([high, low]: Halves) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

/// The address as a number, read in the widths in which the walk has just written it: a wider load cannot be forwarded
/// from the store buffer and would wait for the cache.
#[inline]
fn address(ip: &Ip, address: &Address) -> u128 {
    let bytes = &address.0;
    if ip.version == 4 {
        u128::from(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    } else {
        u128::from_be_bytes(*bytes)
    }
}

/// The IP version and a hash of the tunnels that are part of the path. A mirror's transport
/// (ERSPAN), labels and sessions that differ by direction (MPLS, GRE keys, PPPoE) are not.
#[inline]
pub(crate) fn context(version: u8, tunnels: &Tunnels) -> u32 {
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
