//! The drawing of a path: a ribbon for each sort of frames and what became of it, as wide as it is
//! frequent.

use coalescope_capture::facts::{Hop, Outcomes};
use coalescope_knowledge::Finding;
use maud::{Markup, html};

use super::svg::{Drawing, Path, px, shortened};
use crate::words::hops::{is_accused, lost, seen, sorts};
use crate::words::units::{count, counted};

/// From one point to the next, in pixels.
const HOP_PX: f64 = 320.0;
/// Room beside the first and the last point, for their names.
const MARGIN_PX: f64 = 60.0;
/// Below the points' names.
const TOP_PX: f64 = 56.0;
/// All frames of the fullest hop.
const FULL_PX: f64 = 120.0;
/// Less could not be seen.
const LEAST_PX: f64 = 1.5;
/// Room that a ribbon needs, for its words.
const LANE_PX: f64 = 20.0;
/// How much of the way a frame gets that does not arrive.
const ENDS: f64 = 0.4;
/// Letters of a point's name that fit above it.
const NAME: usize = 24;

/// What became of some frames of one sort.
struct Lane {
    sort: &'static str,
    outcome: &'static str,
    frames: u64,
    arrives: bool,
}

/// A ribbon: a lane with its places.
struct Ribbon {
    lane: Lane,
    width: f64,
    /// Its upper edge where it begins, and where it ends.
    begin: f64,
    end: f64,
}

/// The hops of one direction, in the order in which data went.
pub(crate) fn figure(number: usize, hops: &[&Hop], findings: &[Finding]) -> Markup {
    let most = hops.iter().map(|hop| seen(hop)).max().unwrap_or(1).max(1);
    let scale = FULL_PX / most as f64;
    let ribbons: Vec<Vec<Ribbon>> = hops.iter().map(|hop| ribbons(hop, scale)).collect();
    let bottom = ribbons
        .iter()
        .flatten()
        .map(|one| one.end + one.width.max(LANE_PX));
    let bottom = bottom.fold(TOP_PX + LANE_PX, f64::max);
    let (points, begins) = places(hops);
    let drawing = Drawing {
        id: &format!("path-{number}"),
        title: &title(&points),
        description: &described(hops),
        width: 2.0 * MARGIN_PX + HOP_PX * (points.len().saturating_sub(1)) as f64,
        height: bottom + 12.0,
    };
    let contents = html! {
        @for ((hop, ribbons), begin) in hops.iter().zip(&ribbons).zip(&begins) {
            (hop_markup(*begin, hop, ribbons, is_accused(hop, findings)))
        }
        @for (i, name) in points.iter().enumerate() { (point(i, name, bottom)) }
    };
    html! {
        figure {
            (drawing.markup(&contents))
            figcaption {
                "Data goes from left to right. Ribbons are as wide as frames are many, "
                (counted(most, "frame")) " at the fullest hop; what is rarer than the eye can see is drawn "
                "as a thin line. A cross ends what did not arrive."
            }
        }
    }
}

/// The points that the hops go through, and at which of them each hop begins. Where a hop is not
/// told, the next one begins anew.
fn places<'a>(hops: &[&'a Hop]) -> (Vec<&'a str>, Vec<usize>) {
    let mut names: Vec<&str> = Vec::new();
    let mut begins = Vec::new();
    for hop in hops {
        if names.last() != Some(&hop.from.as_str()) {
            names.push(&hop.from);
        }
        begins.push(names.len() - 1);
        names.push(&hop.to);
    }
    (names, begins)
}

fn title(points: &[&str]) -> String {
    let ends = points.first().zip(points.last());
    ends.map_or_else(String::new, |(first, last)| {
        format!("Frames from {first} to {last}")
    })
}

fn described(hops: &[&Hop]) -> String {
    let sentences = hops.iter().map(|hop| {
        let sorts = sorts(hop)
            .into_iter()
            .filter(|(_, outcomes)| outcomes.seen > 0);
        let parts: Vec<String> = sorts.map(|(name, outcomes)| part(name, outcomes)).collect();
        format!("From {} to {}: {}.", hop.from, hop.to, parts.join("; "))
    });
    sentences.collect::<Vec<_>>().join(" ")
}

