//! The report of fixes.

use std::fmt;
use std::io::{self, Write};

use coalescope_knowledge::rules::{Blame, HostFinding, RemedyKind};
use coalescope_knowledge::{Experiment, Proof, Standing};
use coalescope_remedy::Plan;
use coalescope_watch::facts::Watched;
use schemars::{JsonSchema, Schema};
use serde::{Serialize, Serializer};

use crate::document::{self, Document};
use crate::html;
use crate::made::Made;
use crate::text::{self, TextOptions};

/// Name and version of the JSON document.
const SCHEMA: &str = "coalescope/fix/1";

/// What `coalescope fix` has to say.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct FixReport {
    /// The findings, each with what mends it.
    pub fixes: Vec<Fixed>,
    /// What files would have to say (`--persist`).
    pub files: Plan,
    /// Settings that an earlier fix made and that are in force, so that no finding is left of them: `--persist` makes these
    /// last as well.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub in_force: Vec<String>,
    /// Findings whose settings cannot be made, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
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
    /// What was counted after that (`--watch`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watched: Option<Meanwhile>,
    /// Whether only that was asked for.
    #[serde(skip)]
    pub verifies: bool,
    /// Whether it is about another host.
    #[serde(skip)]
    pub is_elsewhere: bool,
}

/// What a running host was seen to do with merged frames, and what that shows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Meanwhile {
    /// The counts, as `coalescope watch` has them.
    pub watched: Watched,
    /// What they show, what harms first.
    pub findings: Vec<HostFinding>,
}

impl Meanwhile {
    fn harms(&self) -> bool {
        let mut all = self.findings.iter();
        all.any(|finding| Blame::is_wrong(finding.blame))
    }
}

/// A finding, and what mends it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Fixed {
    /// The host, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) host: Option<String>,
    /// The finding's id.
    pub(crate) id: String,
    /// The interface or switch that it is about.
    pub(crate) place: Option<String>,
    /// How sure it is.
    pub(crate) proof: Proof,
    /// The finding in one line.
    pub(crate) title: String,
    /// Settings that mend it, as `ab --set` takes them.
    pub(crate) settings: Vec<String>,
    /// Commands that do the same.
    pub(crate) commands: Vec<String>,
    /// Commands that mend it and are not among the settings.
    pub(crate) by_hand: Vec<String>,
    /// What makes it last where no file is written for it, each with its platform.
    #[serde(serialize_with = "as_texts")]
    #[schemars(with = "Vec<String>")]
    pub(crate) lasting_by_hand: Vec<Lasting>,
    /// What the remedy costs.
    pub(crate) cost: Option<String>,
    /// The experiment that would prove or clear it.
    #[schemars(with = "Option<String>")]
    pub(crate) experiment: Option<Experiment>,
    /// What the last experiment that was made of it has shown; none if there was none.
    pub(crate) shown: Option<Shown>,
}

/// What makes a remedy last, and on which platform.
#[derive(Clone, Debug)]
pub(crate) struct Lasting {
    pub(crate) platform: String,
    pub(crate) command: String,
}

impl fmt::Display for Lasting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.platform, self.command)
    }
}

fn as_texts<S: Serializer>(all: &[Lasting], out: S) -> Result<S::Ok, S::Error> {
    out.collect_seq(all.iter().map(Lasting::to_string))
}

/// What an experiment has shown of a finding.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ShownByExperiment")]
pub struct Shown {
    /// When it began, in seconds since 1970.
    pub begun_unix_s: u64,
    /// What became of the finding.
    pub now: Standing,
    /// The experiment's verdict.
    pub verdict: String,
}

/// Something that was applied, and whether it holds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Verified {
    /// The journal that says so.
    pub(crate) journal: String,
    /// The setting or the file.
    pub(crate) what: String,
    /// What was applied.
    pub(crate) wanted: String,
    /// What is now.
    pub(crate) is: String,
    /// The two agree.
    pub(crate) holds: bool,
}

impl Fixed {
    /// A finding with the settings that fix it. Steps by hand that make the fix persistent are
    /// included where no file is written.
    #[must_use]
    pub fn new(finding: &HostFinding, settings: Vec<String>, lasts_by_hand: bool) -> Self {
        let lasting = finding
            .remedies
            .iter()
            .filter(|remedy| lasts_by_hand && remedy.kind == RemedyKind::Persistent)
            .map(|remedy| Lasting {
                platform: remedy.platform.clone(),
                command: remedy.command.clone(),
            });
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
            host: None,
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
            shown: None,
        }
    }

    /// Adds the name of the host, where there are several.
    #[must_use]
    pub fn on(self, host: Option<String>) -> Self {
        Self { host, ..self }
    }

    /// Adds the verdict of an experiment.
    #[must_use]
    pub fn with_proof(mut self, shown: Option<Shown>) -> Self {
        if shown
            .as_ref()
            .is_some_and(|shown| shown.now == Standing::Proven)
        {
            self.proof = Proof::Proven;
        }
        self.shown = shown;
        self
    }
}

impl Verified {
    /// The wanted and the present value of a journal's setting.
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
    /// Whether an applied setting no longer holds, or merged frames are dropped in spite of it.
    #[must_use]
    pub fn reverted(&self) -> bool {
        let is_back = self.verified.iter().any(|verified| !verified.holds);
        is_back || self.watched.as_ref().is_some_and(Meanwhile::harms)
    }
}

impl Document for FixReport {
    fn schema() -> Schema {
        document::schema::<Self>(SCHEMA)
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        document::write(SCHEMA, self, out)
    }

    fn write_text(&self, out: &mut dyn Write, options: &TextOptions) -> io::Result<()> {
        text::write_fix(self, out, options)
    }

    fn write_html(&self, made: &Made, out: &mut dyn Write) -> io::Result<()> {
        html::write_fix(self, made, out)
    }
}
