//! The drawing: points side by side, time downward, one bar per frame.

use coalescope_capture::series::{Frame, Lane};
use maud::{Markup, html};

use super::names;
use super::repair::Repair;
use super::tale::{Stop, Tale};
use super::{number, numbers, segments};
use crate::html::svg::{Drawing, Path, px};
use crate::words::units::seconds;

/// The width of a small phone, so that letters keep their size.
const WIDTH: f64 = 340.0;
/// From the edge to the first and to the last point.
const MARGIN: f64 = 46.0;
const TOP: f64 = 30.0;
/// From one row to the next.
const ROW: f64 = 40.0;
/// Between the frames of a row: if all have one segment, and if one has more.
const BESIDE: [f64; 2] = [9.0, 20.0];
/// Height of a bar with one segment, and with more.
const BARS: [f64; 2] = [4.0, 12.0];
/// How far the arms of its cross reach from the middle.
const CROSS: f64 = 7.0;
/// Where the arrow of a lost frame ends, as a share of the way.
const ENDS: f64 = 0.52;
/// Most bars in a row.
const MOST: usize = 3;
/// Most segment borders that are distinguishable in a bar.
const BORDERS: u32 = 12;

/// Positions in the drawing.
struct Ladder {
    xs: Vec<f64>,
    y: f64,
}

/// The drawing of a lost frame.
pub(super) fn drawing(tale: &Tale<'_>) -> Markup {
    let names = names_of(tale);
    let mut ladder = Ladder::new(names.len());
    let rows = rows(tale, &mut ladder);
    let height = ladder.y;
    let title = format!(
        "How frame {} of {} vanishes",
        number(tale.here.lane, tale.lost),
        tale.here.lane.point
    );
    let drawing = Drawing {
        id: "story-drawing",
        title: &title,
        description: &described(tale),
        width: WIDTH,
        height,
    };
    drawing.fitted(&html! {
        @for (x, (name, is_known)) in ladder.xs.iter().zip(&names) {
            g {
                title { (name) }
                path.pole.open[!is_known] d=(Path::of(&[(*x, TOP - 6.0), (*x, height - 4.0)])) {}
                (names::above(*x, name, WIDTH, names.len()))
            }
        }
        (rows)
    })
}

/// The names of the points; an open place where there is no point behind the loss.
fn names_of<'a>(tale: &'a Tale<'_>) -> Vec<(&'a str, bool)> {
    let mut names: Vec<(&str, bool)> = tale
        .stops()
        .map(|stop| (stop.lane.point.as_str(), true))
        .collect();
    if tale.after.is_none() {
        names.push(("further on", false));
    }
    names
}

fn rows(tale: &Tale<'_>, ladder: &mut Ladder) -> Markup {
    let here = usize::from(tale.before.is_some());
    let mut parts = Vec::new();
    if let Some(before) = &tale.before {
        parts.push(ladder.arrows(0, &before.first));
    }
    parts.push(ladder.vanishing(here, &[tale.lost]));
    if !tale.repair.vain.is_empty() {
        parts.push(ladder.vanishing(here, &tale.repair.vain));
    }
    if tale.repair.again.is_empty() {
        return html! { @for part in parts { (part) } };
    }
    parts.push(ladder.gap(tale));
    if let Some(before) = tale
        .before
        .as_ref()
        .filter(|before| !before.again.is_empty())
    {
        parts.push(ladder.arrows(0, &before.again));
    }
    parts.push(ladder.arrows(here, &tale.repair.again));
    html! { @for part in parts { (part) } }
}

impl Ladder {
    fn new(points: usize) -> Self {
        let step = (WIDTH - 2.0 * MARGIN) / (points.saturating_sub(1)).max(1) as f64;
        Self {
            xs: (0..points).map(|i| MARGIN + i as f64 * step).collect(),
            y: TOP,
        }
    }

    /// Frames that pass from one point to the next.
    fn arrows(&mut self, from: usize, frames: &[&Frame]) -> Markup {
        let (left, right) = (self.xs[from], self.xs[from + 1]);
        let shown = &frames[..frames.len().min(MOST)];
        let beside = BESIDE[usize::from(shown.iter().any(|frame| frame.segments > 1))];
        let first = shown.first().map_or(0.0, |frame| height_of(frame));
        self.y += ROW / 2.0;
        let top = self.y;
        self.y += beside * shown.len().saturating_sub(1) as f64 + ROW / 2.0;
        html! {
            (label(left, right, top - first / 2.0, frames))
            @for (i, frame) in shown.iter().enumerate() { (bar((left, right), top + i as f64 * beside, frame)) }
        }
    }

