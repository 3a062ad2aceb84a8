//! The short way for what most frames are: an IP header directly behind the link's, TCP directly
//! behind it, payload, and no flag but ACK, PSH and ECE.
//!
//! It takes a frame that joins what is held, or that is the first of its flow, under a profile of
//! which all rules are comparisons; everything else is left to the general path, which would
//! decide the same (`tests/paths.rs`).

use alloc::vec::Vec;

use coalescope_wire::checksum::{fold, pseudo_header_v4, pseudo_header_v6, sum};
use coalescope_wire::{Flags, Header, HeaderKind, LinkType};

use crate::Reason;
use crate::decision::{Action, Decision};
use crate::engine::{Engine, Incoming, add_sum};
use crate::gso::IdRun;
use crate::held::{Identifications, NONE};
use crate::judge::{Join, Step, follows};
use crate::profile::{Checksum, Field, IpId, Options, Profile, SegmentSize};
use crate::seen::{Layer4, Seen, hash_v4, hash_v6};
use crate::settings::Verification;
use crate::store::{Sink, Store};
use crate::template::{PLAIN_HEADER, Template};

/// TCP header lengths, in words of 4 bytes: 5 to 15.
const LENGTHS: usize = 11;

/// Flags that the short way knows.
const KNOWN: u8 = (Flags::ACK | Flags::PSH | Flags::ECE) as u8;

/// The masks of plain frames, for each IP version and TCP header length; none under a profile that
/// always needs the general path.
#[derive(Clone, Debug)]
pub(crate) struct PlainTemplates {
    list: Vec<Template>,
}

impl PlainTemplates {
    pub(crate) fn new(profile: &Profile, link: LinkType) -> Self {
        let list = match link {
            _ if !only_compares(profile) => Vec::new(),
            LinkType::Ethernet => templates(profile, Some(14)),
            LinkType::Raw => templates(profile, None),
            _ => Vec::new(),
        };
        Self { list }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn get(&self, number: u32) -> Option<&Template> {
        self.list.get(number as usize)
    }

    /// The number of the masks that fit a frame, if it is plain.
    pub(crate) fn number(&self, seen: &Seen) -> Option<u32> {
        let Layer4::Tcp(tcp) = seen.layer4 else {
            return None;
        };
        let headers = seen.headers.as_slice();
        let ip_len = if seen.version == 4 { 20 } else { 40 };
        let behind_link = match headers {
            [link, ip, _] if link.kind == HeaderKind::Ethernet => usize::from(ip.offset) == 14,
            [ip, _] => ip.offset == 0,
            _ => false,
        };
        let plain = behind_link && seen.layer4_at == seen.ip + ip_len;
        let number = number(seen.version, tcp.header_len / 4);
        (plain && (number as usize) < self.list.len()).then_some(number)
    }
}

#[inline(always)]
fn number(version: u8, words: u8) -> u32 {
    let first = if version == 4 { 0 } else { LENGTHS as u32 };
    first + u32::from(words.wrapping_sub(5))
}

/// Whether no rule of a profile for plain frames changes anything held but flags.
fn only_compares(profile: &Profile) -> bool {
    let compared = |field: Field| !matches!(field, Field::Latest | Field::Minimum);
    let v4 = profile.ipv4.is_some_and(|rules| {
        compared(rules.ttl) && rules.zero_addresses && !rules.refuse_congestion_experienced
    });
    let v6 = profile.ipv6.is_some_and(|rules| compared(rules.hop_limit));
    let tcp = &profile.tcp;
    v4 && v6 && tcp.options == Options::Equal && compared(tcp.ack) && compared(tcp.window)
}

fn templates(profile: &Profile, link: Option<u16>) -> Vec<Template> {
    let versions = [(HeaderKind::Ipv4, 20), (HeaderKind::Ipv6, 40)];
    let lengths = versions
        .into_iter()
        .flat_map(|version| (5..5 + LENGTHS).map(move |words| (version, words)));
    lengths
        .map(|((kind, len), words)| {
            let ip = link.unwrap_or(0);
            let ethernet = link.map(|_| Header {
                kind: HeaderKind::Ethernet,
                offset: 0,
            });
            let headers: Vec<_> = ethernet
                .into_iter()
                .chain([
                    Header { kind, offset: ip },
                    Header {
                        kind: HeaderKind::Tcp,
                        offset: ip + len,
                    },
                ])
                .collect();
            Template::new(profile, &headers, usize::from(ip + len) + words * 4)
        })
        .collect()
}

/// A frame that the short way may take.
pub(crate) struct Plain<'a> {
    header: &'a [u8; PLAIN_HEADER],
    hash: u64,
    seq: u32,
    payload_len: u32,
    ip: u8,
    layer4: u8,
    header_len: u8,
    version: u8,
    flags: u8,
    id: u16,
    df: bool,
    template: u32,
}

