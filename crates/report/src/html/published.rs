//! The drawing of the lab: for each incident what was measured, slow and fast, and what was published.

use maud::{Markup, html};

use super::svg::{Drawing, Path, Scale, log_x_axis, px, shortened};
use crate::lab::{LabIncident, LabReport};
use crate::words::units::{figure as worded, three_digits};

const WIDTH_PX: f64 = 760.0;
const LEFT_PX: f64 = 170.0;
const RIGHT_PX: f64 = 150.0;
const TOP_PX: f64 = 10.0;
const ROW_PX: f64 = 54.0;
const BELOW_PX: f64 = 44.0;
const LETTERS: usize = 24;

/// Slow and fast, of one source.
struct Pair {
    source: &'static str,
    class: &'static str,
    slow_bps: Option<f64>,
    fast_bps: Option<f64>,
    ratio: Option<f64>,
}

/// The drawing.
pub(crate) fn figure(report: &LabReport) -> Markup {
    let all = report.incidents.iter().flat_map(pairs);
    let rates = all
        .flat_map(|pair| [pair.slow_bps, pair.fast_bps])
        .flatten();
    let powers = rates.filter(|bps| *bps > 0.0).map(f64::log10);
    let (low, high) = powers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), one| {
        (low.min(one), high.max(one))
    });
    let x = Scale::new((low - 0.1, high + 0.1), (LEFT_PX, WIDTH_PX - RIGHT_PX));
    let bottom = TOP_PX + report.incidents.len() as f64 * ROW_PX;
    let described: Vec<String> = report.incidents.iter().map(spoken).collect();
    let drawing = Drawing {
        id: "published",
        title: "Throughput, measured and published",
        description: &described.join(" "),
        width: WIDTH_PX,
        height: bottom + BELOW_PX,
    };
    let rows = html! {
        (log_x_axis(&x, bottom, "throughput (each step multiplies)", |bps| worded(bps, Some("bit/s"))))
        @for (i, one) in report.incidents.iter().enumerate() {
            (row(one, TOP_PX + i as f64 * ROW_PX, &x))
        }
    };
    html! {
        figure {
            (drawing.markup(&rows))
            figcaption {
                "From slow to fast: a solid line with filled dots is what was measured here, a dotted one with "
                "empty squares what was published. On the right how many times faster."
            }
        }
    }
}

fn pairs(one: &LabIncident) -> [Pair; 2] {
    [
        Pair {
            source: "measured",
            class: "here",
            slow_bps: Some(one.slow_bps),
            fast_bps: Some(one.fast_bps),
            ratio: Some(one.ratio),
        },
        Pair {
            source: "published",
            class: "there",
            slow_bps: one.published.slow_bps,
            fast_bps: one.published.fast_bps,
            ratio: one.published.ratio,
        },
    ]
}

fn spoken(one: &LabIncident) -> String {
    let parts = pairs(one).map(|pair| format!("{} {}", pair.source, pair.words()));
    format!("{}: {}.", one.name, parts.join("; "))
}

impl Pair {
    fn words(&self) -> String {
        let rate =
            |bps: Option<f64>| bps.map_or("unknown".to_owned(), |bps| worded(bps, Some("bit/s")));
        let times = self
            .times()
            .map_or(String::new(), |times| format!(" ({times})"));
        format!("{} to {}{times}", rate(self.slow_bps), rate(self.fast_bps))
    }

    fn times(&self) -> Option<String> {
        self.ratio
            .map(|ratio| format!("{} times", three_digits(ratio)))
    }
}

fn row(one: &LabIncident, top: f64, x: &Scale) -> Markup {
    html! {
        g {
            path.grid d=(Path::of(&[(LEFT_PX, top + ROW_PX), (WIDTH_PX - RIGHT_PX, top + ROW_PX)])) {}
            text.name x=(px(LEFT_PX - 10.0)) y=(px(top + 31.0)) text-anchor="end" {
                (shortened(&one.name, LETTERS))
            }
            @for (pair, y) in pairs(one).iter().zip([top + 18.0, top + 38.0]) { (pair_markup(pair, y, x)) }
        }
    }
}

fn pair_markup(pair: &Pair, y: f64, x: &Scale) -> Markup {
    let at = |bps: Option<f64>| bps.filter(|bps| *bps > 0.0).map(|bps| x.at(bps.log10()));
    let ends = [at(pair.slow_bps), at(pair.fast_bps)];
    html! {
        g class=(pair.class) {
            title { (pair.source) ": " (pair.words()) }
            @if let [Some(slow), Some(fast)] = ends { path.interval d=(Path::of(&[(slow, y), (fast, y)])) {} }
            @for end in ends.into_iter().flatten() {
                @if pair.class == "here" { circle.dot cx=(px(end)) cy=(px(y)) r="5" {} }
                @else { rect.dot.open x=(px(end - 4.5)) y=(px(y - 4.5)) width="9" height="9" {} }
            }
            @if let Some(times) = pair.times() {
                text x=(px(WIDTH_PX - RIGHT_PX + 10.0)) y=(px(y + 4.0)) { (times) @if pair.class != "here" { " (published)" } }
            }
        }
    }
}
