//! What a reader did not understand: grouped, counted and bounded.

use super::super::Text;
use crate::model::Snapshot;

/// Entries a text: whoever reads them wants the kinds, not each line.
const MOST: usize = 20;

/// Characters of a line that are quoted.
const QUOTED: usize = 80;

/// What was not read of one text.
pub(in crate::text) struct Notes<'a> {
    origin: &'a str,
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
    pub(in crate::text) fn new(text: &Text<'a>) -> Self {
        Self {
            origin: text.origin,
            items: Vec::new(),
            beyond: 0,
        }
    }

    /// Notes `what`; of those with one `key` the first stands for all.
    pub(in crate::text) fn add(&mut self, key: &str, what: &str, why: &str) {
        if let Some(item) = self.items.iter_mut().find(|item| item.key == key) {
            item.count += 1;
        } else if self.items.len() < MOST {
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

    /// Notes a line that is not understood; lines that begin with the same word are one kind.
    pub(in crate::text) fn line(&mut self, line: &str) {
        let line = line.trim();
        let word = line.split_whitespace().next().unwrap_or_default();
        self.add(word, &quoted(line), "not understood");
    }

    /// Puts all of it into the snapshot.
    pub(in crate::text) fn finish(self, snapshot: &mut Snapshot) {
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
            snapshot.not_read(what, "not understood; only the first kinds are listed");
        }
    }
}

/// The text up to its last line end. What follows was cut, perhaps within a value.
pub(in crate::text) fn whole_lines<'a>(text: &Text<'a>, notes: &mut Notes<'_>) -> &'a str {
    let body = text.body.trim_start_matches('\u{feff}');
    let end = body.rfind('\n').map_or(0, |at| at + 1);
    let (whole, rest) = body.split_at(end);
    if !rest.trim().is_empty() {
        notes.add(
            "last line",
            &quoted(rest),
            "last line without a line end: perhaps cut, left out",
        );
    }
    whole
}

/// The beginning of a line, as it is quoted in messages.
pub(in crate::text) fn quoted(line: &str) -> String {
    let line = line.trim();
    let short: String = line.chars().take(QUOTED).collect();
    let dots = if short.len() < line.len() { "..." } else { "" };
    format!("`{short}{dots}`")
}

/// The first `count` lines that are not blank: enough to tell a kind by.
pub(in crate::text) fn first_lines<'a>(
    text: &Text<'a>,
    count: usize,
) -> impl Iterator<Item = &'a str> + use<'a> {
    let body = text.body.trim_start_matches('\u{feff}');
    let lines = body.lines().filter(|line| !line.trim().is_empty());
    lines.take(count)
}

/// The only or first line that is not blank.
pub(in crate::text) fn first_line<'a>(text: &Text<'a>) -> &'a str {
    first_lines(text, 1).next().unwrap_or_default()
}

/// `0c:c4:7a:00:00:01`, from colons or dashes, in lower case; `None` if it is no such address.
pub(in crate::text) fn mac(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split([':', '-']).collect();
    let hex = |part: &&str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_hexdigit());
    (parts.len() == 6 && parts.iter().all(hex)).then(|| parts.join(":").to_ascii_lowercase())
}
