//! Asking the rules about a host.

use cel::Value as Cel;
use coalescope_host::model::{Platform, Snapshot};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::condition::{Condition, value};
use super::facts::host_facts;
use super::gaps::gaps;
use super::load::Rules;
use super::rule::{Blame, Each, RemedyRule, Rule};
use super::template::fill;
use crate::finding::{Id, Proof};

/// What rules say of a host.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Checked {
    /// What is wrong, gravest first.
    pub findings: Vec<HostFinding>,
    /// What is often blamed, and is right here.
    pub left_alone: Vec<LeftAlone>,
    /// Rules that could not be asked.
    pub errors: Vec<RuleError>,
    /// What was not read, and without which little can be said: "offloads (ethtool -k)".
    pub gaps: Vec<String>,
}

/// A finding about a host's settings.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HostFinding {
    /// The rule's id.
    pub id: String,
    /// How sure.
    pub proof: Proof,
    /// Who is to blame.
    pub blame: Blame,
    /// The host.
    pub host: String,
    /// The interface, if it is about one.
    pub interface: Option<String>,
    /// The virtual switch, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch: Option<String>,
    /// In one line.
    pub title: String,
    /// Why it harms.
    pub mechanism: String,
    /// What shows it here.
    pub evidence: Vec<HostEvidence>,
    /// The command that would settle it.
    pub experiment: Option<String>,
    /// How to mend it.
    pub remedies: Vec<Remedy>,
    /// What that costs.
    pub cost: Option<String>,
    /// Where the rule is from.
    pub sources: Vec<String>,
    /// Findings of `trace` that it would explain.
    #[serde(skip)]
    pub explains: Vec<Id>,
}

/// A piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HostEvidence {
    /// In words, with the values.
    pub text: String,
}

/// A way to mend it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Remedy {
    /// What it is for: a platform, or the program that keeps the settings there.
    pub platform: String,
    /// Now, for good, or back.
    pub kind: RemedyKind,
    /// The command, or the file and its lines.
    pub command: String,
    /// The same as settings, as `coalescope ab` and `fix` take them: `eth0:gro=off`. Empty where they
    /// cannot make them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
}

/// When a remedy is for.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum RemedyKind {
    /// Until the next reboot.
    Runtime,
    /// For good.
    Persistent,
    /// Takes it back.
    Undo,
}

/// Something that is right as it is, though often blamed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftAlone {
    /// The rule's id.
    pub id: String,
    /// The host.
    pub host: String,
    /// The interface, if it is about one.
    pub interface: Option<String>,
    /// In one line.
    pub title: String,
    /// Why it is innocent.
    pub why: String,
}

/// A rule that could not be asked, or not be put into words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RuleError {
    /// The rule's id.
    pub rule: String,
    /// The host.
    pub host: String,
    /// The interface, if it was asked about one.
    pub interface: Option<String>,
    /// What went wrong.
    pub error: String,
}

