//! Display filters of Wireshark, one for each point: its frames by their numbers.

use maud::{Markup, html};

use super::tale::Tale;
use crate::words::units::counted;

/// Most numbers in a filter: nobody reads a longer one.
const MOST: usize = 200;

/// A filter for each point of the story, and one for all lost frames.
pub(super) fn list(tale: &Tale<'_>) -> Markup {
    let lost: Vec<u64> = lost(tale);
    let here = &tale.here.lane.point;
    let shown = &lost[..lost.len().min(MOST)];
    html! {
        p.filters-head { "These frames in Wireshark:" }
        ul.filters {
            @for stop in tale.stops() {
                @let numbers = stop.numbers();
                @if !numbers.is_empty() { (item(&stop.lane.point, &numbers)) }
            }
        }
        @if lost.len() > 1 {
            details {
                summary {
                    "All " (counted(lost.len() as u64, "frame")) " of this connection that vanished after " (here)
                    @if shown.len() < lost.len() { ", the first " (shown.len()) }
                }
                ul.filters { (item(here, shown)) }
            }
        }
    }
}

fn lost(tale: &Tale<'_>) -> Vec<u64> {
    let frames = tale.here.lane.frames.iter();
    let lost = frames.filter(|frame| frame.is_lost() && frame.to_client == tale.lost.to_client);
    lost.map(|frame| frame.number).collect()
}

/// One filter.
pub(super) fn item(point: &str, numbers: &[u64]) -> Markup {
    html! { li data-copy=(point) { span { (point) } " " code { (filter(numbers)) } } }
}

/// A filter for every release of Wireshark: the separators of lists in braces have changed.
fn filter(numbers: &[u64]) -> String {
    let terms = numbers
        .iter()
        .map(|number| format!("frame.number == {number}"));
    terms.collect::<Vec<_>>().join(" || ")
}
