//! Why a run has no figure.

/// Why a run has no figure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FigureError {
    /// A text is no source of figures.
    #[error(
        "--metric {text}: {problem}; write a regular expression whose first group is the number, \
         or a JSON pointer that begins with /"
    )]
    Source {
        /// What was written.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Nothing in the output is what was asked for.
    #[error(
        "--metric {metric} finds nothing in what the command printed{}",
        ending(last)
    )]
    NotFound {
        /// The metric.
        metric: String,
        /// The last line of the output; empty if there is none.
        last: String,
    },
    /// A pointer needs JSON.
    #[error(
        "--metric {metric} is a JSON pointer, but the command printed no JSON{}",
        ending(last)
    )]
    NoJson {
        /// The metric.
        metric: String,
        /// The last line of the output; empty if there is none.
        last: String,
    },
    /// What was found is not a number.
    #[error(
        "--metric {metric} finds {found:?}, which is no number such as 1234.5 or 1.2e3{}",
        ending(last)
    )]
    NotANumber {
        /// The metric.
        metric: String,
        /// What was found.
        found: String,
        /// The last line of the output.
        last: String,
    },
    /// Two figures of the same name.
    #[error("the metric {metric} is there twice; leave one out")]
    Twice {
        /// The metric.
        metric: String,
    },
    /// The program says that it failed.
    #[error("{program} failed: {words}")]
    Program {
        /// The program.
        program: &'static str,
        /// Its own words.
        words: String,
    },
}

/// Letters of an output line in an error.
const SHOWN: usize = 200;

fn ending(last: &str) -> String {
    if last.is_empty() {
        ", which was nothing".to_owned()
    } else {
        format!("; its last line is: {last}")
    }
}

/// The last line that is not empty, shortened and without what could steer a terminal.
pub(super) fn last_line(text: &str) -> String {
    let mut lines = text.lines().rev().map(str::trim);
    shown(lines.find(|line| !line.is_empty()).unwrap_or_default())
}

/// Shortened, and without what could steer a terminal.
pub(super) fn shown(text: &str) -> String {
    let letters = text.chars().filter(|letter| !letter.is_control());
    letters.take(SHOWN).collect()
}
