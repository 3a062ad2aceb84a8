//! Sections with keys, edited by lines: systemd's files and NetworkManager's keyfiles.

/// How lines belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// systemd.syntax(7): a backslash at the end goes on in the next line.
    Systemd,
    /// GLib's key files: it does not.
    Keyfile,
}

/// A line with its end, and what it means.
#[derive(Debug)]
struct Line<'a> {
    text: &'a str,
    meaning: Meaning<'a>,
    goes_on: bool,
}

#[derive(Debug, PartialEq)]
enum Meaning<'a> {
    Section(&'a str),
    Key(&'a str, &'a str),
    /// A continuation of the line before.
    More,
    /// Empty, or a comment.
    Nothing,
}

/// The last value of a key, in all sections of that name.
pub(crate) fn get<'a>(
    text: &'a str,
    dialect: Dialect,
    section: &str,
    key: &str,
) -> Option<&'a str> {
    keys(text, dialect, section)
        .filter(|(name, _)| *name == key)
        .map(|(_, value)| value)
        .last()
}

/// All keys of all sections of that name, with their values.
pub(crate) fn keys<'a>(
    text: &'a str,
    dialect: Dialect,
    section: &str,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    let mut is_in = false;
    read(text, dialect)
        .into_iter()
        .filter_map(move |line| match line.meaning {
            Meaning::Section(name) => {
                is_in = name == section;
                None
            }
            Meaning::Key(key, value) if is_in => Some((key, value)),
            _ => None,
        })
}

/// The text with a key set: in its last line if it has one, else at the end of the last section of
/// that name, else in a new section. All other bytes stay.
pub(crate) fn set(text: &str, dialect: Dialect, section: &str, key: &str, value: &str) -> String {
    let lines = read(text, dialect);
    let (mut is_in, mut own, mut last) = (false, None, None);
    for (at, line) in lines.iter().enumerate() {
        match line.meaning {
            Meaning::Section(name) => is_in = name == section,
            Meaning::Key(name, _) if is_in && name == key => own = Some(at),
            _ => {}
        }
        if is_in && line.meaning != Meaning::Nothing {
            last = Some(at);
        }
    }
    let assignment = format!("{key}={value}");
    match (own, last) {
        (Some(at), _) => replace(&lines, at, &assignment),
        (None, Some(at)) => insert_after(text, &lines, at, &assignment),
        (None, None) => append(text, section, &assignment),
    }
}

/// A text with another file's behind it, read one after the other: a line that goes on ends with its file.
pub(crate) fn joined(mut text: String, dialect: Dialect, more: &str) -> String {
    let end = line_end(&text);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(end);
    }
    if read(&text, dialect).last().is_some_and(|line| line.goes_on) {
        text.push_str(end);
    }
    text + more
}

/// All sections but those of one name, without what is before the first.
pub(crate) fn without(text: &str, dialect: Dialect, section: &str) -> String {
    let mut is_kept = false;
    let mut kept = String::new();
    for line in read(text, dialect) {
        if let Meaning::Section(name) = line.meaning {
            is_kept = name != section;
        }
        if is_kept {
            kept.push_str(line.text);
        }
    }
    kept
}

fn read(text: &str, dialect: Dialect) -> Vec<Line<'_>> {
    let mut goes_on = false;
    let line = |text| {
        let meaning = if goes_on {
            Meaning::More
        } else {
            meaning(text)
        };
        let is_comment = meaning == Meaning::Nothing;
        // A comment between does not end what goes on.
        goes_on = dialect == Dialect::Systemd
            && ((goes_on && is_comment_line(text)) || (!is_comment && body(text).ends_with('\\')));
        Line {
            text,
            meaning,
            goes_on,
        }
    };
    text.split_inclusive('\n').map(line).collect()
}

fn meaning(line: &str) -> Meaning<'_> {
    let body = body(line).trim();
    let section = body
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    if let Some(name) = section {
        return Meaning::Section(name);
    }
    match body.split_once('=') {
        Some((key, value)) if !is_comment_line(line) => Meaning::Key(key.trim(), value.trim()),
        _ => Meaning::Nothing,
    }
}

fn is_comment_line(line: &str) -> bool {
    line.trim_start().starts_with(['#', ';'])
}

fn body(line: &str) -> &str {
    line.trim_end_matches(['\n', '\r'])
}

/// What ends the lines of a text.
pub(crate) fn line_end(text: &str) -> &'static str {
    let first = text.split_inclusive('\n').next().unwrap_or_default();
    if first.ends_with("\r\n") {
        "\r\n"
    } else {
        "\n"
    }
}

