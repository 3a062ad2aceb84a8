//! Numbers of expressions, and the ranges that they bound.

use crate::attributes::Attributes;

/// The range, or its complement if that is one range as well.
pub(super) fn within(from: u32, to: u32, inverted: bool) -> Option<(u32, u32)> {
    match (from, to, inverted) {
        (from, to, false) => Some((from, to)),
        (0, to, true) => Some((to.saturating_add(1), u32::MAX)),
        (from, to, true) if to >= u16::MAX.into() => Some((0, from.saturating_sub(1))),
        _ => None,
    }
}

/// A length of two or four bytes, in network or host byte order.
pub(super) fn length(value: &[u8], swapped: bool) -> Option<u32> {
    match (value.len(), swapped) {
        (2, _) => Some(u16::from_be_bytes(*value.first_chunk()?).into()),
        (4, true) => big(value),
        (4, false) => Some(u32::from_ne_bytes(*value.first_chunk()?)),
        // Joined with another field.
        _ => None,
    }
}

/// A number in an attribute of nftables: network byte order.
pub(super) fn number(attributes: Attributes<'_>, kind: u16) -> Option<u32> {
    big(attributes.get(kind)?)
}

pub(super) fn big(value: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(*value.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_that_is_inverted_is_what_lies_beyond() {
        assert_eq!(within(0, 1500, true), Some((1501, u32::MAX)));
        assert_eq!(within(1501, u32::MAX, true), Some((0, 1500)));
        assert_eq!(within(100, 1500, true), None);
        assert_eq!(within(100, 1500, false), Some((100, 1500)));
    }
}
