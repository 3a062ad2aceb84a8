//! A text at several widths: it keeps within each, breaks no word, and loses none.

use std::collections::BTreeSet;

use coalescope_report::TextOptions;

/// From the narrowest on, and one at which nothing has to be wrapped.
const WIDTHS: [usize; 7] = [60, 61, 72, 80, 100, 132, 200];
const UNWRAPPED: usize = 2000;
/// How far commands that stand below their label are indented: they are copied, and stay whole.
const COMMAND: &str = "      ";
/// `warning: `, and an indent.
const LABEL: usize = 12;

/// Heads of columns of names: a row that stands as a paragraph begins with its name.
const NAMES: [&str; 4] = ["connection", "interface", "incident", "setting"];

/// Fails if the text is wrong at one of the widths. `drops`: columns of a table may be left out.
pub(crate) fn fits(name: &str, drops: bool, write: impl Fn(&TextOptions) -> String) {
    let at = |width| {
        write(&TextOptions {
            width,
            ..TextOptions::default()
        })
    };
    let all = at(UNWRAPPED);
    let all = words(&all);
    for width in WIDTHS {
        let text = at(width);
        for line in text.lines() {
            let fits = line.chars().count() <= width;
            assert!(
                fits || is_whole(line, width),
                "{name} at {width}:\n{line}\nin:\n{text}"
            );
        }
        let words = words(&text);
        let broken: Vec<_> = words.difference(&all).collect();
        assert!(
            broken.is_empty(),
            "{name} at {width} has {broken:?} in:\n{text}"
        );
        let lost = all.difference(&words);
        let lost: Vec<_> = lost
            .filter(|word| !NAMES.contains(&word.as_str()))
            .collect();
        assert!(
            drops || lost.is_empty(),
            "{name} at {width} lacks {lost:?} in:\n{text}"
        );
    }
}

/// A word that leaves no room beside a label, or a command, is never broken.
fn is_whole(line: &str, width: usize) -> bool {
    let longest = line
        .split_whitespace()
        .map(|word| word.chars().count())
        .max();
    let is_long = longest.unwrap_or(0) + LABEL > width;
    let is_quoted = line.trim().starts_with('`');
    let is_command = line.starts_with(COMMAND) && !line.starts_with("       ");
    is_long || is_quoted || is_command
}

/// The words but for those of the strip of a hop, which has as many columns as there is room for, and
/// a key of the signs in these.
fn words(text: &str) -> BTreeSet<String> {
    let mut is_key = false;
    let lines = text.lines().filter(|line| {
        let is_strip = line.starts_with("    |");
        is_key = is_strip || is_key && line.starts_with("     ");
        !is_key
    });
    let words = lines.flat_map(str::split_whitespace);
    words
        .map(|word| word.trim_end_matches(',').to_owned())
        .collect()
}
