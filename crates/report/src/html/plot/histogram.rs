//! Histograms of a direction, a row per point: lengths of frames, segments per frame, and segments per ACK.

use coalescope_capture::series::{LENGTH_CLASSES, Series};
use maud::{Markup, html};

use super::direction;
use crate::html::svg::{Drawing, Path, px};
use crate::words::units::{counted, short_count, three_digits};

const WIDTH: f64 = 470.0;
const LEFT: f64 = 8.0;
const TOP: f64 = 22.0;
/// Height of the largest bar of a row, and of a row with its name.
const BAR: f64 = 62.0;
const ROW: f64 = 106.0;
const BELOW: f64 = 40.0;
/// Least number of segments per ACK if every second segment is acknowledged (RFC 9293, 3.8.6.3).
const DELAYED: f64 = 2.0;

/// A histogram.
struct Histogram<'a> {
    id: &'a str,
    title: &'a str,
    /// The unit of the classes.
    unit: &'a str,
    classes: &'a [String],
    /// The point's name, and frames by class.
    rows: Vec<(&'a str, Vec<u64>)>,
}

/// Data frames by their length on the wire.
pub(super) fn lengths(id: &str, series: &Series, to_client: bool) -> Markup {
    let ends = LENGTH_CLASSES.iter().map(|end| short(*end));
    let last = LENGTH_CLASSES.last().copied().unwrap_or(0);
    let classes: Vec<String> = ends.chain([format!(">{}", short(last))]).collect();
    let way = usize::from(to_client);
    let rows = series.lanes.iter();
    let histogram = Histogram {
        id,
        title: "Data frames by length",
        unit: "up to so many bytes on the wire, headers included",
        classes: &classes,
        rows: rows
            .map(|lane| (lane.point.as_str(), lane.ways[way].lengths.to_vec()))
            .collect(),
    };
    histogram.markup()
}

/// Data frames by segments carried.
pub(super) fn segments(id: &str, series: &Series, to_client: bool) -> Markup {
    let classes = ["1", "2", "3-4", "5-8", "9-16", "17-32", "33-64", ">64"].map(str::to_owned);
    let row = |histogram: [u32; 8]| histogram.map(u64::from).to_vec();
    let rows = series.lanes.iter().map(|lane| {
        let histogram = direction(lane, to_client).merge_factor_histogram;
        (lane.point.as_str(), row(histogram))
    });
    let histogram = Histogram {
        id,
        title: "Data frames by segments carried",
        unit: "segments in a frame; 1 is not merged",
        classes: &classes,
        rows: rows.collect(),
    };
    histogram.markup()
}

/// `1518`, `9018`, `16k`, `64k`.
fn short(length: u32) -> String {
    match length {
        0..10_000 => length.to_string(),
        _ => format!("{}k", (length + 1) / 1024),
    }
}

