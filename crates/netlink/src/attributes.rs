//! Reading and building attributes, over the library's framing.

use netlink_packet_core::{DefaultNla, Emitable, NLA_F_NESTED, NLA_HEADER_SIZE, NlasIterator};

/// Attributes of an answer, one after the other; a damaged one ends the list.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attributes<'a>(pub(crate) &'a [u8]);

impl<'a> Attributes<'a> {
    /// Type and value of each attribute.
    pub(crate) fn iter(self) -> impl Iterator<Item = (u16, &'a [u8])> {
        let whole = NlasIterator::new(self.0).map_while(Result::ok);
        whole.filter_map(|attribute| {
            let (kind, length) = (attribute.kind(), usize::from(attribute.length()));
            Some((kind, attribute.into_inner().get(NLA_HEADER_SIZE..length)?))
        })
    }

    /// The value of the first attribute of a type.
    pub(crate) fn get(self, kind: u16) -> Option<&'a [u8]> {
        self.iter()
            .find(|(found, _)| *found == kind)
            .map(|(_, value)| value)
    }

    /// The nested attributes of an attribute; empty if it is missing.
    pub(crate) fn inside(self, kind: u16) -> Attributes<'a> {
        Attributes(self.get(kind).unwrap_or_default())
    }

    /// A number in the machine's byte order.
    pub(crate) fn u32(self, kind: u16) -> Option<u32> {
        Some(u32::from_ne_bytes(*self.get(kind)?.first_chunk()?))
    }

    /// A number of one byte.
    pub(crate) fn u8(self, kind: u16) -> Option<u8> {
        self.get(kind)?.first().copied()
    }

    /// A number of two bytes in the machine's byte order.
    pub(crate) fn u16(self, kind: u16) -> Option<u16> {
        Some(u16::from_ne_bytes(*self.get(kind)?.first_chunk()?))
    }

    /// A number of four or eight bytes (`NLA_UINT`) in the machine's byte order.
    pub(crate) fn uint(self, kind: u16) -> Option<u64> {
        let value = self.get(kind)?;
        match value.first_chunk() {
            Some(eight) => Some(u64::from_ne_bytes(*eight)),
            None => Some(u32::from_ne_bytes(*value.first_chunk()?).into()),
        }
    }

    /// A string.
    pub(crate) fn text(self, kind: u16) -> Option<String> {
        self.get(kind).map(text)
    }
}

/// A string without the terminating zero.
pub(crate) fn text(value: &[u8]) -> String {
    let end = value.iter().position(|&byte| byte == 0);
    String::from_utf8_lossy(&value[..end.unwrap_or(value.len())]).into_owned()
}

/// An attribute with these bytes.
pub(crate) fn bytes(kind: u16, value: &[u8]) -> DefaultNla {
    DefaultNla::new(kind, value.to_vec())
}

/// A number in the machine's byte order.
pub(crate) fn number(kind: u16, value: u32) -> DefaultNla {
    bytes(kind, &value.to_ne_bytes())
}

/// A string with the terminating zero that the kernel expects.
pub(crate) fn string(kind: u16, value: &str) -> DefaultNla {
    let mut value = value.as_bytes().to_vec();
    value.push(0);
    DefaultNla::new(kind, value)
}

/// An attribute with nested attributes.
pub(crate) fn nest(kind: u16, inner: &[DefaultNla]) -> DefaultNla {
    DefaultNla::new(kind | NLA_F_NESTED, emit(inner))
}

/// Attributes as bytes.
pub(crate) fn emit(attributes: &[DefaultNla]) -> Vec<u8> {
    let mut buffer = vec![0; attributes.buffer_len()];
    attributes.emit(&mut buffer);
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_read() {
        let built = emit(&[number(1, 7), nest(2, &[string(3, "rx")])]);
        let all = Attributes(&built);
        assert_eq!(all.u32(1), Some(7));
        assert_eq!(all.uint(1), Some(7));
        assert_eq!(all.inside(2).text(3).as_deref(), Some("rx"));
        assert_eq!(all.inside(9).u32(1), None);
    }

    #[test]
    fn a_length_that_lies_ends_the_attributes() {
        assert_eq!(Attributes(&[200, 0, 1, 0, 9]).iter().count(), 0);
        assert_eq!(Attributes(&[0, 0, 1, 0]).iter().count(), 0);
        assert_eq!(Attributes(&[8, 0, 1, 0, 9]).u32(1), None);
    }

    #[test]
    fn a_number_that_is_cut_is_none() {
        let built = emit(&[bytes(1, &[1, 2, 3])]);
        assert_eq!(Attributes(&built).u32(1), None);
        assert_eq!(Attributes(&built).uint(1), None);
        assert_eq!(Attributes(&built).u8(1), Some(1));
    }
}
