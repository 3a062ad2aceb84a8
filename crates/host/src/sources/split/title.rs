//! Lines that name the interface whose output stands below, as a loop over interfaces prints them
//! (`for i in eth0 eth1; do echo "### $i"; ethtool -k $i; done`).

use std::collections::BTreeSet;

use super::{Lines, begins, prompt};
use crate::names::{NICS, numbered};
use crate::text::changes::loop_of;

/// Titles of what one host printed at two times.
const TIMES: [&str; 5] = ["before", "after", "now", "earlier", "later"];

/// `Before:`, `=== After ===`: what stands below is of another time than what stands above.
pub(in crate::sources) fn is_time(line: &str) -> bool {
    let marks = |c: char| c.is_whitespace() || "#=*-:".contains(c);
    let word = line.trim_matches(marks);
    TIMES.iter().any(|time| word.eq_ignore_ascii_case(time))
}

/// Names of interfaces.
pub(in crate::sources) struct Names<'a> {
    listed: BTreeSet<&'a str>,
}

impl<'a> Names<'a> {
    /// Those that outputs of the text are about, and those that a loop typed in it goes over.
    pub(in crate::sources) fn of(text: &'a str) -> Self {
        let mut listed = BTreeSet::new();
        for line in Lines::of(text) {
            listed.extend(begins::interface(line.text));
            listed.extend(
                prompt::read(line.text)
                    .into_iter()
                    .flat_map(|typed| looped(typed.command)),
            );
        }
        Self { listed }
    }

    /// Whether this names an interface: one of the text, or as the kernel and systemd name them.
    fn has(&self, name: &str) -> bool {
        self.listed.contains(name) || is_usual(name)
    }

    /// Whether a name is that of an interface, and what stands below may be of it: a host may have the name of an interface, as
    /// of a tunnel to it, and prints other things.
    pub(in crate::sources) fn is_title(&self, name: &str, below: &str) -> bool {
        self.has(name) && is_about(below, name)
    }
}

/// What takes a command of a loop to hosts, containers or namespaces, whose names the loop goes over then.
const AWAY: [&str; 6] = ["ssh ", "exec ", "clush", "pdsh", "ansible", "nsenter"];

/// `eth0 eth1` of `for i in eth0 eth1; do ethtool -k $i; done`.
fn looped(command: &str) -> impl Iterator<Item = &str> {
    let is_elsewhere = AWAY.iter().any(|away| command.contains(away));
    let words = loop_of(command)
        .filter(|_| command.contains("ethtool") && !is_elsewhere)
        .map_or("", |(_, words, _)| words);
    words.split_whitespace()
}

/// Begins of other names that outputs are about: a number follows as well.
const OTHERS: [&str; 3] = ["bond", "vmnic", "wlp"];

fn is_usual(name: &str) -> bool {
    let plain =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '.';
    numbered(name, &[NICS, &OTHERS]).any(|number| number.chars().all(plain))
}

/// Words that stand before the name.
const TITLES: [&str; 8] = [
    "interface",
    "iface",
    "nic",
    "device",
    "dev",
    "port",
    "adapter",
    "ethtool",
];

/// The interface that a line names, if what stands below is output that may be of it. Without tabs and blanks in front, the last
/// lines of tables name interfaces as well (brctl(8), ovs-vsctl(8)): a prompt is below these, or the output of another interface.
pub(super) fn read<'a>(line: &'a str, below: &str, names: &Names<'_>) -> Option<&'a str> {
    let bare = line.trim_matches(|c: char| "#=*-+<>[]:.`\"' \t".contains(c));
    let name = match bare.split_once([' ', ':']) {
        Some((title, name)) => {
            let is_title = TITLES.iter().any(|one| title.eq_ignore_ascii_case(one));
            is_title.then(|| name.trim_matches([':', ' ']))?
        }
        None => bare,
    };
    let is_left = !line.starts_with([' ', '\t']);
    (is_left && names.is_title(name, below)).then_some(name)
}

/// Whether a text begins with what a command printed, of this interface or of none that it names.
fn is_about(below: &str, name: &str) -> bool {
    let first = below.lines().find(|line| !line.trim().is_empty());
    first.is_some_and(|line| {
        begins::print(line.trim_end()).is_some()
            && begins::interface(line).is_none_or(|named| named == name)
    })
}
