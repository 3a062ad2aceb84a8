//! All effects on one metric.

use super::measured::Blocks;
use super::words::{Described, words};
use super::{Effect, EffectKind, Metric, Rules, Verdict};
use crate::design::{Contrast, Design};
use crate::statistics::{Interval, Looks, Scale, SignFlips, holm, number, smallest_p};

/// Judges the effects of one metric. Their errors are counted together: the probability that any
/// verdict among them is wrong is at most `rules.alpha`, over all looks.
pub(super) struct Judge<'a> {
    pub(super) design: &'a Design,
    pub(super) rules: &'a Rules,
    pub(super) blocks: &'a Blocks<'a>,
    pub(super) metric: &'a Metric,
    /// All runs made, for the words.
    pub(super) runs: usize,
}

/// Common values of one metric's effects.
struct Family {
    scale: Scale,
    /// This look's share of the error.
    share: f64,
    /// Effects that are judged.
    judged: usize,
}

impl Judge<'_> {
    /// One effect for each contrast.
    pub(super) fn effects(&self) -> Vec<Effect> {
        let contrasts = self.design.contrasts();
        let looks = Looks::new(self.design.max_blocks(), contrasts.len(), self.rules.alpha);
        let figures = self.blocks.figures(&self.metric.name);
        let scale = Scale::of(figures.iter().flatten().copied().flatten());
        let flips: Vec<Option<SignFlips>> = contrasts
            .iter()
            .zip(0_u64..)
            .map(|(contrast, index)| self.flips(&values(contrast, &figures, scale), index))
            .collect();
        let judged: Vec<f64> = flips.iter().flatten().map(SignFlips::p_value).collect();
        let family = Family {
            scale,
            share: looks.share(self.blocks.count()),
            judged: judged.len(),
        };
        let mut adjusted = holm(&judged).into_iter();
        contrasts
            .iter()
            .zip(&flips)
            .map(|(contrast, flips)| {
                let effect = match flips {
                    Some(flips) => {
                        self.judged(contrast, flips, &family, adjusted.next().unwrap_or(1.0))
                    }
                    None => self.plain(contrast, scale),
                };
                self.with_words(effect, contrast, &family)
            })
            .collect()
    }

    /// The test of one contrast; `None` for fewer than two blocks.
    fn flips(&self, values: &[f64], index: u64) -> Option<SignFlips> {
        let seed = self.design.plan().seed;
        (values.len() > 1).then(|| SignFlips::new(values, self.rules.resamples, seed, index))?
    }

    fn judged(&self, contrast: &Contrast, flips: &SignFlips, family: &Family, holm: f64) -> Effect {
        let error = self.rules.alpha * family.share;
        let back = |value: f64| Some(family.scale.back(value)).filter(|value| value.is_finite());
        let own = flips.interval(error);
        let p_adjusted = (holm / family.share).min(1.0);
        Effect {
            ratio: back(flips.mean()).filter(|_| family.scale == Scale::Ratio),
            difference: back(flips.mean()).filter(|_| family.scale == Scale::Difference),
            low: own.low.and_then(back),
            high: own.high.and_then(back),
            p_value: Some(flips.p_value()),
            p_adjusted: Some(p_adjusted),
            smallest_p: smallest_p(flips.blocks(), self.rules.resamples),
            exact: flips.is_exact(),
            blocks: flips.blocks(),
            missing_blocks: self.blocks.count() - flips.blocks(),
            verdict: self.verdict(
                p_adjusted,
                family.scale,
                flips.interval(error / number(family.judged)),
            ),
            ..self.plain(contrast, family.scale)
        }
    }

    /// "Different" rests on Holm's p. "No difference" rests on the interval whose level counts all
    /// effects of the metric (Bonferroni): stricter than two one-sided tests (Schuirmann, 1987),
    /// since the interval has level 95% where theirs has 90%. The claim holds for any margin, also
    /// one chosen from the interval itself.
    fn verdict(&self, p_adjusted: f64, scale: Scale, all: Interval) -> Verdict {
        // A little more, for shares that have no exact binary form.
        if p_adjusted <= self.rules.alpha * (1.0 + 1e-9) {
            return Verdict::Different;
        }
        let (Some(low), Some(high)) = (all.low, all.high) else {
            return Verdict::NotClear;
        };
        let most = low.abs().max(high.abs());
        match scale {
            Scale::Ratio if most <= self.rules.margin.ln_1p() => Verdict::NoDifference {
                larger_than: most.exp_m1(),
            },
            // Which difference matters is not known: only a difference of zero is none.
            Scale::Difference if most == 0.0 => Verdict::NoDifference { larger_than: 0.0 },
            _ => Verdict::NotClear,
        }
    }

    /// An effect before it is judged.
    fn plain(&self, contrast: &Contrast, scale: Scale) -> Effect {
        let joined = |part: fn(&crate::design::Side) -> &str| {
            contrast
                .sides
                .iter()
                .map(part)
                .collect::<Vec<_>>()
                .join(" x ")
        };
        Effect {
            factor: joined(|side| &side.name),
            level: joined(|side| &side.level),
            reference: joined(|side| &side.reference),
            kind: if contrast.sides.len() > 1 {
                EffectKind::Interaction
            } else {
                EffectKind::Main
            },
            metric: self.metric.name.clone(),
            unit: self.metric.unit.clone(),
            scale,
            ratio: None,
            difference: None,
            low: None,
            high: None,
            p_value: None,
            p_adjusted: None,
            smallest_p: 1.0,
            exact: false,
            blocks: 0,
            missing_blocks: self.blocks.count(),
            verdict: Verdict::NotJudged,
            words: String::new(),
        }
    }
}

impl Judge<'_> {
    /// Adds the words to an effect.
    fn with_words(&self, effect: Effect, contrast: &Contrast, family: &Family) -> Effect {
        let described = Described {
            sides: &contrast.sides,
            effect: &effect,
            sense: self.metric.sense,
            rules: self.rules,
            factors: self.design.factors(),
            runs: self.runs,
            judged: family.judged,
            share: family.share,
        };
        let words = words(&described);
        Effect { words, ..effect }
    }
}

/// The contrast's value in each block that has the figures.
fn values(contrast: &Contrast, figures: &[Vec<Option<f64>>], scale: Scale) -> Vec<f64> {
    let blocks = figures.iter().map(|block| {
        block
            .iter()
            .map(|figure| figure.map(|figure| scale.onto(figure)))
    });
    blocks
        .filter_map(|block| contrast.value(&block.collect::<Vec<_>>()))
        .collect()
}
