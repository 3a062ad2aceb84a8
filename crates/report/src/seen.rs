//! JSON in which every character is seen: a terminal that it is printed to obeys none.

use std::io::{self, Write};

use coalescope_host::safe::is_unseen;

/// Writes JSON; characters that a terminal would obey, or that nobody would see, as `\u009b`. JSON itself
/// escapes those below the space only, and outside of strings has none but ASCII.
pub(crate) struct Seen<W>(pub(crate) W);

impl<W: Write> Write for Seen<W> {
    /// What is written at once ends between two characters, as JSON is written by serde.
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        let is_seen = |byte: &u8| byte.is_ascii() && *byte != 0x7f;
        match str::from_utf8(json) {
            Ok(text) if !json.iter().all(is_seen) => self.escaped(text)?,
            _ => self.0.write_all(json)?,
        }
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl<W: Write> Seen<W> {
    fn escaped(&mut self, text: &str) -> io::Result<()> {
        for c in text.chars() {
            let mut units = [0; 2];
            if !is_unseen(c) || c.is_ascii_whitespace() {
                self.0.write_all(c.encode_utf8(&mut [0; 4]).as_bytes())?;
                continue;
            }
            for unit in c.encode_utf16(&mut units) {
                write!(self.0, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_escaped_and_read_again_the_same() {
        let hostile = "a\u{9b}31m\u{7f}\u{202e}é漢\u{e0041}\n\x1b";
        let mut out = Seen(Vec::new());
        serde_json::to_writer_pretty(&mut out, &[hostile]).unwrap();
        let text = String::from_utf8(out.0).unwrap();
        assert!(!text.chars().any(|c| is_unseen(c) && c != '\n'), "{text:?}");
        assert!(text.contains("é漢") && text.contains("\\u009b31m\\u007f\\u202e"));
        let read: Vec<String> = serde_json::from_str(&text).unwrap();
        assert_eq!(read, [hostile]);
    }
}
