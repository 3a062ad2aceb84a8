//! Bytes of any origin as text: UTF-8 with line feeds only, without colours.

use std::borrow::Cow;

use super::bundle;

/// Whether these first bytes of a file are no text in any encoding that is read here.
pub(super) fn is_binary(head: &[u8]) -> bool {
    utf16(head).is_none() && without_padding(head).contains(&0)
}

/// Without the zeros behind the last line of a file, where the host went down before its last block was written.
fn without_padding(bytes: &[u8]) -> &[u8] {
    match bytes.iter().rposition(|byte| *byte != 0) {
        Some(last) if bytes[last] == b'\n' => &bytes[..=last],
        _ => bytes,
    }
}

/// Bytes as text.
///
/// UTF-16 (PowerShell's `>` writes it), a byte order mark, Latin-1, `\r\n`, escape sequences of
/// terminals and other control characters are undone. Never fails: what is no UTF-8 is taken for
/// Latin-1, line by line.
#[must_use]
pub fn normalise(bytes: Vec<u8>) -> String {
    cleaned(decode(bytes))
}

/// Without what is no text: escape sequences of terminals and other control characters.
pub(super) fn cleaned(text: String) -> String {
    let text = plain(text);
    if is_clean(&text) {
        return text;
    }
    clean(&text, undo_for(&text))
}

/// Blanks that pages and chats put in place of those of a terminal.
const BLANKS: [char; 2] = ['\u{a0}', '\u{202f}'];

/// Marks of no width that pages and chats put between characters.
const NOTHING: [char; 3] = ['\u{200b}', '\u{2060}', '\u{feff}'];

/// With the blanks of a terminal, and without marks that nobody sees.
fn plain(text: String) -> String {
    if text.is_ascii() || !text.contains(BLANKS) && !text.contains(NOTHING) {
        return text;
    }
    text.replace(BLANKS, " ").replace(NOTHING, "")
}

/// Undoes what a text begins with, and gives what is behind it.
type Undo = for<'a> fn(&'a str, &mut String) -> &'a str;

/// In a bundle no output may begin a line of its own nor take back the mark before it, else it
/// could pass for a header.
fn undo_for(text: &str) -> Undo {
    if bundle::is_bundle(text) {
        drop_one
    } else {
        undo
    }
}

fn drop_one<'a>(text: &'a str, _: &mut String) -> &'a str {
    match text.strip_prefix('\x1b') {
        Some(behind) => escape(behind),
        None => &text[1..],
    }
}

/// As UTF-8, whatever it was; nothing else is changed.
pub(super) fn decode(bytes: Vec<u8>) -> String {
    if let Some((unit, skip)) = utf16(&bytes) {
        let units = bytes[skip..].chunks_exact(2);
        let units = units.map(|pair| unit([pair[0], pair[1]]));
        let decoded = char::decode_utf16(units);
        return decoded
            .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
    }
    let utf8 = String::from_utf8(bytes).unwrap_or_else(|error| by_line(error.as_bytes()));
    match utf8.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => utf8,
    }
}

/// Lines that are UTF-8 as such, all others as Latin-1.
fn by_line(bytes: &[u8]) -> String {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    lines.map(line).collect()
}

fn line(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(
        |_| bytes.iter().map(|byte| char::from(*byte)).collect(),
        Cow::Borrowed,
    )
}

/// How two bytes are a unit.
type Unit = fn([u8; 2]) -> u16;

/// How bytes are read as UTF-16, and how many to skip; `None` if they are not UTF-16.
fn utf16(bytes: &[u8]) -> Option<(Unit, usize)> {
    match bytes {
        [0xff, 0xfe, ..] => Some((u16::from_le_bytes, 2)),
        [0xfe, 0xff, ..] => Some((u16::from_be_bytes, 2)),
        _ if every_other_is_zero(bytes, 1) => Some((u16::from_le_bytes, 0)),
        _ if every_other_is_zero(bytes, 0) => Some((u16::from_be_bytes, 0)),
        _ => None,
    }
}

/// Without a mark: of the first 64 bytes, every other one is zero and no one in between. Output of
/// commands begins in ASCII, and no other text has zeros at all.
fn every_other_is_zero(bytes: &[u8], zero: usize) -> bool {
    let first = &bytes[..bytes.len().min(64)];
    let fits = |(at, byte): (usize, &u8)| (*byte == 0) == (at % 2 == zero);
    first.len() >= 8 && first.iter().enumerate().all(fits)
}

fn is_clean(text: &str) -> bool {
    !text.bytes().any(is_unwanted)
}

fn is_unwanted(byte: u8) -> bool {
    byte < b' ' && byte != b'\n' && byte != b'\t' || byte == 0x7f
}

fn clean(text: &str, undo: Undo) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.bytes().position(is_unwanted) {
        out.push_str(&rest[..at]);
        rest = undo(&rest[at..], &mut out);
    }
    out.push_str(rest);
    out
}

