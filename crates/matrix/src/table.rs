//! The confusion matrix.

use std::fmt;

use crate::run::Judged;
use crate::score::Mark;

/// Marks counted, by family.
pub struct Table {
    rows: Vec<(&'static str, [u64; Mark::ALL.len()])>,
}

impl Table {
    /// Counts what was judged.
    #[must_use]
    pub fn of(judged: &[Judged]) -> Self {
        let mut rows: Vec<(&'static str, [u64; Mark::ALL.len()])> = Vec::new();
        for one in judged {
            let place = rows.iter().position(|(family, _)| *family == one.family);
            let place = place.unwrap_or_else(|| {
                rows.push((one.family, [0; Mark::ALL.len()]));
                rows.len() - 1
            });
            rows[place].1[one.mark as usize] += 1;
        }
        Self { rows }
    }

    /// Of all scenarios, those with a mark.
    #[must_use]
    pub fn count(&self, mark: Mark) -> u64 {
        self.rows
            .iter()
            .map(|(_, counts)| counts[mark as usize])
            .sum()
    }

    /// All scenarios.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.rows.iter().flat_map(|(_, counts)| counts).sum()
    }

    /// Share of the scenarios judged rightly, the hop included.
    #[must_use]
    pub fn right(&self) -> f64 {
        let right = Mark::ALL.into_iter().filter(|mark| mark.is_right());
        let right: u64 = right.map(|mark| self.count(mark)).sum();
        right as f64 / self.total().max(1) as f64
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:20}{:>7}", "family", "drawn")?;
        for mark in Mark::ALL {
            write!(f, "{:>12}", mark.name())?;
        }
        writeln!(f)?;
        let sum = Mark::ALL.map(|mark| self.count(mark));
        for (family, counts) in self
            .rows
            .iter()
            .map(|row| (row.0, &row.1))
            .chain([("all", &sum)])
        {
            write!(f, "{family:20}{:>7}", counts.iter().sum::<u64>())?;
            for count in counts {
                write!(f, "{count:>12}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
