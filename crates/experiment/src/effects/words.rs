//! A verdict in words.

use super::{Effect, Rules, Sense, Verdict, spoken};
use crate::design::{Factor, FactorKind, Side};
use crate::statistics::{Scale, blocks_for, number};

/// The input of a verdict's words.
pub(super) struct Described<'a> {
    pub(super) sides: &'a [Side],
    pub(super) effect: &'a Effect,
    pub(super) sense: Sense,
    pub(super) rules: &'a Rules,
    pub(super) factors: &'a [Factor],
    pub(super) runs: usize,
    /// Effects judged together.
    pub(super) judged: usize,
    /// This look's share of the error.
    pub(super) share: f64,
}

/// The verdict of an effect in words.
pub(super) fn words(described: &Described<'_>) -> String {
    let verdict = match described.effect.verdict {
        Verdict::Different => described.different(),
        Verdict::NoDifference { larger_than } => described.none(larger_than),
        Verdict::NotClear => described.not_clear(),
        Verdict::NotJudged => "not judged: fewer than two blocks have the figures".to_owned(),
    };
    match described.effect.missing_blocks {
        missing if missing > 0 && described.effect.blocks > 0 => {
            format!(
                "{verdict}; {} left out, a figure is missing",
                counted(missing, "block")
            )
        }
        _ => verdict,
    }
}

impl Described<'_> {
    fn different(&self) -> String {
        let effect = self.effect;
        let value = effect.ratio.or(effect.difference);
        let (Some(value), Some(low), Some(high), Some(p)) =
            (value, effect.low, effect.high, effect.p_adjusted)
        else {
            return "different, by more than can be written".to_owned();
        };
        let change = match (effect.scale, self.sides.len()) {
            (Scale::Ratio, 1) => self.ratio(value, low, high),
            (Scale::Ratio, _) => self.together(value, low, high),
            (Scale::Difference, _) => self.difference(value, low, high),
        };
        let Change { text, low, high } = change;
        let level = percent(1.0 - self.rules.alpha);
        let against = self.against();
        format!(
            "{} {text}{against} ({level} interval {low} to {high}, {})",
            self.condition(),
            probability(p)
        )
    }

    /// "with gro=off", "from ns/vm", "with mtu=9000 and gro=off".
    fn condition(&self) -> String {
        let parts = self.sides.iter().map(|side| named(side, &side.level));
        let parts: Vec<String> = parts.collect();
        parts.join(" and ").replace(" and with ", " and ")
    }

    /// The reference level, named only where the sentence needs it: for a place, or for one of several levels.
    fn against(&self) -> String {
        let [side] = self.sides else {
            return String::new();
        };
        let several = self
            .factors
            .get(side.factor)
            .is_some_and(|factor| factor.levels.len() > 2);
        if several || side.kind == FactorKind::Vantage {
            return format!(" than {}", named(side, &side.reference));
        }
        String::new()
    }

    /// A note that the effect is an average, if there are several factors.
    fn average(&self) -> &'static str {
        if self.factors.len() > 1 {
            "on average "
        } else {
            ""
        }
    }

    fn ratio(&self, value: f64, low: f64, high: f64) -> Change {
        // A time is shown as a speed, so that more is faster.
        let (value, low, high) = match self.sense {
            Sense::Time => (value.recip(), high.recip(), low.recip()),
            Sense::Plain | Sense::Speed => (value, low, high),
        };
        let (more, less) = match self.sense {
            Sense::Plain => ("higher", "lower"),
            Sense::Speed | Sense::Time => ("faster", "slower"),
        };
        let Change { text, low, high } = compared(value, low, high, more, less);
        let subject = if self.sense == Sense::Plain {
            spoken(&self.effect.metric)
        } else {
            "it".to_owned()
        };
        Change {
            text: format!("{subject} is {}{text}", self.average()),
            low,
            high,
        }
    }

    fn together(&self, value: f64, low: f64, high: f64) -> Change {
        let text = format!(
            "{} is {} times what their separate effects would give",
            spoken(&self.effect.metric),
            figure(value)
        );
        Change {
            text,
            low: figure(low),
            high: figure(high),
        }
    }

    fn difference(&self, value: f64, low: f64, high: f64) -> Change {
        let (way, sign) = if value < 0.0 {
            ("lower", -1.0)
        } else {
            ("higher", 1.0)
        };
        let unit = self
            .effect
            .unit
            .as_deref()
            .map(|unit| format!(" {unit}"))
            .unwrap_or_default();
        let than = if self.sides.len() > 1 {
            " than their separate effects would give"
        } else {
            ""
        };
        let size = figure(value.abs());
        let text = format!(
            "{} is {}{size}{unit} {way}{than}",
            spoken(&self.effect.metric),
            self.average()
        );
        let ends = if sign < 0.0 {
            (-high, -low)
        } else {
            (low, high)
        };
        Change {
            text,
            low: figure(ends.0),
            high: figure(ends.1),
        }
    }

    fn none(&self, larger_than: f64) -> String {
        let what = if self.sides.len() > 1 {
            "interaction"
        } else {
            "difference"
        };
        if self.effect.scale == Scale::Difference {
            return format!(
                "no {what} in any of {}",
                counted(self.effect.blocks, "block")
            );
        }
        format!("no {what} larger than {}", at_most(larger_than))
    }

    fn not_clear(&self) -> String {
        let effect = self.effect;
        let runs = counted(self.runs, "run");
        let between = match (effect.low, effect.high) {
            (Some(low), Some(high)) => format!("between {} and {}", figure(low), figure(high)),
            _ => "too few for an interval".to_owned(),
        };
        format!("not clear after {runs}: {between}{}", self.why())
    }

    /// Why a verdict is not clear, besides noise.
    fn why(&self) -> String {
        let error = self.rules.alpha * self.share / number(self.judged.max(1));
        if self.effect.smallest_p > error {
            let needed = blocks_for(error);
            return format!(
                "; {} cannot decide it, {needed} could",
                counted(self.effect.blocks, "block")
            );
        }
        let one = if self.effect.scale == Scale::Ratio {
            1.0
        } else {
            0.0
        };
        let apart = self.effect.low.is_some_and(|low| low > one)
            || self.effect.high.is_some_and(|high| high < one);
        if apart {
            format!("; not enough among {} effects", self.judged)
        } else {
            String::new()
        }
    }
}

