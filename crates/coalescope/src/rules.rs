//! `coalescope rules`.

use std::io::{self, Write};

use anyhow::bail;
use coalescope_knowledge::rules::{Rule, Rules, test};

use crate::Outcome;
use crate::cli::{HostFormat, RulesCommand, RulesOutput};
use crate::{hosts, output};

pub(crate) fn run(command: &RulesCommand) -> anyhow::Result<Outcome> {
    match command {
        RulesCommand::List(args) => list(&hosts::rules(&args.rules)?, args),
        RulesCommand::Show { id, args } => show(&hosts::rules(&args.rules)?, id, args),
        RulesCommand::Test(args) => run_fixtures(&hosts::rules(&args.rules)?, args),
    }
}

fn list(rules: &Rules, args: &RulesOutput) -> anyhow::Result<Outcome> {
    let all: Vec<&Rule> = rules.iter().collect();
    if args.format == HostFormat::Json {
        return json(&all);
    }
    let longest = all.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
    let mut out = io::stdout().lock();
    for rule in all {
        let platforms: Vec<String> = rule
            .platforms
            .iter()
            .map(|platform| format!("{platform:?}").to_lowercase())
            .collect();
        let blame = rule.blame.name();
        writeln!(
            out,
            "{:longest$}  {blame:10}  {}",
            rule.id,
            platforms.join(",")
        )?;
    }
    Ok(Outcome::Done)
}

fn show(rules: &Rules, id: &str, args: &RulesOutput) -> anyhow::Result<Outcome> {
    let Some(rule) = rules.get(id) else {
        bail!("there is no rule {id}: `coalescope rules list` lists them");
    };
    if args.format == HostFormat::Json {
        return json(rule);
    }
    let mut out = io::stdout().lock();
    out.write_all(rule.yaml()?.as_bytes())?;
    Ok(Outcome::Done)
}

/// Every rule on its fixtures; rules that misbehave are findings.
fn run_fixtures(rules: &Rules, args: &RulesOutput) -> anyhow::Result<Outcome> {
    let failures = test(rules);
    for failure in &failures {
        output::tell(&format!(
            "{} ({}): {}",
            failure.rule, failure.fixture, failure.problem
        ));
    }
    for id in rules.dangling() {
        output::tell(&format!(
            "warning: {id} is replaced by a rule, and there is no rule of that id"
        ));
    }
    let tested = rules.iter().count();
    let failed = failures.len();
    let mut out = io::stdout().lock();
    match args.format {
        HostFormat::Json => writeln!(
            out,
            "{}",
            serde_json::json!({ "schema": "coalescope/rules-test/1", "rules": tested, "failures": failures })
        )?,
        HostFormat::Text => writeln!(
            out,
            "{tested} rules, {} fixtures, {failed} failed",
            tested * 2
        )?,
    }
    Ok(Outcome::of(failed > 0))
}

fn json<T: serde::Serialize + ?Sized>(value: &T) -> anyhow::Result<Outcome> {
    let mut out = io::stdout().lock();
    let document = serde_json::json!({ "schema": "coalescope/rules/1", "rules": value });
    serde_json::to_writer_pretty(&mut out, &document).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(Outcome::Done)
}