fn replace(lines: &[Line<'_>], own: usize, assignment: &str) -> String {
    let mut changed = String::new();
    for (at, line) in lines.iter().enumerate() {
        let is_more = at > own
            && lines[own + 1..=at]
                .iter()
                .all(|line| line.meaning == Meaning::More);
        if at == own {
            changed.push_str(assignment);
            changed.push_str(&line.text[body(line.text).len()..]);
        } else if !is_more {
            changed.push_str(line.text);
        }
    }
    changed
}

fn insert_after(text: &str, lines: &[Line<'_>], at: usize, assignment: &str) -> String {
    let length: usize = lines[..=at].iter().map(|line| line.text.len()).sum();
    let (before, after) = text.split_at(length);
    let end = line_end(text);
    let closed = if before.ends_with('\n') { "" } else { end };
    // An empty line ends what would go on.
    let gap = if lines[at].goes_on { end } else { "" };
    format!("{before}{closed}{gap}{assignment}{end}{after}")
}

fn append(text: &str, section: &str, assignment: &str) -> String {
    let end = line_end(text);
    let closed = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        end
    };
    let gap = if text.is_empty() { "" } else { end };
    format!("{text}{closed}{gap}[{section}]{end}{assignment}{end}")
}

/// A boolean as the readers of a dialect take it.
pub(crate) fn boolean(value: &str, dialect: Dialect) -> Option<bool> {
    match (dialect, value) {
        // GLib takes no other words (g_key_file_get_boolean, tried with GLib 2.74).
        (Dialect::Keyfile, "true" | "1") => Some(true),
        (Dialect::Keyfile, "false" | "0") => Some(false),
        (Dialect::Keyfile, _) => None,
        (Dialect::Systemd, _) => lenient(value),
    }
}

/// As systemd and netplan read it: any case, and a word of many.
pub(crate) fn lenient(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "1" | "yes" | "y" | "true" | "t" | "on" => Some(true),
        "0" | "no" | "n" | "false" | "f" | "off" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "# c\n[Match]\nName=a\n\n[Link]\nMTUBytes=1\n# end\n\n[Other]\nx=y\n";

    fn link(text: &str, value: &str) -> String {
        set(text, Dialect::Systemd, "Link", "Gro", value)
    }

    #[test]
    fn a_key_goes_where_it_belongs() {
        let with = link(TEXT, "false");
        assert_eq!(
            with,
            TEXT.replace("MTUBytes=1\n", "MTUBytes=1\nGro=false\n")
        );
        assert_eq!(link(&with, "false"), with);
        assert_eq!(link(&with, "true"), with.replace("false", "true"));
        assert_eq!(link("", "true"), "[Link]\nGro=true\n");
        assert_eq!(link("[Link]", "true"), "[Link]\nGro=true\n");
        assert_eq!(
            link("[A]\r\nb=c", "on"),
            "[A]\r\nb=c\r\n\r\n[Link]\r\nGro=on\r\n"
        );
    }

    #[test]
    fn the_last_one_counts() {
        let text = "[Link]\nGro=true\n[A]\nGro=no\n[Link]\n Gro = false\n";
        assert_eq!(get(text, Dialect::Systemd, "Link", "Gro"), Some("false"));
        let changed = link(text, "true");
        assert_eq!(changed, "[Link]\nGro=true\n[A]\nGro=no\n[Link]\nGro=true\n");
    }

    #[test]
    fn lines_that_go_on_stay_whole() {
        let text = "[Link]\nAlias=one \\\n  # note\n  Gro=two\n[B]\n";
        assert_eq!(get(text, Dialect::Systemd, "Link", "Gro"), None);
        let with = link(text, "true");
        assert_eq!(with, text.replace("[B]", "Gro=true\n[B]"));
        // In a keyfile they are lines of their own.
        assert_eq!(get(text, Dialect::Keyfile, "Link", "Gro"), Some("two"));
        let own = "[Link]\nGro=t\\\nrue\nA=b\n";
        assert_eq!(link(own, "false"), "[Link]\nGro=false\nA=b\n");
    }

    #[test]
    fn a_line_that_goes_on_ends_with_its_file() {
        for own in ["[Link]\nAlias=one \\", "[Link]\nAlias=one \\\n"] {
            let all = joined(own.to_owned(), Dialect::Systemd, "[Link]\nGro=no\n");
            assert_eq!(get(&all, Dialect::Systemd, "Link", "Gro"), Some("no"));
        }
        assert_eq!(joined("[A]".to_owned(), Dialect::Systemd, "b"), "[A]\nb");
        assert_eq!(joined(String::new(), Dialect::Systemd, "b"), "b");
    }

    #[test]
    fn each_reader_has_its_words() {
        for (word, systemd, glib) in [
            ("true", Some(true), Some(true)),
            ("0", Some(false), Some(false)),
            ("off", Some(false), None),
            ("False", Some(false), None),
            ("maybe", None, None),
        ] {
            assert_eq!(boolean(word, Dialect::Systemd), systemd, "{word}");
            assert_eq!(boolean(word, Dialect::Keyfile), glib, "{word}");
        }
    }

    #[test]
    fn other_sections_can_be_left_out() {
        let rest = without(TEXT, Dialect::Systemd, "Match");
        assert_eq!(rest, TEXT.split_once("Name=a\n\n").unwrap().1);
    }

    fn lines() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            Just("[Link]".to_owned()),
            Just("[Match]".to_owned()),
            Just("A=b".to_owned()),
            Just(" key = value \\".to_owned()),
            Just("# comment".to_owned()),
            Just(String::new()),
            "[ -~äß]{0,12}",
        ];
        let end = prop_oneof![Just("\n"), Just("\r\n")];
        let lines = (prop::collection::vec(line, 0..12), end, any::<bool>());
        lines.prop_map(|(lines, end, is_closed)| {
            let closing = if is_closed { end } else { "" };
            format!("{}{closing}", lines.join(end))
        })
    }

    proptest! {
        #[test]
        fn what_is_added_is_all_that_changes(text in lines(), is_keyfile in any::<bool>()) {
            let dialect = if is_keyfile { Dialect::Keyfile } else { Dialect::Systemd };
            let with = set(&text, dialect, "Link", "Gro", "false");
            prop_assert_eq!(get(&with, dialect, "Link", "Gro"), Some("false"));
            prop_assert_eq!(&set(&with, dialect, "Link", "Gro", "false"), &with);
            // Taking one piece out of it gives the text as it was.
            let same = text.bytes().zip(with.bytes()).take_while(|(a, b)| a == b).count();
            let rest = &text.as_bytes()[same..];
            prop_assert!(with.as_bytes().ends_with(rest), "{:?} from {:?}", with, text);
            prop_assert!(with.len() > text.len());
            let turned = set(&with, dialect, "Link", "Gro", "true");
            prop_assert_eq!(set(&turned, dialect, "Link", "Gro", "false"), with);
        }
    }
}
