//! The path: each hop with the outcomes of its frames, and its findings in words.

use coalescope_capture::facts::{Hop, Outcomes, Trace};
use coalescope_knowledge::Finding;
use maud::{Markup, html};

use super::lanes;
use super::page::Page;
use crate::words::findings::capitalised;
use crate::words::hops::{
    brief, cell, happens, is_accused, is_accused_sort, outcome_table, shown_and_others, sorts,
    test, timing, title,
};

/// Adds the section.
pub(crate) fn section(page: &mut Page, trace: &Trace, findings: &[Finding]) {
    let (shown, left_out) = shown_and_others(&trace.hops);
    if shown.is_empty() && left_out.is_empty() {
        return;
    }
    let ways = ways(trace, &shown);
    let body = html! {
        p.note {
            "Data goes from left to right. In each lane all frames of one sort whose fate is known are the whole height; a cross ends what "
            "did not arrive."
        }
        @for way in &ways { ol.hops { @for hop in way { li.hop.bad[is_accused(hop, findings)] { (hop_markup(hop, trace, findings)) } } } }
        @if !left_out.is_empty() { p { (capitalised(&brief(&left_out))) } }
    };
    page.section("path", "The path: what became of data frames", body);
}

/// Hops in the order of the path; hops against it in the order of their data.
fn ways<'a>(trace: &Trace, hops: &[&'a Hop]) -> Vec<Vec<&'a Hop>> {
    let place = |name: &str| trace.points.iter().position(|point| point.name == name);
    let (mut along, mut against): (Vec<&Hop>, Vec<&Hop>) = hops
        .iter()
        .partition(|hop| place(&hop.from) <= place(&hop.to));
    along.sort_by_key(|hop| place(&hop.from));
    against.sort_by_key(|hop| std::cmp::Reverse(place(&hop.from)));
    let ways = [along, against].into_iter();
    ways.filter(|way| !way.is_empty()).collect()
}

fn hop_markup(hop: &Hop, trace: &Trace, findings: &[Finding]) -> Markup {
    let is_seen = |(_, outcomes): &(&str, &Outcomes)| outcomes.seen > 0;
    html! {
        h3.ends { span { (hop.from) } span.to aria-label="to" role="img" { "\u{2192}" } span { (hop.to) } }
        ul.happens {
            @for (words, accuses) in happens(hop, trace, findings) { li.accused[accuses] { (capitalised(&words)) } }
        }
        @for (sort, outcomes) in sorts(hop).into_iter().filter(is_seen) { (lanes::lane(sort, outcomes)) }
        (numbers(hop, findings))
    }
}

/// The exact numbers of a hop.
fn numbers(hop: &Hop, findings: &[Finding]) -> Markup {
    let (columns, rows) = outcome_table(hop);
    let is_bad = |name: &str| is_accused_sort(name, hop, findings);
    html! {
        @if let Some(test) = test(hop) { p.note { (capitalised(&test)) } }
        p.note { (capitalised(&timing(hop))) }
        details {
            summary { "All counts" }
            div.scroll tabindex="0" role="group" aria-label=(title(hop)) {
                table {
                    caption { (title(hop)) }
                    thead { tr {
                        th scope="col" { "frames" }
                        @for (heading, _) in &columns { th.number scope="col" { (heading) } }
                    } }
                    tbody {
                        @for (name, outcomes) in rows {
                            tr.bad[is_bad(name)] {
                                th scope="row" { (name) }
                                @for column in &columns { td.number { (cell(*column, outcomes)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
