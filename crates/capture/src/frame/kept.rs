//! A frame as a row, and the frame that a row stands for: the rest of the analysis sees no difference between the two.

use coalescope_wire::{Address, Flags, TcpOptions, Tunnel, TunnelKind, Tunnels, Vlans};

use super::{Frame, Odd, Piece, TooBig};
use crate::key::Key;
use crate::row::{Checksum, Ends, Kind, Row};

const FROM_LOW: u8 = 1;
const STAMPED: u8 = 2;
/// The lowest bit of [`Odd`] in a row's marks.
const ODD: u32 = 2;

const TUNNELS: [TunnelKind; 7] = [
    TunnelKind::Vxlan,
    TunnelKind::Geneve,
    TunnelKind::Gre,
    TunnelKind::Erspan,
    TunnelKind::IpInIp,
    TunnelKind::Mpls,
    TunnelKind::Pppoe,
];

impl Frame {
    /// Writes what is kept of the frame into a row, but for its file, interface and link.
    pub(crate) fn write(&self, digest: Kind, row: &mut Row) {
        row.kind = digest;
        (row.number, row.time_ns) = (self.number, self.time_ns);
        row.bytes = self.original_len;
        row.rest.clear();
        match digest {
            Kind::Tcp | Kind::FirstFragment => self.write_tcp(row),
            Kind::Udp => self.write_udp(row),
            _ => write_nothing(row),
        }
        match digest {
            Kind::TooBig => self.write_too_big(row),
            Kind::FirstFragment | Kind::LaterFragment => self.write_piece(row),
            _ => {}
        }
    }

    fn write_tcp(&self, row: &mut Row) {
        row.ends = Ends(self.key.to_bytes());
        let stamped = if self.stamped { STAMPED } else { 0 };
        row.marks = u8::from(self.from_low) | stamped | self.odd.0 << ODD;
        (row.seq, row.ack) = (self.seq, self.ack);
        (row.tsval, row.tsecr) = (self.tsval, self.tsecr);
        row.payload = self.payload;
        (row.flags, row.window, row.id) = (self.flags.0, self.window, self.id);
        (row.ttl, row.tcp_header) = (self.ttl, self.tcp_header);
        row.checksum = self.checksum_says();
        self.write_head(row);
        let Some(rare) = &self.rare else { return };
        if self.is(Odd::OPTIONS) {
            put_options(&mut row.rest, &rare.options);
        }
        if self.is(Odd::LAYERS) {
            put_layers(&mut row.rest, &rare.layers);
        }
    }

    fn write_udp(&self, row: &mut Row) {
        write_nothing(row);
        self.write_head(row);
        // A fragment has no ends of its own: those in the slot may be another frame's.
        if row.head_len == 0 {
            return;
        }
        row.ends = Ends(self.key.to_bytes());
        row.marks = u8::from(self.from_low);
        (row.seq, row.payload) = (self.seq, self.payload);
        (row.id, row.ttl) = (self.id, self.ttl);
    }

    fn write_head(&self, row: &mut Row) {
        row.head_len = self.head_len;
        row.head = if self.head_len > 0 {
            self.head
        } else {
            [0; 16]
        };
    }

    fn write_too_big(&self, row: &mut Row) {
        let Some(error) = self.too_big() else { return };
        row.ends = Ends(error.key.to_bytes());
        row.marks = u8::from(error.from_low);
        for number in [error.mtu, error.quoted_len, error.quoted_ip_header] {
            row.rest.extend(number.to_le_bytes());
        }
    }

    fn write_piece(&self, row: &mut Row) {
        let Some(rare) = &self.rare else { return };
        let Piece {
            name: (source, destination, id, protocol),
            start,
            end,
            more,
        } = rare.piece;
        row.rest.extend(source.0);
        row.rest.extend(destination.0);
        row.rest.extend(id.to_le_bytes());
        row.rest.push(protocol);
        row.rest.extend(start.to_le_bytes());
        row.rest.extend(end.to_le_bytes());
        row.rest.push(u8::from(more));
        // What it says is known when the datagram is whole.
        row.rest.extend(self.checksum.to_le_bytes());
    }

    fn checksum_says(&self) -> Checksum {
        match self.checksum {
            0 => Checksum::Zero,
            _ if self.checksum_is_partial() => Checksum::Partial,
            _ => Checksum::Filled,
        }
    }

    /// Makes this the frame that a row stands for. Whether it follows the frame before is not in the row.
    pub(crate) fn read(&mut self, row: &Row) -> Kind {
        (self.number, self.time_ns) = (row.number, row.time_ns);
        self.original_len = row.bytes;
        let digest = row.kind;
        if matches!(digest, Kind::Tcp | Kind::FirstFragment | Kind::Udp) {
            self.read_headers(row);
        }
        let mut rest = Bytes(&row.rest);
        if !row.rest.is_empty() {
            self.read_rest(row, digest, &mut rest);
        }
        digest
    }

    fn read_headers(&mut self, row: &Row) {
        self.key = Key::from_bytes(&row.ends.0);
        self.from_low = row.marks & FROM_LOW != 0;
        self.stamped = row.marks & STAMPED != 0;
        self.odd = Odd(row.marks >> ODD);
        (self.seq, self.ack) = (row.seq, row.ack);
        (self.tsval, self.tsecr) = (row.tsval, row.tsecr);
        self.payload = row.payload;
        (self.flags, self.window, self.id) = (Flags(row.flags), row.window, row.id);
        (self.ttl, self.tcp_header) = (row.ttl, row.tcp_header);
        self.checksum = self.checksum_of(row.checksum);
        (self.head, self.head_len) = (row.head, row.head_len.min(16));
    }

