//! Networks of IP, as their texts name them.

use std::net::IpAddr;

/// A network: whether of IPv6, the length of its prefix, and its bits before the rest.
pub(crate) type Network = (bool, u8, u128);

/// The networks that the text of a route means.
pub(crate) fn networks(to: &str) -> Vec<Network> {
    match to {
        "default" => vec![(false, 0, 0), (true, 0, 0)],
        to => network(to).into_iter().collect(),
    }
}

pub(crate) fn network(text: &str) -> Option<Network> {
    let (network, length) = text.split_once('/')?;
    within(network.parse().ok()?, length.parse().ok()?)
}

/// The network of that length that an address is in.
pub(crate) fn within(address: IpAddr, length: u8) -> Option<Network> {
    let shift = bits(address).checked_sub(length)?;
    let (is_v6, value) = match address {
        IpAddr::V4(address) => (false, u128::from(address.to_bits())),
        IpAddr::V6(address) => (true, address.to_bits()),
    };
    let kept = value.checked_shr(shift.into()).unwrap_or(0);
    Some((is_v6, length, kept))
}

pub(crate) fn bits(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

/// `fe80::1%ix0/64` without the zone (RFC 4007 section 11).
pub(crate) fn without_zone(text: &str) -> String {
    match text.split_once('%') {
        Some((address, rest)) => {
            let length = rest.find('/').map_or("", |at| &rest[at..]);
            format!("{address}{length}")
        }
        None => text.to_owned(),
    }
}

/// Whether an address is in a network, or a network within another one.
pub(crate) fn holds(outer: Network, inner: Network) -> bool {
    let longer = inner.1.checked_sub(outer.1);
    let begins = |longer: u8| inner.2.checked_shr(longer.into()).unwrap_or(0) == outer.2;
    outer.0 == inner.0 && longer.is_some_and(begins)
}

/// An address, with or without the length of a prefix.
pub(crate) fn any(text: &str) -> Option<Network> {
    let alone = || {
        let address: IpAddr = text.parse().ok()?;
        within(address, bits(address))
    };
    network(text).or_else(alone)
}