/// Asks all rules about a host.
#[must_use]
pub fn check(rules: &Rules, snapshot: &Snapshot) -> Checked {
    let Some(platform) = snapshot.platform else {
        return Checked::default();
    };
    let facts = host_facts(snapshot);
    let subjects = subjects(&facts);
    let mut checked = Checked {
        gaps: gaps(snapshot),
        ..Checked::default()
    };
    for (rule, condition) in &rules.rules {
        if rule.platforms.contains(&platform) {
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

/// One thing that rules are asked about, as CEL and as templates see it.
struct Subject {
    each: Each,
    /// Its name, for messages.
    name: Option<String>,
    facts: Value,
    host: Cel,
    own: Option<(&'static str, Cel)>,
    roles: Vec<String>,
}

fn subjects(host: &Value) -> Vec<Subject> {
    let cel = value(host);
    let mut all = vec![subject(Each::Host, "host", None, host, &cel)];
    let of = |field: &str| {
        host.get(field)
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
    };
    let interfaces = of("interfaces");
    all.extend(
        interfaces
            .iter()
            .map(|i| subject(Each::Interface, "interface", Some(i), host, &cel)),
    );
    let switches = of("switches");
    all.extend(
        switches
            .iter()
            .map(|s| subject(Each::Switch, "switch", Some(s), host, &cel)),
    );
    all
}

fn subject(
    each: Each,
    word: &'static str,
    own: Option<&Value>,
    host: &Value,
    cel: &Cel,
) -> Subject {
    let mut facts = json!({ "host": host });
    if let Some(own) = own {
        facts[word] = own.clone();
    }
    let text = |field: &str| own?.get(field)?.as_str().map(str::to_owned);
    let roles = own
        .and_then(|own| own.get("roles")?.as_array().cloned())
        .unwrap_or_default();
    Subject {
        each,
        name: text("key").or_else(|| text("name")),
        host: cel.clone(),
        own: own.map(|own| (word, value(own))),
        roles: roles
            .iter()
            .filter_map(|role| role.as_str().map(str::to_owned))
            .collect(),
        facts,
    }
}

impl Subject {
    fn holds(&self, condition: &Condition) -> Result<bool, String> {
        let mut facts = vec![("host", &self.host)];
        facts.extend(self.own.as_ref().map(|(name, own)| (*name, own)));
        condition.holds(&facts)
    }

    fn has_role_for(&self, rule: &Rule) -> bool {
        let mut roles = rule.roles.iter();
        rule.roles.is_empty() || roles.any(|role| self.roles.iter().any(|own| own == role.name()))
    }

    fn host_name(&self) -> String {
        let name = self.facts["host"]["name"].as_str();
        name.unwrap_or_default().to_owned()
    }
}

impl Checked {
    fn ask(
        &mut self,
        rules: &Rules,
        rule: &Rule,
        condition: &Condition,
        platform: Platform,
        subjects: &[Subject],
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
        subject: &Subject,
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

fn left_alone(rule: &Rule, subject: &Subject) -> Result<LeftAlone, String> {
    Ok(LeftAlone {
        id: rule.id.clone(),
        host: subject.host_name(),
        interface: subject.name.clone(),
        title: fill(&rule.title, &subject.facts)?,
        why: one_line(&rule.mechanism),
    })
}

fn finding(
    rules: &Rules,
    rule: &Rule,
    platform: Platform,
    subject: &Subject,
) -> Result<HostFinding, String> {
    let texts: Result<Vec<String>, String> = rule
        .evidence
        .iter()
        .map(|text| fill(text, &subject.facts))
        .collect();
    let experiment = rule
        .experiment
        .as_ref()
        .map(|text| fill(text, &subject.facts))
        .transpose()?;
    let name = |each| subject.name.clone().filter(|_| rule.each == each);
    Ok(HostFinding {
        id: rule.id.clone(),
        proof: rule.proof,
        blame: rule.blame,
        host: subject.host_name(),
        interface: name(Each::Interface),
        switch: name(Each::Switch),
        title: fill(&rule.title, &subject.facts)?,
        mechanism: one_line(&rule.mechanism),
        evidence: texts?
            .into_iter()
            .map(|text| HostEvidence { text })
            .collect(),
        experiment,
        remedies: remedies(rules, rule, platform, &subject.facts)?,
        cost: rule.cost.as_deref().map(one_line),
        sources: rule.sources.clone(),
        explains: rule.explains.clone(),
    })
}

fn remedies(
    rules: &Rules,
    rule: &Rule,
    platform: Platform,
    facts: &Value,
) -> Result<Vec<Remedy>, String> {
    let mut all = Vec::new();
    for remedy in &rule.remedies {
        match remedy {
            RemedyRule::Set { set } => {
                for (feature, value) in set {
                    all.extend(rules.recipes.set(platform, feature, *value, facts)?);
                }
            }
            RemedyRule::Command {
                platform,
                kind,
                command,
                settings,
            } => all.push(Remedy {
                platform: platform.clone(),
                kind: *kind,
                command: fill(command, facts)?.trim_end().to_owned(),
                settings: words(settings.as_deref().unwrap_or_default(), facts)?,
            }),
        }
    }
    all.sort_by_key(|remedy| remedy.kind);
    Ok(all)
}

fn words(template: &str, facts: &Value) -> Result<Vec<String>, String> {
    let text = fill(template, facts)?;
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

/// YAML's folded texts end with a line feed.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