    /// A checksum of this state.
    fn checksum_of(&self, state: Checksum) -> u16 {
        let partial = self.partial_checksum();
        match state {
            Checksum::Zero => 0,
            Checksum::Partial => partial,
            Checksum::Filled if partial == 1 => 2,
            Checksum::Filled => partial ^ 1,
        }
    }

    #[cold]
    fn read_rest(&mut self, row: &Row, digest: Kind, rest: &mut Bytes<'_>) {
        let (odd, stamps) = (self.odd, self.timestamps());
        let has = |what: Odd| odd.0 & what.0 != 0;
        let rare = self.rare.get_or_insert_default();
        if digest == Kind::TooBig {
            rare.too_big = too_big(row, rest);
            return;
        }
        let has_tcp = matches!(digest, Kind::Tcp | Kind::FirstFragment);
        if has_tcp && has(Odd::OPTIONS) {
            rare.options = options(rest, stamps);
        }
        if has_tcp && has(Odd::LAYERS) {
            rare.layers = layers(rest);
        }
        if matches!(digest, Kind::FirstFragment | Kind::LaterFragment) {
            rare.piece = piece(rest);
            self.checksum = rest.u16();
        }
    }
}

fn write_nothing(row: &mut Row) {
    let rest = std::mem::take(&mut row.rest);
    *row = Row {
        file: row.file,
        number: row.number,
        time_ns: row.time_ns,
        interface: row.interface,
        link: row.link,
        kind: row.kind,
        bytes: row.bytes,
        rest,
        ..Row::default()
    };
}

fn put_options(rest: &mut Vec<u8>, options: &TcpOptions) {
    let bits = [
        options.mss.is_some(),
        options.window_scale.is_some(),
        options.sack_permitted,
        options.timestamps.is_some(),
        options.cut,
    ];
    rest.push((0..).zip(bits).map(|(at, is)| u8::from(is) << at).sum());
    rest.extend(options.mss.unwrap_or(0).to_le_bytes());
    rest.extend([options.window_scale.unwrap_or(0), options.sack_count]);
    for (left, right) in options.sack {
        rest.extend(left.to_le_bytes());
        rest.extend(right.to_le_bytes());
    }
}

fn options(rest: &mut Bytes<'_>, stamps: Option<(u32, u32)>) -> TcpOptions {
    let bits = rest.u8();
    let is = |at: u8| bits & 1 << at != 0;
    let (mss, scale, sack_count) = (rest.u16(), rest.u8(), rest.u8());
    TcpOptions {
        mss: is(0).then_some(mss),
        window_scale: is(1).then_some(scale),
        sack_permitted: is(2),
        timestamps: stamps.filter(|_| is(3)),
        sack: std::array::from_fn(|_| (rest.u32(), rest.u32())),
        sack_count,
        cut: is(4),
    }
}

fn put_layers(rest: &mut Vec<u8>, (vlans, tunnels): &(Vlans, Tunnels)) {
    rest.push(vlans.count);
    rest.extend(vlans.tci.iter().flat_map(|tag| tag.to_le_bytes()));
    rest.push(tunnels.count);
    for layer in tunnels.layers {
        let place = |tunnel: Tunnel| TUNNELS.iter().position(|kind| *kind == tunnel.kind);
        let kind = layer.and_then(place).map_or(0, |place| place as u8 + 1);
        rest.push(kind);
        rest.extend(layer.map_or(0, |tunnel| tunnel.id).to_le_bytes());
    }
}

fn layers(rest: &mut Bytes<'_>) -> (Vlans, Tunnels) {
    let vlans = Vlans {
        count: rest.u8(),
        tci: std::array::from_fn(|_| rest.u16()),
    };
    let count = rest.u8();
    let layers = std::array::from_fn(|_| {
        let (kind, id) = (rest.u8(), rest.u32());
        let kind = TUNNELS.get(usize::from(kind).checked_sub(1)?)?;
        Some(Tunnel { kind: *kind, id })
    });
    (vlans, Tunnels { layers, count })
}

fn too_big(row: &Row, rest: &mut Bytes<'_>) -> TooBig {
    TooBig {
        number: row.number,
        key: Key::from_bytes(&row.ends.0),
        from_low: row.marks & FROM_LOW != 0,
        mtu: rest.u32(),
        quoted_len: rest.u32(),
        quoted_ip_header: rest.u32(),
    }
}

fn piece(rest: &mut Bytes<'_>) -> Piece {
    Piece {
        name: (
            Address(rest.take()),
            Address(rest.take()),
            rest.u32(),
            rest.u8(),
        ),
        start: rest.u32(),
        end: rest.u32(),
        more: rest.u8() != 0,
    }
}

/// Bytes read one after the other; behind the last there are zeros.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const COUNT: usize>(&mut self) -> [u8; COUNT] {
        let mut taken = [0; COUNT];
        let count = COUNT.min(self.0.len());
        let (first, behind) = self.0.split_at(count);
        taken[..count].copy_from_slice(first);
        self.0 = behind;
        taken
    }

    fn u8(&mut self) -> u8 {
        self.take::<1>()[0]
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of a pseudo-header has the length of the whole datagram in it.
    #[test]
    fn a_first_fragment_keeps_what_its_checksum_says_of_the_whole() {
        let whole = Frame {
            payload: 1_400,
            tcp_header: 20,
            ..Frame::default()
        };
        let first = Frame {
            payload: 500,
            checksum: whole.partial_checksum(),
            rare: Some(Box::default()),
            ..whole
        };
        let (mut row, mut read) = (Row::default(), Frame::default());
        first.write(Kind::FirstFragment, &mut row);
        assert_eq!(read.read(&row), Kind::FirstFragment);
        read.payload = 1_400;
        assert!(read.checksum_is_partial());
    }
}
