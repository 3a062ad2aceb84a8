//! Lines of /etc/network/interfaces, and whose stanza each belongs to.
//!
//! Sources: interfaces(5), tried with ifquery 0.8.41; ifupdown2's networkinterfaces.py. Which lines go on differs: for
//! ifupdown a backslash that nothing follows but the end of the line, for ifupdown2 any, with all white space behind it.

use std::collections::BTreeSet;
use std::ops::Range;

/// Words that begin something other than an option of a stanza.
const BEGIN: [&str; 11] = [
    "iface",
    "mapping",
    "auto",
    "rename",
    "source",
    "source-directory",
    "no-auto-down",
    "no-scripts",
    "template",
    "vlan",
    "interface",
];

/// An interface, and the stanzas from which it inherits.
#[derive(Debug)]
pub(super) struct Names<'a> {
    pub(super) interface: &'a str,
    pub(super) inherited: BTreeSet<String>,
}

/// Whose stanza a line belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stanza {
    /// The interface's own.
    Own,
    /// One from which the interface inherits, as others may.
    Inherited,
    /// Another interface's.
    Other,
    /// None.
    None,
}

/// A line with those that continue it.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) at: Range<usize>,
    pub(super) text: &'a str,
    pub(super) stanza: Stanza,
}

impl Line<'_> {
    pub(super) fn is_own(&self) -> bool {
        self.stanza == Stanza::Own
    }

    pub(super) fn is_begin(&self) -> bool {
        is_begin(self.text)
    }

    /// Whether the next line would be taken for more of it, by either reader.
    pub(super) fn goes_on(&self) -> bool {
        self.text.trim_end().ends_with('\\')
    }

    pub(super) fn indent(&self) -> &str {
        &self.text[..self.text.len() - self.text.trim_start().len()]
    }
}

impl<'a> Names<'a> {
    pub(super) fn of(interface: &'a str, texts: &[&str]) -> Self {
        let mut inherited = BTreeSet::new();
        loop {
            let known = inherited.len();
            for text in texts {
                for at in joined(text) {
                    inherited.extend(parents(&text[at], interface, &inherited));
                }
            }
            if inherited.len() == known {
                return Self {
                    interface,
                    inherited,
                };
            }
        }
    }
}

/// What a line `iface NAME ... inherits OTHER` names, if NAME is the interface or one from which it inherits.
fn parents(line: &str, interface: &str, known: &BTreeSet<String>) -> Vec<String> {
    let mut words = line.split_whitespace();
    if words.next() != Some("iface") {
        return Vec::new();
    }
    let is_ours = words
        .next()
        .is_some_and(|name| name == interface || known.contains(name));
    let words = words.filter(|word| is_ours && *word != "\\");
    let after = words.skip_while(|word| *word != "inherits").skip(1);
    after.map(str::to_owned).collect()
}

fn is_begin(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    BEGIN.contains(&first) || first.starts_with("allow-")
}

/// The lines that are neither comments nor empty.
pub(super) fn lines<'a>(text: &'a str, names: &Names<'_>) -> impl Iterator<Item = Line<'a>> {
    let mut stanza = Stanza::None;
    joined(text).filter_map(move |at| {
        let line = &text[at.clone()];
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with('#') {
            return None;
        }
        if is_begin(line) {
            stanza = of(line, names);
        }
        Some(Line {
            at,
            text: line,
            stanza,
        })
    })
}

fn of(line: &str, names: &Names<'_>) -> Stanza {
    let mut words = line.split_whitespace();
    match (words.next(), words.next()) {
        (Some("iface"), Some(name)) if name == names.interface => Stanza::Own,
        (Some("iface" | "template"), Some(name)) if names.inherited.contains(name) => {
            Stanza::Inherited
        }
        (Some("iface" | "template" | "interface" | "vlan"), _) => Stanza::Other,
        _ => Stanza::None,
    }
}

/// Lines, joined with those that continue them after a backslash.
pub(super) fn joined(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let mut length = 0;
        for line in rest.split_inclusive('\n') {
            length += line.len();
            let is_comment = rest.trim_start().starts_with('#');
            if is_comment || !line.trim_end_matches('\n').ends_with('\\') {
                break;
            }
        }
        let range = start..start + length;
        start = range.end;
        Some(range)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_on_as_ifquery_says() {
        for (text, count) in [
            ("up a \\\n b\npost-up c\n", 2),
            ("up a \\\n\npost-up c\n", 2),
            ("up a \\ \npost-up c\n", 2),
            ("up a \\\r\npost-up c\r\n", 2),
            ("# c \\\npost-up c\n", 2),
            ("up a \\\n# c \\\npost-up c\n", 1),
        ] {
            assert_eq!(joined(text).count(), count, "{text:?}");
        }
    }

    #[test]
    fn stanzas_are_told_apart() {
        let text = "iface t inet manual\n a\niface e inet manual inherits t\n b\nmapping e\n c\niface f inet manual\n d\n";
        let names = Names::of("e", &[text]);
        let found: Vec<_> = lines(text, &names).map(|line| line.stanza).collect();
        let expected = [Stanza::Inherited, Stanza::Own, Stanza::None, Stanza::Other];
        let expected: Vec<_> = expected.into_iter().flat_map(|one| [one, one]).collect();
        assert_eq!(found, expected);
    }
}
