//! The marks of one lane: one path per kind, for any number of frames.

use coalescope_capture::series::{Data, Frame, Lane};
use maud::{Markup, html};

use super::{is_data, window_edge};
use crate::html::svg::{Path, Scale};

/// Least height of a bar in pixels.
const LEAST_PX: f64 = 2.0;
/// Half the size of a cross, diamond or triangle in pixels, by the number of marks in a lane.
const ARMS_PX: [(usize, f64); 3] = [(60, 4.0), (300, 2.5), (usize::MAX, 1.5)];
/// Segment borders are drawn if they are at least this far apart, in pixels.
const BORDERS_PX: f64 = 8.0;

/// Paths by kind. The script draws the same ones when zoomed.
#[derive(Default)]
pub(super) struct Marks {
    arm: f64,
    window: Steps,
    ack: Steps,
    sack: Bars,
    single: Bars,
    merged: Bars,
    uncut: Bars,
    again: Bars,
    odd: Bars,
    borders: Path,
    diamonds: Path,
    triangles: Path,
    lost: Path,
}

impl Marks {
    /// The marks of the frames within the time scale.
    pub(super) fn of(lane: &Lane, to_client: bool, x: &Scale, y: &Scale) -> Self {
        let (from, to) = x.values();
        let at_s = |frame: &Frame| frame.at_ns as f64 / 1e9;
        let begin = lane.frames.partition_point(|frame| at_s(frame) < from);
        let (before, rest) = lane.frames.split_at(begin);
        let shown = rest.iter().take_while(|frame| at_s(frame) <= to);
        let mut marks = Self::with_arm(shown.clone().filter(|f| is_data(f, to_client)));
        // The last ACK and window before this part begin at the left edge.
        if let Some(last) = before
            .iter()
            .rfind(|f| f.to_client != to_client && f.ack.is_some())
        {
            marks.answer(last, x.at(from), y);
        }
        marks.sack = Bars::default();
        let way = &lane.ways[usize::from(to_client)];
        for frame in shown {
            let at = x.at(at_s(frame));
            if is_data(frame, to_client) {
                marks.data(frame, way.is_uncut, at, y);
                marks.border(frame, way.segment_size_bytes.unwrap_or(0), at, y);
            } else if frame.to_client != to_client {
                marks.answer(frame, at, y);
            }
        }
        marks.ack.stay(x.at(to));
        marks.window.stay(x.at(to));
        marks
    }

    /// No marks yet, with a size that keeps many marks from hiding each other.
    fn with_arm<'a>(frames: impl Iterator<Item = &'a Frame>) -> Self {
        let odd = |frame: &&Frame| frame.is_lost() || frame.data != Data::New;
        let marks = frames.filter(odd).count();
        let arm = ARMS_PX.iter().find(|(most, _)| marks <= *most);
        Self {
            arm: arm.map_or(ARMS_PX[0].1, |(_, arm)| *arm),
            ..Self::default()
        }
    }

    fn data(&mut self, frame: &Frame, is_uncut: bool, at: f64, y: &Scale) {
        let (top, bottom) = (y.through(frame.end() as f64), y.through(frame.start as f64));
        let top = top.min(bottom - LEAST_PX);
        match frame.data {
            Data::Again => {
                self.again.add(at, top, bottom);
                diamond(&mut self.diamonds, at, top, self.arm);
            }
            Data::OutOfOrder | Data::Late => {
                self.odd.add(at, top, bottom);
                triangle(&mut self.triangles, at, top, self.arm);
            }
            Data::New | Data::None if frame.segments <= 1 => self.single.add(at, top, bottom),
            Data::New | Data::None if is_uncut => self.uncut.add(at, top, bottom),
            Data::New | Data::None => self.merged.add(at, top, bottom),
        }
        if frame.is_lost() {
            cross(&mut self.lost, at, f64::midpoint(top, bottom), self.arm);
        }
    }

    /// The borders between the segments of a frame.
    fn border(&mut self, frame: &Frame, size: u32, at: f64, y: &Scale) {
        let low = y.values().0;
        let apart = y.through(low) - y.through(low + f64::from(size));
        if frame.segments <= 1 || size == 0 || apart < BORDERS_PX {
            return;
        }
        for segment in 1..frame.segments {
            let border = y.through((frame.start + i64::from(segment * size)) as f64);
            self.borders.steps((at - 3.0, border), &[(6.0, 0.0)]);
        }
    }

    /// The ACK, window and SACK blocks of a frame of the other direction.
    fn answer(&mut self, frame: &Frame, at: f64, y: &Scale) {
        if let Some(ack) = frame.ack {
            self.ack.to(at, y.through(ack as f64));
        }
        if let Some(edge) = window_edge(frame, !frame.to_client) {
            self.window.to(at, y.through(edge as f64));
        }
        for (from, to) in &frame.sack {
            let (top, bottom) = (y.through(*to as f64), y.through(*from as f64));
            self.sack.add(at, top.min(bottom - LEAST_PX), bottom);
        }
    }

    /// All marks, the most important ones on top.
    pub(super) fn markup(&self) -> Markup {
        html! {
            path.window d=(self.window.path) {}
            path.ack d=(self.ack.path) {}
            path.sack d=(self.sack.path) {}
            path.single d=(self.single.path) {}
            path.merged d=(self.merged.path) {}
            path.uncut d=(self.uncut.path) {}
            path.again d=(self.again.path) {}
            path.odd d=(self.odd.path) {}
            path.borders d=(self.borders) {}
            path.diamonds d=(self.diamonds) {}
            path.triangles d=(self.triangles) {}
            path.lost d=(self.lost) {}
        }
    }
}

