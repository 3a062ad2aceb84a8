//! Several commands pasted into one file, one after the other.
//!
//! A file is only cut where a line can hardly be anything else: a shell's prompt with a command, a
//! heading around a command or a path, or what begins the output of another command.

mod begins;
mod heading;
mod prompt;
mod title;
mod typed;

use std::collections::BTreeSet;

use super::command;
pub(super) use title::{Names, is_time};
pub(super) use typed::Typed;

/// The output of one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    /// The command line or path; `None` for what stands before the first.
    pub(super) command: Option<&'a str>,
    /// The host that the prompt names.
    pub(super) host: Option<&'a str>,
    /// The interface that a line above names.
    pub(super) interface: Option<&'a str>,
    /// The line that it begins at, from 1.
    pub(super) line: usize,
    pub(super) body: &'a str,
}

impl<'a> Piece<'a> {
    /// A text that is not cut.
    pub(super) fn whole(text: &'a str) -> Piece<'a> {
        Piece {
            command: None,
            host: None,
            interface: None,
            line: 1,
            body: text,
        }
    }
}

/// A line that separates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Separator<'a> {
    style: Style,
    host: Option<&'a str>,
    /// Empty for a prompt at which nothing was typed.
    command: &'a str,
}

/// How sure it is that such a line separates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Style {
    /// By itself: `root@host:~# anything`.
    Certain,
    /// Once one of the same kind had a known command, for all others of the file.
    Once(char),
    /// Only with a known command.
    Known,
}

/// Cuts a text.
pub(super) fn split(text: &str) -> Vec<Piece<'_>> {
    let styles = established(text);
    let names = Names::of(text);
    let mut pieces = Vec::new();
    let mut open = Open::default();
    let mut away = None;
    for line in Lines::of(text) {
        let moves =
            |found: &Separator<'_>| leads_away(found, &open, &pieces) || leads_back(found, away);
        let separator = separator(line.text).filter(|found| counts(found, &styles) || moves(found));
        let printed = &text[open.body..line.start];
        if let Some(interface) = title::read(line.text, &text[line.end..], &names)
            && !open.names_below(printed)
        {
            open.close(text, line.start, &mut pieces);
            open = open.under(interface, &line);
        } else if is_end(line.text) {
            // A command may stand in a block of its own, and its output in the next.
            if !printed.trim().is_empty() {
                open.close(text, line.start, &mut pieces);
                open = Open::default();
            }
            open = open.behind(&line);
        } else if let Some(separator) = separator {
            let (end, separator) = with_first_line(separator, text, line.start, &open);
            open.close(text, end, &mut pieces);
            away = Away::behind(away, &separator);
            open = Open::at(separator, &line);
            // Whatever is typed there is of the command that leads there, unless the prompt names whose it is.
            let unnamed = |away: &Away<'_>| separator.host.is_none_or(|at| Some(at) == away.host);
            open.command = away
                .filter(unnamed)
                .map_or(open.command, |away| Some(away.command));
        } else if line.text.starts_with("Connection to ") || command::ends_shell(line.text.trim()) {
            away = None;
        }
    }
    open.close(text, text.len(), &mut pieces);
    let mut cut = Vec::with_capacity(pieces.len());
    let is_mixed = pieces.iter().any(is_of_nobody);
    for piece in pieces {
        let piece = if is_mixed && piece.host.is_none() {
            piece
        } else {
            at_its_host(piece)
        };
        // All that a command prints elsewhere is of there.
        let is_elsewhere = piece
            .command
            .is_some_and(|line| command::parse(line).elsewhere);
        if is_elsewhere || piece.body.trim().is_empty() {
            cut.push(piece);
        } else {
            begins::cut(&piece, &mut cut);
        }
    }
    cut
}

