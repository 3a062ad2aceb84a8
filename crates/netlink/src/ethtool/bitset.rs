//! Bits by name, in the long form of ethtool's bit sets.

use crate::attributes::{Attributes, bytes, nest, string};
use netlink_packet_core::DefaultNla;
use std::collections::BTreeMap;

const NOMASK: u16 = 1;
const BITS: u16 = 3;
const BIT: u16 = 1;
const BIT_NAME: u16 = 2;
const BIT_VALUE: u16 = 3;

/// The bits of a set. With a mask, these are the bits in the mask, each on or off; without a mask,
/// the set has only the bits that are on.
pub(super) fn read(set: Attributes<'_>) -> BTreeMap<String, bool> {
    let masked = set.get(NOMASK).is_none();
    let bits = set.inside(BITS).iter();
    let named = bits.filter_map(|(_, bit)| {
        let bit = Attributes(bit);
        // A feature bit that the kernel no longer uses has no name.
        let name = bit.text(BIT_NAME).filter(|name| !name.is_empty())?;
        Some((name, !masked || bit.get(BIT_VALUE).is_some()))
    });
    named.collect()
}

/// A set that changes these bits and leaves all others. A bit is on if it has the value attribute, which is empty.
pub(super) fn build(kind: u16, wanted: &[(&str, bool)]) -> DefaultNla {
    let bits: Vec<_> = wanted.iter().map(|(name, on)| one(name, *on)).collect();
    nest(kind, &[nest(BITS, &bits)])
}

fn one(name: &str, on: bool) -> DefaultNla {
    let mut bit = vec![string(BIT_NAME, name)];
    if on {
        bit.push(bytes(BIT_VALUE, &[]));
    }
    nest(BIT, &bit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attributes::emit;

    #[test]
    fn what_is_built_is_read() {
        let built = emit(&[build(4, &[("rx-gro", true), ("rx-lro", false)])]);
        let read = read(Attributes(&built).inside(4));
        assert_eq!(read.get("rx-gro"), Some(&true));
        assert_eq!(read.get("rx-lro"), Some(&false));
    }

    #[test]
    fn without_a_mask_all_that_is_named_is_on() {
        let set = [
            bytes(NOMASK, &[]),
            nest(BITS, &[nest(BIT, &[string(BIT_NAME, "a")])]),
        ];
        let built = emit(&set);
        assert_eq!(read(Attributes(&built)), [("a".to_owned(), true)].into());
    }
}
