//! Makes text from outside safe for a terminal, a shell or PowerShell.
//!
//! Names of interfaces, hosts, files and archives' entries may be anything that is not a slash: escape
//! sequences, `$(reboot)`, marks that turn the direction of writing. Cells of CSV and pages of HTML have
//! a place of their own, in coalescope-report.

use std::borrow::Cow;

/// Printed in place of invisible characters.
const SUBSTITUTE: char = char::REPLACEMENT_CHARACTER;
/// What makes a word that every shell takes as it is, besides letters and digits of ASCII.
const PLAIN: &str = "_.:@%+=,/-";

/// A text as a terminal shows it and nothing else: what the terminal would obey, and what nobody would
/// see, is U+FFFD. Line feeds stay.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    shown(text, |c| c != '\n' && is_unseen(c))
}

/// The same of a text that is one line: a line feed could pass for the end of it.
#[must_use]
pub fn printable_line(text: &str) -> Cow<'_, str> {
    shown(text, is_unseen)
}

fn shown(text: &str, is_bad: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_bad) {
        return Cow::Borrowed(text);
    }
    // A tab only moves to the right, but how far is the terminal's affair.
    let replace = |c| match c {
        '\t' => ' ',
        c if is_bad(c) => SUBSTITUTE,
        c => c,
    };
    Cow::Owned(text.chars().map(replace).collect())
}

/// Whether a character is an order rather than a picture: control characters (also those of C1, which
/// terminals obey in UTF-8), separators of lines, the empty pattern of Braille, and all that Unicode
/// calls Default_Ignorable_Code_Point: marks of direction and of joining, fillers, tags, variations.
#[must_use]
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}' | '\u{1160}'
            | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Whether every shell takes a text as the word that it is, in quotes or not.
#[must_use]
pub fn is_plain(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || PLAIN.contains(c);
    text.chars().all(is_plain)
}

/// A text as one word of a POSIX shell, in quotes only where it needs them.
#[must_use]
pub fn sh(text: &str) -> Cow<'_, str> {
    if !text.is_empty() && is_plain(text) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
}

/// A simple command, run in a network namespace: one with a name under /run/netns, or at a path.
///
/// ip-netns(8) mounts the namespace's own /sys for the command; nsenter(1) leaves the caller's, where a file of the same
/// name is of another interface.
#[must_use]
pub fn within(namespace: &str, command: &str) -> String {
    if !namespace.starts_with('/') {
        return format!("ip netns exec {} {command}", sh(namespace));
    }
    let enter = format!("nsenter --net={}", sh(namespace));
    if command.contains("/sys/") {
        let line = format!("mount -t sysfs sysfs /sys && {command}");
        return format!("{enter} unshare --mount sh -c {}", sh(&line));
    }
    format!("{enter} {command}")
}

/// A text as a literal string of PowerShell. Besides the apostrophe it ends a string at four
/// typographic ones (about_Quoting_Rules).
#[must_use]
pub fn powershell(text: &str) -> String {
    let mut quoted = String::from("'");
    for c in text.chars() {
        if matches!(c, '\'' | '\u{2018}'..='\u{201b}') {
            quoted.push(c);
        }
        quoted.push(c);
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_without_a_name_is_entered_by_its_path() {
        let command = "ethtool -K e0 gro off";
        assert_eq!(
            within("a b", command),
            "ip netns exec 'a b' ethtool -K e0 gro off"
        );
        assert_eq!(
            within("/proc/7/ns/net", command),
            "nsenter --net=/proc/7/ns/net ethtool -K e0 gro off"
        );
        assert_eq!(
            within("/run/a b", "cat /sys/class/net/e0/mtu"),
            "nsenter --net='/run/a b' unshare --mount sh -c \
             'mount -t sysfs sysfs /sys && cat /sys/class/net/e0/mtu'"
        );
    }

    #[test]
    fn a_terminal_gets_no_orders() {
        let hostile = "a\x1b[2J\u{9b}31m\u{202e}cba\u{200b}\r\x07\u{e0041}é漢";
        let shown = printable_line(hostile);
        assert!(!shown.chars().any(is_unseen));
        assert!(shown.ends_with("é漢"));
        assert_eq!(printable("a\nb"), "a\nb");
        assert_eq!(printable_line("a\nb"), "a\u{fffd}b");
        assert!(matches!(printable("eth0"), Cow::Borrowed("eth0")));
    }

    #[test]
    fn a_shell_gets_words() {
        assert_eq!(sh("eth0.100@br-lan:1"), "eth0.100@br-lan:1");
        assert_eq!(sh("x$(id>PWN)"), "'x$(id>PWN)'");
        assert_eq!(sh("a'b"), r"'a'\''b'");
        assert_eq!(sh(""), "''");
        assert_eq!(sh("~"), "'~'");
        assert_eq!(powershell("Bob's ‘NIC’"), "'Bob''s ‘‘NIC’’'");
    }
}
