//! Effects of an experiment with their intervals.

use coalescope_experiment::effects::{Effect, EffectKind, Verdict};
use coalescope_experiment::record::Record;
use maud::{Markup, html};

use super::svg::{Drawing, Path, Scale, log_x_axis, px, shortened};
use crate::words::ab::{called, columns};
use crate::words::units::three_digits;

const WIDTH_PX: f64 = 760.0;
const LEFT_PX: f64 = 300.0;
const TOP_PX: f64 = 24.0;
const ROW_PX: f64 = 28.0;
const BELOW_PX: f64 = 44.0;
const LETTERS: usize = 44;

/// The drawing, and each effect in words.
pub(crate) fn section(record: &Record) -> Markup {
    let effects = chosen(record);
    let drawn: Vec<&Effect> = effects
        .iter()
        .copied()
        .filter(|one| bounds(one).is_some())
        .collect();
    html! {
        @if effects.is_empty() { p { "There are too few runs for any effect." } }
        @if !drawn.is_empty() { (figure(record, &drawn)) }
        ul { @for effect in &effects { li { b { (compared(effect)) } ": " (effect.words) } } }
    }
}

/// `gro=off against on, throughput`
fn compared(effect: &Effect) -> String {
    let Effect {
        factor,
        level,
        reference,
        ..
    } = effect;
    let figure = called(&effect.metric);
    format!("{factor}={level} against {reference}, {figure}")
}

/// Effects on the figures that are shown; interactions only on the judged figure.
fn chosen(record: &Record) -> Vec<&Effect> {
    let metrics = columns(record);
    let first = metrics.first().map(|metric| metric.name.as_str());
    let is_shown = |effect: &&Effect| {
        let is_judged = Some(effect.metric.as_str()) == first;
        let is_column = metrics.iter().any(|metric| metric.name == effect.metric);
        is_judged || (is_column && effect.kind == EffectKind::Main)
    };
    record.effects.iter().filter(is_shown).collect()
}

/// The ratio and the ends of its interval; only ratios are drawn in one diagram.
fn bounds(effect: &Effect) -> Option<[f64; 3]> {
    let ratio = effect.ratio?;
    let bounds = [
        effect.low.unwrap_or(ratio),
        ratio,
        effect.high.unwrap_or(ratio),
    ];
    let is_sound = bounds.iter().all(|bound| bound.is_finite() && *bound > 0.0);
    is_sound.then_some(bounds)
}

fn figure(record: &Record, effects: &[&Effect]) -> Markup {
    let margin = 1.0 + record.asked.rules.margin;
    let all = effects.iter().filter_map(|effect| bounds(effect)).flatten();
    let (low, high) = all.fold((margin.recip(), margin), |(low, high), one| {
        (low.min(one), high.max(one))
    });
    let x = Scale::new(
        (low.log10() - 0.05, high.log10() + 0.05),
        (LEFT_PX, WIDTH_PX - 30.0),
    );
    let bottom = TOP_PX + effects.len() as f64 * ROW_PX;
    let words = effects
        .iter()
        .map(|effect| format!("{}: {}", compared(effect), effect.words));
    let words: Vec<String> = words.collect();
    let drawing = Drawing {
        id: "intervals",
        title: "Effects as ratios, with intervals",
        description: &words.join(". "),
        width: WIDTH_PX,
        height: bottom + BELOW_PX,
    };
    let percent = three_digits(record.asked.rules.margin * 100.0);
    html! {
        figure {
            (drawing.markup(&html! {
                (band(&x, margin, bottom))
                (log_x_axis(&x, bottom, "times the reference (each step multiplies)", three_digits))
                @for (i, effect) in effects.iter().enumerate() {
                    (row(effect, TOP_PX + (i as f64 + 0.5) * ROW_PX, &x))
                }
            }))
            figcaption {
                "The dot is the effect found, the line its interval. What lies in the shaded band, within "
                (percent) "%, does not matter. A filled dot: the difference is beyond doubt, all figures and "
                "looks counted; an empty one: it is not."
            }
        }
    }
}

fn band(x: &Scale, margin: f64, bottom: f64) -> Markup {
    let (left, right) = (x.at(margin.recip().log10()), x.at(margin.log10()));
    let mut band = Path::new();
    band.rectangle(left, TOP_PX - 6.0, right - left, bottom - TOP_PX + 6.0);
    html! {
        path.band d=(band) {}
        path.grid d=(Path::of(&[(x.at(0.0), TOP_PX - 6.0), (x.at(0.0), bottom)])) {}
    }
}

fn row(effect: &Effect, y: f64, x: &Scale) -> Markup {
    let figure = called(&effect.metric);
    let name = format!("{}={}: {figure}", effect.factor, effect.level);
    let [low, ratio, high] = bounds(effect)
        .unwrap_or([1.0; 3])
        .map(|bound| x.at(bound.log10()));
    let is_different = effect.verdict == Verdict::Different;
    html! {
        g {
            title { (compared(effect)) ": " (effect.words) }
            text x=(px(LEFT_PX - 14.0)) y=(px(y + 4.0)) text-anchor="end" { (shortened(&name, LETTERS)) }
            path.interval d=(Path::of(&[(low, y), (high, y)])) {}
            circle.dot.open[!is_different] cx=(px(ratio)) cy=(px(y)) r="5" {}
        }
    }
}
