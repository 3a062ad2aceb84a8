//! Evaluates the rules for a host.

use std::collections::BTreeSet;

use coalescope_host::model::{Platform, Snapshot};
use minijinja::Value as Shown;

use super::condition::Asked;
use super::facts::host_facts;
use super::findings::{Checked, HostEvidence, HostFinding, LeftAlone, Remedy, RuleError};
use super::gaps::gaps;
use super::load::Rules;
use super::outside::reach;
use super::recipes::is_theirs;
use super::rule::{Blame, Each, RemedyRule, Rule};
use super::subject::{Host, Subject};
use super::template::{command, fill, one_line};
use crate::experiment::{Experiment, SetTo};
use crate::finding::Proof;

/// Evaluates all rules for a host.
#[must_use]
pub fn check(rules: &Rules, snapshot: &Snapshot) -> Checked {
    let Some(platform) = snapshot.platform else {
        return Checked::default();
    };
    let facts = host_facts(snapshot);
    let host = Host::of(&facts);
    let subjects = host.subjects();
    let gaps = gaps(snapshot);
    let mut checked = Checked {
        undecided: gaps.iter().any(|gap| gap.decides),
        gaps: gaps.into_iter().map(|gap| gap.what).collect(),
        ..Checked::default()
    };
    for (rule, condition) in &rules.rules {
        if rule.platforms.contains(&platform) {
            checked.judged = true;
            let asked = host.asked(condition);
            checked.ask(rules, rule, &asked, platform, &subjects);
        }
    }
    checked.drop_replaced(rules);
    checked.findings.iter_mut().for_each(reach);
    checked.findings.sort_by(|a, b| rank(a).cmp(&rank(b)));
    checked
}

/// Sort key: the gravest first; then by rule and by place.
fn rank(finding: &HostFinding) -> (std::cmp::Reverse<Proof>, Blame, &str, &Option<String>) {
    (
        std::cmp::Reverse(finding.proof),
        finding.blame,
        &finding.id,
        &finding.interface,
    )
}

