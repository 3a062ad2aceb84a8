//! Throughput over time, and below it the effective window.

use coalescope_capture::series::{Bin, Lane, Rates, Series};
use maud::{Markup, html};

use super::ticks;
use crate::html::svg::{Drawing, Path, Scale, x_axis, y_axis};
use crate::words::units::{bytes, duration, figure, rate, seconds};

const LEFT: f64 = 90.0;
const WIDTH: f64 = 960.0;
const TOP: f64 = 30.0;
const HEIGHT: f64 = 130.0;
/// Upper edge of the lower panel.
const SECOND: f64 = TOP + HEIGHT + 46.0;

/// The two panels of one direction.
pub(super) fn markup(id: &str, series: &Series, to_client: bool) -> Markup {
    let way = usize::from(to_client);
    let nearest = series.nearest_sender[way].min(series.lanes.len().saturating_sub(1));
    let farthest = series.lanes.len().saturating_sub(1) - nearest;
    let Some((near, far)) = series.lanes.get(nearest).zip(series.lanes.get(farthest)) else {
        return html! {};
    };
    let panels = Panels {
        near,
        far,
        way,
        end_s: end_s(series, way),
    };
    if panels.sent().bins.len() < 2 {
        return html! {};
    }
    let title = "Throughput and effective window";
    let drawing = Drawing {
        id,
        title,
        description: &panels.description(),
        width: WIDTH,
        height: SECOND + HEIGHT + 44.0,
    };
    html! {
        figure { h4 { (title) } (drawing.markup(&panels.contents())) (panels.legend()) }
    }
}

fn end_s(series: &Series, way: usize) -> f64 {
    let end = |lane: &Lane| {
        let rates = &lane.ways[way].rates;
        rates.start_ns + rates.bins.len() as i64 * rates.width_ns
    };
    series.lanes.iter().map(end).max().unwrap_or(0) as f64 / 1e9
}

struct Panels<'a> {
    /// The lane nearest to the sender, and the one farthest from it; the same lane if there is only one.
    near: &'a Lane,
    far: &'a Lane,
    way: usize,
    end_s: f64,
}

impl Panels<'_> {
    fn sent(&self) -> &Rates {
        &self.near.ways[self.way].rates
    }

    fn came(&self) -> &Rates {
        &self.far.ways[self.way].rates
    }

    fn has_two(&self) -> bool {
        !std::ptr::eq(self.near, self.far)
    }

    fn contents(&self) -> Markup {
        let x = Scale::new((0.0, self.end_s), (LEFT, WIDTH - 26.0));
        html! {
            (self.throughput(&x))
            (self.window(&x))
            (x_axis(&x, SECOND + HEIGHT, "time since the first frame", ticks::seconds(&x)))
        }
    }

    fn throughput(&self, x: &Scale) -> Markup {
        let most = [self.sent(), self.came()].map(|rates| {
            let most = rates
                .bins
                .iter()
                .map(|bin| bin.new_bytes.max(bin.again_bytes));
            bps(rates, most.max().unwrap_or(0))
        });
        let y = Scale::new((0.0, most[0].max(most[1])), (TOP + HEIGHT, TOP)).rounded(4);
        let again = |bin: &Bin| Some(bin.again_bytes).filter(|again| *again > 0);
        html! {
            (y_axis(&y, (LEFT, WIDTH - 26.0), "payload, each byte once", |bps| figure(bps, Some("bit/s"))))
            path.repeated d=(bars(self.sent(), x, &y, again)) {}
            @if self.has_two() { path.came d=(line(self.came(), x, &y)) {} }
            path.sent d=(line(self.sent(), x, &y)) {}
        }
    }

    fn window(&self, x: &Scale) -> Markup {
        let bins = &self.sent().bins;
        let flying = bins
            .iter()
            .filter_map(|bin| bin.in_flight_bytes)
            .max()
            .unwrap_or(0);
        let window = bins.iter().filter_map(|bin| bin.window_bytes).max();
        let windows: Vec<_> = bins.iter().map(|bin| bin.window_bytes).collect();
        // A receive window far above the bytes in flight would flatten their curve.
        let most = window.map_or(flying, |window| window.clamp(flying, flying * 2));
        let y = Scale::new((0.0, most as f64), (SECOND + HEIGHT, SECOND));
        html! {
            (y_axis(&y, (LEFT, WIDTH - 26.0), "not acknowledged yet", ticks::bytes(&y)))
            path.window d=(steps(self.sent(), x, &y, &windows)) {}
            path.flight d=(steps(self.sent(), x, &y, &flight(bins))) {}
        }
    }

    fn legend(&self) -> Markup {
        let item = |class, text: &str| key(class, &Path::of(&[(1.0, 8.0), (25.0, 8.0)]), text);
        let mut block = Path::new();
        block.rectangle(3.0, 3.0, 20.0, 10.0);
        let bar = |class, text: &str| key(class, &block, text);
        html! {
            ul.legend {
                (item("sent", &format!("new bytes at {}", self.near.point)))
                @if self.has_two() { (item("came", &format!("new bytes at {}", self.far.point))) }
                (bar("repeated", &format!("sent again at {}", self.near.point)))
                (item("flight", &format!("in flight at {}, most in each step", self.near.point)))
                (item("window", "window that the receiver advertised"))
            }
        }
    }

    fn description(&self) -> String {
        let rates = self.sent();
        let bytes_of = |what: fn(&Bin) -> u64| rates.bins.iter().map(what);
        let new: u64 = bytes_of(|bin| bin.new_bytes).sum();
        let again: u64 = bytes_of(|bin| bin.again_bytes).sum();
        let most = bytes_of(|bin| bin.new_bytes).max().unwrap_or(0);
        let flying = rates
            .bins
            .iter()
            .filter_map(|bin| bin.in_flight_bytes)
            .max();
        format!(
            "At {}: {} new and {} sent again in {}, at most {} over {}; at most {} in flight.",
            self.near.point,
            bytes(new),
            bytes(again),
            duration(rates.bins.len() as f64 * rates.width_ns as f64 / 1e9),
            rate(bps(rates, most)),
            seconds(rates.width_ns as f64 / 1e9),
            bytes(flying.unwrap_or(0)),
        )
    }
}

