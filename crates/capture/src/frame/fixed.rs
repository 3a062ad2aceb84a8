//! The digest of the commonest frame, which is read at fixed places.

use coalescope_wire::{ConstantFields, FixedTcp, Flags, fixed_tcp};

use super::{Frame, Odd, fill_head};
use crate::key::Key;

/// The ends of the frame before, so that the ends of the next frame need not be sorted again: frames come in runs of
/// one connection.
#[derive(Debug, Default)]
pub(super) struct Before {
    addresses: u64,
    ports: u32,
    from_low: bool,
    is_known: bool,
    key: Key,
    /// Constant header fields of the direction that was seen first, and of the other one: for most frames nothing else
    /// need be compared.
    constant: [ConstantFields; 2],
}

impl Before {
    /// Whether a frame of another shape has the same ends; if not, they are forgotten.
    pub(super) fn is(&mut self, key: &Key) -> bool {
        self.is_known &= self.key == *key;
        if !self.is_known {
            self.constant = Default::default();
        }
        self.is_known
    }

    /// The view of a frame like those before it, and whether it goes in the direction that was seen first.
    #[inline(always)]
    fn view<'a>(&self, frame: &'a [u8]) -> Option<(FixedTcp<'a>, bool)> {
        ConstantFields::view(&self.constant, frame)
    }

    /// Writes the ends of a frame into the slot.
    #[inline(always)]
    fn ends(&mut self, slot: &mut Frame, tcp: &FixedTcp<'_>) {
        let (addresses, ports) = (tcp.addresses(), tcp.ports());
        // Without branches: the direction changes from frame to frame, so a branch would be mispredicted.
        let differs =
            |addresses, ports| (addresses ^ self.addresses) | u64::from(ports ^ self.ports);
        let same = differs(addresses, ports) == 0;
        let opposite = differs(addresses.rotate_left(32), ports.rotate_left(16)) == 0;
        slot.follows = self.is_known & (same | opposite) & !tcp.flags().has(Flags::SYN);
        let constant = ConstantFields::of(tcp);
        if slot.follows {
            slot.key = self.key;
            slot.from_low = self.from_low == same;
            if let Some(constant) = constant {
                self.constant[usize::from(!same)] = constant;
            }
            return;
        }
        (slot.key, slot.from_low) = Key::v4(addresses, ports);
        *self = Self {
            addresses,
            ports,
            from_low: slot.from_low,
            is_known: true,
            key: slot.key,
            constant: constant.map_or_else(Default::default, |of| [of, of.answered()]),
        };
    }
}

impl Frame {
    /// Takes an Ethernet frame if it is of the commonest shape.
    #[inline(always)]
    pub(super) fn fill_fixed(&mut self, data: &[u8], before: &mut Before) -> bool {
        if let Some((tcp, is_first)) = before.view(data) {
            self.key = before.key;
            self.from_low = before.from_low == is_first;
            self.follows = true;
            self.fill_headers(&tcp);
            return true;
        }
        self.fill_unlike(data, before)
    }

    #[inline(never)]
    fn fill_unlike(&mut self, data: &[u8], before: &mut Before) -> bool {
        let tcp = fixed_tcp(data);
        if let Some(tcp) = &tcp {
            before.ends(self, tcp);
            self.fill_headers(tcp);
        }
        tcp.is_some()
    }

    #[inline(always)]
    fn fill_headers(&mut self, tcp: &FixedTcp<'_>) {
        self.seq = tcp.seq();
        self.ack = tcp.ack();
        self.payload = tcp.payload_len();
        self.flags = tcp.flags();
        self.window = tcp.window();
        self.checksum = tcp.checksum();
        self.id = tcp.id();
        self.ttl = tcp.ttl();
        self.tcp_header = tcp.header_len();
        self.stamped = tcp.timestamps().is_some();
        (self.tsval, self.tsecr) = tcp.timestamps().unwrap_or_default();
        self.odd = Odd::default();
        if tcp.has_sack() {
            self.add(Odd::OPTIONS);
            self.rare.get_or_insert_default().options = tcp.options();
        }
        fill_head(self, tcp.after_headers(), tcp.payload_len());
    }
}

#[cfg(test)]
mod tests {
    use coalescope_wire::LinkType;

    use super::*;
    use crate::file::{Direction, RawFrame};
    use crate::frame::digester::Digester;
    use crate::row::Kind;

    const CLIENT: [u8; 6] = [10, 0, 0, 1, 0xc0, 1];
    const SERVER: [u8; 6] = [10, 0, 0, 2, 0, 80];
    const OTHER: [u8; 6] = [10, 0, 0, 2, 0, 81];

