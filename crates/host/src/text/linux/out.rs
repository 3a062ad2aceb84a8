//! What readers of Linux output share: whole lines, notes on what was not understood, and
//! interfaces that are described more than once.

use super::merge::merge;
use crate::model::{Interface, Platform, Setting, Snapshot};
use crate::text::Text;
use crate::text::notes::{Notes, whole_lines};

/// A snapshot while one text is read into it.
pub(super) struct Out<'a> {
    text: &'a Text<'a>,
    kind: &'static str,
    pub(super) snapshot: &'a mut Snapshot,
    notes: Notes<'a>,
}

impl<'a> Out<'a> {
    /// Reads a text of Linux; `kind` is its reader's name.
    pub(super) fn linux(
        text: &'a Text<'a>,
        kind: &'static str,
        snapshot: &'a mut Snapshot,
    ) -> Self {
        snapshot.platform = Some(Platform::Linux);
        Self::any(text, kind, snapshot)
    }

    /// Reads a text that other platforms have, too.
    pub(super) fn any(text: &'a Text<'a>, kind: &'static str, snapshot: &'a mut Snapshot) -> Self {
        Self {
            text,
            kind,
            snapshot,
            notes: Notes::of(text, kind),
        }
    }

    /// Its lines, without spaces at their ends. The last one is left out and noted if it does not
    /// end: what it says may be half a number.
    pub(super) fn lines(&mut self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.whole().lines().map(str::trim_end)
    }

    /// The same as one text.
    pub(super) fn whole(&mut self) -> &'a str {
        whole_lines(self.text, &mut self.notes)
    }

    /// Notes that the text is not whole.
    pub(super) fn cut(&mut self) {
        let why = "ends in the middle: what follows is missing, what is not finished is left out";
        self.not_read(self.kind, why);
    }

    /// Notes a line that is not understood.
    pub(super) fn unknown(&mut self, line: &str) {
        self.notes.line(line);
    }

    /// Notes something else that was not read, and why.
    pub(super) fn not_read(&mut self, what: &str, why: &str) {
        self.notes.alike(what, why);
    }

    /// Takes what is understood of each line, notes those that are not.
    pub(super) fn each<T>(
        &mut self,
        lines: impl IntoIterator<Item = Result<T, impl AsRef<str>>>,
        mut take: impl FnMut(&mut Self, T),
    ) {
        for line in lines {
            match line {
                Ok(known) => take(self, known),
                Err(line) => self.unknown(line.as_ref()),
            }
        }
    }

    /// Adds an interface, or what this part of the text says of one that is known.
    pub(super) fn interface(&mut self, name: &str, new: Interface) {
        if !is_name(name) {
            self.unknown(name);
            return;
        }
        let known = self.snapshot.interface_mut(name);
        let new = Interface {
            name: known.name.clone(),
            ..new
        };
        for field in merge(known, new) {
            self.twice(&format!("{name}: {field}"));
        }
    }

    /// Notes that something has two values.
    pub(super) fn twice(&mut self, what: &str) {
        let why =
            "described twice with different values (two hosts in one text?); the first is kept";
        self.not_read(what, why);
    }

    /// Adds a protocol counter by its name in nstat.
    pub(super) fn counter(&mut self, name: String, value: u64) {
        let counters = &mut self.snapshot.stack.counters;
        let known = counters.get(&name).copied();
        if known.is_some_and(|known| known != value) {
            self.twice(&name);
        } else {
            counters.insert(name, value);
        }
    }

    /// The interface that the command names; noted if it does not.
    pub(super) fn interface_of_command(&mut self) -> Option<&'a str> {
        let found = interface_of_command(self.text);
        if found.is_none() {
            let why = "does not say which interface it is about, nor does what names it";
            self.not_read(self.kind, why);
        }
        found
    }

    /// Hands the notes over.
    pub(super) fn finish(self) {
        self.notes.finish(self.snapshot);
    }
}

/// The only line of a text, whole or not.
pub(super) fn only_line<'a>(text: &Text<'a>) -> Option<&'a str> {
    let body = text.body.trim();
    (!body.is_empty() && !body.contains('\n')).then_some(body)
}

/// Words of the command or path that made the text, as a bundle or sosreport writes them.
pub(super) fn command_words<'a>(text: &Text<'a>) -> impl DoubleEndedIterator<Item = &'a str> {
    let command = text.command.unwrap_or_default().trim();
    let file = command.rsplit('/').next().unwrap_or_default();
    let spaced = command.contains(char::is_whitespace);
    let (words, separator): (&str, fn(char) -> bool) = if spaced {
        (command, char::is_whitespace)
    } else {
        (file, |letter| letter == '_')
    };
    words.split(separator).filter(|word| !word.is_empty())
}

