//! What mends findings, for people.

use std::io::{self, Write};

use coalescope_knowledge::Proof;
use coalescope_remedy::Plan;

use super::TextOptions;
use super::page::{Page, Tone, printable};
use crate::FixReport;
use crate::fix::{Fixed, Verified};

pub(crate) fn write(
    report: &FixReport,
    out: &mut dyn Write,
    options: &TextOptions,
) -> io::Result<()> {
    let mut page = Page::new(options.colour);
    if report.verified.is_empty() && report.fixes.is_empty() {
        page.paragraph(
            "",
            "",
            "There is nothing to fix, or to verify.",
            Tone::Plain,
        );
    }
    for fixed in &report.fixes {
        fix(&mut page, fixed);
    }
    files(&mut page, &report.files);
    done(&mut page, report);
    for verified in &report.verified {
        verify(&mut page, verified);
    }
    out.write_all(page.text().as_bytes())?;
    out.flush()
}

fn fix(page: &mut Page, fixed: &Fixed) {
    let head = format!("{} [{}, {}]", fixed.title, fixed.id, fixed.proof.name());
    page.paragraph("", "  ", &head, Tone::Heading);
    for command in &fixed.commands {
        page.paragraph("  $ ", "      ", command, Tone::Plain);
    }
    for command in &fixed.by_hand {
        page.paragraph("  by hand: ", "    ", command, Tone::Plain);
    }
    for command in &fixed.lasting_by_hand {
        page.paragraph("  to last, by hand: ", "    ", command, Tone::Plain);
    }
    if fixed.commands.is_empty() && fixed.by_hand.is_empty() {
        page.paragraph("  ", "  ", "no setting of this host mends it", Tone::Plain);
    }
    if let Some(cost) = &fixed.cost {
        page.paragraph("  cost: ", "        ", cost, Tone::Plain);
    }
    if let (Some(experiment), true) = (&fixed.experiment, fixed.proof != Proof::Proven) {
        page.paragraph(
            "  not proven; this would: ",
            "    ",
            experiment,
            Tone::Plain,
        );
    }
    page.gap();
}

fn files(page: &mut Page, plan: &Plan) {
    for file in &plan.files {
        let text = format!("{} has it: {}", file.owner, file.why);
        page.paragraph("", "  ", &text, Tone::Plain);
        for line in file.diff.lines() {
            page.line(&printable(line), Tone::Plain);
        }
        page.gap();
    }
    for reload in &plan.reload {
        let disturbs = if reload.disturbs_traffic {
            " (may interrupt traffic)"
        } else {
            ""
        };
        let text = format!("{}{disturbs}: {}", reload.command, reload.why);
        page.paragraph("to be read at once: ", "  ", &text, Tone::Plain);
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
    for left in &report.unrestored {
        page.paragraph("NOT restored: ", "  ", left, Tone::Bad);
    }
    if report.applied && !report.journals.is_empty() {
        let text = "Done. `coalescope undo` takes it back, `coalescope fix --verify` looks whether it holds.";
        page.paragraph("", "", text, Tone::Good);
    } else if report.applied && !report.fixes.is_empty() {
        page.paragraph("", "", "There was nothing to change.", Tone::Plain);
    } else if report.problem.is_none() && !report.fixes.is_empty() {
        let text = "Nothing was changed: --apply does it now, --apply --persist in files as well.";
        page.paragraph("", "", text, Tone::Plain);
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
