//! Drawings: a small writer of SVG. What it draws is coloured by classes of the page's style sheet,
//! so that it follows the theme.
//!
//! A drawing is made like this:
//!
//! ```ignore
//! let x = Scale::new((0.0, 12.5), (60.0, 740.0));
//! let y = Scale::new((0.0, 9e6), (260.0, 20.0));
//! let mut line = Path::new();
//! line.polyline(points.iter().map(|p| (x.at(p.time_s), y.at(p.bps))));
//! let drawing = Drawing {
//!     id: "throughput-0", title: "Throughput", description: "Between 2 and 9 Mbit/s.",
//!     width: 760.0, height: 300.0,
//! };
//! drawing.markup(&html! {
//!     (x_axis(&x, 260.0, "seconds", three_digits))
//!     (y_axis(&y, (60.0, 740.0), "bit/s", |bps| figure(bps, Some("bit/s"))))
//!     path.line d=(line) {}
//! })
//! ```

use std::fmt::{self, Display, Write};

use maud::{Markup, Render, html};

/// A drawing's title and size.
pub(crate) struct Drawing<'a> {
    /// Once in a page; letters, digits and `-`.
    pub(crate) id: &'a str,
    /// What it shows, in a few words.
    pub(crate) title: &'a str,
    /// A description in sentences, for readers who cannot see the drawing.
    pub(crate) description: &'a str,
    /// Width in pixels, at which letters have the size of the page's text.
    pub(crate) width: f64,
    /// Height in pixels.
    pub(crate) height: f64,
}

impl Drawing<'_> {
    /// The drawing with its contents. On a narrow page it can be scrolled sideways.
    pub(crate) fn markup(&self, contents: &Markup) -> Markup {
        html! {
            div.scroll tabindex="0" role="group" aria-label=(self.title) { (self.svg(contents)) }
        }
    }

    /// A drawing that fits on a phone, and is enlarged where there is more room.
    pub(crate) fn fitted(&self, contents: &Markup) -> Markup {
        html! { div.fitted { (self.svg(contents)) } }
    }

    fn svg(&self, contents: &Markup) -> Markup {
        let (title, description) = (format!("{}-title", self.id), format!("{}-desc", self.id));
        let view = format!("0 0 {} {}", px(self.width), px(self.height));
        html! {
            svg id=(self.id) role="img" aria-labelledby=(title) aria-describedby=(description)
                viewBox=(view) width=(px(self.width)) height=(px(self.height)) {
                title id=(title) { (self.title) }
                desc id=(description) { (self.description) }
                (contents)
            }
        }
    }
}

/// A straight scale from values to pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    values: (f64, f64),
    pixels: (f64, f64),
}

impl Scale {
    /// A scale from the two `values` to the two `pixels`. An empty range of values is widened by
    /// one; a value that is not finite counts as zero.
    pub(crate) fn new(values: (f64, f64), pixels: (f64, f64)) -> Self {
        let low = finite(values.0);
        let high = finite(values.1);
        let high = if high > low { high } else { low + 1.0 };
        Self {
            values: (low, high),
            pixels,
        }
    }

    /// The scale extended to the next tick.
    pub(crate) fn rounded(self, most: usize) -> Self {
        let step = step(self.values.1 - self.values.0, most);
        let low = (self.values.0 / step).floor() * step;
        let high = (self.values.1 / step).ceil() * step;
        Self::new((low, high), self.pixels)
    }

    /// The position of a value; a value beyond an end is at the end.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let (low, high) = self.values;
        let share = ((finite(value) - low) / (high - low)).clamp(0.0, 1.0);
        self.pixels.0 + share * (self.pixels.1 - self.pixels.0)
    }

    /// The position of a value, also beyond the ends, as far as a drawing can be clipped.
    pub(crate) fn through(&self, value: f64) -> f64 {
        let (low, high) = self.values;
        let share = ((finite(value) - low) / (high - low)).clamp(-10.0, 10.0);
        self.pixels.0 + share * (self.pixels.1 - self.pixels.0)
    }

    /// The values at both ends.
    pub(crate) fn values(&self) -> (f64, f64) {
        self.values
    }

    /// Round values in the range, about as many as asked for: steps of 1, 2 or 5 times a power of ten.
    pub(crate) fn ticks(&self, most: usize) -> Vec<f64> {
        let (low, high) = self.values;
        let step = step(high - low, most);
        let first = (low / step).ceil();
        let last = (high / step + 1e-9).floor();
        let count = (last - first).max(0.0) as usize;
        (0..=count).map(|i| (first + i as f64) * step).collect()
    }
}

fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

/// The least of 1, 2 or 5 times a power of ten that makes at most `most` steps.
fn step(range: f64, most: usize) -> f64 {
    let rough = range / most.max(1) as f64;
    let power = 10_f64.powf(rough.log10().floor());
    let factors = [1.0, 2.0, 5.0];
    let fits = |factor: &f64| factor * power >= rough * (1.0 - 1e-9);
    factors.into_iter().find(fits).unwrap_or(10.0) * power
}

/// Pixels per tick, about: horizontally and vertically.
const TICK_PX: (f64, f64) = (90.0, 45.0);

/// An axis below the plot, at `y` pixels, with ticks and a label.
pub(crate) fn x_axis(x: &Scale, y: f64, label: &str, text: impl Fn(f64) -> String) -> Markup {
    let (from, to) = x.pixels;
    let values = x.ticks(((to - from).abs() / TICK_PX.0) as usize);
    let ticks: Vec<_> = values
        .iter()
        .map(|value| (x.at(*value), text(*value)))
        .collect();
    x_ticks(&ticks, x.pixels, y, label)
}

/// An axis of factors below the plot: equal ratios have equal distances. The scale is one of decimal logarithms.
pub(crate) fn log_x_axis(x: &Scale, y: f64, label: &str, text: impl Fn(f64) -> String) -> Markup {
    let (low, high) = x.values;
    let factors: &[f64] = if high - low > 2.5 {
        &[1.0]
    } else {
        &[1.0, 2.0, 5.0]
    };
    let powers = (low.floor() as i32)..=(high.ceil() as i32);
    let values = powers.flat_map(|power| {
        factors
            .iter()
            .map(move |factor| factor * 10_f64.powi(power))
    });
    let within = values.filter(|value| (low - 1e-9..=high + 1e-9).contains(&value.log10()));
    let ticks: Vec<_> = within
        .map(|value| (x.at(value.log10()), text(value)))
        .collect();
    x_ticks(&ticks, x.pixels, y, label)
}

fn x_ticks(ticks: &[(f64, String)], (from, to): (f64, f64), y: f64, label: &str) -> Markup {
    html! {
        g.axis aria-hidden="true" {
            path d=(Path::of(&[(from, y), (to, y)])) {}
            @for (at, text) in ticks {
                path d=(Path::of(&[(*at, y), (*at, y + 5.0)])) {}
                text x=(px(*at)) y=(px(y + 18.0)) text-anchor="middle" { (text) }
            }
            text.label x=(px(f64::midpoint(from, to))) y=(px(y + 36.0)) text-anchor="middle" { (label) }
        }
    }
}

/// An axis left of the plot, with lines from the first of `x` pixels to the second, and a label on top.
pub(crate) fn y_axis(
    y: &Scale,
    x: (f64, f64),
    label: &str,
    text: impl Fn(f64) -> String,
) -> Markup {
    let (bottom, top) = y.pixels;
    let ticks = y.ticks(((bottom - top).abs() / TICK_PX.1) as usize);
    html! {
        g.axis aria-hidden="true" {
            @for value in ticks {
                @let at = y.at(value);
                path.grid d=(Path::of(&[(x.0, at), (x.1, at)])) {}
                text x=(px(x.0 - 6.0)) y=(px(at + 4.0)) text-anchor="end" { (text(value)) }
            }
            text.label x=(px(x.0)) y=(px(top - 8.0)) { (label) }
        }
    }
}

/// The `d` attribute of a path: many marks of one kind are best drawn as one path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path(String);

impl Path {
    /// An empty path.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A line through points.
    pub(crate) fn of(points: &[(f64, f64)]) -> Self {
        let mut path = Self::new();
        path.polyline(points.iter().copied());
        path
    }

