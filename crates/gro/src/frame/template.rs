//! Masks of the header bytes that decide: a profile's fields laid over the headers of one frame.

use coalescope_wire::{Header, HeaderKind, Headers};

use crate::profile::{Field, Ipv4Rules, Ipv6Rules, Options, Profile};
use crate::reason::Reason;

/// Header bytes that are kept of a held frame: Ethernet, two VLAN tags, IPv6, UDP, VXLAN, Ethernet,
/// IPv6 and TCP with all its options come to 196; Linux keeps as much (`GRO_MAX_HEAD`).
pub(crate) const MAX_HEADER: usize = 256;

/// Bytes that two frames with plain headers can have at most: Ethernet, IPv6, TCP with all its
/// options, rounded up.
pub(crate) const PLAIN_HEADER: usize = 128;

/// Header bytes of most plain frames: TCP over IPv6 with up to 20 bytes of options, and over IPv4 with
/// all there can be.
pub(crate) const USUAL: usize = 96;

/// Masks over the header bytes of frames of one shape.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    /// Bits that distinguish flows.
    pub(crate) flow: [u8; MAX_HEADER],
    /// Bits that must be equal for two frames to merge, those of `flow` included.
    pub(crate) equal: [u8; MAX_HEADER],
}

impl Template {
    /// The masks for frames with these headers, the last of which ends at `end`.
    pub(crate) fn new(profile: &Profile, headers: &[Header], end: usize) -> Self {
        let mut template = Self {
            flow: [0; MAX_HEADER],
            equal: [0; MAX_HEADER],
        };
        for (index, header) in headers.iter().enumerate() {
            let next = headers
                .get(index + 1)
                .map_or(end, |next| next.offset.into());
            let outermost = index == 0;
            template.header(profile, header.kind, header.offset.into(), next, outermost);
        }
        template
    }

    /// Bits that are equal in two segments of one size with the same flags, in frames with these headers:
    /// those of `equal`, IP lengths and TCP flags.
    pub(crate) fn same(&self, headers: &[Header]) -> [u8; PLAIN_HEADER] {
        let mut same = [0; PLAIN_HEADER];
        same.copy_from_slice(&self.equal[..PLAIN_HEADER]);
        for header in headers {
            let field = match header.kind {
                HeaderKind::Ipv4 => 2,
                HeaderKind::Ipv6 => 4,
                HeaderKind::Tcp => 12,
                _ => continue,
            };
            let at = usize::from(header.offset) + field;
            same[at..at + 2].fill(0xff);
        }
        same
    }

    /// Excludes what Linux does not compare in a GRE header with a checksum. `gre_gro_receive` compares the word behind
    /// the first four bytes where there is a key, and takes that word for the key; with a checksum present, that word
    /// is the checksum, and the key behind it is not compared.
    pub(crate) fn with_gre_checksum(mut self, headers: &[Header], frame: &[u8]) -> Self {
        for header in headers
            .iter()
            .filter(|header| header.kind == HeaderKind::Gre)
        {
            let at = usize::from(header.offset);
            let (checksum, key) = match frame.get(at) {
                Some(flags) => (flags & 0x80 != 0, flags & 0x20 != 0),
                None => (false, false),
            };
            let word = if key { at + 8 } else { at + 4 };
            if checksum && word + 4 <= MAX_HEADER {
                self.flow[word..word + 4].fill(0);
                self.equal[word..word + 4].fill(0);
            }
        }
        self
    }

    fn header(
        &mut self,
        profile: &Profile,
        kind: HeaderKind,
        at: usize,
        next: usize,
        outermost: bool,
    ) {
        match kind {
            HeaderKind::Ethernet => {
                // MAC addresses inside a tunnel always distinguish flows.
                let inside = !outermost;
                let rule = if inside {
                    Field::Flow
                } else {
                    profile.link.addresses
                };
                self.set(rule, at, &[0xff; 12]);
                self.set(Field::Flow, at + 12, &[0xff; 2]);
            }
            HeaderKind::Vlan | HeaderKind::Ppp | HeaderKind::Mpls | HeaderKind::Gre => {
                self.fill(at, next);
            }
            // Without the length.
            HeaderKind::Pppoe => self.fill(at, at + 4),
            HeaderKind::Ipv4 => self.ipv4(profile.ipv4.as_ref(), at),
            HeaderKind::Ipv6 => self.ipv6(profile.ipv6.as_ref(), at, next),
            HeaderKind::Tcp => self.tcp(profile, at, next),
            HeaderKind::Udp => {
                self.fill(at, at + 4);
                // The header of the tunnel behind UDP: VXLAN, Geneve.
                self.fill(at + 8, next);
            }
        }
    }

    /// All but length, identification and checksum.
    fn ipv4(&mut self, rules: Option<&Ipv4Rules>, at: usize) {
        let Some(rules) = rules else { return };
        self.fill(at, at + 1);
        self.set(rules.dscp, at + 1, &[0xfc]);
        self.set(rules.ecn, at + 1, &[0x03]);
        self.set(rules.dont_fragment, at + 6, &[0x40]);
        // Fragments belong to no flow; the short path finds them by these bits.
        self.set(Field::Flow, at + 6, &[0x3f, 0xff]);
        self.set(Field::Equal, at + 6, &[0x80]);
        self.set(rules.ttl, at + 8, &[0xff]);
        self.fill(at + 9, at + 10);
        self.fill(at + 12, at + 20);
    }

