//! The effect of an experiment: the judged figure before and after, with the interval.

use coalescope_experiment::effects::{Cell, Direction, Effect, EffectKind, Metric, Verdict};
use coalescope_experiment::record::Record;
use maud::{Markup, html};

use super::lanes;
use crate::words::ab::shown;
use crate::words::findings::capitalised;
use crate::words::units::three_digits;

/// The effect that changed most, and the medians at both of its levels.
struct Change<'a> {
    metric: &'a Metric,
    effect: &'a Effect,
    before: f64,
    after: f64,
}

impl<'a> Change<'a> {
    fn of(record: &'a Record) -> Option<Self> {
        let metric = record.metrics.first()?;
        let main = record.foremost().filter(|one| one.kind == EffectKind::Main);
        let size = |effect: &Effect| effect.ratio.map_or(0.0, |ratio| ratio.ln().abs());
        let effect = main.max_by(|a, b| size(a).total_cmp(&size(b)))?;
        let median = |level: &str| median(record, &effect.factor, level, metric);
        Some(Self {
            metric,
            effect,
            before: median(&effect.reference)?,
            after: median(&effect.level)?,
        })
    }

    fn figures(&self) -> [(String, f64); 2] {
        let Effect {
            factor,
            level,
            reference,
            ..
        } = self.effect;
        [
            (format!("{factor}={reference}"), self.before),
            (format!("{factor}={level}"), self.after),
        ]
    }

    /// The colours of both bars: only a certain difference is good or bad.
    fn classes(&self, margin: f64) -> [&'static str; 2] {
        match self.effect.direction(self.metric.sense, margin) {
            Direction::Faster => ["lost", "good-fill"],
            Direction::Slower => ["good-fill", "lost"],
            Direction::Alike | Direction::Unclear => ["single"; 2],
        }
    }

    /// `45.5 times (95% interval 44.7 to 46.9)`, for an effect that is a ratio.
    fn ratio(&self) -> Option<String> {
        let Effect {
            ratio, low, high, ..
        } = self.effect;
        let (low, high) = low.as_ref().zip(high.as_ref())?;
        let [ratio, low, high] = [(*ratio)?, *low, *high].map(three_digits);
        Some(format!("{ratio} times, 95% interval {low} to {high}"))
    }
}

/// The median at a level, with every other factor at its first level.
fn median(record: &Record, factor: &str, level: &str, metric: &Metric) -> Option<f64> {
    let cells = record.cells.as_ref()?;
    let is_there = |cell: &&Cell| {
        let mut levels = record.factors.iter().zip(&cell.levels);
        levels.all(|(one, at)| match one.name == factor {
            true => at == level,
            false => one.levels.first() == Some(at),
        })
    };
    let cell = cells.cells.iter().find(is_there)?;
    cell.figures.get(&metric.name).map(|summary| summary.median)
}

/// Where the difference is beyond doubt: `2.80 Mbit/s with eth0:gro=on, 128 Mbit/s with eth0:gro=off: 45.5 times, 95% interval 44.7 to 46.9`.
pub(super) fn impact(record: &Record) -> Option<String> {
    let change = Change::of(record).filter(|one| one.effect.verdict == Verdict::Different)?;
    let [before, after] = change
        .figures()
        .map(|(name, value)| format!("{} with {name}", shown(change.metric, value)));
    let ratio = change.ratio()?;
    Some(format!("{before}, {after}: {ratio}"))
}

/// Both medians as bars.
pub(super) fn figure(record: &Record) -> Markup {
    let Some(change) = Change::of(record) else {
        return html! {};
    };
    let most = change.before.max(change.after);
    let classes = change.classes(record.asked.rules.margin);
    html! {
        figure.before-after {
            h3 { "Before and after" }
            @for ((name, value), class) in change.figures().iter().zip(classes) {
                p.lane-head { span { (name) } " " b { (shown(change.metric, *value)) } }
                (lanes::share(*value / most, class))
            }
            figcaption { "Medians; every run is drawn below. " (capitalised(&change.effect.words)) "." }
        }
    }
}
