//! `docs/findings.md` is what the rules say. To write it anew after a change of `rules/*.yaml`:
//!
//! ```sh
//! SNAPSHOTS=overwrite cargo test -p coalescope-knowledge --test findings_page
//! ```

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

use std::collections::BTreeSet;
use std::fmt::Write;

use coalescope_knowledge::rules::{
    Checked, Each, Meaning, Remedy, RemedyKind, RemedyRule, Rule, Rules, check, meanings,
};

/// What stands before the lists.
const HEAD: &str = "\
# All findings

Made of `rules/*.yaml` by `crates/knowledge/tests/findings_page.rs`, which also fails if this page is not what they
say; `SNAPSHOTS=overwrite cargo test -p coalescope-knowledge --test findings_page` writes it anew.

Whom a finding blames: `harms` - merging, or a relative of it; `missed` - merging is off, or kept from working, and
should be on; `bad-remedy` - something that people do against merging; `innocent` - often blamed, to be left alone.
How sure one is: [README.md](../README.md#how-sure-it-is).

";

/// Before the findings of traces.
const TRACE: &str = "\
## What `coalescope trace` finds

When each is found, with thresholds: [trace.md](trace.md#findings); how, and when that is wrong:
[inference.md](inference.md). IFACE, SWITCH and COMMAND are for the reader to fill in.

";

/// Before the rules.
const CHECK: &str = "\
## What `coalescope check` finds

Names of interfaces, kernels and values are those of each rule's own example. `coalescope rules show ID` prints a rule
whole, with its condition; [rules.md](rules.md) says how they are made and how to add your own. Most switches are made to
last in the same ways, which `coalescope check` prints and `coalescope fix --persist` writes: NetworkManager, netplan,
systemd-networkd, ifupdown, RHEL's ifcfg, udev, rc.conf. They are left out here.

";

#[test]
fn the_page_is_what_the_rules_say() {
    let page = page(&Rules::with_fixtures().unwrap(), &meanings().unwrap());
    snapbox::assert_data_eq!(page, snapbox::file!["../../../docs/findings.md"].raw());
}

fn page(rules: &Rules, meanings: &[Meaning]) -> String {
    let of_traces: String = meanings.iter().map(|one| of_meaning(one).text()).collect();
    let examples: Vec<_> = rules
        .iter()
        .map(|rule| (rule, check(rules, &rule.fixtures.as_ref().unwrap().fires)))
        .collect();
    let of_rules = examples
        .iter()
        .map(|(rule, example)| of_rule(rule, example));
    let of_rules: Vec<Section<'_>> = of_rules.collect();
    let rows: String = of_rules.iter().map(Section::row).collect();
    let sections: String = of_rules.iter().map(Section::text).collect();
    format!(
        "{HEAD}{TRACE}{of_traces}{CHECK}| | finding | | on |\n|---|---|---|---|\n{rows}\n{sections}"
    )
    .trim_end()
    .to_owned()
        + "\n"
}

/// One finding.
struct Section<'a> {
    id: &'a str,
    /// What it says, if that does not depend on packets.
    title: String,
    blame: &'static str,
    /// Systems, and what of them.
    subject: String,
    mechanism: String,
    evidence: Vec<&'a str>,
    experiment: Option<&'a str>,
    remedies: Vec<&'a Remedy>,
    cost: Option<&'a str>,
    explains: Vec<&'static str>,
    sources: &'a [String],
}

fn of_meaning(meaning: &Meaning) -> Section<'_> {
    Section {
        id: meaning.id.name(),
        title: String::new(),
        blame: meaning.blame.name(),
        subject: format!("[when](trace.md#{})", meaning.id.name()),
        mechanism: meaning.mechanism.clone(),
        evidence: Vec::new(),
        experiment: meaning.experiment.as_deref(),
        remedies: meaning.remedies.iter().collect(),
        cost: meaning.cost.as_deref(),
        explains: Vec::new(),
        sources: &meaning.sources,
    }
}

