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

/// A drawing: what it is called, and how large it is.
pub(crate) struct Drawing<'a> {
    /// Once in a page; letters, digits and `-`.
    pub(crate) id: &'a str,
    /// What it shows, in a few words.
    pub(crate) title: &'a str,
    /// What can be seen in it, in sentences: for those who cannot.
    pub(crate) description: &'a str,
    /// Width in pixels, at which its letters have the size of the page's.
    pub(crate) width: f64,
    /// Height in pixels.
    pub(crate) height: f64,
}

impl Drawing<'_> {
    /// The drawing with its contents. Where the page is narrower, it can be scrolled sideways.
    pub(crate) fn markup(&self, contents: &Markup) -> Markup {
        html! {
            div.scroll tabindex="0" role="group" aria-label=(self.title) { (self.svg(contents)) }
        }
    }

    /// The same of one that fits a phone, and is enlarged where there is more room.
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
    /// From the first of `values` at the first of `pixels` to the second at the second. An empty range
    /// of values is widened by one, what is not finite counts as zero.
    pub(crate) fn new(values: (f64, f64), pixels: (f64, f64)) -> Self {
        let low = finite(values.0);
        let high = finite(values.1);
        let high = if high > low { high } else { low + 1.0 };
        Self {
            values: (low, high),
            pixels,
        }
    }

    /// The same, with room up to the next tick.
    pub(crate) fn rounded(self, most: usize) -> Self {
        let step = step(self.values.1 - self.values.0, most);
        let low = (self.values.0 / step).floor() * step;
        let high = (self.values.1 / step).ceil() * step;
        Self::new((low, high), self.pixels)
    }

    /// Where a value stands; beyond an end, at the end.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let (low, high) = self.values;
        let share = ((finite(value) - low) / (high - low)).clamp(0.0, 1.0);
        self.pixels.0 + share * (self.pixels.1 - self.pixels.0)
    }

    /// Where a value stands, beyond the ends too, as far as a drawing can be cut off there.
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

/// The least of 1, 2 or 5 times a power of ten that makes at most so many steps.
fn step(range: f64, most: usize) -> f64 {
    let rough = range / most.max(1) as f64;
    let power = 10_f64.powf(rough.log10().floor());
    let factors = [1.0, 2.0, 5.0];
    let fits = |factor: &f64| factor * power >= rough * (1.0 - 1e-9);
    factors.into_iter().find(fits).unwrap_or(10.0) * power
}

/// About one tick in so many pixels across, and in so many down.
const TICK_PX: (f64, f64) = (90.0, 45.0);

/// An axis below the plot, at `y` pixels, with ticks and what it counts.
pub(crate) fn x_axis(x: &Scale, y: f64, label: &str, text: impl Fn(f64) -> String) -> Markup {
    let (from, to) = x.pixels;
    let values = x.ticks(((to - from).abs() / TICK_PX.0) as usize);
    let ticks: Vec<_> = values
        .iter()
        .map(|value| (x.at(*value), text(*value)))
        .collect();
    x_ticks(&ticks, x.pixels, y, label)
}

/// The same for factors: each step is as far as any other that multiplies by as much. The scale is
/// one of decimal logarithms.
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

/// An axis left of the plot, which goes from the first of `x` pixels to the second; with lines across,
/// and what it counts on top.
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

/// What goes into the `d` of a path: many marks of one kind are best one path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path(String);

impl Path {
    /// An empty one.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A line through points.
    pub(crate) fn of(points: &[(f64, f64)]) -> Self {
        let mut path = Self::new();
        path.polyline(points.iter().copied());
        path
    }

    /// A cross, for what failed or did not arrive.
    pub(crate) fn cross(x: f64, y: f64) -> Self {
        Self::cross_of(4.0, x, y)
    }

    /// The same with arms of another length.
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

    /// Goes on from where the last line ended.
    pub(crate) fn extend(&mut self, points: impl IntoIterator<Item = (f64, f64)>) {
        for (x, y) in points {
            let _ = write!(self.0, "L{} {}", px(x), px(y));
        }
    }

    /// Adds an upright line.
    pub(crate) fn upright(&mut self, x: f64, from: f64, to: f64) {
        let _ = write!(self.0, "M{} {}V{}", px(x), px(from), px(to));
    }

    /// Adds a line that begins at a point and goes on by steps.
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

/// A name that has to fit: its beginning, if it has more letters.
pub(crate) fn shortened(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    let begin: String = name.chars().take(most.saturating_sub(1)).collect();
    format!("{begin}\u{2026}")
}

/// A coordinate: a tenth of a pixel is as fine as anybody sees.
pub(crate) fn px(value: f64) -> Px {
    Px(finite(value))
}

/// A coordinate, as it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Px(f64);

impl Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Minus zero is zero.
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
