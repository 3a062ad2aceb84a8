//! The page of `undo`: what became of each journal.

use std::io::{self, Write};

use coalescope_change::restore::{Fate, Undone};
use maud::{Markup, html};

use super::page::Page;
use super::verdict::{self, Headline, Tone};
use super::{made, notes};
use crate::made::Made;
use crate::undo::{Entry, Listed, UndoReport};
use crate::words::undo::{NOTHING, ended_well, fate, forgotten, head, taken_back};

/// Writes the page.
pub(crate) fn write(report: &UndoReport, made: &Made, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new("coalescope undo");
    let (text, tone) = said(report);
    let said = Headline {
        impact: None,
        text,
        tone,
        sure: None,
        picture: None,
    };
    verdict::section(&mut page, &said);
    if !report.journals.is_empty() {
        let body = html! { @for entry in &report.journals { (article(entry)) } };
        page.section("journals", "Journals", body);
    }
    notes::section(&mut page, &report.unread);
    made::section(&mut page, made);
    page.write(out)
}

fn said(report: &UndoReport) -> (&'static str, Tone) {
    let is_listed = |entry: &Entry| matches!(entry, Entry::Listed(_));
    if report.is_empty() {
        (NOTHING, Tone::Good)
    } else if report.has_failed() {
        ("Not all is as it was.", Tone::Bad)
    } else if report.journals.iter().any(is_listed) {
        (
            "Nothing was changed: this is what there is to undo.",
            Tone::Plain,
        )
    } else {
        ("What had to be done is done.", Tone::Good)
    }
}

fn article(entry: &Entry) -> Markup {
    match entry {
        Entry::Undone(undone) => undone_article(undone),
        Entry::Listed(listed) => listed_article(listed),
        Entry::Forgotten { journal, .. } => html! {
            article.finding.plain { h3 { (journal) } p { (forgotten(journal)) } }
        },
    }
}

fn undone_article(undone: &Undone) -> Markup {
    let tone = match ended_well(&undone.fate) {
        Some(true) => Tone::Good,
        Some(false) => Tone::Bad,
        None => Tone::Plain,
    };
    html! {
        article.finding.(tone.class()) {
            h3 { (head(&undone.journal, &undone.command)) }
            p { (fate(&undone.fate)) }
            (details(&undone.fate))
        }
    }
}

fn details(fate: &Fate) -> Markup {
    let lines: Vec<String> = match fate {
        Fate::Restored { changes, idle } => {
            let back = changes.iter().map(|change| taken_back(change));
            back.chain(idle.iter().cloned()).collect()
        }
        Fate::Failed { unrestored } => unrestored.iter().map(ToString::to_string).collect(),
        Fate::Reset | Fate::Running { .. } | Fate::Held { .. } | Fate::Unusable { .. } => {
            Vec::new()
        }
    };
    html! { @if !lines.is_empty() { ul { @for line in &lines { li { (line) } } } } }
}

fn listed_article(listed: &Listed) -> Markup {
    html! {
        article.finding.plain {
            h3 { (head(&listed.journal, &listed.command)) }
            ul { @for change in &listed.changes { li { (change) } } }
            @if let Some(problem) = &listed.problem { p { (problem) } }
        }
    }
}