    /// Frames that are lost on the way, one of them drawn.
    fn vanishing(&mut self, from: usize, frames: &[&Frame]) -> Markup {
        let (left, right) = (self.xs[from], self.xs[from + 1]);
        let end = left + (right - left) * ENDS;
        self.y += ROW / 2.0;
        let y = self.y;
        self.y += ROW / 2.0;
        html! {
            (label(left, right, y - CROSS, frames))
            @if let Some(frame) = frames.first() { (bar((left, end), y, frame)) }
            path.missing d=(Path::of(&[(end + 14.0, y), (right, y)])) {}
            path.cross d=(Path::cross_of(CROSS, end + 6.0, y)) {}
        }
    }

    /// The time until the sender's retransmission.
    fn gap(&mut self, tale: &Tale<'_>) -> Markup {
        self.y += 4.0;
        let y = self.y + 8.0;
        self.y += 18.0;
        html! {
            path.wait d=(Path::of(&[(MARGIN / 2.0, y), (WIDTH - MARGIN / 2.0, y)])) {}
            text.halo.later x=(px(WIDTH / 2.0)) y=(px(y + 4.0)) text-anchor="middle" { (seconds(tale.wait_s())) " later" }
        }
    }
}

fn words(frames: &[&Frame]) -> String {
    match frames {
        [one] => format!("{} ({})", one.number, segments(one)),
        several => plain_numbers(several),
    }
}

/// Without files, for which a drawing has no room.
fn plain_numbers(frames: &[&Frame]) -> String {
    numbers(&Lane::default(), frames)
}

/// The numbers of frames, above what is drawn of them.
fn label(left: f64, right: f64, top: f64, frames: &[&Frame]) -> Markup {
    html! {
        text.halo x=(px(f64::midpoint(left, right))) y=(px(top - 4.0)) text-anchor="middle" { (words(frames)) }
    }
}

fn height_of(frame: &Frame) -> f64 {
    BARS[usize::from(frame.segments > 1)]
}

/// A frame with its segments, and the head of an arrow.
fn bar((left, right): (f64, f64), y: f64, frame: &Frame) -> Markup {
    let is_merged = frame.segments > 1;
    let height = height_of(frame);
    let (from, to) = (left + 3.0, right - 7.0);
    let mut body = Path::new();
    body.rectangle(from, y - height / 2.0, to - from, height);
    let arm = height / 2.0 + 3.0;
    let head = [
        (to, y - arm),
        (right - 1.0, y),
        (to, y + arm),
        (to, y - arm),
    ];
    let mut borders = Path::new();
    let parts = frame.segments.clamp(1, BORDERS);
    for part in 1..parts {
        let x = from + (to - from) * f64::from(part) / f64::from(parts);
        borders.upright(x, y - height / 2.0, y + height / 2.0);
    }
    html! {
        path.frame.merged[is_merged].single[!is_merged] d=(body) {}
        path.frame.merged[is_merged].single[!is_merged] d=(Path::of(&head)) {}
        @if is_merged { path.borders d=(borders) {} }
    }
}

/// A description of the drawing, in words.
fn described(tale: &Tale<'_>) -> String {
    let Tale { here, lost, .. } = tale;
    let place = |stop: &Stop<'_>| stop.lane.point.clone();
    let next = tale
        .after
        .as_ref()
        .map_or("a place further on".to_owned(), place);
    format!(
        "Frame {} with {} leaves {} and ends in a cross before {next}{}.",
        number(here.lane, lost),
        segments(lost),
        here.lane.point,
        followed(tale),
    )
}

/// The retransmissions, in words.
fn followed(tale: &Tale<'_>) -> String {
    let (lane, Repair { vain, again, .. }) = (tale.here.lane, &tale.repair);
    let lost = match &vain[..] {
        [] => String::new(),
        [one] => format!(", and so does frame {} with bytes of it", number(lane, one)),
        several => format!(
            ", and so do frames {} with bytes of it",
            numbers(lane, several)
        ),
    };
    let passed = match &again[..] {
        [] => return lost,
        [one] => format!("frame {} passes", number(lane, one)),
        several => format!("frames {} pass", numbers(lane, several)),
    };
    let bytes = if tale.repair.is_whole {
        "the same"
    } else {
        "some of its"
    };
    format!(
        "{lost}; {} later {passed} with {bytes} bytes",
        seconds(tale.wait_s())
    )
}
