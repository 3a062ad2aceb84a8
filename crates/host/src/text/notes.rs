//! What readers share: whole lines, the first ones to tell a kind by, and notes on what was not
//! understood: grouped, counted and bounded.

use super::Text;
use crate::model::Snapshot;

/// Entries a text: whoever reads them wants the kinds, not each line.
const MOST: usize = 20;

/// Characters of a line that are quoted.
const QUOTED: usize = 100;

/// Bytes that are looked at to recognise a text.
const HEAD: usize = 16 * 1024;

/// Lines that are looked at to recognise a text.
const HEAD_LINES: usize = 400;

/// Lines of one text that were not read.
pub(super) struct Notes<'a> {
    origin: &'a str,
    /// The reader's name, if it says so.
    kind: Option<&'static str>,
    items: Vec<Item>,
    beyond: usize,
}

struct Item {
    key: String,
    what: String,
    why: String,
    count: usize,
}

impl<'a> Notes<'a> {
    pub(super) fn new(text: &Text<'a>) -> Self {
        Self {
            origin: text.origin,
            kind: None,
            items: Vec::new(),
            beyond: 0,
        }
    }

    /// Notes of the reader of this name.
    pub(super) fn of(text: &Text<'a>, kind: &'static str) -> Self {
        Self {
            kind: Some(kind),
            ..Self::new(text)
        }
    }

    /// Notes `what`; of those with one `key` the first stands for all.
    pub(super) fn add(&mut self, key: &str, what: &str, why: &str) {
        if let Some(item) = self.items.iter_mut().find(|item| item.key == key) {
            item.count += 1;
        } else if self.items.len() < MOST - 1 {
            self.items.push(Item {
                key: key.to_owned(),
                what: what.to_owned(),
                why: why.to_owned(),
                count: 1,
            });
        } else {
            self.beyond += 1;
        }
    }

    /// Notes `what`; what differs only in its digits is one entry.
    pub(super) fn alike(&mut self, what: &str, why: &str) {
        let key = without_digits(what) + "\n" + why;
        self.add(&key, what, why);
    }

    /// Notes a line that is not understood.
    pub(super) fn line(&mut self, line: &str) {
        let why = match self.kind {
            Some(kind) => format!("not understood as output of {kind}"),
            None => "not understood".to_owned(),
        };
        self.alike(&quoted(line), &why);
    }

    /// Puts all of it into the snapshot.
    pub(super) fn finish(self, snapshot: &mut Snapshot) {
        for item in self.items {
            let times = match item.count {
                1 => String::new(),
                count => format!(" ({count} times)"),
            };
            let what = format!("{}: {}", self.origin, item.what);
            snapshot.not_read(what, format!("{}{times}", item.why));
        }
        if self.beyond > 0 {
            let what = format!("{}: {} more", self.origin, self.beyond);
            snapshot.not_read(what, "only the first kinds of notes are listed");
        }
    }
}

/// The text up to its last line end. What follows was cut, perhaps within a value.
pub(super) fn whole_lines<'a>(text: &Text<'a>, notes: &mut Notes<'_>) -> &'a str {
    let (whole, rest) = at_last_line_end(text);
    if !rest.trim().is_empty() {
        notes.add(
            "last line",
            &quoted(rest),
            "last line without a line end: perhaps cut, left out",
        );
    }
    whole
}

/// Whether the last line has no end.
pub(super) fn is_cut(text: &Text<'_>) -> bool {
    !at_last_line_end(text).1.is_empty()
}

fn at_last_line_end<'a>(text: &Text<'a>) -> (&'a str, &'a str) {
    let body = body(text);
    let end = body.rfind('\n').map_or(0, |at| at + 1);
    body.split_at(end)
}

fn body<'a>(text: &Text<'a>) -> &'a str {
    text.body.trim_start_matches('\u{feff}')
}

/// The beginning of a line, as it is quoted in messages.
pub(crate) fn quoted(line: &str) -> String {
    let line = line.trim();
    let short: String = line.chars().take(QUOTED).collect();
    let dots = if short.len() < line.len() { "..." } else { "" };
    format!("`{}{dots}`", crate::safe::printable_line(&short))
}

/// The first lines that are not blank, without spaces at their ends: enough to tell a kind by.
pub(super) fn first_lines<'a>(text: &Text<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    let body = body(text);
    let mut end = body.len().min(HEAD);
    while !body.is_char_boundary(end) {
        end -= 1;
    }
    let start = body.get(..end).unwrap_or_default();
    let lines = start.lines().map(str::trim_end);
    lines.filter(|line| !line.is_empty()).take(HEAD_LINES)
}

/// The only or first line that is not blank.
pub(super) fn first_line<'a>(text: &Text<'a>) -> &'a str {
    first_lines(text).next().unwrap_or_default()
}

/// `0c:c4:7a:00:00:01`, from colons or dashes, in lower case; `None` if it is no such address. Some
/// kinds of links have longer ones.
pub(super) fn mac(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split([':', '-']).collect();
    let hex = |part: &&str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_hexdigit());
    (parts.len() >= 6 && parts.iter().all(hex)).then(|| parts.join(":").to_ascii_lowercase())
}

fn without_digits(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for letter in text.chars() {
        let letter = if letter.is_ascii_digit() { '0' } else { letter };
        if letter != '0' || !result.ends_with('0') {
            result.push(letter);
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(notes: impl FnOnce(&mut Notes<'_>)) -> Vec<String> {
        let text = Text {
            origin: "saved",
            command: None,
            body: "",
        };
        let mut all = Notes::of(&text, "test");
        notes(&mut all);
        let mut snapshot = Snapshot::default();
        all.finish(&mut snapshot);
        let unread = snapshot.unread.into_iter();
        unread
            .map(|note| format!("{}: {}", note.what, note.why))
            .collect()
    }

    #[test]
    fn lines_that_differ_in_digits_are_one_note() {
        let lines = noted(|notes| {
            notes.line("queue 1: new");
            notes.line("queue 22: new");
            notes.line("other");
        });
        let expected = [
            "saved: `queue 1: new`: not understood as output of test (2 times)",
            "saved: `other`: not understood as output of test",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn notes_have_one_limit() {
        let lines = noted(|notes| {
            for length in 1..=30 {
                notes.line(&"x".repeat(length));
            }
        });
        assert_eq!(lines.len(), MOST);
        assert!(
            lines
                .last()
                .is_some_and(|line| line.starts_with("saved: 11 more: "))
        );
    }

    #[test]
    fn hardware_addresses_are_written_one_way() {
        let address = Some("00:15:5d:aa:bb:01".to_owned());
        assert_eq!(mac("00-15-5D-AA-BB-01"), address);
        assert_eq!(mac("00:15:5d:aa:bb:01"), address);
        assert_eq!(mac("00:15:5d:aa:bb"), None);
        assert_eq!(mac("fe80::1"), None);
    }
}
