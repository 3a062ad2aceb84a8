//! The findings to fix, and their settings.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use anyhow::bail;
use coalescope_change::settings::{Setting, read};
use coalescope_knowledge::SetTo;
use coalescope_knowledge::rules::{HostFinding, RemedyKind};
use coalescope_report::Fixed;

use super::fixed;
use super::in_force::InForce;
use super::proofs::Proofs;
use crate::cli::FixArgs;
use crate::hosts;
use crate::speech;
use crate::system::linux::host::{outside, this_host};
use crate::system::linux::meant::hint;

/// The chosen findings and settings.
pub(super) struct Chosen {
    /// The findings.
    pub(super) fixes: Vec<Fixed>,
    /// The settings of all findings, each once, without those that are set already.
    pub(super) settings: Vec<Setting>,
    /// The settings of all findings, and with `--persist` those that an earlier fix has made: what is to last.
    pub(super) lasting: Vec<Setting>,
    /// Of these, the ones that no finding of now asks for.
    pub(super) in_force: Vec<Setting>,
    /// Findings whose settings cannot be made, and why.
    pub(super) left_out: Vec<String>,
}

impl Chosen {
    /// Applies the rules to this host and chooses.
    pub(super) fn of(args: &FixArgs) -> anyhow::Result<Self> {
        let rules = hosts::rules(&args.rules)?;
        let snapshots = vec![this_host(&args.live)?];
        let proofs = Proofs::read();
        let checked = hosts::checked(&rules, &snapshots);
        let all: Vec<&HostFinding> = checked.iter().flat_map(|(_, one)| &one.findings).collect();
        let kept = match args.persist {
            true => InForce::of(&args.findings),
            false => InForce::default(),
        };
        let is_now = |id: &&String| !kept.findings.contains(*id);
        let ids: Vec<String> = args.findings.iter().filter(is_now).cloned().collect();
        named(&all, &ids)?;
        let chosen = all.iter().copied();
        let chosen =
            chosen.filter(|one| args.findings.is_empty() || args.findings.contains(&one.id));
        let namespace = outside(&args.live)?;
        let (mut fixes, mut left_out, mut holding) = (Vec::new(), Vec::new(), Vec::new());
        let mut settings = Settings::default();
        for finding in chosen {
            let own = settings_of(finding, namespace.as_deref()).unwrap_or_else(|error| {
                // An interface whose name cannot be used must not keep the others from being fixed.
                speech::tell(&format!("warning: {} is left out: {error}", finding.id));
                left_out.push(format!("{}: {error}", finding.id));
                Vec::new()
            });
            settings.add(finding, &own)?;
            // Where the name cannot be used, that was said.
            let beside = settings_from(&finding.holding, namespace.as_deref());
            holding.extend(beside.unwrap_or_default());
            let proof = proofs.about(finding, &snapshots[0]);
            fixes.push(fixed(finding, &own, args.persist).with_proof(proof));
        }
        settings.add_kept(holding);
        let in_force = settings.add_kept(kept.settings);
        Ok(Self {
            fixes,
            lasting: settings.all(),
            settings: settings.into_changes()?,
            in_force,
            left_out,
        })
    }
}

/// The findings that were named, or all if none was.
pub(super) fn named<'a>(
    all: &[&'a HostFinding],
    ids: &[String],
) -> anyhow::Result<Vec<&'a HostFinding>> {
    refuse_unknown(all, ids)?;
    let chosen = all.iter().filter(|finding| is_named(finding, ids));
    Ok(chosen.copied().collect())
}

/// Whether a finding is among the named ones; each is if none was named.
pub(super) fn is_named(finding: &HostFinding, ids: &[String]) -> bool {
    ids.is_empty() || ids.contains(&finding.id)
}

/// Refuses names of findings that there are not.
pub(super) fn refuse_unknown(all: &[&HostFinding], ids: &[String]) -> anyhow::Result<()> {
    for id in ids {
        if !all.iter().any(|finding| finding.id == *id) {
            let known: Vec<&str> = all.iter().map(|finding| finding.id.as_str()).collect();
            let known = match known.is_empty() {
                true => "finds nothing to fix".to_owned(),
                false => format!(
                    "finds {}{}",
                    known.join(", "),
                    hint(id, known.iter().copied())
                ),
            };
            bail!("no finding is called {id} here: `coalescope check` {known}");
        }
    }
    Ok(())
}

/// The settings that fix a finding now. With a path after `--netns`, names are those of that namespace.
fn settings_of(finding: &HostFinding, namespace: Option<&str>) -> anyhow::Result<Vec<Setting>> {
    let runtime = finding
        .remedies
        .iter()
        .filter(|remedy| remedy.kind == RemedyKind::Runtime);
    settings_from(runtime.flat_map(|remedy| &remedy.settings), namespace)
}

fn settings_from<'a>(
    levels: impl IntoIterator<Item = &'a SetTo>,
    namespace: Option<&str>,
) -> anyhow::Result<Vec<Setting>> {
    levels
        .into_iter()
        .map(|level| {
            let mut setting: Setting = level.to_string().parse()?;
            if setting.subject.namespace.is_none() {
                setting.subject.namespace = namespace.map(str::to_owned);
            }
            Ok(setting)
        })
        .collect()
}

/// Settings, each with the finding that needs it.
#[derive(Default)]
struct Settings(BTreeMap<String, (Setting, String)>);

impl Settings {
    /// Adds the settings of a finding. Two findings may need the same setting, but not opposite ones.
    fn add(&mut self, finding: &HostFinding, settings: &[Setting]) -> anyhow::Result<()> {
        for setting in settings {
            let subject = setting.shortened().subject.to_string();
            let wanted = (setting.clone(), finding.id.clone());
            let (known, by) = self.0.entry(subject).or_insert(wanted);
            if known.value != setting.value {
                bail!(
                    "{by} wants {known}, and {} wants {setting}: name the one to fix",
                    finding.id
                );
            }
        }
        Ok(())
    }

    /// Adds what holds already, unless a finding of now asks for that setting; returns what was added.
    fn add_kept(&mut self, kept: Vec<Setting>) -> Vec<Setting> {
        let mut added = Vec::new();
        for setting in kept {
            let subject = setting.shortened().subject.to_string();
            if let Entry::Vacant(place) = self.0.entry(subject) {
                place.insert((setting.clone(), String::new()));
                added.push(setting);
            }
        }
        added
    }

    fn all(&self) -> Vec<Setting> {
        self.0
            .values()
            .map(|(setting, _)| setting.clone())
            .collect()
    }

    fn into_changes(self) -> anyhow::Result<Vec<Setting>> {
        let mut settings = Vec::new();
        for (setting, _) in self.0.into_values() {
            if read(&setting.subject)? != setting.value {
                settings.push(setting);
            }
        }
        Ok(settings)
    }
}
