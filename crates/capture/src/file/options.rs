//! Options of pcapng blocks: draft-ietf-opsawg-pcapng section 3.5.

use super::byte_order::Order;
use pcap_parser::{OptionCode, PcapError, PcapNGOption, parse_option_be, parse_option_le};
use std::borrow::Cow;

/// Goes over the options of one block, without collecting them: a block may hold millions.
pub(super) struct Options<'a> {
    rest: &'a [u8],
    order: Order,
    /// Bytes were met that are no option.
    pub(super) damaged: bool,
}

impl<'a> Options<'a> {
    pub(super) fn new(area: &'a [u8], order: Order) -> Options<'a> {
        Options {
            rest: area,
            order,
            damaged: false,
        }
    }

    fn parse(&self) -> Option<(&'a [u8], PcapNGOption<'a>)> {
        match self.order {
            Order::Big => parse_option_be::<PcapError<&[u8]>>(self.rest).ok(),
            Order::Little => parse_option_le::<PcapError<&[u8]>>(self.rest).ok(),
        }
    }
}

impl<'a> Iterator for Options<'a> {
    /// Code and value.
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<(u16, &'a [u8])> {
        if self.rest.is_empty() {
            return None;
        }
        let parsed = self.parse();
        self.damaged = parsed.is_none();
        let (rest, option) = parsed.unwrap_or((&[], END));
        self.rest = rest;
        match option.value {
            Cow::Borrowed(padded) if option.code != OptionCode::EndOfOpt => {
                Some((option.code.0, padded.get(..usize::from(option.len))?))
            }
            _ => {
                self.rest = &[];
                None
            }
        }
    }
}

/// Stands for the end of the options where parsing fails.
const END: PcapNGOption<'static> = PcapNGOption {
    code: OptionCode::EndOfOpt,
    len: 0,
    value: Cow::Borrowed(&[]),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_at_the_end_mark_and_at_the_end_of_the_area() {
        let area = [2, 0, 3, 0, b'e', b't', b'h', 0, 0, 0, 0, 0, 9, 9, 9, 9];
        let mut marked = Options::new(&area, Order::Little);
        assert_eq!(marked.next(), Some((2, &b"eth"[..])));
        assert_eq!(marked.next(), None);
        assert_eq!(marked.next(), None);
        assert!(!marked.damaged);
        let mut unmarked = Options::new(&area[..8], Order::Little);
        assert_eq!(unmarked.by_ref().count(), 1);
        assert!(!unmarked.damaged);
    }

    #[test]
    fn a_length_that_lies_is_damage() {
        let mut options = Options::new(&[0, 2, 0, 200, 1, 2, 3, 4], Order::Big);
        assert_eq!(options.next(), None);
        assert!(options.damaged);
        let mut options = Options::new(&[0, 2], Order::Big);
        assert_eq!(options.by_ref().count(), 0);
        assert!(options.damaged);
    }
}
