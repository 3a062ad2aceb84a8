//! `coalescope rules`.

use std::io::{self, Write};

use anyhow::bail;
use coalescope_host::safe::{printable, printable_line};
use coalescope_knowledge::rules::{FixtureFailure, Rule, Rules, check, test};
use coalescope_report::{document, listing};
use schemars::{JsonSchema, Schema};
use serde::Serialize;

use crate::Outcome;
use crate::cli::{HostFormat, RulesCommand, RulesOutput};
use crate::confine::{self, Needs};
use crate::{hosts, speech, suggest};

/// Schema of the JSON of `rules list` and `rules show`.
const LIST_SCHEMA: &str = "coalescope/rules/1";
/// Schema of the JSON of `rules test`.
const TEST_SCHEMA: &str = "coalescope/rules-test/1";

/// What `coalescope rules list` and `rules show` print.
#[derive(Serialize, JsonSchema)]
struct Shown<'a> {
    /// All rules, or the one.
    rules: AllOrOne<'a>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum AllOrOne<'a> {
    /// All rules (`list`).
    All(Vec<&'a Rule>),
    /// The one that was asked for (`show`).
    One(&'a Rule),
}

/// What `coalescope rules test` prints.
#[derive(Serialize, JsonSchema)]
struct Tested<'a> {
    /// How many rules were tested, each on two fixtures.
    rules: usize,
    /// Fixtures on which a rule does what it should not.
    failures: &'a [FixtureFailure],
}

/// The JSON Schema of `rules list` and `rules show`.
pub(crate) fn list_schema() -> Schema {
    document::schema::<Shown<'static>>(LIST_SCHEMA)
}

/// The JSON Schema of `rules test`.
pub(crate) fn test_schema() -> Schema {
    document::schema::<Tested<'static>>(TEST_SCHEMA)
}

pub(crate) fn run(command: &RulesCommand) -> anyhow::Result<Outcome> {
    let (RulesCommand::List(args) | RulesCommand::Show { args, .. } | RulesCommand::Test(args)) =
        command;
    confine::enter(&Needs::default().and_rules(&args.rules));
    let rules = hosts::whole_rules(&args.rules)?;
    match command {
        RulesCommand::List(args) => list(&rules, args),
        RulesCommand::Show { id, args } => show(&rules, id, args),
        RulesCommand::Test(args) => run_fixtures(&rules, args),
    }
}

fn list(rules: &Rules, args: &RulesOutput) -> anyhow::Result<Outcome> {
    let all: Vec<&Rule> = rules.iter().collect();
    if args.format == HostFormat::Json {
        return json(AllOrOne::All(all));
    }
    let rows: Vec<Vec<String>> = all.into_iter().map(|rule| row(rules, rule)).collect();
    let text = listing(&rows, speech::width());
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(Outcome::Done)
}

/// A row of the list: the rule's name, what it blames, where it applies, and its title for its example.
fn row(rules: &Rules, rule: &Rule) -> Vec<String> {
    let platforms: Vec<String> = rule
        .platforms
        .iter()
        .map(|platform| format!("{platform:?}").to_lowercase())
        .collect();
    vec![
        printable_line(&rule.id).into_owned(),
        rule.blame.name().to_owned(),
        platforms.join(","),
        title(rules, rule),
    ]
}

/// The title of a rule for its example; with its placeholders, if it has none.
fn title(rules: &Rules, rule: &Rule) -> String {
    let checked = rule.fixtures.as_ref().map(|own| check(rules, &own.fires));
    let said = checked.and_then(|checked| {
        let found = checked.findings.into_iter().map(|one| (one.id, one.title));
        let alone = checked
            .left_alone
            .into_iter()
            .map(|one| (one.id, one.title));
        let mut all = found.chain(alone);
        all.find(|(id, _)| *id == rule.id)
    });
    said.map_or_else(|| rule.title.clone(), |(_, title)| title)
}

fn show(rules: &Rules, id: &str, args: &RulesOutput) -> anyhow::Result<Outcome> {
    let Some(rule) = rules.get(id) else {
        let known = rules.iter().map(|rule| rule.id.as_str());
        bail!(suggest::unknown(
            "rule",
            id,
            known,
            "`coalescope rules list` lists them"
        ));
    };
    if args.format == HostFormat::Json {
        return json(AllOrOne::One(rule));
    }
    let mut out = io::stdout().lock();
    out.write_all(printable(&rule.yaml()?).as_bytes())?;
    Ok(Outcome::Done)
}

/// Runs every rule on its fixtures; rules that fail count as findings.
fn run_fixtures(rules: &Rules, args: &RulesOutput) -> anyhow::Result<Outcome> {
    let failures = test(rules);
    for failure in &failures {
        speech::tell(&format!(
            "{} ({}): {}",
            failure.rule, failure.fixture, failure.problem
        ));
    }
    for id in rules.dangling() {
        speech::tell(&format!(
            "warning: {id} is replaced by a rule, and there is no rule of that id"
        ));
    }
    let tested = rules.iter().count();
    let fixtures = 2 * rules.iter().filter(|rule| rule.fixtures.is_some()).count();
    let failed = failures.len();
    let mut out = io::stdout().lock();
    match args.format {
        HostFormat::Json => {
            let body = Tested {
                rules: tested,
                failures: &failures,
            };
            document::write(TEST_SCHEMA, &body, &mut out)?;
        }
        HostFormat::Text => writeln!(out, "{tested} rules, {fixtures} fixtures, {failed} failed")?,
    }
    Ok(Outcome::of(failed > 0))
}

fn json(rules: AllOrOne<'_>) -> anyhow::Result<Outcome> {
    document::write(LIST_SCHEMA, &Shown { rules }, &mut io::stdout().lock())?;
    Ok(Outcome::Done)
}
