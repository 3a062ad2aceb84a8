//! Readers of saved output: what a command printed on another machine, as part of a [`Snapshot`].
//!
//! A text is recognised by its content. What names it (a file's name, the command in a bundle) only
//! fills in what the content does not tell, such as the interface that `ethtool -S` is about. A
//! reader writes what it understood into a snapshot, and names in [`Snapshot::unread`] what it did
//! not: it never guesses.

pub(crate) mod changes;
mod esxi;
mod freebsd;
pub(crate) mod linux;
mod notes;
pub(crate) mod windows;

pub(crate) use notes::quoted;

use crate::model::Snapshot;

/// The output of one command, or one file.
#[derive(Clone, Debug)]
pub struct Text<'a> {
    /// Where it is from, for messages: a path, or a path and a section.
    pub origin: &'a str,
    /// The command or path that made it, if a bundle, a prompt or a sosreport tells: `ethtool -S
    /// eth0`, `/proc/net/snmp`. Untrusted: used only for what the content does not tell.
    pub command: Option<&'a str>,
    /// What was printed: UTF-8, with line feeds only.
    pub body: &'a str,
}

/// Reads one kind of output.
pub(crate) struct Reader {
    /// The command or file that prints it, for messages: `ethtool -k`.
    pub(crate) name: &'static str,
    /// Whether this text, by its content, is of that kind. Must be cheap, must not be true of
    /// another kind's output.
    pub(crate) recognises: fn(&Text<'_>) -> bool,
    /// Puts what it says into an empty snapshot; what it does not understand into its `unread`.
    pub(crate) read: fn(&Text<'_>, &mut Snapshot),
}

/// A recognised text.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The command or file that prints such texts.
    pub kind: &'static str,
    /// What it says.
    pub snapshot: Snapshot,
}

/// Reads a text; `None` if no reader knows its kind.
#[must_use]
pub fn read(text: &Text<'_>) -> Option<Reading> {
    let all = [
        &[changes::READER][..],
        linux::READERS,
        freebsd::READERS,
        windows::READERS,
        esxi::READERS,
    ];
    let mut readers = all.into_iter().flatten();
    let reader = readers.find(|reader| (reader.recognises)(text))?;
    let mut snapshot = Snapshot::default();
    (reader.read)(text, &mut snapshot);
    Some(Reading {
        kind: reader.name,
        snapshot,
    })
}
