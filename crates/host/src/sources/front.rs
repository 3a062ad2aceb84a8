//! Output that was copied from a terminal: what a login prints stands in front of it, or all of it is indented, as
//! in a mail.

use std::borrow::Cow;

use super::margin::straight;
use super::split::{END, is_begin};
use crate::text::quoted;

/// Lines in front at most. What Ubuntu prints at a login is about 30.
const LINES: usize = 40;

/// The text without marks of a mail or a page around it: `>` before most lines, with the words of whoever answers between
/// them, or lines of three backquotes. A line stays where it is, so that messages name the right one.
pub(super) fn unmarked(text: String) -> String {
    let is_quoted = is_quoted(&text);
    let is_fenced = text.lines().any(|line| line.starts_with(FENCE));
    if !is_quoted && !is_fenced && is_set_in(&text) {
        return moved_out(&text);
    }
    if !is_quoted && !is_fenced {
        return text;
    }
    let mut is_open = false;
    let mut bare = |line: &str| {
        let inner = if is_quoted {
            unquoted(line)
        } else {
            Some(line)
        };
        match inner {
            Some(fence) if fence.starts_with(FENCE) => {
                is_open = !is_open;
                let mark = if is_open { "" } else { END };
                format!("{mark}\n")
            }
            inner => inner.unwrap_or("\n").to_owned(),
        }
    };
    text.split_inclusive('\n').map(&mut bare).collect()
}

/// Whether most lines are quoted.
fn is_quoted(text: &str) -> bool {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let quoted = lines().filter(|line| line.starts_with('>')).count();
    2 * quoted > lines().count() && text.contains("> ")
}

/// What begins a line of output or of code in Markdown, below a paragraph.
const INDENTATIONS: [&str; 2] = ["    ", "\t"];

fn set_in(line: &str) -> Option<&str> {
    INDENTATIONS
        .iter()
        .find_map(|blank| line.strip_prefix(blank))
}

/// Whether output stands in blocks that are indented, with the words of its author at the left and a blank line between them:
/// without one, what stands at the left is a heading.
fn is_set_in(text: &str) -> bool {
    let mut filled = text.lines().filter(|line| !line.trim().is_empty());
    let at_left = filled.clone().any(is_begin);
    let is_apart = |(above, line): (&str, &str)| {
        set_in(line).is_none() || set_in(above).is_some() || above.trim().is_empty()
    };
    !at_left
        && filled.any(|line| set_in(line).is_some_and(is_begin))
        && text.lines().zip(text.lines().skip(1)).all(is_apart)
}

/// The text with its blocks at the left; a line stays where it is.
fn moved_out(text: &str) -> String {
    let mut is_inside = false;
    let moved = text.split_inclusive('\n').map(|line| {
        let inner = set_in(line);
        let ends = is_inside && inner.is_none() && !line.trim().is_empty();
        is_inside = inner.is_some() || is_inside && !ends;
        match inner {
            Some(inner) => inner.to_owned(),
            None if ends => format!("{END}\n"),
            None => "\n".to_owned(),
        }
    });
    moved.collect()
}

/// A quoted line without its marks, of which there is one for each answer: `>> `, `> > `.
fn unquoted(line: &str) -> Option<&str> {
    let mut inner = line.strip_prefix('>')?;
    while let Some(more) = inner.strip_prefix('>').or_else(|| inner.strip_prefix(" >")) {
        inner = more;
    }
    Some(inner.strip_prefix(' ').unwrap_or(inner))
}

/// The fence of output in Markdown.
const FENCE: &str = "```";

/// What may be meant of a text that is not understood from its beginning, each with what was left out of it.
pub(super) fn without(body: &str) -> impl Iterator<Item = (String, Cow<'_, str>)> {
    let straight = straight(body).map(|text| ("indented".to_owned(), Cow::Owned(text)));
    let lines = body.split_inclusive('\n').take(LINES);
    let ends = lines.scan(0, |end, line| {
        *end += line.len();
        Some(*end)
    });
    let later = ends.map(|end| {
        let (front, rest) = body.split_at(end);
        (left_out(front), Cow::Borrowed(rest))
    });
    straight.into_iter().chain(later)
}

fn left_out(front: &str) -> String {
    let lines: Vec<&str> = front
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let last = lines.last().copied().unwrap_or_default();
    let number = lines.len();
    let s = if number == 1 { "" } else { "s" };
    format!(
        "{number} line{s} in front of it left out, the last {}",
        quoted(last)
    )
}