impl<'a> Plain<'a> {
    /// Reads a frame; `None` where the general path must.
    #[inline(always)]
    pub(crate) fn read<S: Store>(engine: &Engine<S>, frame: &'a [u8]) -> Option<Self> {
        if engine.plain.len() == 0 {
            return None;
        }
        match engine.settings.link {
            LinkType::Ethernet => Self::read_behind::<14, S>(engine, frame),
            _ => Self::read_behind::<0, S>(engine, frame),
        }
    }

    #[inline(always)]
    fn read_behind<const LINK: usize, S: Store>(
        engine: &Engine<S>,
        frame: &'a [u8],
    ) -> Option<Self> {
        let header = frame.first_chunk::<PLAIN_HEADER>()?;
        let kind = match LINK {
            0 => header[0] >> 4,
            _ => match [header[12], header[13]] {
                [0x08, 0x00] => 4,
                [0x86, 0xdd] => 6,
                _ => 0,
            },
        };
        match kind {
            4 => Self::v4::<LINK, S>(engine, frame, header),
            6 => Self::v6::<LINK, S>(engine, frame, header),
            _ => None,
        }
    }

    #[inline(always)]
    fn v4<const LINK: usize, S: Store>(
        engine: &Engine<S>,
        frame: &'a [u8],
        header: &'a [u8; PLAIN_HEADER],
    ) -> Option<Self> {
        let ip: &[u8; 20] = header.get(LINK..)?.first_chunk()?;
        let len = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
        let whole = ip[0] == 0x45 && ip[9] == 6 && len + LINK == frame.len();
        let fragment = ip[6] & 0xbf != 0 || ip[7] != 0;
        let rules = engine.profile.ipv4.as_ref()?;
        if !whole || fragment || (rules.checksum == Checksum::Required && !header_is_sound(ip)) {
            return None;
        }
        let addresses: &[u8; 8] = ip.last_chunk()?;
        let (tcp, words) = tcp(header, LINK + 20)?;
        let hash = hash_v4(addresses, ports(tcp), engine.settings.seed);
        let id = u16::from_be_bytes([ip[4], ip[5]]);
        let df = ip[6] & 0x40 != 0;
        Self::tcp(frame, header, tcp, words, (4, LINK, 20), (hash, id, df))
    }

    #[inline(always)]
    fn v6<const LINK: usize, S: Store>(
        engine: &Engine<S>,
        frame: &'a [u8],
        header: &'a [u8; PLAIN_HEADER],
    ) -> Option<Self> {
        let ip: &[u8; 40] = header.get(LINK..)?.first_chunk()?;
        let len = usize::from(u16::from_be_bytes([ip[4], ip[5]]));
        if ip[0] >> 4 != 6 || ip[6] != 6 || len + 40 + LINK != frame.len() {
            return None;
        }
        let addresses: &[u8; 32] = ip.last_chunk()?;
        let (tcp, words) = tcp(header, LINK + 40)?;
        let hash = hash_v6(addresses, ports(tcp), engine.settings.seed);
        Self::tcp(frame, header, tcp, words, (6, LINK, 40), (hash, 0, true))
    }

    #[inline(always)]
    fn tcp(
        frame: &'a [u8],
        header: &'a [u8; PLAIN_HEADER],
        tcp: &[u8; 20],
        words: u8,
        (version, ip, ip_len): (u8, usize, usize),
        (hash, id, df): (u64, u16, bool),
    ) -> Option<Self> {
        let layer4 = ip + ip_len;
        let header_len = layer4 + usize::from(words) * 4;
        let payload_len = frame.len().checked_sub(header_len)?;
        if words < 5 || payload_len == 0 || tcp[13] & !KNOWN != 0 || tcp[12] & 0x0f != 0 {
            return None;
        }
        Some(Self {
            header,
            hash,
            seq: u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]),
            payload_len: payload_len as u32,
            ip: ip as u8,
            layer4: layer4 as u8,
            header_len: header_len as u8,
            version,
            flags: tcp[13],
            id,
            df,
            template: number(version, words),
        })
    }
}

