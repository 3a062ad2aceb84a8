//! The IP headers of a frame, including tunnels' ones: their lengths, and what keeps a packet alone.

use coalescope_wire::checksum::{fold, sum};
use coalescope_wire::{HeaderKind, Headers};

use super::chunk;
use crate::frame::sound::ends_at;
use crate::profile::{Checksum, IpId, Padding, Profile};
use crate::reason::Reason;

/// Checks every IP header from the outside in. Returns why the packet must stay alone, if it must.
pub(super) fn network(
    profile: &Profile,
    frame: &[u8],
    headers: &Headers,
) -> Result<Option<Reason>, Reason> {
    let mut alone = None;
    let mut end = frame.len();
    let list = headers.as_slice();
    for (index, header) in list.iter().enumerate() {
        let at = usize::from(header.offset);
        let next = list.get(index + 1).map(|next| usize::from(next.offset));
        let len = match header.kind {
            HeaderKind::Ipv4 => {
                alone = alone
                    .or(reserved_bit(frame, at))
                    .or(needs_df(profile, frame, at));
                ipv4(profile, frame, at)?
            }
            HeaderKind::Ipv6 => ipv6(profile, frame, at, next)?,
            HeaderKind::Gre => {
                gre(frame, at)?;
                continue;
            }
            _ => continue,
        };
        let ends_at = at + len;
        let padded = profile.link.padding == Padding::Trim && ends_at < end;
        if ends_at != end && !padded {
            alone = alone.or(Some(Reason::Length));
        }
        end = end.min(ends_at);
    }
    Ok(alone)
}

/// Fails without DF if the profile merges only packets with DF.
fn needs_df(profile: &Profile, frame: &[u8], ip: usize) -> Option<Reason> {
    let needed = profile
        .ipv4
        .is_some_and(|rules| rules.id == IpId::IncreasingWithDf);
    let set = frame.get(ip + 6).is_some_and(|byte| byte & 0x40 != 0);
    (needed && !set).then_some(Reason::DontFragment)
}

/// The reserved bit: to Linux a fragment field that is not zero, but no fragment.
fn reserved_bit(frame: &[u8], ip: usize) -> Option<Reason> {
    let set = frame.get(ip + 6).is_some_and(|byte| byte & 0x80 != 0);
    set.then_some(Reason::ReservedBit)
}

/// The packet's length by its IPv4 header.
fn ipv4(profile: &Profile, frame: &[u8], at: usize) -> Result<usize, Reason> {
    let rules = profile.ipv4.as_ref().ok_or(Reason::NotIp)?;
    let header = chunk::<20>(frame, at)?;
    if header[0] != 0x45 {
        return Err(Reason::Ipv4Options);
    }
    if header[6] & 0x3f != 0 || header[7] != 0 {
        return Err(Reason::Fragment);
    }
    if rules.checksum == Checksum::Required && fold(sum(header)) != 0xffff {
        return Err(Reason::Ipv4Checksum);
    }
    if !rules.zero_addresses && (header[12..16] == [0; 4] || header[16..20] == [0; 4]) {
        return Err(Reason::ZeroAddress);
    }
    Ok(usize::from(u16::from_be_bytes([header[2], header[3]])))
}

/// The packet's length by its IPv6 header.
fn ipv6(profile: &Profile, frame: &[u8], at: usize, next: Option<usize>) -> Result<usize, Reason> {
    let rules = profile.ipv6.as_ref().ok_or(Reason::NotIp)?;
    let header = chunk::<40>(frame, at)?;
    let next = next.ok_or(Reason::Protocol)?;
    if next != at + header.len() {
        if !rules.extensions {
            return Err(Reason::Ipv6Extensions);
        }
        extensions(frame, header[6], at + header.len(), next)?;
    }
    Ok(usize::from(u16::from_be_bytes([header[4], header[5]])) + header.len())
}

/// Checks the extension headers that Linux passes over (`INET6_PROTO_GSO_EXTHDR`): hop-by-hop, routing, destination
/// options. A fragment header fails, even that of a whole packet.
fn extensions(frame: &[u8], mut kind: u8, mut at: usize, end: usize) -> Result<(), Reason> {
    while at < end {
        let header = chunk::<2>(frame, at)?;
        match kind {
            0 | 43 | 60 => {}
            44 => return Err(Reason::Fragment),
            _ => return Err(Reason::Ipv6Extensions),
        }
        kind = header[0];
        at += (usize::from(header[1]) + 1) * 8;
    }
    Ok(())
}

/// Whether the outermost IP header is the one that keeps a packet alone.
pub(super) fn outer_alone(profile: &Profile, frame: &[u8], headers: &Headers) -> bool {
    let mut ips = headers
        .as_slice()
        .iter()
        .filter(|header| matches!(header.kind, HeaderKind::Ipv4 | HeaderKind::Ipv6));
    let Some(&outer) = ips.next() else {
        return false;
    };
    let end = ends_at(frame, outer);
    let padded = profile.link.padding == Padding::Trim && end < frame.len();
    let reserved =
        outer.kind == HeaderKind::Ipv4 && reserved_bit(frame, outer.offset.into()).is_some();
    (end != frame.len() && !padded) || reserved
}

/// Allows a GRE header with a key and a checksum only: a sequence number differs in every packet.
fn gre(frame: &[u8], at: usize) -> Result<(), Reason> {
    const CHECKSUM: u8 = 0x80;
    const KEY: u8 = 0x20;
    let header = chunk::<2>(frame, at)?;
    if header[0] & !(KEY | CHECKSUM) != 0 || header[1] != 0 {
        return Err(Reason::Tunnel);
    }
    Ok(())
}
