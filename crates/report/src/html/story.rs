//! A picture of one frame that is lost or overtaken, with a text, and display filters for Wireshark.

mod filters;
mod ladder;
mod names;
mod overtaken;
mod repair;
mod tale;

use coalescope_capture::series::{Fate, Frame, Lane, Series};
use maud::{Markup, html};

use super::page::Page;
use crate::words::units::{counted, seconds};
use overtaken::Overtaken;
use repair::Repair;
use tale::{Stop, Tale};

pub(super) use tale::repair as repair_of;

const SCRIPT: &str = include_str!("assets/copy.js");
/// Frame numbers listed in a sentence.
const NAMED: usize = 3;

/// The event that a picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    /// A lost frame.
    Vanishing,
    /// A lost frame. If no other point shows its outcome, a retransmitted frame of several segments
    /// counts as lost.
    MergedVanishing,
    /// A segment that is overtaken.
    Overtaking,
}

/// The picture of the first connection with the event.
pub(crate) fn figure(page: &mut Page, series: &[Series], shows: Shows) -> Option<Markup> {
    let body = match shows {
        Shows::Overtaking => series.iter().find_map(Overtaken::of)?.figure(),
        Shows::MergedVanishing => vanishing(series, true)?,
        Shows::Vanishing => vanishing(series, false).or_else(|| late(series))?,
    };
    page.script(SCRIPT);
    Some(html! { figure.story { (body) } })
}

/// The picture of a loss before the first point.
fn late(series: &[Series]) -> Option<Markup> {
    let late = series.iter().find_map(Overtaken::late)?;
    Some(late.figure())
}

fn vanishing(series: &[Series], may_guess: bool) -> Option<Markup> {
    let tale = series.iter().find_map(|one| Tale::of(one, may_guess))?;
    Some(html! {
        (ladder::drawing(&tale))
        figcaption {
            (caption(&tale))
            (filters::list(&tale))
        }
    })
}

fn caption(tale: &Tale<'_>) -> Markup {
    let Tale { here, lost, .. } = tale;
    html! {
        p.told {
            "Frame " b { (number(here.lane, lost)) } " holds " b { (segments(lost)) } " and leaves " b { (here.lane.point) } ". "
            (fate(tale)) " " (again(tale))
        }
        @if let Some(before) = &tale.before { (origin(before, tale)) }
    }
}

fn fate(tale: &Tale<'_>) -> Markup {
    html! {
        @match (&tale.after, tale.lost.fate) {
            (Some(after), Some(Fate::PartlyLost)) => { "Only a part of it reaches " b { (after.lane.point) } "." }
            (Some(after), _) => { "It never reaches " b { (after.lane.point) } "." }
            (None, _) if tale.repair.was_there => "Only a part of it is acknowledged.",
            (None, _) => "Nobody acknowledges it.",
        }
        (vain(tale))
    }
}

/// The retransmissions that are lost as well.
fn vain(tale: &Tale<'_>) -> Markup {
    let vain = &tale.repair.vain;
    html! {
        @if !vain.is_empty() {
            " Sent again as " b { (numbers(tale.here.lane, vain)) } ", its bytes "
            @if tale.after.is_some() { "are " b { "lost again" } "." } @else { "are not acknowledged either." }
        }
    }
}

fn again(tale: &Tale<'_>) -> Markup {
    let again = tale.repair.told();
    let alone = tale.lost.segments > 1 && again.iter().all(|frame| frame.segments <= 1);
    html! {
        @if again.is_empty() { (none(tale)) } @else {
            b { (seconds(tale.wait_s())) } " later " (subject(tale)) " go "
            @if alone { "alone" } @else { "again" } " as " b { (numbers(tale.here.lane, again)) }
            (ending(tale)) "."
        }
    }
}

fn none(tale: &Tale<'_>) -> &'static str {
    match tale.after {
        Some(_) => "No retransmission arrives.",
        None => "No acknowledgment of them is seen.",
    }
}

/// The bytes that the repair brings.
fn subject(tale: &Tale<'_>) -> &'static str {
    let is_rest =
        tale.lost.fate == Some(Fate::PartlyLost) || tale.after.is_none() && tale.repair.was_there;
    match (
        tale.repair.again.is_empty() || tale.repair.is_whole,
        is_rest,
    ) {
        (true, false) => "the same bytes",
        (true, true) => "the missing bytes",
        (false, false) => "some of the same bytes",
        (false, true) => "some of the missing bytes",
    }
}

/// What becomes of the retransmission.
fn ending(tale: &Tale<'_>) -> Markup {
    let Repair {
        again,
        arrived,
        acknowledged,
        ..
    } = &tale.repair;
    html! {
        @match (&tale.after, acknowledged) {
            _ if again.is_empty() => "; these captures do not show what becomes of them",
            (Some(after), _) => {
                ", and " b { "arrive" }
                @if !arrived.is_empty() { " (" (numbers(after.lane, arrived)) " at " (after.lane.point) ")" }
            }
            (None, Some(ack)) => { ", and are " b { "acknowledged" } " (" (number(tale.here.lane, ack)) ")" }
            (None, None) => {}
        }
    }
}

/// The frame at the point before: as single frames or already merged.
fn origin(before: &Stop<'_>, tale: &Tale<'_>) -> Markup {
    let singles = before.first.iter().all(|frame| frame.segments <= 1);
    let is_merged = before.first.len() > 1 && singles;
    html! {
        @if is_merged {
            p.note {
                "At " (before.lane.point) " these bytes were " (counted(before.first.len() as u64, "frame"))
                " of one segment (" (numbers(before.lane, &before.first)) "): they were merged on the way to " (tale.here.lane.point) "."
            }
        }
    }
}

fn number(lane: &Lane, frame: &Frame) -> String {
    match filters::file(lane, frame.file) {
        Some(file) => format!("{} of {file}", frame.number),
        None => frame.number.to_string(),
    }
}

/// `2 segments`.
fn segments(frame: &Frame) -> String {
    counted(u64::from(frame.segments.max(1)), "segment")
}

/// `12`, `12 and 13`, `12, 13, 14 and others`; of a point with several files, `12 and 13 of up-0.pcap`.
fn numbers(lane: &Lane, frames: &[&Frame]) -> String {
    let first = frames.first().map(|frame| frame.file);
    if !frames.iter().all(|frame| Some(frame.file) == first) {
        return listed(frames.iter().map(|frame| number(lane, frame)));
    }
    let list = listed(frames.iter().map(|frame| frame.number.to_string()));
    match first.and_then(|file| filters::file(lane, file)) {
        Some(file) => format!("{list} of {file}"),
        None => list,
    }
}

fn listed(all: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = all.collect();
    match &all[..] {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] if all.len() <= NAMED => format!("{} and {last}", most.join(", ")),
        _ => format!("{} and others", all[..NAMED].join(", ")),
    }
}
