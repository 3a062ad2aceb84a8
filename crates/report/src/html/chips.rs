//! The offloads of an interface that matter, and what findings say of them.

use coalescope_host::model::Interface;
use coalescope_knowledge::Proof;
use coalescope_knowledge::rules::{Blame, Checked, HostFinding};

/// Offloads that decide how large received and forwarded frames are: as the platform names them, how
/// they are shown, and the words of a setting or a rule's id that mean them.
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

/// What a finding says of an offload; of several the first is the graver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    /// It harms.
    Harms,
    /// It may harm, or something is missed.
    Suspected,
    /// It is right as it is.
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
    /// As it is drawn.
    pub(crate) fn text(&self) -> String {
        let sign = self.mark.map_or("", Mark::sign);
        format!("{sign}{} {}", self.name, self.state())
    }

    /// As it is read aloud.
    pub(crate) fn spoken(&self) -> String {
        let words = self.mark.map_or("", Mark::words);
        format!("{} {}{words}", self.name, self.state())
    }

    fn state(&self) -> &'static str {
        if self.is_on { "on" } else { "off" }
    }
}

/// The offloads of an interface that are known. Those that are off are left out, unless a finding
/// says something of them or it is GRO.
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

/// Whether a finding is about an offload: by what its remedies set, or else by its id.
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
