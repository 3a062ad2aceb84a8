//! `coalescope fix`: applies what `check` proposes, so that it can be undone.

mod apply;
mod choose;
mod in_force;
mod proofs;
mod verify;

use std::path::Path;

use coalescope_change::settings::Setting;
use coalescope_knowledge::rules::{Checked, HostFinding};
use coalescope_remedy::{Plan, Wish, plan};
use coalescope_report::{FixReport, Fixed};

use super::places;
use crate::cli::FixArgs;
use crate::confine::{self, Needs};
use crate::made::{Saved, made};
use crate::page::PageFile;
use crate::system::memory;
use crate::{Outcome, hosts, output};
use choose::Chosen;

pub(crate) fn run(args: &FixArgs) -> anyhow::Result<Outcome> {
    if !args.from.is_empty() {
        return elsewhere(args);
    }
    let page = PageFile::check(&args.page)?;
    places::mention_left();
    let mut report = FixReport::default();
    if args.verify {
        report.verifies = true;
        report.verified = verify::verified()?;
        report.watched = args
            .watch
            .map(|time| verify::watched(time, &args.live))
            .transpose()?;
        super::print_and_write(&report, &page, args.format)?;
        return Ok(Outcome::of(report.reverted()));
    }
    let chosen = Chosen::of(args)?;
    // Files are shown if they were asked for, or if nothing is applied.
    if args.persist || !args.apply {
        report.files = lasting(&chosen.lasting);
    }
    let in_force = chosen.in_force.iter();
    report.in_force = in_force.map(ToString::to_string).collect();
    report.left_out.clone_from(&chosen.left_out);
    let outcome = if args.apply {
        apply::apply(args, &chosen, &mut report)?
    } else {
        Outcome::of(!chosen.fixes.is_empty() || !report.files.files.is_empty())
    };
    report.fixes = chosen.fixes;
    if !args.apply {
        super::print_and_write(&report, &page, args.format)?;
        return Ok(outcome);
    }
    Ok(super::print_and_write_done(
        &report,
        &page,
        args.format,
        outcome,
        &state(&report),
    ))
}

/// What is in force after `--apply`, where the report cannot say so.
fn state(report: &FixReport) -> String {
    match (&report.unrestored[..], &report.journals[..]) {
        ([], []) => "nothing was changed".to_owned(),
        ([], journals) => format!(
            "what was changed is in force: `coalescope undo {}` takes it back",
            journals.join(" ")
        ),
        (left, _) => format!("NOT restored: {}", left.join("; ")),
    }
}

/// Shows the fixes of other hosts, whatever their system.
fn elsewhere(args: &FixArgs) -> anyhow::Result<Outcome> {
    memory::bound(args.memory);
    let page = PageFile::check(&args.page)?;
    let given = coalescope_analysis::hosts::open(&args.from)?;
    let saved = Saved::open(&page, &args.from);
    let needs = Needs::of_page(&page).and_folders(&given);
    confine::enter(&needs.and_rules(&args.rules));
    let rules = hosts::rules(&args.rules)?;
    let snapshots = hosts::Asked::Saved(given).snapshots()?;
    let checked = hosts::checked(&rules, &snapshots);
    let report = FixReport {
        fixes: shown(&checked, &args.findings)?,
        is_elsewhere: true,
        ..FixReport::default()
    };
    output::print_with_page(&report, args.format, 0, &page, || made(saved.sources()))?;
    Ok(Outcome::of(!report.fixes.is_empty()))
}

/// What mends the findings that were named; of several hosts each is named.
fn shown(hosts: &[(String, Checked)], ids: &[String]) -> anyhow::Result<Vec<Fixed>> {
    let all: Vec<&HostFinding> = hosts.iter().flat_map(|(_, one)| &one.findings).collect();
    choose::refuse_unknown(&all, ids)?;
    let of_host = |(name, checked): &(String, Checked)| {
        let named = checked
            .findings
            .iter()
            .filter(|one| choose::is_named(one, ids));
        let fixes = named.map(|one| Fixed::new(one, Vec::new(), true));
        let host = (hosts.len() > 1).then(|| name.clone());
        fixes.map(|one| one.on(host.clone())).collect::<Vec<_>>()
    };
    Ok(hosts.iter().flat_map(of_host).collect())
}

/// The changes of managers' files that make settings persistent.
fn lasting(settings: &[Setting]) -> Plan {
    let wishes = settings.iter().filter_map(|setting| {
        let (interface, feature, on) = setting.feature()?;
        Some(Wish {
            interface: interface.to_owned(),
            namespace: setting.subject.namespace.clone(),
            feature: feature.to_owned(),
            on,
        })
    });
    plan(Path::new("/"), &wishes.collect::<Vec<_>>())
}

/// A finding with the settings that fix it.
fn fixed(finding: &HostFinding, settings: &[Setting], persist: bool) -> Fixed {
    let is_ours = !settings.is_empty() && settings.iter().all(|one| one.feature().is_some());
    let texts = settings.iter().map(ToString::to_string).collect();
    Fixed::new(finding, texts, persist && !is_ours)
}
