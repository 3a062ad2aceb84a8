//! The offloads of an interface that matter, with marks from findings.

use coalescope_host::model::Interface;
use coalescope_knowledge::Proof;
use coalescope_knowledge::rules::{Blame, Checked, HostFinding};

/// Offloads that decide how large received and forwarded frames are: the platform's name, the name
/// on the page, and the words in settings and rule ids.
const OFFLOADS: [(&str, &str, &[&str]); 9] = [
    ("generic-receive-offload", "GRO", &["gro"]),
    ("large-receive-offload", "LRO", &["lro"]),
    (
        "rx-gro-hw",
        "hardware GRO",
        &["rx-gro-hw", "hw-gro", "gro-hw"],
    ),
    (
        "rx-udp-gro-forwarding",
        "UDP GRO forwarding",
        &["rx-udp-gro-forwarding"],
    ),
    ("tcp-segmentation-offload", "TSO", &["tso"]),
    ("LRO", "LRO", &["lro"]),
    ("TSO4", "TSO", &["tso"]),
    ("rsc-ipv4", "RSC IPv4", &["rsc"]),
    ("rsc-ipv6", "RSC IPv6", &["rsc"]),
];

/// The mark of an offload; of several, the gravest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    /// The offload harms.
    Harms,
    /// The offload may harm, or would help.
    Suspected,
    /// The offload is right as it is.
    LeftAlone,
}

impl Mark {
    /// The class of the style sheet.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Harms => "bad",
            Self::Suspected => "warn",
            Self::LeftAlone => "good",
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Harms => "! ",
            Self::Suspected => "? ",
            Self::LeftAlone => "\u{2713} ",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Harms => " (harms)",
            Self::Suspected => " (suspected)",
            Self::LeftAlone => " (right as it is)",
        }
    }
}

/// An offload of an interface.
#[derive(Clone, Debug)]
pub(crate) struct Chip {
    name: &'static str,
    is_on: bool,
    /// What a finding says of it, if any does.
    pub(crate) mark: Option<Mark>,
}

impl Chip {
    /// The text of the drawing.
    pub(crate) fn text(&self) -> String {
        let sign = self.mark.map_or("", Mark::sign);
        format!("{sign}{} {}", self.name, self.state())
    }

    /// The text for screen readers.
    pub(crate) fn spoken(&self) -> String {
        let words = self.mark.map_or("", Mark::words);
        format!("{} {}{words}", self.name, self.state())
    }

    fn state(&self) -> &'static str {
        if self.is_on { "on" } else { "off" }
    }
}

/// The known offloads of an interface. Offloads that are off are left out, except GRO and those with findings.
pub(crate) fn chips(key: &str, interface: &Interface, checked: &Checked) -> Vec<Chip> {
    let known = OFFLOADS.iter().filter_map(|(feature, name, words)| {
        let is_on = interface.features.get(*feature)?.active;
        let mark = mark(key, words, checked);
        let is_told = is_on || mark.is_some() || *name == "GRO";
        is_told.then_some(Chip { name, is_on, mark })
    });
    known.collect()
}

fn mark(key: &str, words: &[&str], checked: &Checked) -> Option<Mark> {
    let findings = checked.findings.iter();
    let found = findings
        .filter(|finding| finding.interface.as_deref() == Some(key) && is_about(finding, words))
        .map(|finding| match (finding.blame, finding.proof) {
            (Blame::Harms, proof) if proof > Proof::Suspected => Mark::Harms,
            _ => Mark::Suspected,
        });
    let alone = checked
        .left_alone
        .iter()
        .filter(|one| one.interface.as_deref() == Some(key) && has_word(&one.id, words));
    found.chain(alone.map(|_| Mark::LeftAlone)).min()
}

/// Whether a finding is about an offload: from the settings of its remedies, or else from its id.
fn is_about(finding: &HostFinding, words: &[&str]) -> bool {
    let mut levels = finding.remedies.iter().flat_map(|one| &one.settings);
    let mut levels = levels.by_ref().peekable();
    if levels.peek().is_some() {
        return levels.any(|level| words.contains(&level.name.as_str()));
    }
    has_word(&finding.id, words)
}

fn has_word(id: &str, words: &[&str]) -> bool {
    id.split('-').any(|word| words.contains(&word))
}