/// A prompt of two lines: where the first one begins, which is no output of what was typed before, and the host that it names.
fn with_first_line<'a>(
    found: Separator<'a>,
    text: &'a str,
    at: usize,
    open: &Open<'a>,
) -> (usize, Separator<'a>) {
    if !matches!(found.style, Style::Once(mark) if prompt::SECOND.contains(&mark)) {
        return (at, found);
    }
    let printed = &text[open.body..at];
    let framed = open
        .host
        .filter(|_| open.command.is_none() && printed.trim().is_empty());
    let first = prompt::first_line(printed).filter(|_| framed.is_none());
    let host = first.map_or(framed, |(_, host)| host);
    let end = first.map_or(at, |(start, _)| open.body + start);
    (end, Separator { host, ..found })
}

/// What stands for the end of a block whose own mark was taken out.
pub(super) const END: &str = "{code}";

/// What closes a block of output in a page or a pager, with words of its author behind it (Jira, BBCode, HTML, less(1)).
const ENDS: [&str; 6] = ["{noformat}", END, "[/code]", "[/pre]", "</pre>", "(END)"];

fn is_end(line: &str) -> bool {
    ENDS.contains(&line.trim()) || is_time(line)
}

fn separator(line: &str) -> Option<Separator<'_>> {
    prompt::read(line).or_else(|| heading::read(line))
}

/// Whether a line begins what a command printed, or names a command that did.
pub(super) fn is_begin(line: &str) -> bool {
    let line = line.trim_end();
    let is_known = |found: Separator<'_>| is_of_use(found.command);
    begins::print(line).is_some() || separator(line).is_some_and(is_known)
}

/// Whether a text begins so, but for blank lines.
pub(super) fn begins_output(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.next().is_some_and(is_begin)
}

/// Whether a line is what uname(1) prints of all.
pub(super) fn is_uname(line: &str) -> bool {
    begins::uname(line.trim_end()).is_some()
}

/// The host or pod that a command goes to, and what it runs there.
fn over(line: &str) -> Option<(&str, &str)> {
    command::over_ssh(line).or_else(|| command::over_exec(line))
}

/// What ssh or kubectl printed is of the host or pod that it went to.
fn at_its_host(piece: Piece<'_>) -> Piece<'_> {
    match piece.command.and_then(over) {
        Some((host, command)) => Piece {
            host: Some(host),
            command: Some(command),
            ..piece
        },
        None => piece,
    }
}

/// Whether this is output of the host at which everything was typed, and nothing names that host: beside it what came from
/// elsewhere would be taken for its own.
fn is_of_nobody(piece: &Piece<'_>) -> bool {
    let is_own = match piece.command {
        Some(line) => over(line).is_none() && command::is_known(line),
        None => begins_output(piece.body),
    };
    piece.host.is_none() && is_own
}

/// Whether the output of a command can be of use, here or to know that it is none of this host's.
fn is_of_use(command: &str) -> bool {
    command::is_known(command) || command::runs_elsewhere(command)
}

fn counts(found: &Separator<'_>, styles: &BTreeSet<Style>) -> bool {
    found.style == Style::Certain
        || is_of_use(found.command)
        || matches!(found.style, Style::Once(_)) && styles.contains(&found.style)
}

/// `# ssh gw2`, which could be a comment: not below what was typed at such prompts.
fn leads_away(found: &Separator<'_>, open: &Open<'_>, above: &[Piece<'_>]) -> bool {
    let above = above.iter().map(|piece| piece.command);
    let mut typed = above.chain([open.command]).flatten();
    found.style == Style::Known
        && command::opens_shell(found.command)
        && typed.any(command::is_known)
}

fn leads_back(found: &Separator<'_>, away: Option<Away<'_>>) -> bool {
    found.style == Style::Known && away.is_some() && command::ends_shell(found.command)
}

/// The styles that had a known command somewhere in the text.
fn established(text: &str) -> BTreeSet<Style> {
    let separators = text.lines().filter_map(separator);
    let known = separators.filter(|found| is_of_use(found.command));
    known.map(|found| found.style).collect()
}

/// A line and where it is.
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
    pub(super) end: usize,
    /// From 1.
    pub(super) number: usize,
}

pub(super) struct Lines<'a> {
    rest: &'a str,
    at: usize,
    number: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str) -> Lines<'a> {
        Lines {
            rest: text,
            at: 0,
            number: 0,
        }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let line = self.rest.split_inclusive('\n').next()?;
        let start = self.at;
        self.at += line.len();
        self.number += 1;
        self.rest = &self.rest[line.len()..];
        Some(Line {
            text: line.trim_end_matches('\n'),
            start,
            end: self.at,
            number: self.number,
        })
    }
}

