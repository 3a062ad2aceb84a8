//! The page of a watch: what became of merged frames, and the counts.

use std::io::{self, Write};

use coalescope_knowledge::beside_single;
use coalescope_watch::facts::{Drop, Watched};
use maud::{Markup, html};

use super::page::Page;
use super::table::{MOST, Table};
use super::verdict::{self, Headline, Tone};
use super::{check, counted, lanes, made, notes};
use crate::document::Document;
use crate::made::Made;
use crate::watch::WatchReport;
use crate::words::watch::{
    CONNECTION_HEADS, connection, died_where, dropped, estimated, little, sample, slow_and_others,
    verdict as text,
};

/// Writes the page.
pub(crate) fn write(report: &WatchReport, made: &Made, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new("coalescope watch");
    let watched = &report.watched;
    let findings: Vec<_> = report.findings.iter().collect();
    let sure = check::sure(&findings);
    let said = Headline {
        impact: findings.first().map(|first| first.title.as_str()),
        text: &text(watched),
        tone: tone(report),
        sure: sure.as_ref(),
        picture: compared(watched),
    };
    verdict::section(&mut page, &said);
    if !findings.is_empty() {
        let body = html! { @for one in &findings { (check::article(&[one])) } };
        page.section("findings", "Findings in the counts", body);
    }
    drops(&mut page, watched);
    counts(&mut page, watched)?;
    connections(&mut page, watched)?;
    notes::section(&mut page, &report.warnings());
    made::section(&mut page, made);
    page.write(out)
}

fn tone(report: &WatchReport) -> Tone {
    let findings: Vec<_> = report.findings.iter().collect();
    match (findings.is_empty(), report.is_decided()) {
        (false, _) => check::tone(&findings),
        (true, true) => Tone::Good,
        (true, false) => Tone::Plain,
    }
}

/// Merged frames beside single ones, where most merged frames died.
fn compared(watched: &Watched) -> Option<Markup> {
    let all = watched.drops.iter().filter(|drop| drop.died() > 0);
    let worst = all.max_by_key(|drop| drop.died())?;
    let of = beside_single(worst, watched)?;
    let what = match of.flows {
        0 => "Frames of this interface, ",
        _ => "Flows whose merged frames died, ",
    };
    Some(html! {
        figure {
            figcaption { (what) (died_where(worst).1) }
            (lanes::dropped("merged", of.merged_frames, of.merged_died))
            (lanes::dropped("single", of.single_frames, of.single_died))
        }
    })
}

/// Where merged frames died, each place with its samples; then places of which nobody knows whether they were merged.
fn drops(page: &mut Page, watched: &Watched) {
    let is_known = |drop: &&Drop| drop.died() > 0;
    let is_unknown = |drop: &&Drop| drop.unknown_frames > 0;
    let all = watched.drops.iter();
    let (died, unknown): (Vec<&Drop>, Vec<&Drop>) = (
        all.clone().filter(is_known).collect(),
        all.filter(is_unknown).collect(),
    );
    let heading = match (died.is_empty(), unknown.is_empty()) {
        (true, true) => return,
        (false, _) => "Merged frames that died",
        (true, false) => "Frames that were dropped on this host, merged or not",
    };
    let begun = watched.begun_unix_s;
    let body = html! {
        ul {
            @for drop in died.iter().chain(&unknown) {
                li {
                    (dropped(drop))
                    @if !drop.samples.is_empty() {
                        details {
                            summary { "Some of these frames" }
                            ul { @for one in &drop.samples { li { (sample(one, begun)) } } }
                        }
                    }
                }
            }
        }
    };
    page.section("dropped", heading, body);
}

fn counts(page: &mut Page, watched: &Watched) -> io::Result<()> {
    if watched.interfaces.is_empty() {
        return Ok(());
    }
    let table = counted::interfaces(0, watched)?;
    let body = html! {
        (table)
        @if let Some(text) = estimated(watched) { p.note { (text) } }
    };
    page.section("watched", "What was counted", body);
    Ok(())
}

/// Connections that end on this host, those that get little through first.
fn connections(page: &mut Page, watched: &Watched) -> io::Result<()> {
    if watched.connections.is_empty() {
        return Ok(());
    }
    let (slow, others) = slow_and_others(watched);
    let heads = CONNECTION_HEADS.map(|head| head.replace('\n', " "));
    let shown = slow.iter().chain(&others).take(MOST);
    let rows: Vec<Vec<String>> = shown.map(|one| connection(one).to_vec()).collect();
    let table = Table {
        id: "watched-connections",
        caption: "TCP connections that moved meanwhile",
        columns: &counted::columns(&heads, &[0]),
        rows: &rows,
        of: watched.connections.len(),
    };
    let table = table.markup()?;
    let body = html! {
        @if !slow.is_empty() { ul { @for one in &slow { li { (little(one)) } } } }
        (table)
    };
    page.section("connections", "TCP connections of this host", body);
    Ok(())
}
