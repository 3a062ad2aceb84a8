//! A picture of a segment that came after later bytes: overtaken, or lost before the first point
//! and retransmitted.

use coalescope_capture::series::{Data, Frame, Lane, Series};
use maud::{Markup, html};

use super::{filters, names, number};
use crate::html::svg::{Drawing, Path, px};
use crate::words::units::{count, seconds};

const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 150.0;
/// Horizontal positions of the two points.
const XS: [f64; 2] = [56.0, 284.0];
/// Vertical positions at which the two frames leave and arrive: the overtaken one first.
const ROWS: [[f64; 2]; 2] = [[44.0, 130.0], [76.0, 92.0]];
/// Where the arrow of a lost frame ends, as a share of the way.
const ENDS: f64 = 0.45;

/// Vertical positions of three arrows: the frame lost before the point, one that arrives, and the retransmission.
const LOST_ROWS: [[f64; 2]; 3] = [[40.0, 40.0], [70.0, 70.0], [126.0, 126.0]];
const WAIT: f64 = 92.0;

/// A frame that came after one whose bytes follow its own.
pub(super) struct Overtaken<'a> {
    /// Whether it was probably lost before the lane's point and retransmitted.
    is_late: bool,
    lane: &'a Lane,
    slow: &'a Frame,
    fast: &'a Frame,
    /// The last point with both in order, and their frames there.
    before: Option<(&'a Lane, [&'a Frame; 2])>,
}

impl<'a> Overtaken<'a> {
    /// The first overtaken segment at the last point that has one.
    pub(super) fn of(series: &'a Series) -> Option<Self> {
        let ways = [true, false].into_iter();
        let mut all = ways.filter_map(|to_client| Self::at(series, to_client, Data::OutOfOrder));
        all.next()
    }

    /// The first retransmission of a segment that was lost before a point, at the first point that shows it.
    pub(super) fn late(series: &'a Series) -> Option<Self> {
        let ways = [true, false].into_iter();
        let mut all = ways.filter_map(|to_client| Self::at(series, to_client, Data::Late));
        all.next()
    }

    fn at(series: &'a Series, to_client: bool, data: Data) -> Option<Self> {
        let mut order: Vec<&Lane> = series.lanes.iter().collect();
        if series.nearest_sender[usize::from(to_client)] != 0 {
            order.reverse();
        }
        let is_there = |lane: &&Lane| overtaken(lane, to_client, data).is_some();
        // What was lost is late at all points behind.
        let place = match data {
            Data::Late => order.iter().position(is_there),
            _ => order.iter().rposition(is_there),
        }?;
        let (slow, fast) = overtaken(order[place], to_client, data)?;
        let mut earlier = order[..place].iter().rev();
        let before = earlier.find_map(|lane| Some((*lane, in_order(lane, slow, fast)?)));
        Some(Self {
            is_late: data == Data::Late,
            lane: order[place],
            slow,
            fast,
            before,
        })
    }

    /// The picture, the story, and filters.
    pub(super) fn figure(&self) -> Markup {
        html! {
            (self.drawing())
            figcaption {
                (self.caption())
                p.filters-head { "These frames in Wireshark:" }
                ul.filters {
                    @if let Some((lane, frames)) = &self.before { (filters::items(lane, frames)) }
                    (filters::items(self.lane, &[self.fast, self.slow]))
                }
            }
        }
    }

    fn caption(&self) -> Markup {
        let Self {
            lane, slow, fast, ..
        } = self;
        let bytes = |frame: &Frame| {
            let [from, to] = [frame.start, frame.end() - 1].map(|at| count(at.unsigned_abs()));
            format!("{from} to {to}")
        };
        let after = match slow.at_ns - fast.at_ns {
            0 => html! { "right after" },
            late => html! { b { (seconds(late as f64 / 1e9)) } " after" },
        };
        html! {
            p.told {
                "Frame " b { (number(lane, slow)) } " brings the bytes " (bytes(slow)) " to " b { (lane.point) } ", "
                (after) " frame " b { (number(lane, fast)) } " has brought " (bytes(fast)) ": "
                @if self.is_late { "they were " b { "lost" } (self.place()) ", and sent again." }
                @else { "it was " b { "overtaken" } (self.place()) ". Merging takes only what is next in sequence." }
            }
        }
    }

    fn place(&self) -> String {
        match self.before {
            Some((before, _)) => format!(" between {} and {}", before.point, self.lane.point),
            None => format!(" before {}", self.lane.point),
        }
    }

    fn drawing(&self) -> Markup {
        let left = self.before.map_or("sender", |(lane, _)| &lane.point);
        let what = if self.is_late {
            "comes late"
        } else {
            "is overtaken"
        };
        let title = format!("How frame {} {what}", self.slow.number);
        let drawing = Drawing {
            id: "story-drawing",
            title: &title,
            description: &self.described(left),
            width: WIDTH,
            height: HEIGHT,
        };
        drawing.fitted(&html! {
            @for (x, name) in XS.iter().zip([left, &self.lane.point]) {
                path.pole d=(Path::of(&[(*x, 24.0), (*x, HEIGHT - 4.0)])) {}
                (names::above(*x, name, WIDTH, XS.len()))
            }
            @if self.is_late { (self.lost()) } @else { (self.crossing()) }
        })
    }

