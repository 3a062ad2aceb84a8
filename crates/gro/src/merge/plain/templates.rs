//! The masks of plain frames, made once.

use alloc::boxed::Box;
use alloc::vec::Vec;

use coalescope_wire::{Header, HeaderKind, LinkType};

use crate::frame::seen::{Layer4, Seen};
use crate::frame::template::{PLAIN_HEADER, Template};
use crate::profile::{Field, Options, Profile};

/// TCP header lengths, in words of 4 bytes: 5 to 15.
const LENGTHS: usize = 11;

/// Room for the masks of two versions and these lengths, rounded up to a power of two, so that a number cut to its bits
/// is always inside.
const ROOM: usize = (2 * LENGTHS).next_power_of_two();

/// The masks for each IP version and TCP header length; none under a profile that always needs the
/// general path.
#[derive(Clone, Debug)]
pub(crate) struct PlainTemplates {
    list: Vec<Template>,
    /// See [`Template::same`].
    same: Box<[[u8; PLAIN_HEADER]; ROOM]>,
}

impl PlainTemplates {
    pub(crate) fn new(profile: &Profile, link: LinkType) -> Self {
        let shapes = match link {
            _ if profile.list || !only_compares(profile) => Vec::new(),
            LinkType::Ethernet => shapes(Some(14)),
            LinkType::Raw => shapes(None),
            _ => Vec::new(),
        };
        let mut templates = Self {
            list: Vec::new(),
            same: Box::new([[0; PLAIN_HEADER]; ROOM]),
        };
        for ((headers, end), same) in shapes.iter().zip(templates.same.iter_mut()) {
            let template = Template::new(profile, headers, *end);
            *same = template.same(headers);
            templates.list.push(template);
        }
        templates
    }

    /// The bits that are equal in two segments of one size with the same flags; undefined for a template that is not
    /// plain.
    #[inline(always)]
    pub(crate) fn same(&self, number: u32) -> &[u8; PLAIN_HEADER] {
        &self.same[number as usize % ROOM]
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    #[inline]
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

/// The number of the masks for an IP version and a TCP header of so many words.
#[inline(always)]
pub(crate) fn number(version: u8, words: u8) -> u32 {
    let first = if version == 4 { 0 } else { LENGTHS as u32 };
    first + u32::from(words.wrapping_sub(5))
}

/// Whether all rules of a profile for plain frames are comparisons, so that a merge changes nothing in the headers but
/// flags.
fn only_compares(profile: &Profile) -> bool {
    let compared = |field: Field| matches!(field, Field::Flow | Field::Equal | Field::First);
    let v4 = profile.ipv4.is_some_and(|rules| {
        compared(rules.ttl) && rules.zero_addresses && !rules.refuse_congestion_experienced
    });
    let v6 = profile.ipv6.is_some_and(|rules| compared(rules.hop_limit));
    let tcp = &profile.tcp;
    v4 && v6 && tcp.options == Options::Equal && compared(tcp.ack) && compared(tcp.window)
}

/// The headers of plain frames, by number, and where they end.
fn shapes(link: Option<u16>) -> Vec<(Vec<Header>, usize)> {
    let versions = [(HeaderKind::Ipv4, 20), (HeaderKind::Ipv6, 40)];
    versions
        .into_iter()
        .flat_map(|version| (5..5 + LENGTHS).map(move |words| (version, words)))
        .map(|((kind, len), words)| {
            let ip = link.unwrap_or(0);
            let ethernet = link.map(|_| Header {
                kind: HeaderKind::Ethernet,
                offset: 0,
            });
            let tcp = Header {
                kind: HeaderKind::Tcp,
                offset: ip + len,
            };
            let headers = ethernet
                .into_iter()
                .chain([Header { kind, offset: ip }, tcp])
                .collect();
            (headers, usize::from(ip + len) + words * 4)
        })
        .collect()
}
