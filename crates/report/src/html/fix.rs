//! The page of a fix: what is changed, in which files, and what came of each change.

use std::io::{self, Write};

use coalescope_knowledge::Standing;
use maud::{Markup, html};

use super::page::Page;
use super::verdict::{self, Headline, Sure, Tone};
use super::{check, counted, made, notes};
use crate::fix::{FixReport, Fixed, Meanwhile};
use crate::made::Made;
use crate::text::not_seen;
use crate::words::fix::{
    by_itself, file, head, left, nothing, outcome, proof, refused, reload, verified,
};
use crate::words::watch::verdict as in_words;

/// Writes the page.
pub(crate) fn write(report: &FixReport, made: &Made, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new("coalescope fix");
    let sure = report.fixes.iter().max_by_key(|fixed| fixed.proof);
    let sure = sure.map(sure_of);
    let said = Headline {
        impact: None,
        text: &said(report),
        tone: tone(report),
        sure: sure.as_ref(),
        picture: None,
    };
    verdict::section(&mut page, &said);
    fixes(&mut page, report);
    files(&mut page, report);
    done(&mut page, report);
    if let Some(seen) = &report.watched {
        meanwhile(&mut page, seen)?;
    }
    made::section(&mut page, made);
    page.write(out)
}

/// All that is known in the end, in sentences.
fn said(report: &FixReport) -> String {
    let reverted = report.verified.iter().filter(|one| !one.holds).count();
    let holds = match (report.verified.len(), reverted) {
        (0, _) => None,
        (1.., 0) => Some("All that was applied holds.".to_owned()),
        (all, some) => Some(format!("{some} of {all} changes do not hold any more.")),
    };
    let why = nothing(report).into_iter().chain(holds);
    let came = outcome(report).map(|(text, _)| text.to_owned());
    let problem = report.problem.clone();
    let all = problem.into_iter().chain(why).chain(came);
    all.collect::<Vec<_>>().join(" ")
}

fn tone(report: &FixReport) -> Tone {
    let is_bad = report.problem.is_some() || !report.unrestored.is_empty() || report.reverted();
    let is_open = !report.fixes.is_empty() && report.journals.is_empty();
    match (is_bad, is_open) {
        (true, _) => Tone::Bad,
        (false, true) => Tone::Warn,
        (false, false) => Tone::Good,
    }
}

fn sure_of(fixed: &Fixed) -> Sure {
    let next = fixed.experiment.as_ref().filter(|_| fixed.shown.is_none());
    Sure {
        proof: fixed.proof,
        next: next.map(ToString::to_string),
        is_command: true,
    }
}

fn fixes(page: &mut Page, report: &FixReport) {
    if !report.fixes.is_empty() {
        let body = html! { @for fixed in &report.fixes { (article(fixed)) } };
        page.section("fixes", "What mends it", body);
    }
}

fn article(fixed: &Fixed) -> Markup {
    let is_cleared = fixed
        .shown
        .as_ref()
        .is_some_and(|shown| shown.now == Standing::Cleared);
    let tone = if is_cleared { Tone::Good } else { Tone::Warn };
    let lasting = fixed.lasting_by_hand.iter();
    let lasting = lasting.map(|one| {
        (
            format!("To last, by hand ({}):", one.platform),
            &one.command,
        )
    });
    let commands = fixed
        .commands
        .iter()
        .map(|one| ("Command:".to_owned(), one));
    let by_hand = fixed.by_hand.iter().map(|one| ("By hand:".to_owned(), one));
    html! {
        article.finding.(tone.class()) {
            h3 { (head(fixed)) }
            @if let Some(shown) = &fixed.shown { p { (proof(shown)) } }
            @for (label, command) in commands.chain(by_hand).chain(lasting) {
                p { (label) }
                pre tabindex="0" { code { (command) } }
            }
            @if fixed.commands.is_empty() && fixed.by_hand.is_empty() { p { "No setting of this host mends it." } }
            @if let Some(cost) = &fixed.cost { p { b { "Cost: " } (cost) } }
        }
    }
}

fn files(page: &mut Page, report: &FixReport) {
    let plan = &report.files;
    if plan.files.is_empty() && plan.reload.is_empty() && plan.refused.is_empty() {
        return;
    }
    let body = html! {
        @for change in &plan.files {
            p { (file(change)) }
            pre tabindex="0" { code { (change.diff) } }
        }
        @for one in &plan.reload {
            p { (reload(one)) }
            pre tabindex="0" { code { (one.command) } }
        }
        @if !plan.refused.is_empty() { ul { @for one in &plan.refused { li { (refused(one)) } } } }
    };
    page.section("files", "Files that make it last", body);
}

/// What came of each change, and whether it holds.
fn done(page: &mut Page, report: &FixReport) {
    let all = report.changes.iter().cloned();
    let all = all.chain(by_itself(report).map(str::to_owned));
    let all = all
        .chain(left(report))
        .chain(report.verified.iter().map(verified));
    let lines: Vec<String> = all.collect();
    if lines.is_empty() && report.journals.is_empty() {
        return;
    }
    let body = html! {
        ul { @for line in &lines { li { (line) } } }
        @for journal in &report.journals {
            p { "What takes it back:" }
            pre tabindex="0" { code { "coalescope undo " (journal) } }
        }
    };
    page.section("done", "What came of it", body);
}

/// Counts of merged frames since.
fn meanwhile(page: &mut Page, seen: &Meanwhile) -> io::Result<()> {
    let table = counted::interfaces(0, &seen.watched)?;
    let body = html! {
        p { (in_words(&seen.watched)) }
        @for one in &seen.findings { (check::article(&[one])) }
        (table)
    };
    page.section("watched", "What was counted since", body);
    notes::section(page, &not_seen(&seen.watched));
    Ok(())
}
