//! Asking the rules about a host.

use coalescope_host::model::{Platform, Snapshot};
use minijinja::Value as Told;

use super::condition::Condition;
use super::facts::host_facts;
use super::findings::{Checked, HostEvidence, HostFinding, LeftAlone, Remedy, RuleError};
use super::gaps::gaps;
use super::load::Rules;
use super::recipes::is_theirs;
use super::rule::{Blame, Each, RemedyRule, Rule};
use super::subject::{Host, Subject};
use super::template::{command, fill, one_line};
use crate::finding::Proof;

/// Asks all rules about a host.
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
            checked.ask(rules, rule, condition, platform, &subjects);
        }
    }
    checked.drop_replaced(rules);
    checked.findings.sort_by(|a, b| rank(a).cmp(&rank(b)));
    checked
}

/// What is gravest comes first; then by rule and by place.
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
        condition: &Condition,
        platform: Platform,
        subjects: &[Subject<'_>],
    ) {
        let asked = subjects
            .iter()
            .filter(|s| s.each == rule.each && s.has_role_for(rule));
        for subject in asked {
            let said = match subject.holds(condition) {
                Ok(false) => continue,
                Ok(true) => self.say(rules, rule, platform, subject),
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

    fn say(
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

    /// A general rule says nothing where a more particular one spoke.
    fn drop_replaced(&mut self, rules: &Rules) {
        let spoken: Vec<(String, String, Option<String>)> = self
            .findings
            .iter()
            .map(|f| (f.id.clone(), f.host.clone(), f.interface.clone()))
            .chain(
                self.left_alone
                    .iter()
                    .map(|l| (l.id.clone(), l.host.clone(), l.interface.clone())),
            )
            .filter(|(id, ..)| rules.get(id).is_some_and(|rule| !rule.replaces.is_empty()))
            .collect();
        let replaced = |id: &str, host: &str, interface: &Option<String>| {
            spoken.iter().any(|(by, at, of)| {
                let rule = rules.get(by);
                let names_it = rule.is_some_and(|rule| rule.replaces.iter().any(|r| r == id));
                names_it && at == host && (of == interface || of.is_none())
            })
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
        title: fill(&rule.title, subject.told())?,
        why: one_line(&rule.mechanism),
    })
}

fn finding(
    rules: &Rules,
    rule: &Rule,
    platform: Platform,
    subject: &Subject<'_>,
) -> Result<HostFinding, String> {
    let facts = subject.told();
    let texts = rule.evidence.iter().map(|text| fill(text, facts.clone()));
    let texts: Result<Vec<String>, String> = texts.collect();
    let experiment = rule
        .experiment
        .as_ref()
        .map(|text| command(text, facts.clone()))
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
    })
}

fn remedies(
    rules: &Rules,
    rule: &Rule,
    platform: Platform,
    subject: &Subject<'_>,
    facts: &Told,
) -> Result<Vec<Remedy>, String> {
    let mut all = Vec::new();
    let distribution = subject.distribution("id");
    for remedy in &rule.remedies {
        match remedy {
            RemedyRule::Set { set } => {
                for (feature, value) in set {
                    all.extend(rules.recipes.set(platform, feature, *value, subject)?);
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
                settings: words(settings.as_deref().unwrap_or_default(), facts)?,
            }),
        }
    }
    all.sort_by_key(|remedy| remedy.kind);
    Ok(all)
}

fn words(template: &str, facts: &Told) -> Result<Vec<String>, String> {
    let text = fill(template, facts.clone())?;
    Ok(text.split_whitespace().map(str::to_owned).collect())
}
