//! Lines that are broken only between words.

use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter};

/// A space at which no line is broken. It is printed as a plain space, so that a shell can read what is copied.
const NO_BREAK: &str = "\u{a0}";

/// Keeps a text on one line, until it is printed.
#[must_use]
pub fn glued(text: &str) -> String {
    text.replace(' ', NO_BREAK)
}

/// The text with plain spaces again, to be printed.
#[must_use]
pub fn unglued(text: &str) -> String {
    text.replace(NO_BREAK, " ")
}

/// Wraps a text. Commands in backquotes are not broken, nor are words longer than a line:
/// addresses, paths. `first` stands before the first line, `rest` before the others.
#[must_use]
pub fn wrapped(text: &str, width: usize, first: &str, rest: &str) -> Vec<String> {
    let options = Options::new(width)
        .initial_indent(first)
        .subsequent_indent(rest)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .break_words(false);
    let text = whole_commands(text);
    let lines = textwrap::wrap(&text, options).into_iter();
    lines.map(|line| unglued(&line)).collect()
}

/// Keeps words in backquotes together: they are a command to copy.
fn whole_commands(text: &str) -> String {
    let mut parts = text.split('`');
    let mut whole = parts.next().unwrap_or_default().to_owned();
    let rest: Vec<&str> = parts.collect();
    for (n, part) in rest.iter().enumerate() {
        whole.push('`');
        // A backquote without a closing one opens nothing.
        if n % 2 == 0 && n + 1 < rest.len() && !part.contains('\n') {
            whole.push_str(&glued(part));
        } else {
            whole.push_str(part);
        }
    }
    whole
}

/// Whether a text fits on one line.
pub(crate) fn fits(text: &str, width: usize) -> bool {
    display_width(text) <= width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole() {
        let long = "2001:db8:1111:2222:3333:4444:5555:6666";
        assert_eq!(
            wrapped(&format!("to {long} and back"), 12, "", "  "),
            ["to", &format!("  {long}"), "  and back"]
        );
        assert_eq!(
            wrapped("merged-frames-lost is it", 8, "", ""),
            ["merged-frames-lost", "is it"]
        );
    }

    #[test]
    fn commands_in_backquotes_stay_whole() {
        let lines = wrapped("run `coalescope undo --list` now", 20, "", "");
        assert_eq!(lines, ["run", "`coalescope undo --list`", "now"]);
        let lines = wrapped("a single ` is a sign", 12, "", "");
        assert_eq!(lines, ["a single `", "is a sign"]);
    }
}
