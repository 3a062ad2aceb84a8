//! Tests rules on their fixtures.

use schemars::JsonSchema;
use serde::Serialize;

use super::check::check;
use super::load::Rules;
use super::rule::{Blame, Rule};

/// A fixture that does not behave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FixtureFailure {
    /// The rule's id.
    pub rule: String,
    /// `fires` or `almost`; `none` where the rule has no fixtures.
    pub fixture: &'static str,
    /// What it did instead.
    pub problem: String,
}

/// Tests all rules on their fixtures; an empty list means that all pass.
#[must_use]
pub fn test(rules: &Rules) -> Vec<FixtureFailure> {
    rules
        .iter()
        .flat_map(|rule| failures(rules, rule))
        .collect()
}

fn failures(rules: &Rules, rule: &Rule) -> Vec<FixtureFailure> {
    let Some(fixtures) = &rule.fixtures else {
        return vec![FixtureFailure {
            rule: rule.id.clone(),
            fixture: "none",
            problem: "needs fixtures: a host that fires it, and one that almost does".to_owned(),
        }];
    };
    let both = [
        ("fires", &fixtures.fires, true),
        ("almost", &fixtures.almost, false),
    ];
    let mut failures = Vec::new();
    for (fixture, snapshot, should) in both {
        let checked = check(rules, snapshot);
        let mut problems: Vec<String> = checked
            .errors
            .iter()
            .map(|error| format!("rule {}: {}", error.rule, error.error))
            .collect();
        let found = checked.findings.iter().any(|f| f.id == rule.id)
            || checked.left_alone.iter().any(|l| l.id == rule.id);
        if found != should {
            problems.push(surprise(rule, should));
        }
        if snapshot
            .platform
            .is_none_or(|platform| !rule.platforms.contains(&platform))
        {
            problems
                .push("its platform is none of the rule's, so that it shows nothing".to_owned());
        }
        failures.extend(problems.into_iter().map(|problem| FixtureFailure {
            rule: rule.id.clone(),
            fixture,
            problem,
        }));
    }
    failures
}

fn surprise(rule: &Rule, should: bool) -> String {
    let what = if rule.blame == Blame::Innocent {
        "leave alone"
    } else {
        "accuse"
    };
    if should {
        format!("it does not {what} anything, and should")
    } else {
        format!("it does {what} something, and should not")
    }
}