    fn described(&self, left: &str) -> String {
        let (here, [slow, fast]) = (&self.lane.point, [self.slow.number, self.fast.number]);
        if self.is_late {
            return format!(
                "Bytes that leave {left} never reach {here}; those that follow do, in frame {fast}. Later frame {slow} \
                 brings the missing ones."
            );
        }
        format!(
            "Two frames leave {left} one after the other; the second, {fast}, reaches {here} before the first, {slow}."
        )
    }

    fn crossing(&self) -> Markup {
        let [slow, fast] = ROWS;
        html! {
            (arrow("slow", slow, 1.0))
            (arrow("fast", fast, 1.0))
            (label(slow[1] + 14.0, &format!("{}: first bytes", self.slow.number)))
            (label(fast[1] - 8.0, &format!("{}: next bytes", self.fast.number)))
        }
    }

    fn lost(&self) -> Markup {
        let [lost, fast, slow] = LOST_ROWS;
        let late = (self.slow.at_ns - self.fast.at_ns) as f64 / 1e9;
        html! {
            (arrow("slow", lost, ENDS))
            path.cross d=(Path::cross(XS[0] + (XS[1] - XS[0]) * ENDS + 8.0, lost[0])) {}
            (arrow("fast", fast, 1.0))
            (label(fast[1] - 8.0, &format!("{}: next bytes", self.fast.number)))
            path.wait d=(Path::of(&[(XS[0] / 2.0, WAIT), (WIDTH - XS[0] / 2.0, WAIT)])) {}
            text.halo.later x=(px(WIDTH / 2.0)) y=(px(WAIT + 4.0)) text-anchor="middle" { (seconds(late)) " later" }
            (arrow("slow", slow, 1.0))
            (label(slow[1] - 8.0, &format!("{}: first bytes", self.slow.number)))
        }
    }
}

/// An arrow from one point toward the other, up to a share of the way.
fn arrow(class: &str, [from, to]: [f64; 2], ends: f64) -> Markup {
    let left = XS[0] + 3.0;
    let right = left + (XS[1] - 3.0 - left) * ends;
    let (dx, dy) = (right - left, to - from);
    let length = dx.hypot(dy);
    let (ux, uy) = (dx / length, dy / length);
    let back = |side: f64| {
        (
            right - 10.0 * ux - side * 5.0 * uy,
            to - 10.0 * uy + side * 5.0 * ux,
        )
    };
    let mut path = Path::of(&[(left, from), (right, to)]);
    path.polyline([back(1.0), (right, to), back(-1.0)]);
    html! { path class={ "arrow " (class) } d=(path) {} }
}

/// A label at the end of an arrow.
fn label(y: f64, words: &str) -> Markup {
    html! { text.halo x=(px(XS[1] - 14.0)) y=(px(y)) text-anchor="end" { (words) } }
}

/// Frames out of order that are considered; among more, one of the first is good enough.
const LOOKED_AT: usize = 256;

/// The first frame out of order, with a frame before it that has later bytes.
fn overtaken(lane: &Lane, to_client: bool, data: Data) -> Option<(&Frame, &Frame)> {
    let is_odd = |frame: &Frame| frame.data == data && frame.to_client == to_client;
    let frames = lane.frames.iter().enumerate();
    let mut odd = frames.filter(|(_, frame)| is_odd(frame)).take(LOOKED_AT);
    odd.find_map(|(place, slow)| {
        let follows = |frame: &&Frame| {
            frame.data == Data::New && frame.to_client == to_client && frame.start >= slow.end()
        };
        let before = lane.frames[..place].iter().rev();
        let fast = before.take(LOOKED_AT).find(follows)?;
        Some((slow, fast))
    })
}

/// The same two frames at another point, if they are in order there.
fn in_order<'a>(lane: &'a Lane, slow: &Frame, fast: &Frame) -> Option<[&'a Frame; 2]> {
    let holds = |one: &Frame| {
        let (to_client, byte) = (one.to_client, one.start);
        lane.frames.iter().position(move |frame| {
            frame.data != Data::None
                && frame.to_client == to_client
                && (frame.start..frame.end()).contains(&byte)
        })
    };
    let (slow, fast) = (holds(slow)?, holds(fast)?);
    (slow < fast).then(|| [&lane.frames[slow], &lane.frames[fast]])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(number: u64, segment: i64, data: Data) -> Frame {
        Frame {
            number,
            at_ns: number as i64,
            start: segment * 1_000,
            payload: 1_000,
            segments: 1,
            data,
            ..Frame::default()
        }
    }

    /// What was lost between the first two of three points is late at the second one and at the third.
    #[test]
    fn what_comes_late_was_lost_before_the_first_point_that_saw_it_so() {
        let lane = |point: &str, kinds: [Data; 2]| Lane {
            point: point.to_owned(),
            frames: match kinds[1] {
                Data::New => vec![frame(1, 0, Data::New), frame(2, 1, Data::New)],
                late => vec![frame(1, 1, kinds[0]), frame(2, 0, late)],
            },
            ..Lane::default()
        };
        let series = Series {
            lanes: vec![
                lane("S", [Data::New, Data::New]),
                lane("A", [Data::New, Data::Late]),
                lane("B", [Data::New, Data::Late]),
            ],
            ..Series::default()
        };
        let story = Overtaken::late(&series).map(|late| late.caption().into_string());
        assert!(story.is_some_and(|story| story.contains("between S and A")));
    }
}
