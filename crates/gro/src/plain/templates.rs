//! The masks of plain frames, made once.

use alloc::vec::Vec;

use coalescope_wire::{Header, HeaderKind, LinkType};

use crate::profile::{Field, Options, Profile};
use crate::seen::{Layer4, Seen};
use crate::template::Template;

/// TCP header lengths, in words of 4 bytes: 5 to 15.
const LENGTHS: usize = 11;

/// The masks for each IP version and TCP header length; none under a profile that always needs the
/// general path.
#[derive(Clone, Debug)]
pub(crate) struct PlainTemplates {
    list: Vec<Template>,
}

impl PlainTemplates {
    pub(crate) fn new(profile: &Profile, link: LinkType) -> Self {
        let list = match link {
            _ if profile.list || !only_compares(profile) => Vec::new(),
            LinkType::Ethernet => templates(profile, Some(14)),
            LinkType::Raw => templates(profile, None),
            _ => Vec::new(),
        };
        Self { list }
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
pub(super) fn number(version: u8, words: u8) -> u32 {
    let first = if version == 4 { 0 } else { LENGTHS as u32 };
    first + u32::from(words.wrapping_sub(5))
}

/// Whether no rule of a profile for plain frames changes anything held but flags.
fn only_compares(profile: &Profile) -> bool {
    let compared = |field: Field| matches!(field, Field::Flow | Field::Equal | Field::First);
    let v4 = profile.ipv4.is_some_and(|rules| {
        compared(rules.ttl) && rules.zero_addresses && !rules.refuse_congestion_experienced
    });
    let v6 = profile.ipv6.is_some_and(|rules| compared(rules.hop_limit));
    let tcp = &profile.tcp;
    v4 && v6 && tcp.options == Options::Equal && compared(tcp.ack) && compared(tcp.window)
}

fn templates(profile: &Profile, link: Option<u16>) -> Vec<Template> {
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
            let headers: Vec<_> = ethernet
                .into_iter()
                .chain([Header { kind, offset: ip }, tcp])
                .collect();
            Template::new(profile, &headers, usize::from(ip + len) + words * 4)
        })
        .collect()
}
