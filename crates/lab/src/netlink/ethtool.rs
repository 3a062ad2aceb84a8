//! Offloads of an interface, by the names that ethtool prints.
//!
//! Numbers: include/uapi/linux/ethtool_netlink.h. Setting one feature may take others along, a fixed
//! one is refused silently: so all are set in one request, and read back.

use super::generic::Family;
use super::{Attributes, Request, text};
use crate::Error;
use std::collections::BTreeSet;

const FEATURES_GET: u8 = 11;
const FEATURES_SET: u8 = 12;
/// In every message: who is meant.
const A_HEADER: u16 = 1;
const A_HEADER_DEV_NAME: u16 = 2;
const A_FEATURES_WANTED: u16 = 3;
const A_FEATURES_ACTIVE: u16 = 4;
const A_BITSET_BITS: u16 = 3;
const A_BITSET_BIT: u16 = 1;
const A_BIT_NAME: u16 = 2;
const A_BIT_VALUE: u16 = 3;

/// Names of the features that are on.
pub(crate) fn active_features(link: &str) -> Result<BTreeSet<String>, Error> {
    let family = Family::open("ethtool")?;
    let request = name_link(family.request(FEATURES_GET, 0), link);
    let answers = family.ask(request, &format!("read the offloads of {link}"))?;
    let bits = answers.first().map(|answer| {
        let active = Attributes(answer)
            .inside(A_FEATURES_ACTIVE)
            .inside(A_BITSET_BITS);
        active
            .filter_map(|(_, bit)| Attributes(bit).get(A_BIT_NAME).map(text))
            .collect()
    });
    Ok(bits.unwrap_or_default())
}

/// Turns features on or off, and makes sure of it.
pub(crate) fn set_features(link: &str, wanted: &[(&str, bool)]) -> Result<(), Error> {
    let family = Family::open("ethtool")?;
    let request = name_link(family.request(FEATURES_SET, 0), link);
    let request = request.nest(A_FEATURES_WANTED, |set| {
        set.nest(A_BITSET_BITS, |bits| {
            wanted
                .iter()
                .fold(bits, |bits, feature| bit(bits, *feature))
        })
    });
    family.ask(request, &format!("set offloads of {link}"))?;
    verify(link, wanted)
}

fn name_link(request: Request, link: &str) -> Request {
    request.nest(A_HEADER, |header| header.text(A_HEADER_DEV_NAME, link))
}

/// A bit is on by having a value, though an empty one.
fn bit(bits: Request, (name, on): (&str, bool)) -> Request {
    bits.nest(A_BITSET_BIT, |bit| {
        let named = bit.text(A_BIT_NAME, name);
        if on {
            named.put(A_BIT_VALUE, &[])
        } else {
            named
        }
    })
}

fn verify(link: &str, wanted: &[(&str, bool)]) -> Result<(), Error> {
    let active = active_features(link)?;
    match wanted
        .iter()
        .find(|(name, on)| active.contains(*name) != *on)
    {
        None => Ok(()),
        Some((name, on)) => Err(Error::Feature {
            link: link.to_owned(),
            feature: (*name).to_owned(),
            on: !on,
        }),
    }
}
