//! The result of `undo`, for people.

use std::io::{self, Write};

use coalescope_change::restore::{Fate, Undone};

use super::page::{Page, Tone};
use super::{TextOptions, finish};
use crate::undo::{Entry, Listed, UndoReport};
use crate::words::undo::{NOTHING, ended_well, fate, forgotten, head, taken_back};

pub(crate) fn write(
    report: &UndoReport,
    out: &mut dyn Write,
    options: &TextOptions,
) -> io::Result<()> {
    let mut page = Page::new(options);
    for unread in &report.unread {
        page.paragraph("", "  ", unread, Tone::Bad);
    }
    if report.is_empty() {
        page.paragraph("", "", NOTHING, Tone::Plain);
    }
    for entry in &report.journals {
        match entry {
            Entry::Undone(undone) => show(&mut page, undone),
            Entry::Listed(listed) => list(&mut page, listed),
            Entry::Forgotten { journal, .. } => {
                page.paragraph("", "  ", &forgotten(journal), Tone::Plain);
            }
        }
    }
    finish(&page, out)
}

fn show(page: &mut Page, undone: &Undone) {
    let tone = match ended_well(&undone.fate) {
        Some(true) => Tone::Good,
        Some(false) => Tone::Bad,
        None => Tone::Plain,
    };
    page.paragraph(
        "",
        "  ",
        &head(&undone.journal, &undone.command),
        Tone::Plain,
    );
    page.paragraph("  ", "    ", &fate(&undone.fate), tone);
    match &undone.fate {
        Fate::Restored { changes, idle } => {
            for change in changes {
                page.paragraph("  ", "    ", &taken_back(change), Tone::Plain);
            }
            for without_effect in idle {
                page.paragraph("  ", "    ", without_effect, Tone::Bad);
            }
        }
        Fate::Failed { unrestored } => {
            for left in unrestored {
                page.paragraph("  ", "    ", &left.to_string(), Tone::Bad);
            }
        }
        Fate::Reset | Fate::Running { .. } | Fate::Held { .. } | Fate::Unusable { .. } => {}
    }
}

fn list(page: &mut Page, listed: &Listed) {
    page.paragraph(
        "",
        "  ",
        &head(&listed.journal, &listed.command),
        Tone::Plain,
    );
    for change in &listed.changes {
        page.paragraph("  ", "    ", change, Tone::Plain);
    }
    if let Some(problem) = &listed.problem {
        page.paragraph("  ", "    ", problem, Tone::Bad);
    }
}
