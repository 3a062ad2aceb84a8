//! What mends findings, and what was done.

use std::io::{self, Write};

use coalescope_knowledge::Proof;
use coalescope_knowledge::rules::{HostFinding, RemedyKind};
use coalescope_remedy::Plan;
use serde::Serialize;

use crate::json;
use crate::text::{self, TextOptions};

/// What `coalescope fix` has to say.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FixReport {
    /// The findings, each with what mends it.
    pub fixes: Vec<Fixed>,
    /// What files would have to say (`--persist`).
    pub files: Plan,
    /// The changes were made, and stay.
    pub applied: bool,
    /// What came of each change.
    pub changes: Vec<String>,
    /// Journals that take them back.
    pub journals: Vec<String>,
    /// Why nothing was kept.
    pub problem: Option<String>,
    /// What could not be taken back then.
    pub unrestored: Vec<String>,
    /// What was applied before, and whether it holds (`--verify`).
    pub verified: Vec<Verified>,
}

/// A finding, and what mends it.
#[derive(Clone, Debug, Serialize)]
pub struct Fixed {
    pub(crate) id: String,
    pub(crate) place: Option<String>,
    pub(crate) proof: Proof,
    pub(crate) title: String,
    pub(crate) settings: Vec<String>,
    pub(crate) commands: Vec<String>,
    pub(crate) by_hand: Vec<String>,
    pub(crate) lasting_by_hand: Vec<String>,
    pub(crate) cost: Option<String>,
    pub(crate) experiment: Option<String>,
}

/// Something that was applied, and whether it holds.
#[derive(Clone, Debug, Serialize)]
pub struct Verified {
    pub(crate) journal: String,
    pub(crate) what: String,
    pub(crate) wanted: String,
    pub(crate) is: String,
    pub(crate) holds: bool,
}

impl Fixed {
    /// Takes a finding and the settings that mend it. What is to last by hand is told where we write
    /// no file for it.
    #[must_use]
    pub fn new(finding: &HostFinding, settings: Vec<String>, lasts_by_hand: bool) -> Self {
        let lasting = finding
            .remedies
            .iter()
            .filter(|remedy| lasts_by_hand && remedy.kind == RemedyKind::Persistent)
            .map(|remedy| format!("{}: {}", remedy.platform, remedy.command));
        let runtime = finding
            .remedies
            .iter()
            .filter(|remedy| remedy.kind == RemedyKind::Runtime);
        let (made, by_hand): (Vec<_>, Vec<_>) =
            runtime.partition(|remedy| !remedy.settings.is_empty());
        let commands = |remedies: Vec<&coalescope_knowledge::rules::Remedy>| {
            remedies
                .into_iter()
                .map(|remedy| remedy.command.clone())
                .collect()
        };
        Self {
            id: finding.id.clone(),
            place: finding.interface.clone().or_else(|| finding.switch.clone()),
            proof: finding.proof,
            title: finding.title.clone(),
            settings,
            commands: commands(made),
            by_hand: commands(by_hand),
            lasting_by_hand: lasting.collect(),
            cost: finding.cost.clone(),
            experiment: finding.experiment.clone(),
        }
    }
}

impl Verified {
    /// What a journal wanted, and what is.
    #[must_use]
    pub fn new(journal: &str, what: &str, wanted: &str, is: &str, holds: bool) -> Self {
        Self {
            journal: journal.to_owned(),
            what: what.to_owned(),
            wanted: wanted.to_owned(),
            is: is.to_owned(),
            holds,
        }
    }

    /// A journal that cannot be read.
    #[must_use]
    pub fn unreadable(journal: &str, why: &str) -> Self {
        Self::new(journal, "the journal", "readable", why, false)
    }
}

impl FixReport {
    /// Whether something that was applied does not hold.
    #[must_use]
    pub fn reverted(&self) -> bool {
        self.verified.iter().any(|verified| !verified.holds)
    }

    /// Prints one JSON document, `coalescope/fix/1`.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::document("coalescope/fix/1", self, out)
    }

    /// Prints for people.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_text(&self, out: &mut dyn Write, options: &TextOptions) -> io::Result<()> {
        text::write_fix(self, out, options)
    }
}
