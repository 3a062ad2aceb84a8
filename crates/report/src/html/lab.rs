//! The page of incidents of the lab: published beside measured.

use std::io::{self, Write};

use maud::{Markup, html};

use super::page::Page;
use super::published;
use super::table::{Kind, Table};
use super::verdict::{self, Headline, Tone};
use crate::lab::{LabIncident, LabReport};
use crate::made::Made;
use crate::words::lab::{
    CHAIN, MEASURED, ROWS, agreement, chain_row, control, measured_row, row, row_heads,
    verdict as text,
};

/// Writes the page.
pub(crate) fn write(report: &LabReport, made: &Made, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new("coalescope lab run");
    let tone = if report.is_as_expected() {
        Tone::Good
    } else {
        Tone::Bad
    };
    let said = Headline {
        impact: None,
        text: &text(report),
        tone,
        sure: None,
        picture: None,
    };
    verdict::section(&mut page, &said);
    measured(&mut page, report)?;
    chain(&mut page, report)?;
    incidents(&mut page, report)?;
    super::made::section(&mut page, made);
    page.write(out)
}

fn measured(page: &mut Page, report: &LabReport) -> io::Result<()> {
    if report.incidents.is_empty() {
        return Ok(());
    }
    let columns = MEASURED.map(|head| {
        (
            head,
            if head == "incident" {
                Kind::Text
            } else {
                Kind::Number
            },
        )
    });
    let rows: Vec<Vec<String>> = report
        .incidents
        .iter()
        .map(|one| measured_row(one).to_vec())
        .collect();
    let table = Table {
        id: "measured-table",
        caption: "Measured, and published; window: segments a round trip when slow",
        columns: &columns,
        rows: &rows,
        of: rows.len(),
    };
    let body = html! {
        (published::figure(report))
        (table.markup()?)
        @for one in &report.incidents {
            @if let Some(note) = &one.published.note { p.note { (one.name) ", published: " (note) } }
        }
    };
    page.section("measured", "Published beside measured", body);
    Ok(())
}

fn chain(page: &mut Page, report: &LabReport) -> io::Result<()> {
    let columns = CHAIN.map(|head| {
        (
            head,
            if head == "took" {
                Kind::Number
            } else {
                Kind::Text
            },
        )
    });
    let rows: Vec<Vec<String>> = report
        .incidents
        .iter()
        .map(|one| chain_row(one).to_vec())
        .collect();
    let table = Table {
        id: "chain-table",
        caption: "What each command found or did; - where it found nothing, or was not asked",
        columns: &columns,
        rows: &rows,
        of: rows.len(),
    };
    page.section("chain", "What the commands made of it", table.markup()?);
    Ok(())
}

fn incidents(page: &mut Page, report: &LabReport) -> io::Result<()> {
    let each: Vec<Markup> = report
        .incidents
        .iter()
        .enumerate()
        .map(|(number, one)| incident(number, one))
        .collect::<io::Result<_>>()?;
    let body = html! {
        @for one in &each { (one) }
        @for skipped in &report.skipped {
            article.finding.warn {
                h3 { "Skipped: " (skipped.name) }
                p { (skipped.why) }
            }
        }
        @for failed in &report.failed {
            article.finding.bad {
                h3 { (failed.name) " broke off" }
                p { (failed.why) }
            }
        }
    };
    page.section("incidents", "Each incident", body);
    Ok(())
}

fn incident(number: usize, one: &LabIncident) -> io::Result<Markup> {
    let tone = if one.problems.is_empty() {
        Tone::Good
    } else {
        Tone::Bad
    };
    Ok(html! {
        article.finding.(tone.class()) {
            h3 { (one.name) ": " (one.title) }
            p.note { "On: " (one.kernel) }
            @if one.problems.is_empty() { p { "As its file says it must be." } }
            @else {
                p { b { "Not as its file says:" } }
                ul { @for problem in &one.problems { li { (problem) } } }
            }
            @if !one.controls.is_empty() {
                p { "Other measurements:" }
                ul { @for one in &one.controls { li { (control(one)) } } }
            }
            (rows(number, one)?)
            @if !one.captures.is_empty() {
                p { "Captures that were kept:" }
                ul { @for capture in &one.captures { li { code { (capture.display()) } } } }
            }
        }
    })
}

/// The incident's table, and what it says of the published one.
fn rows(number: usize, one: &LabIncident) -> io::Result<Markup> {
    let Some(first) = one.table.first() else {
        return Ok(html! {});
    };
    let kind = |column| match column < first.levels.len() {
        true => Kind::Text,
        false => Kind::Number,
    };
    let heads = row_heads(first).into_iter().enumerate();
    let columns: Vec<_> = heads.map(|(column, head)| (head, kind(column))).collect();
    let rows: Vec<Vec<String>> = one.table.iter().map(row).collect();
    let table = Table {
        id: &format!("incident-{number}-table"),
        caption: ROWS,
        columns: &columns,
        rows: &rows,
        of: rows.len(),
    };
    Ok(html! {
        (table.markup()?)
        ul { @for one in &one.agreement { li { (agreement(one)) } } }
    })
}
