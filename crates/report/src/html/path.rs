//! The path: points, and between them each hop with what became of its frames.

use coalescope_capture::facts::{Hop, Trace};
use coalescope_knowledge::Finding;
use maud::{Markup, html};

use super::flow;
use super::page::Page;
use crate::words::hops::{brief, cell, is_accused, outcome_table, test, timing, title, told};

/// Adds the section.
pub(crate) fn section(page: &mut Page, trace: &Trace, findings: &[Finding]) {
    let (told, left_out) = told(&trace.hops);
    if told.is_empty() && left_out.is_empty() {
        return;
    }
    let ways = ways(trace, &told);
    let body = html! {
        @for (i, way) in ways.iter().enumerate() { (flow::figure(i, way, findings)) }
        @for hop in &told { (numbers(hop, findings)) }
        @if !left_out.is_empty() { p { (brief(&left_out)) } }
    };
    page.section("path", "The path: what became of data frames", body);
}

/// Hops in the order of the path, and those against it in the order in which their data went.
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

/// The numbers of a hop, for those who want them exactly and those who cannot see the drawing.
fn numbers(hop: &Hop, findings: &[Finding]) -> Markup {
    let (columns, rows) = outcome_table(hop);
    let is_bad = |name: &str| name == "merged" && is_accused(hop, findings);
    html! {
        h3 { (title(hop)) }
        div.scroll tabindex="0" role="region" aria-label=(title(hop)) {
            table {
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
        @if let Some(test) = test(hop) { p { (test) } }
        p.note { (timing(hop)) }
    }
}
