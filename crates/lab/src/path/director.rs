//! An IPVS director of Linux 2.6.32 to 2.6.36.

use super::frame::link_len;
use super::{DropReason, Element, Error, Frame, Nanos, Onward, Side};
use coalescope_wire::checksum::{fold, sum};
use gro::VirtioNetHeader;
use std::net::Ipv4Addr;

const IPV4: [u8; 2] = [0x08, 0x00];
const ARP: [u8; 2] = [0x08, 0x06];
const TCP: u8 = 6;
const UDP: u8 = 17;
/// Don't Fragment, in the upper byte of IPv4's flags.
const DF: u8 = 0x40;
/// Bytes of an IPv4 header that ICMP quotes with the first eight behind it (RFC 792).
const IP_HEADER: usize = 20;
const QUOTED: usize = IP_HEADER + 8;

/// A director that rewrites addresses (LVS-NAT): toward the server the virtual address becomes the
/// real one, toward the client the other way. A frame longer than the MTU is dropped, even if it
/// has a gso_size: those kernels did not know that such a frame can be segmented (fixed by
/// 8f1b03a4c18e, "ipvs: allow transmit of GRO aggregated skbs", 2010). A packet with DF is answered
/// with ICMP "fragmentation needed", as those kernels did. Today's senders learn nothing from the
/// answer, since their packets are no longer than the MTU in it.
///
/// The director is transparent at layer 2, and answers ARP for neither address: client and server
/// are in one network and resolve each other through it. Only IPv4 without options or fragments is
/// rewritten; other packets pass unchanged.
#[derive(Debug)]
pub struct Director {
    name: String,
    virtual_address: Ipv4Addr,
    real_address: Ipv4Addr,
    mtu: usize,
    says_so: bool,
}

impl Director {
    /// A director for one virtual and one real address, with its MTU in bytes.
    #[must_use]
    pub fn ipvs_2632(
        name: &str,
        virtual_address: [u8; 4],
        real_address: [u8; 4],
        mtu: u16,
    ) -> Self {
        Self {
            name: name.to_owned(),
            virtual_address: virtual_address.into(),
            real_address: real_address.into(),
            mtu: mtu.into(),
            says_so: true,
        }
    }

    /// Sends no ICMP, as where ICMP is filtered.
    #[must_use]
    pub fn without_icmp(mut self) -> Self {
        self.says_so = false;
        self
    }

    fn refuse(&self, frame: &Frame, toward: Side, out: &mut Onward<'_>) {
        out.drop_frame(toward, DropReason::TooLong);
        if self.says_so
            && let Some(complaint) = complaint(frame.bytes(), self.virtual_address, self.mtu)
        {
            out.pass(complaint, toward.other());
        }
    }

    /// Rewrites the destination toward the server, and the source toward the client.
    fn rewrite(&self, frame: &mut Frame, toward: Side) {
        let (old, new) = match toward {
            Side::Server => (self.virtual_address, self.real_address),
            Side::Client => (self.real_address, self.virtual_address),
        };
        let partial = frame.header().has(VirtioNetHeader::NEEDS_CSUM);
        let at = link_len(frame.bytes());
        let kind = frame.bytes().get(at - 2..at).map(<[u8]>::to_vec);
        let Some(packet) = frame.bytes_mut().get_mut(at..) else {
            return;
        };
        let change = Change {
            old: old.octets(),
            new: new.octets(),
        };
        match kind.as_deref() {
            Some(kind) if kind == IPV4 => change.packet(packet, toward, partial),
            Some(kind) if kind == ARP => change.arp(packet, toward),
            _ => {}
        }
    }
}

impl Element for Director {
    fn name(&self) -> &str {
        &self.name
    }

    fn frame(&mut self, mut frame: Frame, toward: Side, _at: Nanos, out: &mut Onward<'_>) {
        if frame.packet_len() > self.mtu {
            return self.refuse(&frame, toward, out);
        }
        self.rewrite(&mut frame, toward);
        out.pass(frame, toward);
    }

    fn check(&self) -> Result<(), Error> {
        match self.mtu {
            0..68 => Err(Error::Value {
                element: self.name.clone(),
                what: "the MTU in bytes",
                value: self.mtu.to_string(),
                range: "68 or more (RFC 791)",
            }),
            _ => Ok(()),
        }
    }
}

/// A change of one address to another.
struct Change {
    old: [u8; 4],
    new: [u8; 4],
}