/// One entry of the legend.
fn key(class: &str, sample: &Path, text: &str) -> Markup {
    html! {
        li { svg.key width="26" height="16" viewBox="0 0 26 16" aria-hidden="true" {
            path class=(class) d=(sample) {}
        } " " (text) }
    }
}

/// Bits per second, from the bytes of one bin.
fn bps(rates: &Rates, bytes: u64) -> f64 {
    bytes as f64 * 8e9 / rates.width_ns as f64
}

/// The beginning of a bin, in seconds.
fn at_s(rates: &Rates, bin: usize) -> f64 {
    (rates.start_ns + bin as i64 * rates.width_ns) as f64 / 1e9
}

/// New bytes per second, one step per bin.
fn line(rates: &Rates, x: &Scale, y: &Scale) -> Path {
    let points = rates.bins.iter().enumerate().flat_map(|(i, bin)| {
        let height = y.at(bps(rates, bin.new_bytes));
        [
            (x.at(at_s(rates, i)), height),
            (x.at(at_s(rates, i + 1)), height),
        ]
    });
    let mut path = Path::new();
    path.polyline(points);
    path
}

/// Bars for values that only some bins have.
fn bars(rates: &Rates, x: &Scale, y: &Scale, value: impl Fn(&Bin) -> Option<u64>) -> Path {
    let mut path = Path::new();
    for (i, bin) in rates.bins.iter().enumerate() {
        let Some(bytes) = value(bin) else { continue };
        let (left, right) = (x.at(at_s(rates, i)), x.at(at_s(rates, i + 1)));
        let (top, bottom) = (y.at(bps(rates, bytes)), y.at(0.0));
        path.rectangle(left, top, (right - left).max(1.5), bottom - top);
    }
    path
}

/// The most bytes in flight in each bin. In a bin without data, the value after the last frame before it.
fn flight(bins: &[Bin]) -> Vec<Option<u64>> {
    let mut left = None;
    let of = |bin: &Bin| {
        let most = bin.in_flight_bytes.or(left);
        left = bin.left_bytes.or(left);
        most
    };
    bins.iter().map(of).collect()
}

/// A line that keeps its value until the next known one.
fn steps(rates: &Rates, x: &Scale, y: &Scale, values: &[Option<u64>]) -> Path {
    let mut points = Vec::new();
    let mut last = None;
    for (i, value) in values.iter().enumerate() {
        let at = x.at(at_s(rates, i));
        if let Some(value) = value {
            points.extend(last.map(|before| (at, before)));
            last = Some(y.at(*value as f64));
        }
        points.extend(last.map(|height| (at, height)));
    }
    points.extend(last.map(|height| (x.at(at_s(rates, rates.bins.len())), height)));
    points.dedup();
    Path::of(&points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_the_last_acknowledgment_nothing_is_in_flight() {
        let data = Bin {
            in_flight_bytes: Some(4_000),
            left_bytes: Some(4_000),
            ..Bin::default()
        };
        let answer = Bin {
            left_bytes: Some(0),
            ..Bin::default()
        };
        let silence = Bin::default();
        let drawn = flight(&[silence, data, silence, answer, silence, silence]);
        let expected = [
            None,
            Some(4_000),
            Some(4_000),
            Some(4_000),
            Some(0),
            Some(0),
        ];
        assert_eq!(drawn, expected);
    }
}
