//! JSON without invisible characters: a terminal that shows it executes no escape sequence.

use std::io::{self, Write};
use std::mem;

use coalescope_host::safe::is_unseen;

/// Writes JSON with control and invisible characters as `\u009b`. JSON itself escapes only
/// characters below the space, and has nothing but ASCII outside of strings.
///
/// Stands behind a buffer, so that a document is checked in large pieces; a piece may end within a character.
pub(crate) struct Seen<W> {
    out: W,
    /// The beginning of a character that is still incomplete.
    begun: Vec<u8>,
}

impl<W: Write> Seen<W> {
    pub(crate) fn new(out: W) -> Self {
        Self {
            out,
            begun: Vec::new(),
        }
    }

    fn text(&mut self, json: &[u8]) -> io::Result<()> {
        for chunk in json.utf8_chunks() {
            self.escaped(chunk.valid())?;
            // serde's JSON has no other invalid bytes than a character cut at the end.
            self.begun.extend_from_slice(chunk.invalid());
        }
        Ok(())
    }

    fn escaped(&mut self, text: &str) -> io::Result<()> {
        for c in text.chars() {
            let mut units = [0; 2];
            if !is_unseen(c) || c.is_ascii_whitespace() {
                self.out.write_all(c.encode_utf8(&mut [0; 4]).as_bytes())?;
                continue;
            }
            for unit in c.encode_utf16(&mut units) {
                write!(self.out, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }
}

impl<W: Write> Write for Seen<W> {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        if self.begun.is_empty() && highest(json) < DELETE {
            self.out.write_all(json)?;
        } else {
            let mut whole = mem::take(&mut self.begun);
            whole.extend_from_slice(json);
            self.text(&whole)?;
        }
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The first byte of ASCII above the space that nobody sees; all that are higher are no ASCII.
const DELETE: u8 = 0x7f;

/// Without an early exit, so that a processor takes many bytes in one step.
fn highest(json: &[u8]) -> u8 {
    json.iter().copied().fold(0, u8::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_escaped_and_read_again_the_same() {
        let hostile = "a\u{9b}31m\u{7f}\u{202e}é漢\u{e0041}\n\x1b";
        let text = written(&serde_json::to_vec_pretty(&[hostile]).unwrap(), 1 << 20);
        assert!(!text.chars().any(|c| is_unseen(c) && c != '\n'), "{text:?}");
        assert!(text.contains("é漢") && text.contains("\\u009b31m\\u007f\\u202e"));
        let read: Vec<String> = serde_json::from_str(&text).unwrap();
        assert_eq!(read, [hostile]);
    }

    /// The output for JSON that is written in pieces of a length.
    fn written(json: &[u8], length: usize) -> String {
        let mut out = Seen::new(Vec::new());
        for piece in json.chunks(length) {
            out.write_all(piece).unwrap();
        }
        String::from_utf8(out.out).unwrap()
    }

    #[test]
    fn pieces_may_end_within_a_character() {
        let json = serde_json::to_vec("a\u{9b}\u{202e}é漢𝄞\u{e0041}plain\u{7f}").unwrap();
        let whole = written(&json, json.len());
        for length in 1..json.len() {
            assert_eq!(written(&json, length), whole, "pieces of {length}");
        }
    }
}
