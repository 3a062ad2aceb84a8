//! Fixes, for people.

use std::io::{self, Write};

use coalescope_knowledge::Standing;
use coalescope_remedy::Plan;

use super::check::finding;
use super::page::{Page, Tone};
use super::{TextOptions, finish, not_seen, warn};
use crate::fix::{FixReport, Fixed, Shown, Verified};
use crate::words::units::date;
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
    for verified in &report.verified {
        verify(&mut page, verified);
    }
    meanwhile(&mut page, report);
    finish(&page, out)
}

/// The message if there is nothing to fix.
fn nothing(page: &mut Page, report: &FixReport) {
    if !report.verified.is_empty() || !report.fixes.is_empty() {
        return;
    }
    if !report.in_force.is_empty() {
        let settings = report.in_force.join(", ");
        let text = format!("In force since an earlier fix: {settings}.");
        page.paragraph("", "  ", &text, Tone::Plain);
        return;
    }
    let text = if report.verifies {
        "Nothing that `fix --apply` changed is in force, so there is nothing to verify."
    } else if report.is_elsewhere {
        "Nothing to fix: no setting there is known to harm."
    } else {
        "Nothing to fix: `coalescope check` finds no setting here that is known to harm."
    };
    page.paragraph("", "", text, Tone::Plain);
}

/// One line per result.
fn brief(page: &mut Page, report: &FixReport) {
    for fixed in &report.fixes {
        page.paragraph("", "  ", &head(fixed), Tone::Heading);
    }
    nothing(page, report);
    done(page, report);
    for verified in &report.verified {
        verify(page, verified);
    }
    meanwhile(page, report);
}

fn head(fixed: &Fixed) -> String {
    format!("{} [{}, {}]", fixed.title, fixed.id, fixed.proof.name())
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

/// The verdict of an experiment, and its date.
fn proof(shown: &Shown) -> String {
    let verdict = shown.verdict.trim_end_matches('.');
    let when = date(shown.begun_unix_s);
    match shown.now {
        Standing::Proven => format!("proven by `coalescope ab` on {when}: {verdict}"),
        Standing::Cleared => format!(
            "cleared by `coalescope ab` on {when}: {verdict}; to change it would gain nothing here"
        ),
        Standing::Open => format!("not clear after `coalescope ab` on {when}: {verdict}"),
    }
}

fn tone_of(shown: &Shown) -> Tone {
    match shown.now {
        Standing::Proven => Tone::Bad,
        Standing::Cleared => Tone::Good,
        Standing::Open => Tone::Plain,
    }
}

fn files(page: &mut Page, plan: &Plan) {
    for file in &plan.files {
        let text = format!("{} has it: {}", file.owner, file.why);
        page.paragraph("", "  ", &text, Tone::Plain);
        for line in file.diff.lines() {
            page.line(line, Tone::Plain);
        }
        page.gap();
    }
    for reload in &plan.reload {
        let disturbs = if reload.disturbs_traffic {
            " (may interrupt traffic)"
        } else {
            ""
        };
        let text = format!(
            "So that it is read at once{disturbs}, because {}:",
            reload.why
        );
        page.paragraph("", "  ", &text, Tone::Plain);
        page.command("  $", "      ", &reload.command);
    }
    for refused in &plan.refused {
        let wish = &refused.wish;
        let text = format!(
            "{} {} of {}: {}; {}",
            wish.feature,
            if wish.on { "on" } else { "off" },
            wish.interface,
            refused.why,
            refused.what_to_do
        );
        page.paragraph("cannot be made to last: ", "  ", &text, Tone::Plain);
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
    if report.problem.is_some() && report.unrestored.is_empty() && !report.changes.is_empty() {
        page.paragraph("", "", "All of it was taken back.", Tone::Plain);
    }
    for left in &report.unrestored {
        page.paragraph("NOT restored: ", "  ", left, Tone::Bad);
    }
    for left in &report.left_out {
        page.paragraph("left out: ", "  ", left, Tone::Bad);
    }
    if report.applied && !report.journals.is_empty() {
        let text = "Done. `coalescope undo` takes it back; `coalescope fix --verify` tells whether it still holds.";
        page.paragraph("", "", text, Tone::Good);
    } else if report.applied && !report.left_out.is_empty() {
        page.paragraph("", "", "Nothing was changed.", Tone::Plain);
    } else if report.applied && !report.in_force.is_empty() {
        let text = "No file is to be changed for that.";
        page.paragraph("", "", text, Tone::Plain);
    } else if report.applied && !report.fixes.is_empty() {
        page.paragraph("", "", "There was nothing to change.", Tone::Plain);
    } else if report.is_elsewhere && !report.fixes.is_empty() {
        let text = "Nothing was changed: these are commands for the host that this was saved on.";
        page.paragraph("", "", text, Tone::Plain);
    } else if report.problem.is_none()
        && !(report.fixes.is_empty() && report.files.files.is_empty())
    {
        let text = "Nothing was changed. With --apply it is changed now, with --apply --persist in the \
            files of whatever manages the interface as well.";
        page.paragraph("", "", text, Tone::Plain);
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

fn verify(page: &mut Page, verified: &Verified) {
    let (word, tone) = if verified.holds {
        ("holds", Tone::Good)
    } else {
        ("REVERTED", Tone::Bad)
    };
    let text = format!(
        "{word}: {} is {}, wanted {} [{}]",
        verified.what, verified.is, verified.wanted, verified.journal
    );
    page.paragraph("", "  ", &text, tone);
}