/// A shell elsewhere, that was opened at this host.
#[derive(Clone, Copy)]
struct Away<'a> {
    /// By which command.
    command: &'a str,
    /// The host that the prompt named before which that command was typed.
    host: Option<&'a str>,
    /// The shell is of a network namespace of this host: its prompt is the host's own.
    is_here: bool,
}

impl<'a> Away<'a> {
    /// Where somebody is behind a prompt.
    fn behind(away: Option<Self>, separator: &Separator<'a>) -> Option<Self> {
        let typed = separator.command.trim();
        let is_back =
            |away: Self| !away.is_here && separator.host.is_some() && separator.host == away.host;
        let stays = away.filter(|away| !is_back(*away) && !command::ends_shell(typed));
        let opens = stays.is_none() && command::opens_shell(typed);
        let opened = opens.then(|| Self {
            command: typed,
            host: separator.host,
            is_here: command::stays_here(typed),
        });
        opened.or(stays)
    }
}

/// A piece whose end is not known yet.
#[derive(Default)]
struct Open<'a> {
    command: Option<&'a str>,
    host: Option<&'a str>,
    /// At a prompt, for sure.
    is_typed: bool,
    interface: Option<&'a str>,
    body: usize,
    line: usize,
}

impl<'a> Open<'a> {
    /// What stands below the name of an interface is of the same command.
    fn under(self, interface: &'a str, line: &Line<'a>) -> Open<'a> {
        Open {
            interface: Some(interface),
            body: line.end,
            line: line.number,
            ..self
        }
    }

    /// What stands behind the end of a block.
    fn behind(self, line: &Line<'a>) -> Open<'a> {
        Open {
            body: line.end,
            line: line.number,
            ..self
        }
    }

    /// Whether a loop that was typed prints each name below what it is about (`ethtool -k $i | grep large; echo $i`): something
    /// that names no interface stands above the first name then.
    fn names_below(&self, printed: &str) -> bool {
        let is_loop = self.command.is_some_and(|line| line.contains("do "));
        let mut lines = printed.lines().filter(|line| !line.trim().is_empty());
        let first = lines.next().filter(|_| is_loop && self.interface.is_none());
        first.is_some_and(|line| begins::print(line).is_some() && begins::interface(line).is_none())
    }

    fn at(separator: Separator<'a>, line: &Line<'a>) -> Open<'a> {
        Open {
            command: Some(separator.command).filter(|command| !command.is_empty()),
            host: separator.host,
            is_typed: separator.host.is_some() || separator.style == Style::Certain,
            body: line.end,
            line: line.number,
            ..Open::default()
        }
    }

    /// Nothing printed is no piece, but where that says that a setting was changed: at a prompt that names its host, or that
    /// can be nothing else, somebody has typed that, and not only recommended.
    fn close(&self, text: &'a str, end: usize, pieces: &mut Vec<Piece<'a>>) {
        let body = &text[self.body..end];
        let typed = self.command.filter(|_| self.is_typed);
        if !body.trim().is_empty() || typed.is_some_and(command::is_change) {
            pieces.push(Piece {
                command: self.command,
                host: self.host,
                interface: self.interface,
                line: self.line + 1,
                body,
            });
        }
    }
}

#[cfg(test)]
mod tests;
