//! The conclusion of a record.

use super::{Ending, Record, Run};
use crate::design::{Design, Factor, FactorKind};
use crate::effects::{Analysis, AnalysisError, Direction, Effect, EffectKind, Verdict, counted};

impl Record {
    /// Analyses all runs made so far, and puts the result into words.
    ///
    /// # Errors
    ///
    /// As [`Analysis::of`]: not for a record that this crate has made.
    pub fn conclude(&mut self, design: &Design) -> Result<(), AnalysisError> {
        if self.metrics.is_empty() {
            self.verdict = "no run gave a figure".to_owned();
            return Ok(());
        }
        let runs: Vec<_> = self.runs.iter().map(Run::measured).collect();
        let analysis = Analysis::of(design, &self.metrics, &runs, &self.asked.rules)?;
        self.blocks = analysis.blocks;
        self.effects = analysis.effects;
        self.cells = Some(analysis.cells);
        self.outliers = analysis.outliers;
        self.verdict = self.words();
        Ok(())
    }

    /// The effects on the first metric, which is judged.
    pub fn foremost(&self) -> impl Iterator<Item = &Effect> {
        let first = self.metrics.first().map(|metric| metric.name.as_str());
        self.effects
            .iter()
            .filter(move |effect| Some(effect.metric.as_str()) == first)
    }

    fn words(&self) -> String {
        let made = self.runs.iter().filter(|run| run.block.is_some()).count();
        if self.blocks < 2 {
            return format!(
                "not judged: {} in {}, and it takes two whole blocks",
                counted(made, "run"),
                counted(self.blocks, "whole block")
            );
        }
        let from = self.vantages().map(|factor| factor.name.as_str());
        let effects = self.foremost();
        let mut sentences: Vec<String> = effects.filter_map(|one| said(one, from)).collect();
        sentences.extend(self.place());
        sentences.extend(self.end(made));
        sentences.join(". ")
    }

    fn vantages(&self) -> Option<&Factor> {
        let mut factors = self.factors.iter();
        factors.find(|factor| factor.kind == FactorKind::Vantage)
    }

    /// What the vantages show: is the cause the path, or the host in the middle?
    fn place(&self) -> Option<String> {
        let vantages = self.vantages()?;
        let sense = self.metrics.first()?.sense;
        let is_it =
            |effect: &&Effect| effect.kind == EffectKind::Main && effect.factor == vantages.name;
        let effects: Vec<&Effect> = self.foremost().filter(is_it).collect();
        let going = |way| -> Vec<&Effect> {
            let margin = self.asked.rules.margin;
            let all = effects.iter().copied();
            all.filter(|effect| effect.direction(sense, margin) == way)
                .collect()
        };
        let (slower, faster) = (going(Direction::Slower), going(Direction::Faster));
        let reference = vantages.levels[0].clone();
        if !slower.is_empty() {
            return Some(convicts(&[reference], &levels(&slower), is_far(&slower)));
        }
        if !faster.is_empty() {
            return Some(convicts(&levels(&faster), &[reference], is_far(&faster)));
        }
        let alike = going(Direction::Alike).len() == effects.len();
        (alike && !effects.is_empty()).then(|| clears(&vantages.levels))
    }

    fn end(&self, made: usize) -> Option<String> {
        match self.ended {
            Ending::Running | Ending::Clear | Ending::Spent => None,
            Ending::Interrupted => Some(format!("Ended early, after {}", counted(made, "run"))),
            Ending::Failed => Some(format!("Ended by an error, after {}", counted(made, "run"))),
        }
    }
}

/// The words of an effect: always for a main effect, for an interaction only if there is one.
fn said(effect: &Effect, from: Option<&str>) -> Option<String> {
    if effect.verdict == Verdict::Different {
        return Some(capitalised(&effect.words));
    }
    // The words of these effects need the factor's name.
    let about = if from == Some(&effect.factor) {
        format!("From {} against {}", effect.level, effect.reference)
    } else {
        format!(
            "{}={} against {}",
            effect.factor, effect.level, effect.reference
        )
    };
    (effect.kind == EffectKind::Main).then(|| format!("{about}: {}", effect.words))
}

fn levels(effects: &[&Effect]) -> Vec<String> {
    effects.iter().map(|effect| effect.level.clone()).collect()
}

/// Whether an effect is a factor of two or more, which people call slow.
fn is_far(effects: &[&Effect]) -> bool {
    let ratios = effects.iter().map(|effect| effect.ratio);
    ratios.flatten().all(|ratio| !(0.5..2.0).contains(&ratio))
}

fn convicts(fast: &[String], slow: &[String], is_far: bool) -> String {
    let (fast, slow) = (fast.join(" and "), slow.join(" and "));
    if is_far {
        format!(
            "Fast from {fast}, slow from {slow}: what lies only on the way of the slow one is to be \
             looked at, and the path that it shares with {fast} is innocent"
        )
    } else {
        format!(
            "Slower from {slow} than from {fast}: what lies only on the way of the slower one costs that \
             much, and no more"
        )
    }
}

fn clears(all: &[String]) -> String {
    format!(
        "The same from {}: what lies between them is innocent, and what they share is to be looked at \
         if it is slow",
        all.join(" and ")
    )
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}