    /// All but the length.
    fn ipv6(&mut self, rules: Option<&Ipv6Rules>, at: usize, next: usize) {
        let Some(rules) = rules else { return };
        self.set(Field::Flow, at, &[0xf0]);
        self.set(rules.dscp, at, &[0x0f, 0xc0]);
        self.set(rules.ecn, at, &[0x00, 0x30]);
        self.set(rules.flow_label, at, &[0x00, 0x0f, 0xff, 0xff]);
        self.fill(at + 6, at + 7);
        self.set(rules.hop_limit, at + 7, &[0xff]);
        self.fill(at + 8, next);
    }

    /// All but sequence number, checksum and urgent pointer. The header length is compared before the masks are used,
    /// so the masks of both frames agree.
    fn tcp(&mut self, profile: &Profile, at: usize, next: usize) {
        let rules = &profile.tcp;
        self.fill(at, at + 4);
        self.set(rules.ack, at + 8, &[0xff; 4]);
        // The header length is compared before, so this bit mask matters only for the short path, which compares
        // headers first.
        self.set(Field::Equal, at + 12, &[0xf0]);
        self.set(rules.reserved, at + 12, &[0x0e]);
        self.set(Field::Equal, at + 12, &rules.equal.to_be_bytes());
        self.set(rules.window, at + 14, &[0xff; 2]);
        if rules.options == Options::Equal {
            for offset in at + 20..next {
                self.set(Field::Equal, offset, &[0xff]);
            }
        }
    }

    /// Bytes that are part of the flow.
    fn fill(&mut self, from: usize, to: usize) {
        for offset in from..to {
            self.set(Field::Flow, offset, &[0xff]);
        }
    }

    fn set(&mut self, rule: Field, at: usize, bits: &[u8]) {
        for (offset, bits) in (at..MAX_HEADER).zip(bits) {
            match rule {
                Field::Flow => {
                    self.flow[offset] |= bits;
                    self.equal[offset] |= bits;
                }
                Field::Equal => self.equal[offset] |= bits,
                Field::First | Field::Latest | Field::Rising | Field::Minimum => {}
            }
        }
    }

    /// Whether two frames are of one flow.
    pub(crate) fn same_flow(&self, a: &[u8; MAX_HEADER], b: &[u8; MAX_HEADER]) -> bool {
        agree(&self.flow, a, b)
    }

    /// Where two frames first differ in a bit that must be equal: the byte, and the bits that differ.
    pub(crate) fn difference(
        &self,
        a: &[u8; MAX_HEADER],
        b: &[u8; MAX_HEADER],
    ) -> Option<(usize, u8)> {
        if agree(&self.equal, a, b) {
            return None;
        }
        (0..MAX_HEADER)
            .map(|at| (at, (a[at] ^ b[at]) & self.equal[at]))
            .find(|&(_, bits)| bits != 0)
    }
}

/// Whether no bit under the mask differs in the first `N` bytes: a multiple of 16, and no more than
/// the mask has.
#[inline(always)]
pub(crate) fn agree_in<const N: usize>(
    mask: &[u8],
    a: &[u8; MAX_HEADER],
    b: &[u8; PLAIN_HEADER],
) -> bool {
    agree(&mask[..N], &a[..N], &b[..N])
}

/// Whether no bit under the mask differs. All three have the same length, a multiple of 32: the compiler turns pieces
/// of 32 bytes into vector instructions.
#[inline(always)]
fn agree(mask: &[u8], a: &[u8], b: &[u8]) -> bool {
    let pieces = |bytes| <[u8]>::as_chunks::<32>(bytes).0.iter().map(words);
    let mut bits = [0; 4];
    for ((mask, a), b) in pieces(mask).zip(pieces(a)).zip(pieces(b)) {
        for word in 0..4 {
            bits[word] |= (a[word] ^ b[word]) & mask[word];
        }
    }
    bits.iter().fold(0, |all, word| all | word) == 0
}

#[inline(always)]
fn words(piece: &[u8; 32]) -> [u64; 4] {
    let (words, _) = piece.as_chunks();
    [
        u64::from_ne_bytes(words[0]),
        u64::from_ne_bytes(words[1]),
        u64::from_ne_bytes(words[2]),
        u64::from_ne_bytes(words[3]),
    ]
}

/// The rule that a differing byte breaks.
pub(crate) fn rule_at(headers: &Headers, at: usize, bits: u8) -> Reason {
    let header = headers
        .as_slice()
        .iter()
        .rev()
        .find(|header| usize::from(header.offset) <= at);
    let Some(header) = header else {
        return Reason::LinkAddress;
    };
    let inside = at - usize::from(header.offset);
    match header.kind {
        HeaderKind::Ipv4 => ipv4_rule(inside, bits),
        HeaderKind::Ipv6 => ipv6_rule(inside, bits),
        HeaderKind::Tcp => tcp_rule(inside),
        _ => Reason::LinkAddress,
    }
}

fn ipv4_rule(inside: usize, bits: u8) -> Reason {
    match inside {
        1 if bits & 0xfc != 0 => Reason::Dscp,
        1 => Reason::Ecn,
        6 => Reason::DontFragment,
        _ => Reason::HopLimit,
    }
}

fn ipv6_rule(inside: usize, bits: u8) -> Reason {
    match inside {
        0 => Reason::Dscp,
        1 if bits & 0xc0 != 0 => Reason::Dscp,
        1 if bits & 0x30 != 0 => Reason::Ecn,
        1..=3 => Reason::FlowLabel,
        _ => Reason::HopLimit,
    }
}

fn tcp_rule(inside: usize) -> Reason {
    match inside {
        8..=11 => Reason::Ack,
        12 | 13 => Reason::Flags,
        14 | 15 => Reason::Window,
        _ => Reason::Options,
    }
}
