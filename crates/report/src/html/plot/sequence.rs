//! Time-sequence plot: the bytes that pass each point over time. Points are lanes above each other
//! on one time axis, so that a lost frame is in one lane and not in the next.

mod data;
mod marks;
mod opening;
mod vanishing;

use std::io;

use coalescope_capture::series::{Data, Fate, Frame, Lane, Series};
use maud::{Markup, html};

use super::{names, ticks};
use crate::html::embed;
use crate::html::svg::{Drawing, Scale, px, x_axis, y_axis};
use crate::words::units::{count, counted};
use data::Geometry;
use marks::Marks;
use vanishing::Vanishing;

/// Positions of the lanes in the drawing, in pixels.
const LEFT: f64 = 76.0;
const WIDTH: f64 = 960.0;
const RIGHT: f64 = WIDTH - 26.0;
const TOP: f64 = 34.0;
const GAP: f64 = 44.0;
const BELOW: f64 = 44.0;
/// Height of a lane if there are at most two, and if there are more.
const HEIGHTS: [f64; 2] = [260.0, 190.0];
/// The window's line may use this much room above the data; beyond it is cut off.
const WINDOW_ROOM: f64 = 1.15;
/// Frame numbers listed below the plot for each hop.
const NAMED: usize = 60;
/// Room above and below the bytes of a part, as a share of their range, and the least range; the
/// script uses the same.
const CLOSE_ROOM: f64 = 0.06;
const LEAST_BYTES: f64 = 100.0;

/// Whether a frame is of one sort.
type IsSort = fn(&Frame) -> bool;

/// One plot: a direction of a connection.
pub(super) struct Sequence<'a> {
    id: String,
    series: &'a Series,
    to_client: bool,
    /// Time in seconds across.
    x: Scale,
    /// Bytes by height within a lane.
    y: Scale,
    height: f64,
    shows: Shows<'a>,
}