    /// A cross, for a run that failed or a frame that was lost.
    pub(crate) fn cross(x: f64, y: f64) -> Self {
        Self::cross_of(4.0, x, y)
    }

    /// A cross with arms of this length.
    pub(crate) fn cross_of(arm: f64, x: f64, y: f64) -> Self {
        let mut path = Self::of(&[(x - arm, y - arm), (x + arm, y + arm)]);
        path.polyline([(x - arm, y + arm), (x + arm, y - arm)]);
        path
    }

    /// Adds a line through points.
    pub(crate) fn polyline(&mut self, points: impl IntoIterator<Item = (f64, f64)>) {
        for (i, (x, y)) in points.into_iter().enumerate() {
            let letter = if i == 0 { 'M' } else { 'L' };
            // Writing to a String does not fail.
            let _ = write!(self.0, "{letter}{} {}", px(x), px(y));
        }
    }

    /// Continues from the end of the last line.
    pub(crate) fn extend(&mut self, points: impl IntoIterator<Item = (f64, f64)>) {
        for (x, y) in points {
            let _ = write!(self.0, "L{} {}", px(x), px(y));
        }
    }

    /// Adds a vertical line.
    pub(crate) fn upright(&mut self, x: f64, from: f64, to: f64) {
        let _ = write!(self.0, "M{} {}V{}", px(x), px(from), px(to));
    }

    /// Adds a line from a point by relative steps.
    pub(crate) fn steps(&mut self, (x, y): (f64, f64), steps: &[(f64, f64)]) {
        let _ = write!(self.0, "M{} {}", px(x), px(y));
        for (x, y) in steps {
            let _ = write!(self.0, "l{} {}", px(*x), px(*y));
        }
    }

    /// Adds a rectangle by its left upper corner and its size.
    pub(crate) fn rectangle(&mut self, x: f64, y: f64, width: f64, height: f64) {
        let (x, y, width, height) = (px(x), px(y), px(width.max(0.0)), px(height.max(0.0)));
        let _ = write!(self.0, "M{x} {y}h{width}v{height}h-{width}z");
    }
}

impl Render for Path {
    fn render_to(&self, buffer: &mut String) {
        buffer.push_str(&self.0);
    }
}

/// The beginning of a name that is too long.
pub(crate) fn shortened(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    let begin: String = name.chars().take(most.saturating_sub(1)).collect();
    format!("{begin}\u{2026}")
}

/// A coordinate, rounded to a tenth of a pixel.
pub(crate) fn px(value: f64) -> Px {
    Px(finite(value))
}

/// A coordinate as written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Px(f64);

impl Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Adding zero turns minus zero into zero.
        let tenths = (self.0 * 10.0).round() + 0.0;
        write!(f, "{}", tenths / 10.0)
    }
}

impl Render for Px {
    fn render_to(&self, buffer: &mut String) {
        let _ = write!(buffer, "{self}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        let ticks = |low, high, most| Scale::new((low, high), (0.0, 1.0)).ticks(most);
        assert_eq!(ticks(0.0, 10.0, 5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(ticks(0.3, 1.1, 4), [0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(ticks(0.0, 7e9, 3), [0.0, 5e9]);
    }

    #[test]
    fn odd_ranges_do_no_harm() {
        for (low, high) in [
            (0.0, 0.0),
            (f64::NAN, 1.0),
            (5.0, f64::INFINITY),
            (3.0, -3.0),
        ] {
            let scale = Scale::new((low, high), (0.0, 100.0)).rounded(5);
            assert!(scale.at(f64::NAN).is_finite() && scale.at(1e300).is_finite());
            assert!(scale.ticks(0).len() < 20 && scale.ticks(10).len() < 20);
        }
    }

    #[test]
    fn coordinates_are_short() {
        let texts = [0.0, -0.01, 1.25, 100.0, f64::NAN].map(|value| px(value).to_string());
        assert_eq!(texts, ["0", "0", "1.3", "100", "0"]);
    }

    #[test]
    fn a_path_is_drawn() {
        let mut path = Path::of(&[(0.0, 1.0), (2.5, 3.0)]);
        path.rectangle(1.0, 2.0, 3.0, 4.0);
        assert_eq!(path.render().0, "M0 1L2.5 3M1 2h3v4h-3z");
    }
}
