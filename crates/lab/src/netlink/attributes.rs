//! Building and reading attributes: length, kind, value, padded to four bytes.

use nix::libc;

/// Marks an attribute that holds attributes; ethtool insists on it.
const NESTED: u16 = 0x8000;
/// The kind without its marks.
const KIND: u16 = 0x3fff;

/// A request that grows by its attributes.
pub(crate) struct Request {
    bytes: Vec<u8>,
}

impl Request {
    /// A request of a kind that wants an acknowledgement; `fixed` is the header of its family.
    pub(crate) fn new(kind: u16, flags: i32, fixed: &[u8]) -> Self {
        let flags = (flags | libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
        let mut bytes = vec![0; 4];
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(flags.to_ne_bytes());
        bytes.resize(super::HEADER, 0);
        bytes.extend(fixed);
        Self { bytes }
    }

    /// Adds a value.
    pub(crate) fn put(mut self, kind: u16, value: &[u8]) -> Self {
        let length = (4 + value.len()) as u16;
        self.bytes.extend(length.to_ne_bytes());
        self.bytes.extend(kind.to_ne_bytes());
        self.bytes.extend(value);
        self.pad()
    }

    /// Adds a string with the zero that the kernel expects.
    pub(crate) fn text(self, kind: u16, value: &str) -> Self {
        let mut bytes = value.as_bytes().to_vec();
        bytes.push(0);
        self.put(kind, &bytes)
    }

    /// Adds a number in the machine's byte order.
    pub(crate) fn number(self, kind: u16, value: u32) -> Self {
        self.put(kind, &value.to_ne_bytes())
    }

    /// Adds what `fill` adds, inside of one attribute.
    pub(crate) fn nest(mut self, kind: u16, fill: impl FnOnce(Self) -> Self) -> Self {
        let start = self.bytes.len();
        self.bytes.extend([0; 2]);
        self.bytes.extend((kind | NESTED).to_ne_bytes());
        let mut filled = fill(self);
        let length = (filled.bytes.len() - start) as u16;
        filled.bytes[start..start + 2].copy_from_slice(&length.to_ne_bytes());
        filled
    }

    /// Adds bytes that are not an attribute: a header inside of one.
    pub(crate) fn raw(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend(bytes);
        self.pad()
    }

    /// The finished message.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let length = self.bytes.len() as u32;
        self.bytes[..4].copy_from_slice(&length.to_ne_bytes());
        self.bytes
    }

    fn pad(mut self) -> Self {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self
    }
}

/// Attributes of an answer, one after the other; damage ends them.
#[derive(Clone, Copy)]
pub(crate) struct Attributes<'a>(pub(crate) &'a [u8]);

impl<'a> Attributes<'a> {
    /// The value of the first attribute of a kind.
    pub(crate) fn get(self, kind: u16) -> Option<&'a [u8]> {
        self.into_iter()
            .find(|(found, _)| *found == kind)
            .map(|(_, value)| value)
    }

    /// The attributes inside of an attribute.
    pub(crate) fn inside(self, kind: u16) -> Attributes<'a> {
        Attributes(self.get(kind).unwrap_or_default())
    }

    /// A number in the machine's byte order.
    pub(crate) fn number(self, kind: u16) -> Option<u32> {
        Some(u32::from_ne_bytes(*self.get(kind)?.first_chunk()?))
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let length = usize::from(u16::from_ne_bytes(*self.0.first_chunk()?));
        let kind = u16::from_ne_bytes(*self.0.get(2..)?.first_chunk()?);
        let value = self.0.get(4..length)?;
        self.0 = self.0.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind & KIND, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_read() {
        let request = Request::new(1, 0, &[])
            .number(1, 7)
            .nest(2, |inner| inner.text(3, "rx"));
        let bytes = request.finish();
        let all = Attributes(&bytes[16..]);
        assert_eq!(all.number(1), Some(7));
        assert_eq!(all.inside(2).get(3), Some(&b"rx\0"[..]));
    }

    #[test]
    fn a_length_that_lies_ends_the_attributes() {
        assert_eq!(Attributes(&[200, 0, 1, 0, 9]).count(), 0);
        assert_eq!(Attributes(&[0, 0, 1, 0]).count(), 0);
    }
}