/// The part that a plot shows.
enum Shows<'a> {
    /// The whole connection, for readers without scripts.
    All,
    /// The part with the first loss, or all of it; with the data that the script needs for any part.
    Opening(Box<Sequence<'a>>),
    /// One frame that is lost.
    CloseUp(Vanishing<'a>),
}

impl<'a> Sequence<'a> {
    /// The first view: some round trips around the first loss, or the whole connection without a loss.
    pub(super) fn opening(id: &str, series: &'a Series, to_client: bool) -> Self {
        let whole = Self::whole(format!("{id}-whole"), series, to_client);
        let all = whole.x.values();
        let part = opening::part_s(series, to_client, all.1);
        let (times, bytes) = match part {
            Some(part) => (part, Self::bytes(series, to_client, part)),
            None => (all, whole.y.values()),
        };
        let shows = Shows::Opening(Box::new(whole));
        Self::of(id.to_owned(), (series, to_client), times, bytes, shows)
    }

    /// The range of bytes in a part of the time, with some room.
    fn bytes(series: &Series, to_client: bool, (from_s, to_s): (f64, f64)) -> (f64, f64) {
        let frames = series.lanes.iter().flat_map(|lane| &lane.frames);
        let is_shown = |frame: &&Frame| {
            let at_s = frame.at_ns as f64 / 1e9;
            is_data(frame, to_client) && (from_s..=to_s).contains(&at_s)
        };
        let (low, high) = bounds(frames.filter(is_shown));
        let room = ((high - low) as f64).max(LEAST_BYTES) * CLOSE_ROOM;
        (low as f64 - room, high as f64 + room)
    }

    /// The whole connection.
    fn whole(id: String, series: &'a Series, to_client: bool) -> Self {
        let frames = || series.lanes.iter().flat_map(|lane| &lane.frames);
        let last_ns = frames().map(|frame| frame.at_ns).max().unwrap_or(0);
        let (low, high) = bounds(frames().filter(|frame| is_data(frame, to_client)));
        let room = (high - low) as f64 * WINDOW_ROOM + low as f64;
        let window = frames()
            .filter_map(|frame| window_edge(frame, to_client))
            .max();
        let high = (high as f64).max(room.min(window.unwrap_or(0) as f64));
        let times = (0.0, last_ns as f64 / 1e9);
        Self::of(
            id,
            (series, to_client),
            times,
            (low as f64, high),
            Shows::All,
        )
    }

    /// One lost frame, until its bytes are retransmitted; `None` without one.
    pub(super) fn close_up(id: String, series: &'a Series, to_client: bool) -> Option<Self> {
        let subject = Vanishing::of(series, to_client)?;
        let (from_ns, to_ns) = subject.span_ns();
        let times = (from_ns as f64 / 1e9, to_ns as f64 / 1e9);
        let bytes = Self::bytes(series, to_client, times);
        let shows = Shows::CloseUp(subject);
        Some(Self::of(id, (series, to_client), times, bytes, shows))
    }

    fn of(
        id: String,
        (series, to_client): (&'a Series, bool),
        times: (f64, f64),
        bytes: (f64, f64),
        shows: Shows<'a>,
    ) -> Self {
        let height = HEIGHTS[usize::from(series.lanes.len() > 2)];
        Self {
            id,
            series,
            to_client,
            x: Scale::new(times, (LEFT, RIGHT)),
            y: Scale::new(bytes, (height, 0.0)),
            height,
            shows,
        }
    }

    /// The plot; the first view also has the legend, the data of the script, and the numbers of lost frames.
    pub(super) fn markup(&self) -> io::Result<Markup> {
        let plot = html! { h4 { (self.title()) } (self.drawing()) };
        let Shows::Opening(whole) = &self.shows else {
            return Ok(html! { figure.sequence { (plot) } });
        };
        let data = embed::data(&format!("{}-data", self.id), &self.data(whole))?;
        let is_part = self.x.values() != whole.x.values();
        Ok(html! {
            figure.sequence data-sequence=(self.id) {
                (plot)
                (legend())
                @if is_part { details.whole { summary { "The whole connection" } (whole.drawing()) } }
                (data)
            }
            (self.vanished())
        })
    }

    fn drawing(&self) -> Markup {
        let lanes = self.series.lanes.len() as f64;
        let drawing = Drawing {
            id: &self.id,
            title: &self.title(),
            description: &self.description(),
            width: WIDTH,
            height: TOP + lanes * (self.height + GAP) - GAP + BELOW,
        };
        drawing.markup(&self.contents())
    }

    fn title(&self) -> String {
        let bytes = format!("Bytes to the {} over time", self.receiver());
        match &self.shows {
            Shows::All => format!("{bytes}, the whole connection"),
            Shows::Opening(whole) if self.x.values() == whole.x.values() => bytes,
            Shows::Opening(_) => format!("{bytes}, where it happens first"),
            Shows::CloseUp(subject) => format!(
                "How one frame vanishes: frame {} of {}, and the same bytes sent again as frame {}",
                subject.lost.number, subject.lane.point, subject.again.number,
            ),
        }
    }

    fn receiver(&self) -> &'static str {
        if self.to_client { "client" } else { "server" }
    }

    fn contents(&self) -> Markup {
        let top = |lane: usize| TOP + lane as f64 * (self.height + GAP);
        let bottom = top(self.series.lanes.len()) - GAP;
        html! {
            clipPath id={ (self.id) "-clip" } {
                rect x=(LEFT) y="-4" width=(WIDTH - 10.0 - LEFT) height=(self.height + 8.0) {}
            }
            @for (i, lane) in self.series.lanes.iter().enumerate() {
                g data-lane=(i) transform={ "translate(0 " (top(i)) ")" } {
                    (y_axis(&self.y, (LEFT, RIGHT), "", ticks::bytes(&self.y)))
                    text.lane x=(LEFT) y="-10" { (self.lane_name(i, lane)) }
                    g.marks clip-path={ "url(#" (self.id) "-clip)" } {
                        (Marks::of(lane, self.to_client, &self.x, &self.y).markup())
                        @if let Shows::CloseUp(_) = self.shows { (self.numbers(lane)) }
                    }
                }
            }
            g.time { (x_axis(&self.x, bottom, "time since the first frame", ticks::seconds(&self.x))) }
        }
    }

    /// The point's name, and the end of the path to which it is nearest.
    fn lane_name(&self, index: usize, lane: &Lane) -> String {
        let ends = self.series.nearest_sender;
        let place = match ends.iter().position(|end| *end == index) {
            Some(0) if ends[0] != ends[1] => ", nearest to the client",
            Some(1) if ends[0] != ends[1] => ", nearest to the server",
            _ => "",
        };
        let lost = self.lost_frames(lane);
        let lost = lost.map_or_else(String::new, |lost| format!(": {lost} on the next hop"));
        format!("{}{place}{lost}", lane.point)
    }

    /// Frame numbers beside the lost frames of a close-up.
    fn numbers(&self, lane: &Lane) -> Markup {
        let (from, to) = self.x.values();
        let at_s = |frame: &Frame| frame.at_ns as f64 / 1e9;
        let shown = self
            .lost(lane)
            .filter(|frame| (from..=to).contains(&at_s(frame)));
        html! {
            @for frame in shown {
                @let middle = f64::midpoint(frame.start as f64, frame.end() as f64);
                text.number x=(px(self.x.at(at_s(frame)) + 8.0)) y=(px(self.y.at(middle) + 4.0)) { (frame.number) }
            }
        }
    }

    fn lost<'b>(&self, lane: &'b Lane) -> impl Iterator<Item = &'b Frame> {
        let to_client = self.to_client;
        let is_lost = move |frame: &&Frame| is_data(frame, to_client) && frame.is_lost();
        lane.frames.iter().filter(is_lost)
    }

    /// `3 frames lost, 2 lost in part`, if any were.
    fn lost_frames(&self, lane: &Lane) -> Option<String> {
        let of = |fate| {
            self.lost(lane)
                .filter(|frame| frame.fate == Some(fate))
                .count() as u64
        };
        match (of(Fate::Lost), of(Fate::PartlyLost)) {
            (0, 0) => None,
            (0, part) => Some(format!("{} lost in part", counted(part, "frame"))),
            (whole, 0) => Some(format!("{} lost", counted(whole, "frame"))),
            (whole, part) => Some(format!(
                "{} lost, {} lost in part",
                counted(whole, "frame"),
                count(part)
            )),
        }
    }

    fn description(&self) -> String {
        let lane = |lane: &Lane| {
            let data = |frame: &&Frame| is_data(frame, self.to_client);
            let frames = lane.frames.iter().filter(data);
            let merged = frames.clone().filter(|frame| frame.segments > 1).count() as u64;
            let frames = frames.count() as u64;
            let lost = self.lost_frames(lane);
            format!(
                "At {}: {}, {} of several segments, {}.",
                lane.point,
                counted(frames, "data frame"),
                count(merged),
                lost.as_deref().unwrap_or("none seen vanishing"),
            )
        };
        if let Shows::CloseUp(subject) = &self.shows {
            return subject.described();
        }
        let lanes: Vec<String> = self.series.lanes.iter().map(lane).collect();
        lanes.join(" ")
    }

    /// The numbers of lost frames, for readers who open the capture.
    fn vanished(&self) -> Markup {
        let lanes = self.series.lanes.iter();
        html! {
            @for lane in lanes.filter(|lane| self.lost(lane).next().is_some()) {
                p.vanished {
                    "Frames of " b { (lane.point) } " that vanished on the way to the " (self.receiver()) ": "
                    (self.numbers_by_sort(lane)) "."
                }
            }
        }
    }

    fn numbers_by_sort(&self, lane: &Lane) -> String {
        let sorts: [(&str, IsSort); 3] = [
            ("of several segments", |frame| {
                frame.fate == Some(Fate::Lost) && frame.segments > 1
            }),
            ("single", |frame| {
                frame.fate == Some(Fate::Lost) && frame.segments <= 1
            }),
            ("in part only", |frame| frame.fate == Some(Fate::PartlyLost)),
        ];
        let named = sorts.iter().filter_map(|(sort, is)| {
            let numbers: Vec<u64> = self
                .lost(lane)
                .filter(|f| is(f))
                .map(|f| f.number)
                .collect();
            (!numbers.is_empty()).then(|| format!("{sort} {}", names(&numbers, NAMED)))
        });
        named.collect::<Vec<_>>().join("; ")
    }

    fn data(&self, whole: &Self) -> data::Plot<'_> {
        let ns = |(from, to): (f64, f64)| [(from * 1e9) as i64, (to * 1e9) as i64];
        let [begin_ns, end_ns] = ns(whole.x.values());
        let geometry = Geometry {
            left: LEFT,
            right: RIGHT,
            top: TOP,
            height: self.height,
            gap: GAP,
            begin_ns,
            end_ns,
            view_ns: ns(self.x.values()),
            low: whole.y.values().0,
            high: whole.y.values().1,
        };
        data::Plot::new(geometry, &self.series.lanes, self.to_client)
    }
}