/// A rule, with what it says of the host that is its example.
fn of_rule<'a>(rule: &'a Rule, example: &'a Checked) -> Section<'a> {
    let finding = example.findings.iter().find(|one| one.id == rule.id);
    let alone = example.left_alone.iter().find(|one| one.id == rule.id);
    let title = finding
        .map(|one| &one.title)
        .or(alone.map(|one| &one.title));
    let evidence = finding.iter().flat_map(|one| &one.evidence);
    Section {
        id: &rule.id,
        title: title.unwrap().clone(),
        blame: rule.blame.name(),
        subject: subject(rule),
        mechanism: one_line(&rule.mechanism),
        evidence: evidence.map(|one| one.text.as_str()).collect(),
        experiment: finding.and_then(|one| one.experiment.as_deref()),
        remedies: finding.map_or_else(Vec::new, |one| own_remedies(rule, &one.remedies)),
        cost: finding.and_then(|one| one.cost.as_deref()),
        explains: rule.explains.iter().map(|id| id.name()).collect(),
        sources: &rule.sources,
    }
}

/// The remedies but for what is the same for every switch: how each manager of interfaces keeps it.
fn own_remedies<'a>(rule: &Rule, all: &'a [Remedy]) -> Vec<&'a Remedy> {
    let written = rule.remedies.iter().filter_map(|remedy| match remedy {
        RemedyRule::Command { platform, .. } => Some(platform),
        RemedyRule::Set { .. } => None,
    });
    let now = all.iter().filter(|one| one.kind == RemedyKind::Runtime);
    let platforms: BTreeSet<&String> = written.chain(now.map(|one| &one.platform)).collect();
    let is_own = |one: &&Remedy| platforms.contains(&one.platform);
    all.iter().filter(is_own).collect()
}

fn subject(rule: &Rule) -> String {
    let platforms: Vec<&str> = rule.platforms.iter().map(|one| one.name()).collect();
    let roles: Vec<&str> = rule.roles.iter().map(|role| role.name()).collect();
    let what = match rule.each {
        Each::Interface if roles.is_empty() => "any interface".to_owned(),
        Each::Interface => roles.join(", "),
        Each::Switch => "virtual switches".to_owned(),
        Each::Host => "the host".to_owned(),
    };
    format!("{}: {what}", platforms.join(", "))
}

impl Section<'_> {
    /// Its line in the list.
    fn row(&self) -> String {
        let Self {
            id, blame, subject, ..
        } = self;
        let title = self.title.replace('|', "\\|");
        format!("| {blame} | [`{id}`](#{id}) | {title} | {subject} |\n")
    }

    fn text(&self) -> String {
        let mut text = format!("### `{}`\n\n", self.id);
        if !self.title.is_empty() {
            writeln!(text, "**{}.**", self.title).unwrap();
        }
        writeln!(
            text,
            "*{}*; {}. {}\n",
            self.blame, self.subject, self.mechanism
        )
        .unwrap();
        let shown = self.evidence.iter().map(|one| item("shown by", one));
        let explains = self
            .explains
            .iter()
            .map(|id| item("observed with", &format!("[`{id}`](#{id})")));
        let experiment = self
            .experiment
            .map(|line| item("would settle it", &format!("`{line}`")));
        let cost = self.cost.map(|cost| item("the remedy costs", cost));
        let sources = self.sources.iter().map(|source| item("from", source));
        let items = shown
            .chain(explains)
            .chain(experiment)
            .chain(cost)
            .chain(sources);
        text.extend(items);
        text + &commands(&self.remedies) + "\n"
    }
}

fn item(what: &str, text: &str) -> String {
    format!("- {what}: {}\n", one_line(text))
}

/// Remedies, each with what it is for.
fn commands(remedies: &[&Remedy]) -> String {
    if remedies.is_empty() {
        return String::new();
    }
    let lines = remedies.iter().map(|remedy| {
        let kind = match remedy.kind {
            RemedyKind::Runtime => "now",
            RemedyKind::Persistent => "for good",
            RemedyKind::Undo => "back",
        };
        let command = remedy.command.trim_end().replace('\n', "\n    ");
        format!("{} ({}):\n    {command}\n", kind, remedy.platform)
    });
    format!("\n```text\n{}```\n", lines.collect::<String>())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
