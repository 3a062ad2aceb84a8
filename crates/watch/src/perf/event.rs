//! An event as the kernel describes it: where its fields stand, and what its numbers are called.
//!
//! Places and numbers differ from kernel to kernel, so none is fixed here: they come from the file `format` of each event
//! (Documentation/trace/events.rst).

use std::collections::BTreeMap;

/// Where a field stands in the bytes of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    at: usize,
    bytes: usize,
}

impl Field {
    /// Its value; none if the event is too short.
    pub(super) fn number(self, raw: &[u8]) -> Option<u64> {
        let bytes = raw.get(self.at..self.at.checked_add(self.bytes)?)?;
        let mut word = [0; 8];
        let end = word.len().checked_sub(bytes.len())?;
        match cfg!(target_endian = "big") {
            true => word[end..].copy_from_slice(bytes),
            false => word[..bytes.len()].copy_from_slice(bytes),
        }
        Some(u64::from_ne_bytes(word))
    }

    /// The text that a field of `__data_loc` points to: length and offset, of 16 bits each.
    pub(super) fn text(self, raw: &[u8]) -> Option<&[u8]> {
        let location = usize::try_from(self.number(raw)?).ok()?;
        let (at, bytes) = (location & 0xffff, location >> 16 & 0xffff);
        let text = raw.get(at..at + bytes)?;
        text.split(|byte| *byte == 0).next()
    }
}

/// An event.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Description {
    /// Its number, for perf.
    pub(super) id: u64,
    fields: BTreeMap<String, Field>,
    /// Names of the values of an enumeration.
    pub(super) names: BTreeMap<u64, String>,
}

impl Description {
    /// Reads a file `format`; none if it is not one.
    pub(super) fn read(text: &str) -> Option<Self> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:"))?;
        Some(Self {
            id: id.trim().parse().ok()?,
            fields: text.lines().filter_map(field).collect(),
            names: text.lines().find_map(names).unwrap_or_default(),
        })
    }

    /// A field of this name.
    pub(super) fn field(&self, name: &str) -> Option<Field> {
        self.fields.get(name).copied()
    }
}

/// `field:unsigned int len; offset:16; size:4; signed:0;`
fn field(line: &str) -> Option<(String, Field)> {
    let mut parts = line
        .trim()
        .strip_prefix("field:")?
        .split(';')
        .map(str::trim);
    let declared = parts.next()?.split_whitespace().next_back()?;
    let name = declared.split('[').next()?.trim_start_matches('*');
    let mut number = |of: &str| parts.next()?.strip_prefix(of)?.parse().ok();
    let field = Field {
        at: number("offset:")?,
        bytes: number("size:")?,
    };
    Some((name.to_owned(), field))
}

/// The pairs of `__print_symbolic(REC->reason, { 2, "NOT_SPECIFIED" }, ...)`.
fn names(line: &str) -> Option<BTreeMap<u64, String>> {
    let (_, pairs) = line
        .strip_prefix("print fmt:")?
        .split_once("__print_symbolic(")?;
    let pairs = pairs.split('{').skip(1).filter_map(|pair| {
        let (number, name) = pair.split_once('}')?.0.split_once(',')?;
        let name = name.trim().trim_matches('"').to_owned();
        Some((value(number.trim())?, name))
    });
    Some(pairs.collect())
}

/// A number as the kernel prints enumerations: some are sums of shifts, `(1 << 16)`, which have no names here.
fn value(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DROP: &str = "name: kfree_skb\nID: 2310\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
        \tfield:void * location;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:__data_loc char[] name;\toffset:20;\tsize:4;\tsigned:0;\n\
        \tfield:enum skb_drop_reason reason;\toffset:36;\tsize:4;\tsigned:0;\n\n\
        print fmt: \"reason: %s\", __print_symbolic(REC->reason, { 2, \"NOT_SPECIFIED\" }, { 0x10, \"NO_SOCKET\" })\n";

    #[test]
    fn fields_and_names_come_from_the_description() {
        let drop = Description::read(DROP).unwrap();
        let at = |name| drop.field(name).map(|field| (field.at, field.bytes));
        assert_eq!(drop.id, 2310);
        assert_eq!(at("location"), Some((16, 8)));
        assert_eq!(at("name"), Some((20, 4)));
        assert_eq!(at("reason"), Some((36, 4)));
        assert_eq!(at("gso_size"), None);
        let names: Vec<_> = drop.names.into_iter().collect();
        let named = [(2, "NOT_SPECIFIED"), (16, "NO_SOCKET")];
        assert_eq!(names, named.map(|(number, name)| (number, name.to_owned())));
    }

    #[test]
    fn what_is_no_description_is_none() {
        for text in [
            "",
            "ID: many",
            "format:\n\tfield:int x;\toffset:0;\tsize:4;",
        ] {
            assert_eq!(Description::read(text), None, "{text:?}");
        }
    }

    #[test]
    fn an_event_that_is_cut_off_has_no_values() {
        let field = Field { at: 4, bytes: 4 };
        let mut raw = [0; 13];
        raw[4..8].copy_from_slice(&(5_u32 << 16 | 8).to_ne_bytes());
        raw[8..13].copy_from_slice(b"eth0\0");
        assert_eq!(field.text(&raw), Some(b"eth0".as_slice()));
        assert_eq!(field.text(&raw[..12]), None, "the text is cut off");
        assert_eq!(field.number(&raw[..7]), None);
        assert_eq!(Field { at: 0, bytes: 9 }.number(&raw), None, "too wide");
    }
}