/// The fixed part of the TCP header, and the header's length in words.
#[inline(always)]
fn tcp(header: &[u8; PLAIN_HEADER], at: usize) -> Option<(&[u8; 20], u8)> {
    let tcp: &[u8; 20] = header.get(at..)?.first_chunk()?;
    Some((tcp, tcp[12] >> 4))
}

#[inline(always)]
fn ports(tcp: &[u8; 20]) -> u32 {
    u32::from_ne_bytes([tcp[0], tcp[1], tcp[2], tcp[3]])
}

/// Whether an IPv4 header sums up to what it must. The byte order does not matter (RFC 1071
/// section 2).
#[inline(always)]
fn header_is_sound(ip: &[u8; 20]) -> bool {
    let (words, _) = ip.as_chunks::<4>();
    let sum: u64 = words
        .iter()
        .map(|word| u64::from(u32::from_ne_bytes(*word)))
        .sum();
    fold(sum) == 0xffff
}

/// Whether the TCP checksum of a plain frame is right.
#[inline]
fn segment_is_sound(plain: &Plain<'_>, frame: &[u8]) -> bool {
    let segment = frame.get(usize::from(plain.layer4)..).unwrap_or_default();
    let ip = plain
        .header
        .get(usize::from(plain.ip)..)
        .unwrap_or_default();
    let len = segment.len() as u32;
    let pseudo = match (plain.version, ip) {
        (
            4,
            &[
                _,
                _,
                _,
                _,
                _,
                _,
                _,
                _,
                _,
                _,
                _,
                _,
                a,
                b,
                c,
                d,
                e,
                f,
                g,
                h,
                ..,
            ],
        ) => pseudo_header_v4([a, b, c, d], [e, f, g, h], 6, len),
        _ => pseudo_v6(ip, len),
    };
    fold(pseudo + sum(segment)) == 0xffff
}

fn pseudo_v6(ip: &[u8], len: u32) -> u64 {
    let at = |from: usize| ip.get(from..).and_then(<[u8]>::first_chunk::<16>);
    match (at(8), at(24)) {
        (Some(source), Some(destination)) => pseudo_header_v6(*source, *destination, 6, len),
        _ => 0,
    }
}

impl<S: Store> Engine<S> {
    #[inline]
    pub(crate) fn push_plain(
        &mut self,
        plain: &Plain<'_>,
        incoming: Incoming<'_, S::Token>,
        out: &mut impl Sink<S>,
    ) -> Decision {
        let verify = self.settings.verification == Verification::Verify
            && self.profile.tcp.checksum == Checksum::Required;
        if verify && !segment_is_sound(plain, incoming.frame) {
            return self.push_any(incoming, out);
        }
        let mut slot = self.table.chain(plain.hash);
        while slot != NONE {
            let held = &self.table.slots[slot as usize];
            if held.hash == plain.hash {
                return match self.joins(slot, plain) {
                    true => self.join_plain(slot, plain, incoming, out),
                    false => self.push_any(incoming, out),
                };
            }
            slot = held.chain;
        }
        if u16::from(plain.flags) & self.profile.tcp.never_start != 0
            || u16::from(plain.flags) & self.profile.tcp.required != self.profile.tcp.required
        {
            return self.push_any(incoming, out);
        }
        self.start_plain(plain, incoming, out)
    }

    /// Whether a frame joins behind a held one, no rule of the profile forbidding it.
    #[inline(always)]
    fn joins(&self, slot: u32, plain: &Plain<'_>) -> bool {
        let held = &self.table.slots[slot as usize];
        let rules = &self.profile.tcp;
        let flags = u16::from(plain.flags);
        let flags_fit = flags & rules.never_join == 0 && flags & rules.required == rules.required;
        let size_fits =
            rules.segment_size == SegmentSize::Any || plain.payload_len <= held.segment_size;
        let limit = match plain.version {
            4 => self.profile.limits.ip_len,
            _ => self.profile.limits.ip_len_big,
        };
        held.template == plain.template
            && held.next_seq == plain.seq
            && flags_fit
            && size_fits
            && held.tail.is_none()
            && held.network_len() + plain.payload_len <= limit
            && self.id_follows(&held.ids[1], held.segments, plain)
            && self
                .plain
                .get(plain.template)
                .is_some_and(|template| template.plain_equal(&held.header, plain.header))
    }