    /// An acknowledgment, or another frame without options: whether it follows, and whether the
    /// lower end sent it.
    fn digest(digester: &mut Digester, from: [u8; 6], to: [u8; 6], flags: u16) -> (bool, bool) {
        let mut data = vec![2; 12];
        data.extend([8, 0, 0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0]);
        data.extend([&from[..4], &to[..4], &from[4..], &to[4..]].concat());
        data.extend([[0; 8].as_slice(), &(0x5000 | flags).to_be_bytes(), &[0; 6]].concat());
        let raw = RawFrame {
            number: 1,
            time_ns: 0,
            interface: 0,
            link: LinkType::Ethernet,
            original_len: 54,
            data: &data,
            direction: Direction::Unknown,
        };
        let mut slot = Frame::default();
        assert_eq!(digester.digest(&raw, &mut slot), Kind::Tcp);
        (slot.follows, slot.from_low)
    }

    #[test]
    fn frames_of_one_connection_follow_each_other_in_both_directions() {
        let digester = &mut Digester::default();
        assert_eq!(digest(digester, CLIENT, SERVER, Flags::ACK), (false, true));
        assert_eq!(digest(digester, CLIENT, SERVER, Flags::ACK), (true, true));
        assert_eq!(digest(digester, SERVER, CLIENT, Flags::ACK), (true, false));
        assert_eq!(digest(digester, OTHER, CLIENT, Flags::ACK), (false, false));
        assert_eq!(digest(digester, OTHER, CLIENT, Flags::ACK), (true, false));
        assert_eq!(digest(digester, CLIENT, SERVER, Flags::ACK), (false, true));
    }

    #[test]
    fn a_syn_may_begin_another_connection() {
        let digester = &mut Digester::default();
        assert_eq!(digest(digester, CLIENT, SERVER, Flags::ACK), (false, true));
        assert_eq!(digest(digester, CLIENT, SERVER, Flags::SYN), (false, true));
        assert_eq!(digest(digester, SERVER, CLIENT, Flags::SYN), (false, false));
        assert_eq!(digest(digester, CLIENT, SERVER, Flags::ACK), (true, true));
    }

    /// Each frame is read the same beside others as alone, but for whether it follows one.
    #[test]
    fn frames_like_those_before_are_read_as_alone() {
        let mut digester = Digester::default();
        let mut slot = Frame::default();
        let mut chance = 1_u64;
        let mut next = |count: u64| {
            chance = chance.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            (chance >> 40) % count
        };
        let mut alike = 0;
        for number in 0..5_000 {
            let data = stamped([CLIENT, SERVER, OTHER], &mut next);
            let raw = RawFrame {
                number,
                time_ns: number as i64,
                interface: 0,
                link: LinkType::Ethernet,
                original_len: data.len() as u32,
                data: &data,
                direction: Direction::Unknown,
            };
            let mut alone = Frame::default();
            let digests = [
                digester.digest(&raw, &mut slot),
                Digester::default().digest(&raw, &mut alone),
            ];
            assert_eq!(digests, [Kind::Tcp; 2]);
            alike += u64::from(slot.follows);
            let mut read = slot.clone();
            (read.follows, read.rare) = (false, None);
            alone.rare = None;
            if read.head_len == 0 {
                read.head = [0; 16];
            }
            assert_eq!(format!("{read:?}"), format!("{alone:?}"));
        }
        assert!(alike > 1_000, "{alike}");
    }

    /// A frame with timestamps, in any direction of two connections, with anything in fields that may change.
    fn stamped(hosts: [[u8; 6]; 3], next: &mut impl FnMut(u64) -> u64) -> Vec<u8> {
        let server = hosts[if next(10) == 0 { 2 } else { 1 }];
        let (from, to) = if next(2) == 0 {
            (hosts[0], server)
        } else {
            (server, hosts[0])
        };
        let payload = [0, 20, 30][next(3) as usize];
        let mut data = vec![2; 12];
        data.extend([
            8,
            0,
            0x45,
            next(4) as u8,
            0,
            52 + payload as u8,
            0,
            next(256) as u8,
        ]);
        data.extend([0x40, 0, 60 + next(2) as u8, 6, 1, 2]);
        data.extend([&from[..4], &to[..4], &from[4..], &to[4..]].concat());
        data.extend([next(256) as u8; 8]);
        let flags = [0x10, 0x18, 0x11, 0x12][next(12).saturating_sub(8) as usize];
        data.extend([0x80, flags, next(256) as u8, 1, next(256) as u8, 2, 0, 0]);
        data.extend([1, 1, 8, 10, 0, 0, 0, next(256) as u8, 0, 0, 0, 1]);
        data.extend(vec![next(256) as u8; payload]);
        data
    }
}