/// The interface that the command names: the word after the options of `ethtool -S eth0`, of
/// sosreport's `ethtool_-S_eth0`, or the last part of `/proc/net/bonding/bond0`.
fn interface_of_command<'a>(text: &Text<'a>) -> Option<&'a str> {
    let command = text.command?.trim();
    if let Some((_, name)) = command.rsplit_once("/net/bonding/") {
        return Some(name).filter(|name| is_name(name));
    }
    let after = command.rsplit_once("ethtool").map(|(_, after)| after)?;
    let separator = after.chars().next()?;
    let rest = after.trim_matches(|letter: char| letter == separator || letter.is_whitespace());
    let name = match separator {
        ' ' => rest
            .split_whitespace()
            .find(|word| !word.starts_with('-'))?,
        '_' => sosreport_name(rest)?,
        _ => return None,
    };
    let name = unquoted(first_of_pipe(name));
    Some(name).filter(|name| is_name(name) && !is_shells(name))
}

/// `eth0` of `eth0|grep` and `eth0;`: the shell needs no blank there.
fn first_of_pipe(word: &str) -> &str {
    word.split(['|', ';', '&', '>']).next().unwrap_or(word)
}

/// A word without the quotes around it.
fn unquoted(word: &str) -> &str {
    let inside = |quote| word.strip_prefix(quote)?.strip_suffix(quote);
    inside('"').or_else(|| inside('\'')).unwrap_or(word)
}

/// Whether the shell puts something else in a word's place, or ends the command in it: `$i` and `$i;` of a loop name no
/// interface (POSIX 1003.1, XCU 2.2). The kernel would take such a name, but nobody gives it.
fn is_shells(word: &str) -> bool {
    word.contains(|letter: char| "$`\"'\\|&;<>(){}*?".contains(letter))
}

/// The name after `-S_`: it may have underscores itself.
fn sosreport_name(rest: &str) -> Option<&str> {
    match rest.split_once('_') {
        Some((option, name)) if option.starts_with('-') => Some(name),
        _ if rest.starts_with('-') => None,
        _ => Some(rest),
    }
}

/// Whether the kernel would take this as the name of an interface (`dev_valid_name`).
pub(super) fn is_name(name: &str) -> bool {
    let forbidden = |letter: char| letter.is_whitespace() || matches!(letter, '/' | ':');
    (1..=15).contains(&name.len()) && name != "." && name != ".." && !name.contains(forbidden)
}

/// A number, on or off, or the text itself.
pub(super) fn setting(value: &str) -> Setting {
    match value {
        "on" => Setting::Flag(true),
        "off" => Setting::Flag(false),
        _ => value
            .parse()
            .map_or_else(|_| Setting::Text(value.to_owned()), Setting::Number),
    }
}

/// `on` or `off`.
pub(super) fn on_off(value: &str) -> Option<bool> {
    match value {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named_by(command: &str) -> Option<&str> {
        let text = Text {
            origin: "given",
            command: Some(command),
            body: "",
        };
        interface_of_command(&text)
    }

    #[test]
    fn words_of_the_shell_name_no_interface() {
        for loop_of in [
            "for i in eth0 eth1; do ethtool -k $i; done",
            "for i in eth0 eth1; do ethtool -i \"$i\" | head -2; done",
            "for i in eth0 eth1; do echo $i; ethtool -k ${i} | grep large; done",
            "ls /sys/class/net | while read -r i; do ethtool -k $i;done",
            "ls /sys/class/net | xargs -I{} ethtool -k {}",
            "ethtool -k `ls /sys/class/net`",
            "ethtool -k $(ls /sys/class/net | head -1)",
        ] {
            assert_eq!(named_by(loop_of), None, "{loop_of}");
        }
        for quoted in [
            "ethtool -k eth0",
            "ethtool -k 'eth0'",
            "ethtool -k \"eth0\" | grep large",
            "ethtool -k eth0|grep large",
            "ethtool -k 'eth0'|grep large",
            "ethtool -k eth0;",
            "ethtool -k eth0&&echo",
            "ethtool -k eth0>features",
        ] {
            assert_eq!(named_by(quoted), Some("eth0"), "{quoted}");
        }
    }
}
