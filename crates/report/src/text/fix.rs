//! Fixes, for people.

use std::io::{self, Write};

use coalescope_knowledge::Standing;
use coalescope_remedy::Plan;

use super::check::finding;
use super::page::{Page, Tone};
use super::{TextOptions, finish, not_seen, warn};
use crate::fix::{FixReport, Fixed, Shown, Verified};
use crate::words::fix::{
    by_itself, file, head, left, nothing as why_nothing, outcome, proof, refused, reload, verified,
};
use crate::words::watch::verdict;

pub(crate) fn write(
    report: &FixReport,
    out: &mut dyn Write,
    options: &TextOptions,
) -> io::Result<()> {
    let mut page = Page::new(options);
    if page.is_brief() {
        brief(&mut page, report);
        return finish(&page, out);
    }
    nothing(&mut page, report);
    for fixed in &report.fixes {
        fix(&mut page, fixed);
    }
    files(&mut page, &report.files);
    done(&mut page, report);
    for one in &report.verified {
        verify(&mut page, one);
    }
    meanwhile(&mut page, report);
    finish(&page, out)
}

/// The message if there is nothing to fix.
fn nothing(page: &mut Page, report: &FixReport) {
    if let Some(text) = why_nothing(report) {
        page.paragraph("", "  ", &text, Tone::Plain);
    }
}

/// One line per result.
fn brief(page: &mut Page, report: &FixReport) {
    for fixed in &report.fixes {
        page.paragraph("", "  ", &head(fixed), Tone::Heading);
    }
    nothing(page, report);
    done(page, report);
    for one in &report.verified {
        verify(page, one);
    }
    meanwhile(page, report);
}

fn fix(page: &mut Page, fixed: &Fixed) {
    page.paragraph("", "  ", &head(fixed), Tone::Heading);
    if let Some(shown) = &fixed.shown {
        page.paragraph("  ", "    ", &proof(shown), tone_of(shown));
    }
    for command in &fixed.commands {
        commands(page, "  $", command);
    }
    for command in &fixed.by_hand {
        commands(page, "  by hand:", command);
    }
    for remedy in &fixed.lasting_by_hand {
        let label = format!("  to last, by hand ({}):", remedy.platform);
        commands(page, &label, &remedy.command);
    }
    if fixed.commands.is_empty() && fixed.by_hand.is_empty() {
        page.paragraph("  ", "  ", "no setting of this host mends it", Tone::Plain);
    }
    if let Some(cost) = &fixed.cost {
        page.paragraph("  cost: ", "        ", cost, Tone::Plain);
    }
    if let (Some(experiment), None) = (&fixed.experiment, &fixed.shown) {
        page.command(
            "  not proven yet; this experiment would prove or clear it:",
            "      ",
            experiment.line(),
        );
    }
    page.gap();
}

/// A command is not wrapped; a command of several lines stands below its label.
fn commands(page: &mut Page, label: &str, command: &str) {
    page.command(label, "      ", command);
}

fn tone_of(shown: &Shown) -> Tone {
    match shown.now {
        Standing::Proven => Tone::Bad,
        Standing::Cleared => Tone::Good,
        Standing::Open => Tone::Plain,
    }
}

fn files(page: &mut Page, plan: &Plan) {
    for change in &plan.files {
        page.paragraph("", "  ", &file(change), Tone::Plain);
        for line in change.diff.lines() {
            page.line(line, Tone::Plain);
        }
        page.gap();
    }
    for one in &plan.reload {
        page.paragraph("", "  ", &reload(one), Tone::Plain);
        page.command("  $", "      ", &one.command);
    }
    for one in &plan.refused {
        page.paragraph("", "  ", &refused(one), Tone::Plain);
    }
}

fn done(page: &mut Page, report: &FixReport) {
    for change in &report.changes {
        for line in change.lines() {
            page.paragraph("", "    ", line, Tone::Plain);
        }
    }
    if let Some(problem) = &report.problem {
        page.paragraph("", "  ", problem, Tone::Bad);
    }
    if let Some(text) = by_itself(report) {
        page.paragraph("", "", text, Tone::Plain);
    }
    for text in left(report) {
        page.paragraph("", "  ", &text, Tone::Bad);
    }
    if let Some((text, is_done)) = outcome(report) {
        let tone = if is_done { Tone::Good } else { Tone::Plain };
        page.paragraph("", "", text, tone);
    }
}

/// Counts of merged frames since.
fn meanwhile(page: &mut Page, report: &FixReport) {
    let Some(seen) = &report.watched else {
        return;
    };
    let warnings = not_seen(&seen.watched);
    warn(page, &warnings);
    let tone = match seen.findings.is_empty() {
        true => Tone::Plain,
        false => Tone::Heading,
    };
    page.paragraph("", "", &verdict(&seen.watched), tone);
    if page.is_brief() {
        return;
    }
    for one in &seen.findings {
        finding(page, &[one]);
    }
}

fn verify(page: &mut Page, one: &Verified) {
    let tone = if one.holds { Tone::Good } else { Tone::Bad };
    page.paragraph("", "  ", &verified(one), tone);
}