/// As a terminal would.
fn undo<'a>(text: &'a str, out: &mut String) -> &'a str {
    match text.as_bytes()[0] {
        b'\r' => end_of_line(text, out),
        0x08 => {
            // Typed over, as script(1) records it; never the line before.
            if !out.ends_with('\n') {
                out.pop();
            }
            &text[1..]
        }
        0x1b => escape(&text[1..]),
        _ => &text[1..],
    }
}

/// `\r\n`, and `\r\r\n` of serial consoles, are one end of line; so is a lone `\r`.
fn end_of_line<'a>(text: &'a str, out: &mut String) -> &'a str {
    let rest = text.trim_start_matches('\r');
    if !rest.starts_with('\n') {
        out.push('\n');
    }
    rest
}

/// What follows an escape sequence (ECMA-48); the escape itself is gone already.
fn escape(text: &str) -> &str {
    let end = match text.as_bytes().first() {
        Some(b'[') => control_sequence(text.as_bytes()),
        Some(b']' | b'P' | b'X' | b'^' | b'_') => string(text.as_bytes()),
        Some(b' '..=b'/') => 2,
        Some(0x30..=0x7e) => 1,
        _ => 0,
    };
    text.get(end..).unwrap_or(text)
}

/// `[`, parameters, a final byte. A line feed ends a broken one.
fn control_sequence(text: &[u8]) -> usize {
    let parameters = text[1..]
        .iter()
        .take_while(|byte| matches!(byte, 0x20..=0x3f));
    let end = 1 + parameters.count();
    end + usize::from(matches!(text.get(end), Some(0x40..=0x7e)))
}

/// `]`, such as a window's title, up to BEL or the string terminator, within the line.
fn string(text: &[u8]) -> usize {
    let ends = |byte: &u8| matches!(byte, 0x07 | 0x1b | b'\n');
    let end = text.iter().position(ends).unwrap_or(text.len());
    match text.get(end) {
        Some(0x07) => end + 1,
        Some(0x1b) if text.get(end + 1) == Some(&b'\\') => end + 2,
        _ => end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(bytes: &[u8]) -> String {
        normalise(bytes.to_vec())
    }

    #[test]
    fn utf16_of_both_orders_with_and_without_mark() {
        let text = "Name : vEthernet (Größe)\r\nMtu  : 1500\r\n";
        let clean = "Name : vEthernet (Größe)\nMtu  : 1500\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(of(&[&[0xff, 0xfe][..], &little].concat()), clean);
        assert_eq!(of(&[&[0xfe, 0xff][..], &big].concat()), clean);
        let ascii: Vec<u8> = "Mtu : 1500"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(of(&ascii), "Mtu : 1500");
    }

    #[test]
    fn latin1_lines_and_marks() {
        assert_eq!(of(b"\xef\xbb\xbfa\n"), "a\n");
        assert_eq!(of(b"Gr\xf6\xdfe\nGr\xc3\xb6\xc3\x9fe\n"), "Größe\nGröße\n");
    }

    #[test]
    fn terminals_are_undone() {
        assert_eq!(of(b"\x1b[1;32mup\x1b[0m\r\nx"), "up\nx");
        assert_eq!(of(b"\x1b]0;root@h: ~\x07a\x1b(Bb\x1b=c"), "abc");
        assert_eq!(of(b"ethtoll\x08\x08ol -k\r\r\ny\rz"), "ethtool -k\ny\nz");
        assert_eq!(of(b"\x1b[31\n\x1b]title\n\x1b"), "\n\n");
    }

    #[test]
    fn output_in_a_bundle_cannot_begin_a_line() {
        let bundle = "# coalescope bundle 1\r\n|a\r#= end\n|\x08#= end\x1b[0m\r\n";
        assert_eq!(
            of(bundle.as_bytes()),
            "# coalescope bundle 1\n|a#= end\n|#= end\n"
        );
    }

    #[test]
    fn blanks_and_marks_of_a_page_are_those_of_a_terminal() {
        let text = "2:\u{a0}eth0\u{200b}\n\u{feff}mtu\u{202f}1500\u{2060}\n";
        assert_eq!(of(text.as_bytes()), "2: eth0\nmtu 1500\n");
    }

    #[test]
    fn binary_is_told_from_utf16() {
        assert!(is_binary(b"\x7fELF\0\0\0\0"));
        assert!(!is_binary(b"a\0b\0c\0d\0e\0"));
        assert!(!is_binary(b"plain"));
        assert!(!is_binary(b"ip link\n\0\0\0\0"));
        assert!(is_binary(b"ip\0link\n\0"));
    }

    proptest! {
        #[test]
        fn any_bytes_become_clean_text(bytes: Vec<u8>) {
            prop_assert!(is_clean(&normalise(bytes)));
        }

        #[test]
        fn clean_text_stays(text in "[ -~\n\u{a1}-\u{fff}]*") {
            prop_assert_eq!(normalise(text.clone().into_bytes()), text);
        }
    }
}
