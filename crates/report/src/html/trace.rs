//! The page of a trace.

use std::io::{self, Write};

use coalescope_knowledge::Merging;
use maud::html;

use super::page::Page;
use super::plot;
use crate::Report;

/// Writes the page.
pub(crate) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new("coalescope trace");
    show(&mut page, report)?;
    page.write(out)
}

/// All of its sections.
pub(super) fn show(page: &mut Page, report: &Report) -> io::Result<()> {
    verdict(page, report);
    plot::show(page, report)
}

fn verdict(page: &mut Page, report: &Report) {
    let verdict = &report.diagnosis.verdict;
    let tone = match verdict.merging {
        Merging::Harms => "bad",
        _ if report.has_findings() => "warn",
        _ => "good",
    };
    let body = html! { p.verdict.(tone) { (verdict.text) } };
    page.section("verdict", "Verdict", body);
}
