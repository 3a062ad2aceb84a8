//! Whatever a name is, no format lets it speak to a terminal, a spreadsheet or a reader's eyes.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

mod html_made;
mod html_reports;

use std::io::{self, Write};

use coalescope_host::safe::is_unseen;
use coalescope_report::{Document, TextOptions};
use html_made::made;
use html_reports::{check, diagnosis, lab, replay, trace, watch};
#[cfg(target_os = "linux")]
use html_reports::{fix, undo};
use proptest::prelude::*;
use serde_json::Value;

fn written(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn texts(name: &str, colour: bool, width: usize) -> Vec<String> {
    let options = TextOptions {
        colour,
        width,
        ..TextOptions::default()
    };
    let mut texts = vec![
        written(|out| trace(name, 3).write_text(out, &options)),
        written(|out| check(name).write_text(out, &options)),
        written(|out| diagnosis(name).write_text(out, &options)),
        written(|out| lab(name).write_text(out, &options)),
        written(|out| replay(name).write_text(out, &options)),
        written(|out| watch(name).write_text(out, &options)),
    ];
    #[cfg(target_os = "linux")]
    texts.extend([
        written(|out| fix(name).write_text(out, &options)),
        written(|out| undo(name).write_text(out, &options)),
    ]);
    texts
}

fn documents(name: &str) -> Vec<String> {
    let mut documents = vec![
        written(|out| trace(name, 3).write_json(out)),
        written(|out| trace(name, 3).write_compact_json(out)),
        written(|out| check(name).write_json(out)),
        written(|out| diagnosis(name).write_json(out)),
        written(|out| lab(name).write_json(out)),
        written(|out| replay(name).write_json(out)),
        written(|out| watch(name).write_json(out)),
    ];
    #[cfg(target_os = "linux")]
    documents.extend([
        written(|out| fix(name).write_json(out)),
        written(|out| undo(name).write_json(out)),
    ]);
    documents
}

fn pages(name: &str) -> Vec<String> {
    let mut pages = vec![
        written(|out| trace(name, 3).write_html(&made(name), out)),
        written(|out| check(name).write_html(&made(name), out)),
        written(|out| diagnosis(name).write_html(&made(name), out)),
        written(|out| lab(name).write_html(&made(name), out)),
        written(|out| replay(name).write_html(&made(name), out)),
        written(|out| watch(name).write_html(&made(name), out)),
    ];
    #[cfg(target_os = "linux")]
    pages.extend([
        written(|out| fix(name).write_html(&made(name), out)),
        written(|out| undo(name).write_html(&made(name), out)),
    ]);
    pages
}

fn tables(name: &str) -> Vec<String> {
    vec![
        written(|out| trace(name, 3).write_csv(out)),
        written(|out| check(name).write_csv(out)),
        written(|out| lab(name).write_csv(out)),
        written(|out| replay(name).write_csv(out)),
        written(|out| watch(name).write_csv(out)),
    ]
}

/// Without the colours that this program gives: `ESC [`, digits and semicolons, `m`.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let colour = part
            .find(|c: char| !c.is_ascii_digit() && c != ';')
            .unwrap();
        assert_eq!(part.as_bytes()[colour], b'm', "{part:?}");
        plain.push_str(&part[colour + 1..]);
    }
    plain
}

fn is_shown(text: &str) {
    let unseen = text.chars().find(|&c| c != '\n' && is_unseen(c));
    assert_eq!(unseen, None, "{text:?}");
}

/// A spreadsheet calculates none of it.
fn is_inert(cell: &str) {
    let begins = cell
        .trim_start()
        .starts_with(['=', '+', '-', '@', '\t', '\r', '|', '%']);
    assert!(!begins || cell.parse::<f64>().is_ok(), "{cell:?}");
    is_shown(cell);
}

fn nothing_is_obeyed(name: &str) {
    for text in texts(name, false, 100)
        .iter()
        .chain(&texts(name, false, 60))
    {
        is_shown(text);
    }
    for text in texts(name, true, 80) {
        is_shown(&without_colours(&text));
    }
    for document in documents(name) {
        is_shown(&document);
        let value: Value = serde_json::from_str(&document).unwrap();
        assert!(holds(&value, name), "{name:?}: {document}");
    }
    pages(name).iter().for_each(|page| is_shown(page));
    for table in tables(name) {
        let mut rows = csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(table.as_bytes());
        for row in rows.records() {
            row.unwrap().iter().for_each(is_inert);
        }
    }
}

/// Whether a text of a document has the name in it, as it is.
fn holds(value: &Value, name: &str) -> bool {
    match value {
        Value::String(text) => text.contains(name),
        Value::Array(all) => all.iter().any(|one| holds(one, name)),
        Value::Object(all) => all
            .iter()
            .any(|(key, one)| key.contains(name) || holds(one, name)),
        _ => false,
    }
}

const HOSTILE: [&str; 26] = [
    "\x1b[2J\x1b[31mred",
    "\x1b]0;title\x07",
    "\x1b]8;;http://example.org\x1b\\link\x1b]8;;\x1b\\",
    "\u{9b}31m",
    "a\rb",
    "a\nerror: all is lost",
    "a\tb",
    "a\u{8}\u{8}b",
    "\u{202e}0hte",
    "e\u{200b}th0",
    "\u{feff}eth0",
    "\u{2066}eth0\u{2069}",
    "a\u{2028}b\u{2029}c",
    "\u{e0065}\u{e0074}",
    "\u{0}",
    "\u{7f}",
    "=1+1",
    "+1+1",
    "-1+1|' /C calc'!A0",
    "@SUM(A1)",
    "\t=1+1",
    "\u{ff1d}1+1",
    "\u{2000}",
    "\u{a0}=1+1",
    "\u{3164}",
    "a\u{fe0f}",
];

#[test]
fn hostile_names_are_shown_and_not_obeyed() {
    HOSTILE.iter().for_each(|name| nothing_is_obeyed(name));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_a_name_is_it_is_shown_and_not_obeyed(
        parts in proptest::collection::vec(proptest::sample::select(&HOSTILE[..]), 0..4),
        rest in any::<String>(),
        first in any::<bool>(),
    ) {
        let parts = parts.concat();
        let name = if first { format!("{rest}{parts}") } else { format!("{parts}{rest}") };
        nothing_is_obeyed(&name);
    }
}