/// Vertical bars. A bar that covers the one before, to a tenth of a pixel, is left out.
#[derive(Default)]
struct Bars {
    path: Path,
    last: (i64, i64, i64),
}

impl Bars {
    fn add(&mut self, x: f64, top: f64, bottom: f64) {
        let here = (tenths(x), tenths(top), tenths(bottom));
        if here != self.last {
            self.path.upright(x, bottom, top);
            self.last = here;
        }
    }
}

/// A line of horizontal steps.
#[derive(Default)]
struct Steps {
    path: Path,
    /// The present value, and the position up to which it was drawn.
    last: Option<(f64, f64)>,
}

impl Steps {
    fn to(&mut self, x: f64, y: f64) {
        match self.last {
            None => self.path.polyline([(x, y)]),
            Some((_, before)) if tenths(before) == tenths(y) => {}
            Some((_, before)) => self.path.extend([(x, before), (x, y)]),
        }
        self.last = Some((x, y));
    }

    /// Continues at the present value.
    fn stay(&mut self, x: f64) {
        if let Some((_, y)) = self.last {
            self.path.extend([(x, y)]);
        }
    }
}

fn tenths(px: f64) -> i64 {
    (px * 10.0).round() as i64
}

fn cross(path: &mut Path, x: f64, y: f64, arm: f64) {
    path.steps((x - arm, y - arm), &[(2.0 * arm, 2.0 * arm)]);
    path.steps((x - arm, y + arm), &[(2.0 * arm, -2.0 * arm)]);
}

/// A diamond, on its tip.
fn diamond(path: &mut Path, x: f64, y: f64, arm: f64) {
    path.steps(
        (x, y),
        &[(arm, -arm), (-arm, -arm), (-arm, arm), (arm, arm)],
    );
}

/// A triangle, on its tip.
fn triangle(path: &mut Path, x: f64, y: f64, arm: f64) {
    let down = 2.0 * arm;
    path.steps((x, y), &[(-arm, -down), (down, 0.0), (-arm, down)]);
}

/// One mark, for the legend: 26 by 16 pixels.
pub(super) fn sample(class: &str) -> Markup {
    let arm = ARMS_PX[0].1;
    let mut shape = Path::new();
    match class {
        "again" => diamond(&mut shape, 13.0, 9.0, arm),
        "odd" => triangle(&mut shape, 13.0, 9.0, arm),
        "lost" => cross(&mut shape, 13.0, 8.0, arm),
        "ack" | "window" => shape.polyline([(1.0, 12.0), (13.0, 12.0), (13.0, 5.0), (25.0, 5.0)]),
        _ => shape.upright(13.0, 15.0, 1.0),
    }
    let mut bar = Path::new();
    bar.upright(13.0, 15.0, 9.0);
    html! {
        @match class {
            "again" => { path.again d=(bar) {} path.diamonds d=(shape) {} }
            "odd" => { path.odd d=(bar) {} path.triangles d=(shape) {} }
            class => { path class=(class) d=(shape) {} }
        }
    }
}
