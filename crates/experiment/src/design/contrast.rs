//! Contrasts of cells: main effects and two-way interactions.

use super::{Design, FactorKind};

/// One comparison that a design allows.
///
/// Its value in a block is the sum of weight x figure over the block's cells, or of the figures'
/// logarithms. For a main effect that is the mean at the level less the mean at the reference, over
/// all levels of the other factors; for a two-way interaction the effect of the first factor at the
/// second one's level less the same at the second one's reference (Box, Hunter and Hunter, 2005,
/// chapter 5; no factor of one half in interactions, so that it is a ratio of ratios). Three-way
/// interactions are not looked at: with few blocks they only cost the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Contrast {
    /// The factor and level of a main effect; both factors of an interaction.
    pub sides: Vec<Side>,
    /// The weight of each cell; 0 for cells that are not needed.
    pub weights: Vec<f64>,
}

/// A factor's level against its reference level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// The factor's index in the design.
    pub factor: usize,
    /// The name of the factor.
    pub name: String,
    /// The kind of the factor.
    pub kind: FactorKind,
    /// The level's index, from 1.
    pub index: usize,
    /// The level.
    pub level: String,
    /// The first level, with which it is compared.
    pub reference: String,
}

impl Design {
    /// All main effects, then all two-way interactions, in the order of factors and levels.
    #[must_use]
    pub fn contrasts(&self) -> Vec<Contrast> {
        let sides: Vec<Side> = self.sides();
        let main = sides.iter().map(|side| vec![side.clone()]);
        let pairs = sides.iter().enumerate().flat_map(|(i, first)| {
            let later = sides[i + 1..]
                .iter()
                .filter(|second| second.factor != first.factor);
            later.map(|second| vec![first.clone(), second.clone()])
        });
        main.chain(pairs)
            .map(|sides| self.contrast(sides))
            .collect()
    }

    fn sides(&self) -> Vec<Side> {
        let factors = self.factors().iter().enumerate();
        factors
            .flat_map(|(number, factor)| {
                let levels = factor.levels.iter().enumerate().skip(1);
                levels.map(move |(index, level)| Side {
                    factor: number,
                    name: factor.name.clone(),
                    kind: factor.kind,
                    index,
                    level: level.clone(),
                    reference: factor.levels[0].clone(),
                })
            })
            .collect()
    }

    fn contrast(&self, sides: Vec<Side>) -> Contrast {
        let others = sides.iter().fold(self.cells(), |n, side| {
            n / self.factors()[side.factor].levels.len()
        });
        let share = 1.0 / count(others);
        let weights = (0..self.cells())
            .map(|cell| share * sign(&sides, &self.levels_of(cell)))
            .collect();
        Contrast { sides, weights }
    }
}

/// 1 or -1 for a cell that is compared, 0 for one that is not.
fn sign(sides: &[Side], levels: &[usize]) -> f64 {
    sides
        .iter()
        .map(|side| match levels[side.factor] {
            0 => -1.0,
            level if level == side.index => 1.0,
            _ => 0.0,
        })
        .product()
}

/// A count as a number; counts are at most 256, and exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "at most MOST_CELLS")]
fn count(n: usize) -> f64 {
    n as f64
}

impl Contrast {
    /// The contrast's value in one block, given each cell's figure; `None` if a figure with a weight is missing.
    #[must_use]
    pub fn value(&self, figures: &[Option<f64>]) -> Option<f64> {
        let needed = self
            .weights
            .iter()
            .zip(figures)
            .filter(|(weight, _)| **weight != 0.0);
        needed
            .map(|(weight, figure)| figure.map(|figure| weight * figure))
            .sum()
    }
}
