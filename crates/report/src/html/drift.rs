//! Drift as a matrix: hosts across, settings down.

use std::collections::BTreeMap;

use coalescope_host::drift::Drift;
use maud::{Markup, html};

use crate::check::{CheckReport, name_of};
use crate::words::units::UNKNOWN;

/// The matrix. The value of most hosts is in plain letters; a different one is marked and bold.
pub(crate) fn matrix(report: &CheckReport, rows: &[Drift]) -> Markup {
    let hosts: Vec<String> = report
        .hosts
        .iter()
        .enumerate()
        .map(|(i, (snapshot, _))| match &snapshot.name {
            Some(_) => name_of(snapshot).to_owned(),
            // As `drift` names them.
            None => format!("host {}", i + 1),
        })
        .collect();
    html! {
        p.note { "\u{2260} marks what is not as most hosts have it; without a majority every value is marked. - is for hosts that have no such setting, or of which it was not read." }
        div.scroll tabindex="0" role="group" aria-label="Settings that differ, by host" {
            table.matrix {
                thead { tr {
                    th scope="col" { "setting" }
                    @for host in &hosts { th scope="col" { (host) } }
                } }
                tbody { @for row in rows { (line(row, &hosts)) } }
            }
        }
    }
}

fn line(row: &Drift, hosts: &[String]) -> Markup {
    let mut others: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for one in &row.hosts {
        let at = one.interface.as_ref().map(|name| format!("{name}: "));
        let text = format!("{}{}", at.unwrap_or_default(), one.value);
        others.entry(&one.host).or_default().push(text);
    }
    let is_like_most = |host: &String| row.like_most.contains(host);
    let most = row.majority.as_deref().unwrap_or_default();
    html! {
        tr {
            th scope="row" { (row.what) }
            @for host in hosts {
                @match others.get(host.as_str()) {
                    Some(values) => td.differs {
                        @for value in values { div { "\u{2260} " (value) } }
                    }
                    None if is_like_most(host) => td { (most) }
                    None => td.absent { (UNKNOWN) }
                }
            }
        }
    }
}