    #[inline(always)]
    fn id_follows(&self, ids: &Identifications, segments: u32, plain: &Plain<'_>) -> bool {
        if plain.version != 4 {
            return true;
        }
        let rule = self.profile.ipv4.map_or(IpId::Ignored, |rules| rules.id);
        let step = Step::Behind {
            count: segments as u16,
        };
        follows(rule, ids, plain.id, plain.df, step, false)
    }

    #[inline(always)]
    fn join_plain(
        &mut self,
        slot: u32,
        plain: &Plain<'_>,
        incoming: Incoming<'_, S::Token>,
        out: &mut impl Sink<S>,
    ) -> Decision {
        let held = &mut self.table.slots[slot as usize];
        let rules = &self.profile.tcp;
        add_sum(
            self.settings.checksums,
            held,
            incoming.frame,
            plain.payload_len,
            Join::Behind,
        );
        if held.segments == 1 && plain.version == 4 && plain.id == held.ids[1].first {
            held.ids[1].run = IdRun::Fixed;
        }
        held.next_seq = held.next_seq.wrapping_add(plain.payload_len);
        held.payload_len += plain.payload_len;
        held.segments += 1;
        held.frames += 1;
        held.header[usize::from(plain.layer4) + 13] |= plain.flags & rules.carried as u8;
        let number = held.frame;
        let ends = if u16::from(plain.flags) & rules.closing != 0 {
            Some(Reason::ClosingFlag)
        } else if rules.segment_size == SegmentSize::Any {
            held.segment_size = held.segment_size.max(plain.payload_len);
            None
        } else {
            (plain.payload_len < held.segment_size).then_some(Reason::ShorterSegment)
        };
        let full = held.segments >= u32::from(self.profile.limits.segments);
        let ends = ends.or(full.then_some(Reason::SegmentLimit));
        let payload = usize::from(plain.header_len)..incoming.frame.len();
        self.store
            .append(slot, incoming.frame, payload, incoming.token);
        if let Some(reason) = ends {
            self.tail_or_end(slot, reason, out);
        }
        Decision {
            action: Action::Merged,
            frame: number,
            reason: ends,
        }
    }

    #[inline(always)]
    fn start_plain(
        &mut self,
        plain: &Plain<'_>,
        incoming: Incoming<'_, S::Token>,
        out: &mut impl Sink<S>,
    ) -> Decision {
        let Some(slot) = self.room(plain.hash, out) else {
            return self.push_any(incoming, out);
        };
        let held = &mut self.table.slots[slot as usize];
        held.header[..PLAIN_HEADER].copy_from_slice(plain.header);
        held.header_len = plain.header_len.into();
        held.ip = plain.ip.into();
        held.layer4 = plain.layer4.into();
        held.version = plain.version;
        held.tunneled = false;
        held.is_tcp = true;
        held.plain = true;
        held.link_len = plain.ip;
        held.template = plain.template;
        held.next_seq = plain.seq.wrapping_add(plain.payload_len);
        held.segment_size = plain.payload_len;
        held.payload_len = 0;
        held.segments = 1;
        held.frames = 1;
        held.closed = None;
        let closes = u16::from(plain.flags) & self.profile.tcp.closing != 0;
        held.tail = closes.then_some(Reason::ClosingFlag);
        held.sum = 0;
        held.ids = [Identifications::NONE; 2];
        if plain.version == 4 {
            held.ids[1].ip = plain.ip.into();
            held.ids[1].first = plain.id;
        }
        held.frame = self.arrived;
        held.since = incoming.now;
        add_sum(
            self.settings.checksums,
            held,
            incoming.frame,
            plain.payload_len,
            Join::Behind,
        );
        held.payload_len = plain.payload_len;
        let payload = usize::from(plain.header_len)..incoming.frame.len();
        self.store
            .start(slot, incoming.frame, payload, incoming.token);
        self.table.open(slot, plain.hash);
        Decision {
            action: Action::Held,
            frame: self.arrived,
            reason: None,
        }
    }
}