impl Change {
    /// In an IPv4 packet. The transport's checksum covers the addresses, and is adjusted too.
    fn packet(&self, packet: &mut [u8], toward: Side, partial: bool) {
        let address = match toward {
            Side::Server => 16,
            Side::Client => 12,
        };
        let whole = packet.first() == Some(&0x45) && !is_fragment(packet);
        if !whole || !self.replace(packet, address) {
            return;
        }
        self.adjust(packet, 10, false);
        match packet.get(9) {
            Some(&TCP) => self.adjust(packet, IP_HEADER + 16, partial),
            // A UDP checksum of 0 means none.
            Some(&UDP) if packet.get(26..28) != Some(&[0, 0]) => {
                self.adjust(packet, IP_HEADER + 6, partial);
            }
            _ => {}
        }
    }

    /// In an ARP packet for IPv4 over Ethernet (RFC 826): the target of a request, or the sender of a reply.
    fn arp(&self, packet: &mut [u8], toward: Side) {
        let address = match toward {
            Side::Server => 24,
            Side::Client => 14,
        };
        self.replace(packet, address);
    }

    fn replace(&self, packet: &mut [u8], at: usize) -> bool {
        match packet.get_mut(at..at + 4) {
            Some(place) if *place == self.old => {
                place.copy_from_slice(&self.new);
                true
            }
            _ => false,
        }
    }

    /// RFC 1624: HC' = ~(~HC + ~m + m'). A partial checksum is the sum itself, not its complement.
    fn adjust(&self, packet: &mut [u8], at: usize, partial: bool) {
        let Some(&mut [ref mut high, ref mut low]) = packet.get_mut(at..at + 2) else {
            return;
        };
        let stored = u16::from_be_bytes([*high, *low]);
        let old = if partial { stored } else { !stored };
        let without = u64::from(old) + u64::from(!fold(sum(&self.old)));
        let changed = fold(without + sum(&self.new));
        [*high, *low] = if partial { changed } else { !changed }.to_be_bytes();
    }
}

/// Whether More Fragments or an offset is set.
fn is_fragment(packet: &[u8]) -> bool {
    let field = packet.get(6..8).and_then(|field| field.first_chunk());
    field.is_some_and(|&field| u16::from_be_bytes(field) & 0x3fff != 0)
}

/// ICMP "fragmentation needed and DF set" (RFC 792, RFC 1191); `None` for a packet without DF.
fn complaint(frame: &[u8], from: Ipv4Addr, mtu: usize) -> Option<Frame> {
    let at = link_len(frame);
    let packet = frame.get(at..)?;
    let quoted = packet.get(..QUOTED)?;
    if frame.get(at - 2..at)? != IPV4 || quoted[0] != 0x45 || quoted[6] & DF == 0 {
        return None;
    }
    let mut bytes = [&frame[6..12], &frame[..6], &frame[12..at]].concat();
    bytes.extend(ip_header(from.octets(), &quoted[12..16], 8 + QUOTED));
    bytes.extend(icmp(quoted, mtu));
    Some(Frame::new(&VirtioNetHeader::verified(), &bytes))
}

fn ip_header(from: [u8; 4], to: &[u8], payload: usize) -> Vec<u8> {
    let length = ((IP_HEADER + payload) as u16).to_be_bytes();
    let mut header = vec![0x45, 0xc0, length[0], length[1], 0, 0, 0, 0, 64, 1, 0, 0];
    header.extend(from);
    header.extend(to);
    with_checksum(header, 10)
}

fn icmp(quoted: &[u8], mtu: usize) -> Vec<u8> {
    let mtu = (mtu as u16).to_be_bytes();
    let mut message = vec![3, 4, 0, 0, 0, 0, mtu[0], mtu[1]];
    message.extend(quoted);
    with_checksum(message, 2)
}

fn with_checksum(mut bytes: Vec<u8>, at: usize) -> Vec<u8> {
    let checksum = (!fold(sum(&bytes))).to_be_bytes();
    bytes[at..at + 2].copy_from_slice(&checksum);
    bytes
}

#[cfg(test)]
mod tests {
    use super::super::element::testing::Bench;
    use super::*;
    use crate::checksum::internet_checksum;
    use crate::craft::{Ipv4 as Header, Segment};

    const VIRTUAL: [u8; 4] = [10, 0, 0, 100];
    const REAL: [u8; 4] = [10, 0, 0, 1];
    const CLIENT: [u8; 4] = [10, 0, 0, 3];

    fn director() -> Director {
        Director::ipvs_2632("ipvs", VIRTUAL, REAL, 1500)
    }

