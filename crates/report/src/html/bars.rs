//! Horizontal bars, one below the other, each with a text.

use maud::{Markup, html};

use super::svg::{Drawing, Path, Scale, px, shortened};

const WIDTH_PX: f64 = 760.0;
const LEFT_PX: f64 = 300.0;
/// Room for the figure behind the longest bar.
const RIGHT_PX: f64 = 130.0;
const ROW_PX: f64 = 26.0;
const LETTERS: usize = 44;

/// A bar.
pub(crate) struct Bar {
    /// What it is about.
    pub(crate) name: String,
    /// How long it is.
    pub(crate) value: f64,
    /// The value in words.
    pub(crate) text: String,
    /// A class of the style sheet.
    pub(crate) class: &'static str,
}

/// A drawing of bars that begin at zero.
pub(crate) fn figure(id: &str, title: &str, bars: &[Bar]) -> Markup {
    let most = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    let x = Scale::new((0.0, most), (LEFT_PX, WIDTH_PX - RIGHT_PX));
    let described: Vec<String> = bars
        .iter()
        .map(|bar| format!("{}: {}.", bar.name, bar.text))
        .collect();
    let drawing = Drawing {
        id,
        title,
        description: &described.join(" "),
        width: WIDTH_PX,
        height: bars.len() as f64 * ROW_PX + 10.0,
    };
    let rows = html! {
        @for (i, bar) in bars.iter().enumerate() { (row(bar, 5.0 + i as f64 * ROW_PX, &x)) }
    };
    html! { figure { (drawing.markup(&rows)) } }
}

fn row(bar: &Bar, y: f64, x: &Scale) -> Markup {
    let end = x.at(bar.value);
    let mut path = Path::new();
    path.rectangle(LEFT_PX, y + 3.0, (end - LEFT_PX).max(1.0), ROW_PX - 8.0);
    html! {
        g {
            title { (bar.name) ": " (bar.text) }
            text x=(px(LEFT_PX - 8.0)) y=(px(y + 16.0)) text-anchor="end" { (shortened(&bar.name, LETTERS)) }
            path class={ "ribbon " (bar.class) } d=(path) {}
            text x=(px(end + 8.0)) y=(px(y + 16.0)) { (bar.text) }
        }
    }
}
