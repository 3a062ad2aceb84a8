//! What could not be read, collected without a line for each of a thousand interfaces.

use crate::model::Unread;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::io::{self, ErrorKind};

/// Interfaces named for one thing that could not be read; the rest are counted.
const NAMED: usize = 5;

/// Of which interface, and ` in NAME` if that is in another namespace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Of<'a> {
    pub(super) interface: &'a str,
    pub(super) inside: &'a str,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Unreads {
    whole: BTreeSet<Unread>,
    /// By what and why: of which interfaces.
    of_interfaces: BTreeMap<(String, String), BTreeSet<String>>,
}

impl Unreads {
    /// Something was not read.
    pub(super) fn note(&mut self, what: impl Into<String>, why: impl Display) {
        self.whole.insert(Unread {
            what: what.into(),
            why: why.to_string(),
        });
    }

    /// Something of an interface was not read.
    pub(super) fn note_of(&mut self, what: &str, of: Of<'_>, why: &impl Display) {
        let key = (what.to_owned(), without(of.interface, &why.to_string()));
        let interfaces = self.of_interfaces.entry(key).or_default();
        interfaces.insert(format!("{}{}", of.interface, of.inside));
    }

    pub(super) fn absorb(&mut self, other: Self) {
        self.whole.extend(other.whole);
        for (key, interfaces) in other.of_interfaces {
            self.of_interfaces
                .entry(key)
                .or_default()
                .extend(interfaces);
        }
    }

    pub(super) fn finish(self) -> Vec<Unread> {
        let mut all = self.whole;
        for ((what, why), interfaces) in self.of_interfaces {
            let what = format!("{what} of {}", list(&interfaces));
            all.insert(Unread { what, why });
        }
        all.into_iter().collect()
    }
}

/// The interface's name among the words would make each of them another.
fn without(interface: &str, why: &str) -> String {
    let words = why.split(' ').map(|word| {
        let bare = word.trim_end_matches([':', ';', ',']);
        if bare == interface {
            format!("the interface{}", &word[bare.len()..])
        } else {
            word.to_owned()
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn list(interfaces: &BTreeSet<String>) -> String {
    let named: Vec<_> = interfaces.iter().take(NAMED).map(String::as_str).collect();
    let rest = interfaces.len() - named.len();
    let mut list = named.join(", ");
    if rest > 0 {
        list.push_str(&format!(" and {rest} more"));
    }
    list
}

/// The reason, and a remedy.
pub(super) fn why(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => denied().to_owned(),
        ErrorKind::NotFound => "not there".to_owned(),
        _ => error.to_string(),
    }
}

/// Why access was denied, and a remedy.
pub(super) fn denied() -> &'static str {
    if nix::unistd::geteuid().is_root() {
        "the kernel refuses it even to root, as it does inside of a container; run it on the host itself"
    } else {
        "not allowed; run as root"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_interfaces_are_one_line() {
        let mut unread = Unreads::default();
        for number in 0..9 {
            let name = format!("veth{number}");
            let why = format!("cannot read the driver of {name}");
            let of = Of {
                interface: &name,
                inside: "",
            };
            unread.note_of("driver", of, &why);
        }
        let all = unread.finish();
        assert_eq!(all.len(), 1);
        assert_eq!(
            all[0].what,
            "driver of veth0, veth1, veth2, veth3, veth4 and 4 more"
        );
        assert_eq!(all[0].why, "cannot read the driver of the interface");
    }

    #[test]
    fn only_the_whole_name_is_taken_out() {
        let why = "cannot read lo: not allowed; is lo, not loop";
        let without = without("lo", why);
        assert_eq!(
            without,
            "cannot read the interface: not allowed; is the interface, not loop"
        );
    }
}