    /// A TCP frame whose addresses are put in with right checksums.
    fn frame(source: [u8; 4], target: [u8; 4], payload: usize) -> Frame {
        let mut segment = Segment::v4(Header::default());
        segment.payload = vec![7; payload];
        let mut bytes = segment.frame();
        bytes[26..30].copy_from_slice(&source);
        bytes[30..34].copy_from_slice(&target);
        bytes[20] |= DF;
        bytes[24..26].fill(0);
        let header = internet_checksum(&[&bytes[14..34]]).to_be_bytes();
        bytes[24..26].copy_from_slice(&header);
        bytes[50..52].fill(0);
        let sum = transport_sum(&bytes).to_be_bytes();
        bytes[50..52].copy_from_slice(&sum);
        Frame::new(&VirtioNetHeader::verified(), &bytes)
    }

    /// 0 over a frame whose checksum is right.
    fn transport_sum(bytes: &[u8]) -> u16 {
        let length = ((bytes.len() - 34) as u16).to_be_bytes();
        internet_checksum(&[&bytes[26..34], &[0, TCP], &length, &bytes[34..]])
    }

    #[test]
    fn addresses_are_rewritten_and_checksums_stay_right() {
        let mut bench = Bench::default();
        for (sent, toward, expected) in [
            (frame(CLIENT, VIRTUAL, 100), Side::Server, [CLIENT, REAL]),
            (frame(REAL, CLIENT, 101), Side::Client, [VIRTUAL, CLIENT]),
        ] {
            let got = bench.frame(&mut director(), sent, toward, 0);
            let [(way, got)] = got.try_into().expect("one frame");
            assert_eq!(
                (way, &got.bytes()[26..34]),
                (toward, &expected.concat()[..])
            );
            assert_eq!(internet_checksum(&[&got.bytes()[14..34]]), 0);
            assert_eq!(transport_sum(got.bytes()), 0);
        }
    }

    #[test]
    fn a_checksum_left_to_the_card_is_rewritten_as_a_sum() {
        let partial = VirtioNetHeader {
            flags: VirtioNetHeader::NEEDS_CSUM,
            csum_start: 34,
            csum_offset: 16,
            ..VirtioNetHeader::default()
        };
        let mut sent = frame(CLIENT, VIRTUAL, 100);
        sent.set_header(&partial);
        let length = ((sent.bytes().len() - 34) as u16).to_be_bytes();
        let pseudo = !internet_checksum(&[&sent.bytes()[26..34], &[0, TCP], &length]);
        sent.bytes_mut()[50..52].copy_from_slice(&pseudo.to_be_bytes());
        let mut got = Bench::default().frame(&mut director(), sent, Side::Server, 0);
        let (_, mut got) = got.remove(0);
        partial
            .complete_checksum(got.bytes_mut())
            .expect("it can be completed");
        assert_eq!(transport_sum(got.bytes()), 0);
    }

    #[test]
    fn what_is_too_long_is_refused_and_its_sender_told() {
        let mut bench = Bench::default();
        let got = bench.frame(&mut director(), frame(REAL, CLIENT, 2000), Side::Client, 0);
        let [(way, icmp)] = got.try_into().expect("one frame");
        assert_eq!(way, Side::Server);
        let packet = &icmp.bytes()[14..];
        assert_eq!(packet[12..20], [VIRTUAL, REAL].concat());
        assert_eq!(
            packet[20..28],
            [3, 4, packet[22], packet[23], 0, 0, 0x05, 0xdc]
        );
        assert_eq!(internet_checksum(&[&packet[..20]]), 0);
        assert_eq!(internet_checksum(&[&packet[20..]]), 0);
        let mut silent = director().without_icmp();
        let got = bench.frame(&mut silent, frame(REAL, CLIENT, 2000), Side::Client, 0);
        assert_eq!(got, []);
        assert_eq!(bench.dropped(Side::Client, DropReason::TooLong), 2);
    }

    #[test]
    fn arp_is_translated_and_fragments_are_not() {
        let request = [&[2; 12][..], &ARP, &[0; 24], &VIRTUAL].concat();
        let request = Frame::new(&VirtioNetHeader::default(), &request);
        let got = Bench::default().frame(&mut director(), request, Side::Server, 0);
        assert_eq!(got[0].1.bytes()[38..42], REAL);
        let mut fragment = frame(CLIENT, VIRTUAL, 100);
        fragment.bytes_mut()[21] = 9;
        let got = Bench::default().frame(&mut director(), fragment.clone(), Side::Server, 0);
        assert_eq!(got[0].1, fragment);
    }
}
