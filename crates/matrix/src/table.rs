//! The confusion matrix.

use std::fmt;

use crate::run::Judged;
use crate::score::Mark;

/// Counts of marks, by family and by disturbance.
pub struct Table {
    families: Vec<Row>,
    disturbed: Vec<Row>,
}

/// A name, and how often each mark was given under it.
type Row = (&'static str, [u64; Mark::ALL.len()]);

/// The name of the row of undisturbed scenarios.
const UNDISTURBED: &str = "undisturbed";

impl Table {
    /// Counts judged scenarios.
    #[must_use]
    pub fn of(judged: &[Judged]) -> Self {
        let mut table = Self {
            families: Vec::new(),
            disturbed: Vec::new(),
        };
        for one in judged {
            count(&mut table.families, one.family, one.mark);
            for name in &one.disturbed_by {
                count(&mut table.disturbed, name, one.mark);
            }
            if one.disturbed_by.is_empty() {
                count(&mut table.disturbed, UNDISTURBED, one.mark);
            }
        }
        table.disturbed.sort_unstable();
        table
    }

    /// Number of scenarios with a mark.
    #[must_use]
    pub fn count(&self, mark: Mark) -> u64 {
        self.families
            .iter()
            .map(|(_, counts)| counts[mark as usize])
            .sum()
    }

    /// All scenarios.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.families.iter().flat_map(|(_, counts)| counts).sum()
    }

    /// Share of the scenarios judged rightly, the hop included.
    #[must_use]
    pub fn right(&self) -> f64 {
        let right = Mark::ALL.into_iter().filter(|mark| mark.is_right());
        let right: u64 = right.map(|mark| self.count(mark)).sum();
        right as f64 / self.total().max(1) as f64
    }

    fn sums(&self) -> Row {
        ("all", Mark::ALL.map(|mark| self.count(mark)))
    }

    /// The table in Markdown: families that are right in all cases share one row.
    #[must_use]
    pub fn markdown(&self) -> String {
        let names = Mark::ALL.map(Mark::name).join(" | ");
        let mut text = format!("| family | drawn | {names} |\n");
        text += &format!("|---|{}\n", "--:|".repeat(Mark::ALL.len() + 1));
        let families = self.families.iter();
        let families = families.map(|row| (format!("`{}`", row.0), row.1));
        let disturbed = self.disturbed.iter();
        let rows = families.chain(disturbed.map(|row| (on_top(row.0), row.1)));
        let (clean, rest): (Vec<_>, Vec<_>) = rows.partition(|row| is_clean(&row.1));
        let sums = self.sums();
        for (name, counts) in &rest {
            text += &markdown_row(name, counts);
        }
        text += &markdown_row(sums.0, &sums.1);
        let clean: Vec<String> = clean.into_iter().map(|row| row.0).collect();
        text + &format!("\nAll right: {}.\n", clean.join(", "))
    }
}

fn count(rows: &mut Vec<Row>, name: &'static str, mark: Mark) {
    let place = rows.iter().position(|row| row.0 == name);
    let place = place.unwrap_or_else(|| {
        rows.push((name, [0; Mark::ALL.len()]));
        rows.len() - 1
    });
    rows[place].1[mark as usize] += 1;
}

/// The name of a disturbance's row, in Markdown.
fn on_top(name: &str) -> String {
    match name {
        UNDISTURBED => name.to_owned(),
        name => format!("with `{name}`"),
    }
}

fn is_clean(counts: &[u64]) -> bool {
    let wrong = Mark::ALL.into_iter().filter(|mark| !mark.is_right());
    wrong.map(|mark| counts[mark as usize]).sum::<u64>() == 0
}

fn markdown_row(name: &str, counts: &[u64]) -> String {
    let drawn = counts.iter().sum::<u64>();
    let cells: Vec<String> = counts.iter().map(u64::to_string).collect();
    format!("| {name} | {drawn} | {} |\n", cells.join(" | "))
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:22}{:>7}", "family", "drawn")?;
        for mark in Mark::ALL {
            write!(f, "{:>13}", mark.name())?;
        }
        writeln!(f)?;
        let sums = self.sums();
        let rows = self.families.iter().chain([&sums]);
        for (name, counts) in rows.chain(&self.disturbed) {
            write!(f, "{name:22}{:>7}", counts.iter().sum::<u64>())?;
            for count in counts {
                write!(f, "{count:>13}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