/// Whether a frame carries bytes of the stream in a direction: not a keep-alive, not the message of
/// an RST, and not bytes far outside of the window.
fn is_data(frame: &Frame, to_client: bool) -> bool {
    frame.data != Data::None && frame.to_client == to_client
}

/// The first byte of all frames, and the end of the last.
fn bounds<'a>(frames: impl Iterator<Item = &'a Frame>) -> (i64, i64) {
    let both = frames.map(|frame| (frame.start, frame.end()));
    both.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
        .unwrap_or_default()
}

/// The right edge of the receive window in a frame of the other direction, if it has one.
fn window_edge(frame: &Frame, to_client: bool) -> Option<i64> {
    let is_answer = frame.to_client != to_client;
    let edge = frame.ack?.checked_add(i64::from(frame.window?));
    edge.filter(|_| is_answer)
}

/// The meaning of each mark.
fn legend() -> Markup {
    let marks = [
        ("single", "frame of one segment"),
        ("merged", "merged frame"),
        ("uncut", "frame not cut yet by its sender (TSO)"),
        ("again", "sent again"),
        ("odd", "overtaken, or late"),
        ("lost", "vanished on the next hop, whole or in part"),
        ("ack", "acknowledged"),
        ("sack", "SACK block"),
        ("window", "end of the window"),
    ];
    html! {
        ul.legend {
            @for (class, text) in marks {
                li { svg.key width="26" height="16" viewBox="0 0 26 16" aria-hidden="true" {
                    (marks::sample(class))
                } " " (text) }
            }
        }
    }
}
