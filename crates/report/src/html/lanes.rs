//! Lanes of a hop or a host, one for each sort of frames. All frames of a sort whose fate is known fill their lane, so that a
//! loss among few frames is as visible as one among many, and one of all of them looks like one.

use coalescope_capture::facts::Outcomes;
use maud::{Markup, html};

use super::svg::{Path, px};
use crate::words::units::{count, counted, percent};

/// Size of a lane in pixels; it is stretched to the available width.
const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 26.0;
/// Gap between the ribbons of a lane.
const GAP: f64 = 2.0;
/// Least height of a ribbon, as a share of the lane: rarer outcomes are drawn at this height.
const LEAST: f64 = 0.08;
/// Where the ribbon of lost frames ends, as a share of the lane.
const ENDS: f64 = 0.5;

/// Frames of one sort and outcome.
struct Part {
    outcome: &'static str,
    frames: u64,
    arrives: bool,
    /// Its fate is known, and it has a share.
    is_judged: bool,
}

impl Part {
    fn judged(outcome: &'static str, frames: u64, arrives: bool) -> Self {
        Self {
            outcome,
            frames,
            arrives,
            is_judged: true,
        }
    }

    fn is_gone(&self) -> bool {
        matches!(self.outcome, "lost" | "dropped")
    }
}

/// A lane with its words.
pub(super) fn lane(sort: &str, outcomes: &Outcomes) -> Markup {
    drawing(sort, outcomes.seen, outcomes.judged(), &parts(outcomes))
}

/// The lane of frames on a host, some of which it dropped.
pub(super) fn dropped(sort: &str, frames: u64, died: u64) -> Markup {
    let passed = Part::judged("passed", frames.saturating_sub(died), true);
    let mut parts = vec![passed, Part::judged("dropped", died, false)];
    parts.retain(|part| part.frames > 0);
    drawing(sort, frames, frames.max(died), &parts)
}

fn drawing(sort: &str, seen: u64, judged: u64, parts: &[Part]) -> Markup {
    html! {
        div.lane {
            p.lane-head { b { (sort) } " " span { (counted(seen, "frame")) } }
            (ribbons(sort, &drawn(parts)))
            p.lane-said {
                @for (i, part) in parts.iter().enumerate() {
                    @if i > 0 { ", " }
                    span.gone[part.is_gone()] {
                        (count(part.frames)) " " (part.outcome)
                        @if part.is_judged { " (" (percent(part.frames, judged)) ")" }
                    }
                }
            }
        }
    }
}

fn parts(o: &Outcomes) -> Vec<Part> {
    let of = Part::judged;
    let all = [
        of("arrived", o.arrived, true),
        of("re-split", o.resplit, true),
        of("merged further", o.merged_further, true),
        of("fragmented", o.fragmented, true),
        of("partly lost", o.partly_lost, true),
        of("lost", o.lost, false),
        Part {
            is_judged: o.lacks(),
            ..of("missed by the capture", o.missed, false)
        },
        Part {
            is_judged: false,
            ..of("not judged", o.not_judged, false)
        },
    ];
    all.into_iter().filter(|part| part.frames > 0).collect()
}

/// The parts with a share; all of them where nothing is known.
fn drawn(parts: &[Part]) -> Vec<&Part> {
    let any = parts.iter().any(|part| part.is_judged);
    let shown = parts.iter().filter(|part| part.is_judged || !any);
    shown.collect()
}

/// Ribbons with heights in proportion to their frames, which fill the lane together. The words
/// beside them have the numbers.
fn ribbons(sort: &str, parts: &[&Part]) -> Markup {
    html! {
        svg.ribbons viewBox={ "0 0 " (px(WIDTH)) " " (px(HEIGHT)) } aria-hidden="true" {
            @for (part, place) in parts.iter().zip(places(parts)) { (ribbon(sort, part, place)) }
            path.pole d=(Path::of(&[(1.0, 0.0), (1.0, HEIGHT)])) {}
            path.pole d=(Path::of(&[(WIDTH - 1.0, 0.0), (WIDTH - 1.0, HEIGHT)])) {}
        }
    }
}

/// The upper edge and the height of each ribbon.
fn places(parts: &[&Part]) -> Vec<(f64, f64)> {
    let all: u64 = parts.iter().map(|part| part.frames).sum();
    let share = |part: &&Part| (part.frames as f64 / all.max(1) as f64).max(LEAST);
    let sum: f64 = parts.iter().map(share).sum();
    let room = HEIGHT - GAP * parts.len().saturating_sub(1) as f64;
    let mut top = 0.0;
    let place = |part| {
        let place = (top, share(part) / sum * room);
        top += place.1 + GAP;
        place
    };
    parts.iter().map(place).collect()
}

fn ribbon(sort: &str, part: &Part, (top, height): (f64, f64)) -> Markup {
    let right = if part.arrives { WIDTH } else { WIDTH * ENDS };
    let mut ribbon = Path::new();
    ribbon.rectangle(0.0, top, right, height);
    let middle = top + height / 2.0;
    html! {
        path class={ "ribbon " (class(sort, part.outcome)) } d=(ribbon) {}
        @if !part.arrives {
            path.missing d=(Path::of(&[(right + 18.0, middle), (WIDTH, middle)])) {}
            @if part.is_gone() { path.cross d=(Path::cross(right + 9.0, middle)) {} }
        }
    }
}

fn class(sort: &str, outcome: &str) -> &'static str {
    match (outcome, sort) {
        ("lost" | "partly lost" | "dropped", _) => "lost",
        ("missed by the capture" | "not judged", _) => "other",
        ("merged further", _) | (_, "merged") => "merged",
        (_, "TSO") => "tso",
        _ => "single",
    }
}

/// A bar as long as a share of the whole.
pub(super) fn share(part: f64, class: &str) -> Markup {
    let mut bar = Path::new();
    bar.rectangle(0.0, 0.0, WIDTH * part.clamp(0.004, 1.0), 14.0);
    html! {
        svg.ribbons viewBox={ "0 0 " (px(WIDTH)) " 14" } aria-hidden="true" {
            path class={ "ribbon " (class) } d=(bar) {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What all judged frames did is 100%, however many were not judged.
    #[test]
    fn shares_are_of_judged_frames() {
        let outcomes = Outcomes {
            seen: 55,
            lost: 36,
            not_judged: 19,
            ..Outcomes::default()
        };
        let lane = lane("merged", &outcomes).into_string();
        assert!(lane.contains("36 lost (100%)"), "{lane}");
        assert!(lane.contains("19 not judged</span>"), "{lane}");
        assert_eq!(lane.matches("class=\"ribbon ").count(), 1, "{lane}");
    }
}