/// A change in words, and the ends of its interval in the same unit.
struct Change {
    text: String,
    low: String,
    high: String,
}

/// A ratio as "46.7 times faster", "12% faster", "4% slower" or "46.7 times slower".
fn compared(value: f64, low: f64, high: f64, more: &str, less: &str) -> Change {
    let change = |text: String, low: f64, high: f64, form: fn(f64) -> String| Change {
        text,
        low: form(low),
        high: form(high),
    };
    if value >= 2.0 {
        return change(format!("{} times {more}", figure(value)), low, high, figure);
    }
    if value <= 0.5 {
        return change(
            format!("{} times {less}", figure(value.recip())),
            high.recip(),
            low.recip(),
            figure,
        );
    }
    if value >= 1.0 {
        return change(
            format!("{} {more}", percent(value - 1.0)),
            low - 1.0,
            high - 1.0,
            percent,
        );
    }
    change(
        format!("{} {less}", percent(1.0 - value)),
        1.0 - high,
        1.0 - low,
        percent,
    )
}

fn named(side: &Side, level: &str) -> String {
    match side.kind {
        FactorKind::Setting => format!("with {}={level}", side.name),
        FactorKind::Vantage => format!("from {level}"),
    }
}

/// `1 run`, `2 runs`.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// Three significant digits without trailing zeros.
fn figure(value: f64) -> String {
    significant(value, 3)
}

fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let power = magnitude(value);
    let places = usize::try_from(digits - 1 - power).unwrap_or(0).min(12);
    let text = format!("{value:.places$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a power of ten of a finite number"
)]
fn magnitude(value: f64) -> i32 {
    value.abs().log10().floor() as i32
}

/// A share as a percentage of at most three significant digits and one decimal.
fn percent(share: f64) -> String {
    let tenths = (share * 1000.0).round() / 10.0;
    format!("{}%", figure(tenths))
}

/// A share as a percentage that is not below it, in tenths.
fn at_most(share: f64) -> String {
    let tenths = (share * 1000.0 - 1e-9).ceil().max(1.0) / 10.0;
    format!("{tenths}%")
}

fn probability(p: f64) -> String {
    if p < 0.0001 {
        return "p < 0.0001".to_owned();
    }
    format!("p = {}", significant(p, 2))
}