fn part(name: &str, outcomes: &Outcomes) -> String {
    let (lost, seen) = (
        count(outcomes.lost),
        counted(outcomes.seen, &format!("{name} frame")),
    );
    format!("{lost} of {seen} lost")
}

fn lanes(hop: &Hop) -> Vec<Lane> {
    let lanes = sorts(hop).into_iter().rev().flat_map(|(sort, o)| {
        let of = |outcome, frames, arrives| Lane {
            sort,
            outcome,
            frames,
            arrives,
        };
        [
            of("arrived", o.arrived, true),
            of("re-split", o.resplit, true),
            of("merged further", o.merged_further, true),
            of("fragmented", o.fragmented, true),
            of("partly lost", o.partly_lost, true),
            of("missed by the capture", o.missed, false),
            of("not judged", o.not_judged, false),
            of("lost", o.lost, false),
        ]
    });
    lanes.filter(|lane| lane.frames > 0).collect()
}

fn ribbons(hop: &Hop, scale: f64) -> Vec<Ribbon> {
    let (mut begin, mut end) = (TOP_PX, TOP_PX);
    let mut ribbons = Vec::new();
    for lane in lanes(hop) {
        let width = (lane.frames as f64 * scale).max(LEAST_PX);
        let room = width.max(LANE_PX);
        let middle = end + (room - width) / 2.0;
        ribbons.push(Ribbon {
            lane,
            width,
            begin,
            end: middle,
        });
        begin += width + 1.0;
        end += room + 4.0;
    }
    ribbons
}

fn hop_markup(number: usize, hop: &Hop, ribbons: &[Ribbon], accused: bool) -> Markup {
    let left = MARGIN_PX + HOP_PX * number as f64;
    html! {
        g {
            @for ribbon in ribbons { (ribbon_markup(left, ribbon)) }
            @if accused || lost(hop) > 0 {
                text.flag.accused[accused] x=(px(left + HOP_PX / 2.0)) y="40" text-anchor="middle" {
                    @if accused { "\u{26a0} merged frames are lost here" } @else { "frames are lost here" }
                }
            }
        }
    }
}

fn ribbon_markup(left: f64, ribbon: &Ribbon) -> Markup {
    let Ribbon {
        lane,
        width,
        begin,
        end,
    } = ribbon;
    let right = left + if lane.arrives { HOP_PX } else { HOP_PX * ENDS };
    let mut path = Path::new();
    path.ribbon((left, *begin), (right, *end), *width);
    let words = format!("{} {} {}", count(lane.frames), lane.sort, lane.outcome);
    let middle = end + width / 2.0;
    let (x, anchor) = if lane.arrives {
        (right - 12.0, "end")
    } else {
        (right + 14.0, "start")
    };
    html! {
        path class={ "ribbon " (class(lane)) } d=(path) { title { (words) } }
        @if !lane.arrives { path.cross d=(Path::cross(right + 4.0, middle)) {} }
        text.halo x=(px(x)) y=(px(middle + 4.0)) text-anchor=(anchor) { (words) }
    }
}

fn class(lane: &Lane) -> &'static str {
    match (lane.outcome, lane.sort) {
        ("lost", _) => "lost",
        ("missed by the capture" | "not judged", _) => "other",
        (_, "merged") => "merged",
        (_, "TSO") => "tso",
        _ => "single",
    }
}

fn point(number: usize, name: &str, bottom: f64) -> Markup {
    let x = MARGIN_PX + HOP_PX * number as f64;
    html! {
        g {
            title { (name) }
            path.point d=(Path::of(&[(x, TOP_PX - 8.0), (x, bottom)])) {}
            text.name x=(px(x)) y="18" text-anchor="middle" { (shortened(name, NAME)) }
        }
    }
}