impl Checked {
    fn ask(
        &mut self,
        rules: &Rules,
        rule: &Rule,
        condition: &Asked<'_, '_>,
        platform: Platform,
        subjects: &[Subject<'_>],
    ) {
        let asked = subjects
            .iter()
            .filter(|s| s.each == rule.each && s.has_role_for(rule));
        for subject in asked {
            let said = match subject.holds(condition) {
                Ok(false) => continue,
                Ok(true) => self.add(rules, rule, platform, subject),
                Err(error) => Err(error),
            };
            if let Err(error) = said {
                self.errors.push(RuleError {
                    rule: rule.id.clone(),
                    host: subject.host_name(),
                    interface: subject.name.clone(),
                    error,
                });
            }
        }
    }

    fn add(
        &mut self,
        rules: &Rules,
        rule: &Rule,
        platform: Platform,
        subject: &Subject<'_>,
    ) -> Result<(), String> {
        if rule.blame == Blame::Innocent {
            self.left_alone.push(left_alone(rule, subject)?);
        } else {
            self.findings.push(finding(rules, rule, platform, subject)?);
        }
        Ok(())
    }

    /// Removes findings of a general rule where a more particular one has a finding.
    fn drop_replaced(&mut self, rules: &Rules) {
        let said = self.findings.iter().map(|f| (&f.id, &f.host, &f.interface));
        let left = self
            .left_alone
            .iter()
            .map(|l| (&l.id, &l.host, &l.interface));
        let spoken = said.chain(left).flat_map(|(id, host, interface)| {
            let replaced = rules.get(id).into_iter().flat_map(|rule| &rule.replaces);
            replaced.map(|id| (id.clone(), host.clone(), interface.clone()))
        });
        let spoken: BTreeSet<(String, String, Option<String>)> = spoken.collect();
        // A finding about a whole host replaces those about its interfaces.
        let replaced = |id: &String, host: &String, interface: &Option<String>| {
            [interface, &None]
                .into_iter()
                .any(|of| spoken.contains(&(id.clone(), host.clone(), of.clone())))
        };
        self.findings
            .retain(|f| !replaced(&f.id, &f.host, &f.interface));
        self.left_alone
            .retain(|l| !replaced(&l.id, &l.host, &l.interface));
    }
}

fn left_alone(rule: &Rule, subject: &Subject<'_>) -> Result<LeftAlone, String> {
    Ok(LeftAlone {
        id: rule.id.clone(),
        host: subject.host_name(),
        interface: subject.name.clone(),
        title: fill(&rule.title, subject.shown())?,
        why: one_line(&rule.mechanism),
    })
}

fn finding(
    rules: &Rules,
    rule: &Rule,
    platform: Platform,
    subject: &Subject<'_>,
) -> Result<HostFinding, String> {
    let facts = subject.shown();
    let texts = rule.evidence.iter().map(|text| fill(text, facts.clone()));
    let texts: Result<Vec<String>, String> = texts.collect();
    let experiment = rule
        .experiment
        .as_ref()
        .map(|text| command(text, facts.clone()).map(Experiment::from))
        .transpose()?;
    let name = |each| subject.name.clone().filter(|_| rule.each == each);
    Ok(HostFinding {
        id: rule.id.clone(),
        proof: rule.proof,
        blame: rule.blame,
        host: subject.host_name(),
        interface: name(Each::Interface),
        switch: name(Each::Switch),
        title: fill(&rule.title, facts.clone())?,
        mechanism: one_line(&rule.mechanism),
        evidence: texts?
            .into_iter()
            .map(|text| HostEvidence { text })
            .collect(),
        experiment,
        remedies: remedies(rules, rule, platform, subject, &facts)?,
        cost: rule.cost.as_deref().map(one_line),
        sources: rule.sources.clone(),
        explains: rule.explains.clone(),
        dropped_as: rule.dropped_as.clone(),
        holding: holding(rules, rule, platform, subject),
    })
}

fn remedies(
    rules: &Rules,
    rule: &Rule,
    platform: Platform,
    subject: &Subject<'_>,
    facts: &Shown,
) -> Result<Vec<Remedy>, String> {
    let mut all = Vec::new();
    let distribution = subject.product();
    for remedy in &rule.remedies {
        match remedy {
            RemedyRule::Set { set } => {
                for (feature, value) in set {
                    all.extend(
                        rules
                            .recipes
                            .set(platform, feature, *value, (subject, facts))?,
                    );
                }
            }
            RemedyRule::Command { platform, .. } if !is_theirs(platform, distribution) => {}
            RemedyRule::Command {
                platform,
                kind,
                command: template,
                settings,
            } => all.push(Remedy {
                platform: platform.clone(),
                kind: *kind,
                command: command(template, facts.clone())?.trim_end().to_owned(),
                settings: levels(settings.as_deref().unwrap_or_default(), facts)?,
            }),
        }
    }
    all.sort_by_key(|remedy| remedy.kind);
    Ok(all)
}

/// Switches of the rule that have their value already.
fn holding(rules: &Rules, rule: &Rule, platform: Platform, subject: &Subject<'_>) -> Vec<SetTo> {
    let sets = rule.remedies.iter().filter_map(|remedy| match remedy {
        RemedyRule::Set { set } => Some(set),
        RemedyRule::Command { .. } => None,
    });
    let hold = |(feature, value): (&String, &bool)| {
        rules
            .recipes
            .holding(platform, feature, *value, subject.interface())
    };
    sets.flatten().filter_map(hold).collect()
}

fn levels(template: &str, facts: &Shown) -> Result<Vec<SetTo>, String> {
    let text = fill(template, facts.clone())?;
    text.split_whitespace().map(str::parse).collect()
}