impl Histogram<'_> {
    fn markup(&self) -> Markup {
        let drawing = Drawing {
            id: self.id,
            title: self.title,
            description: &self.description(),
            width: WIDTH,
            height: TOP + self.rows.len() as f64 * ROW + BELOW - 24.0,
        };
        let rows = self.rows.iter().enumerate();
        let bottom = TOP + self.rows.len() as f64 * ROW - 24.0;
        let contents = html! {
            @for (i, (point, counts)) in rows { (self.row(TOP + i as f64 * ROW, point, counts)) }
            g.axis aria-hidden="true" {
                @for (i, class) in self.classes.iter().enumerate() {
                    text x=(px(self.at(i) + self.width() / 2.0)) y=(px(bottom + 16.0)) text-anchor="middle" { (class) }
                }
                text.label x=(px(WIDTH / 2.0)) y=(px(bottom + 34.0)) text-anchor="middle" { (self.unit) }
            }
        };
        html! { figure { h4 { (self.title) } (drawing.markup(&contents)) } }
    }

    fn at(&self, class: usize) -> f64 {
        LEFT + class as f64 * self.width()
    }

    fn width(&self) -> f64 {
        (WIDTH - 2.0 * LEFT) / self.classes.len() as f64
    }

    /// A point's bars with their counts.
    fn row(&self, top: f64, point: &str, counts: &[u64]) -> Markup {
        let most = counts.iter().copied().max().unwrap_or(0).max(1);
        let base = top + ROW - 24.0;
        let bars = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let height = |count: u64| (count as f64 / most as f64 * BAR).max(1.0);
        let mut path = Path::new();
        for (i, count) in bars.clone() {
            path.rectangle(
                self.at(i) + 3.0,
                base - height(*count),
                self.width() - 6.0,
                height(*count),
            );
        }
        html! {
            g.histogram {
                text.lane x=(px(LEFT)) y=(px(top)) { (point) }
                path.bar d=(path) {}
                @for (i, count) in bars {
                    text x=(px(self.at(i) + self.width() / 2.0)) y=(px(base - height(*count) - 3.0)) text-anchor="middle" { (short_count(*count)) }
                }
                g.axis { path d=(Path::of(&[(LEFT, base), (WIDTH - LEFT, base)])) {} }
            }
        }
    }

    fn description(&self) -> String {
        let row = |(point, counts): &(&str, Vec<u64>)| {
            let classes = self
                .classes
                .iter()
                .zip(counts)
                .filter(|(_, count)| **count > 0);
            let classes = classes.map(|(class, count)| format!("{class}: {count}"));
            format!("{point}: {}.", classes.collect::<Vec<_>>().join(", "))
        };
        let rows: Vec<String> = self.rows.iter().map(row).collect();
        format!("Frames by {}. {}", self.unit, rows.join(" "))
    }
}

/// Segments per ACK without data, one bar per point.
pub(super) fn acknowledgments(id: &str, series: &Series, to_client: bool) -> Markup {
    let rows: Vec<_> = series
        .lanes
        .iter()
        .filter_map(|lane| {
            let way = direction(lane, to_client);
            let acks = direction(lane, !to_client).acks;
            Some((lane.point.as_str(), way.segments_per_ack?, acks))
        })
        .collect();
    if rows.is_empty() {
        return html! {};
    }
    let title = "Segments for each ACK";
    let text = |(point, ratio, acks): &(&str, f64, u64)| {
        format!(
            "{point}: {} ({}).",
            three_digits(*ratio),
            counted(*acks, "ACK")
        )
    };
    let description = rows.iter().map(text).collect::<Vec<_>>().join(" ");
    let drawing = Drawing {
        id,
        title,
        description: &description,
        width: 2.0 * WIDTH,
        height: 26.0 * rows.len() as f64 + 30.0,
    };
    html! { figure { h4 { (title) } (drawing.markup(&bars(&rows))) } }
}

fn bars(rows: &[(&str, f64, u64)]) -> Markup {
    let largest = rows.iter().map(|row| row.1).fold(2.0 * DELAYED, f64::max);
    // Room for the name on the left, and for the number behind the bar.
    let (left, right) = (160.0, 2.0 * WIDTH - 130.0);
    let width = |ratio: f64| ratio / largest * (right - left);
    let bottom = 26.0 * rows.len() as f64;
    let delayed = left + width(DELAYED);
    html! {
        g.axis {
            path.mean d=(Path::of(&[(delayed, 0.0), (delayed, bottom + 6.0)])) {}
            text x=(px(delayed)) y=(px(bottom + 20.0)) text-anchor="middle" { "2: every second segment" }
        }
        @for (i, (point, ratio, acks)) in rows.iter().enumerate() {
            @let top = 26.0 * i as f64;
            @let bar = { let mut bar = Path::new(); bar.rectangle(left, top + 4.0, width(*ratio), 16.0); bar };
            text.lane x=(px(left - 6.0)) y=(px(top + 17.0)) text-anchor="end" { (point) }
            path.bar d=(bar) {}
            text x=(px(left + width(*ratio) + 5.0)) y=(px(top + 17.0)) { (three_digits(*ratio)) " (" (counted(*acks, "ACK")) ")" }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_short() {
        assert_eq!(
            [64, 1518, 16_383, 65_550].map(short),
            ["64", "1518", "16k", "64k"]
        );
    }
}
