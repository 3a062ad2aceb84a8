//! Display filters of Wireshark, one for each point: its frames by their numbers.

use std::collections::{BTreeMap, BTreeSet};

use coalescope_capture::series::{Fate, Frame, Lane};
use maud::{Markup, html};

use super::tale::Tale;
use crate::words::units::counted;

/// Most numbers in a filter: nobody reads a longer one.
const MOST: usize = 200;

/// A filter for each point of the story, and one for all lost frames.
pub(super) fn list(tale: &Tale<'_>) -> Markup {
    let lost = lost(tale);
    let lane = tale.here.lane;
    let shown = &lost[..lost.len().min(MOST)];
    html! {
        p.filters-head { "These frames in Wireshark:" }
        ul.filters {
            @for stop in tale.stops() {
                (items(stop.lane, &stop.frames()))
            }
        }
        @if lost.len() > 1 {
            details {
                summary {
                    (all(&lost)) " after " (lane.point)
                    @if shown.len() < lost.len() { ", the first " (shown.len()) }
                }
                ul.filters { (items(lane, shown)) }
            }
        }
    }
}

/// `Both frames of this connection that vanished`.
fn all(lost: &[&Frame]) -> String {
    let frames = match lost.len() {
        2 => "Both frames".to_owned(),
        many => format!("All {}", counted(many as u64, "frame")),
    };
    let in_part = |frame: &&&Frame| frame.fate == Some(Fate::PartlyLost);
    let what = match lost.iter().filter(in_part).count() {
        0 => "vanished",
        some if some == lost.len() => "were lost in part",
        _ => "vanished or were lost in part",
    };
    format!("{frames} of this connection that {what}")
}

fn lost<'a>(tale: &Tale<'a>) -> Vec<&'a Frame> {
    let frames = tale.here.lane.frames.iter();
    let lost = frames.filter(|frame| frame.is_lost() && frame.to_client == tale.lost.to_client);
    lost.collect()
}

/// A filter for each file of a point that has any of these frames: numbers begin anew with each.
pub(super) fn items(lane: &Lane, frames: &[&Frame]) -> Markup {
    let mut files: BTreeMap<u16, BTreeSet<u64>> = BTreeMap::new();
    for frame in frames {
        files.entry(frame.file).or_default().insert(frame.number);
    }
    html! { @for (number, numbers) in &files { (item(&lane.point, file(lane, *number), numbers)) } }
}

/// One filter.
fn item(point: &str, file: Option<&str>, numbers: &BTreeSet<u64>) -> Markup {
    let name = match file {
        Some(file) => format!("{point}, {file}"),
        None => point.to_owned(),
    };
    html! { li data-copy=(name) { span { (name) } " " code { (filter(numbers)) } } }
}

/// The name of a file, without its folder, if its point has several.
pub(super) fn file(lane: &Lane, number: u16) -> Option<&str> {
    let several = lane.files.len() > 1;
    let path = lane.files.get(usize::from(number)).filter(|_| several)?;
    path.rsplit(['/', '\\']).next()
}

/// A filter for every release of Wireshark: the separators of lists in braces have changed.
fn filter(numbers: &BTreeSet<u64>) -> String {
    let terms = numbers
        .iter()
        .map(|number| format!("frame.number == {number}"));
    terms.collect::<Vec<_>>().join(" || ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_lost_in_part_have_not_vanished() {
        let frame = |fate| Frame {
            fate: Some(fate),
            ..Frame::default()
        };
        let (whole, part) = (frame(Fate::Lost), frame(Fate::PartlyLost));
        let said = [[&whole, &whole], [&part, &part], [&whole, &part]].map(|lost| all(&lost));
        let both = "Both frames of this connection that";
        let what = [
            "vanished",
            "were lost in part",
            "vanished or were lost in part",
        ];
        assert_eq!(said, what.map(|what| format!("{both} {what}")));
        assert!(all(&[&whole; 3]).starts_with("All 3 frames "));
    }
}
