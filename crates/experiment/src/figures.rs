//! Figures from a run's output.
//!
//! [`figures`] reads what iperf3, netperf, curl and wrk print, or what a user's expression finds;
//! the wall time of the command is always among them. Units are base units: `bit/s`, `s`.

mod curl;
mod error;
mod iperf3;
mod json;
mod netperf;
mod number;
mod source;
mod wrk;

pub use curl::fetch_command;
pub use error::FigureError;
pub use iperf3::iperf3_command;
pub use source::Source;

use crate::effects::{Metric, Sense};

/// A figure of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The metric of the figure.
    pub metric: Metric,
    /// Its value, in the metric's unit; finite.
    pub value: f64,
}

/// Name of the metric that each run has: seconds from the command's start to its end.
pub const WALL: &str = "wall_s";

impl Figure {
    /// A figure with a unit; `""` for a plain number.
    pub(crate) fn new(name: &str, unit: &str, sense: Sense, value: f64) -> Self {
        let unit = Some(unit).filter(|unit| !unit.is_empty());
        Self {
            metric: Metric {
                name: name.to_owned(),
                unit: unit.map(str::to_owned),
                sense,
            },
            value,
        }
    }

    fn throughput(bits_per_second: f64) -> Self {
        Self::new("throughput_bps", "bit/s", Sense::Speed, bits_per_second)
    }

    fn time(name: &str, seconds: f64) -> Self {
        Self::new(name, "s", Sense::Time, seconds)
    }
}

/// The figures of a run's standard output, in order of importance: the first one is judged. Without
/// sources these are the figures of [`Source::Auto`]. `wall_s` is the last, or the only one.
///
/// # Errors
///
/// If a source finds nothing or no number, if two figures have the same name, or if the output of a
/// known program reports a failure.
pub fn figures(sources: &[Source], stdout: &[u8], wall_s: f64) -> Result<Vec<Figure>, FigureError> {
    let text = String::from_utf8_lossy(stdout);
    let mut found = Vec::new();
    for source in sources {
        match source {
            Source::Auto => found.extend(known(&text, wall_s)?),
            other => found.push(other.figure(&text)?),
        }
    }
    if sources.is_empty() {
        found = known(&text, wall_s)?;
    }
    found.push(Figure::time(WALL, wall_s));
    once(found)
}

/// The figures of a known program; empty for another program's output.
fn known(text: &str, wall_s: f64) -> Result<Vec<Figure>, FigureError> {
    for program in [iperf3::figures, curl::figures, wrk::figures] {
        let found = program(text)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(netperf::figures(text, wall_s))
}

/// Refuses two figures of the same name.
fn once(figures: Vec<Figure>) -> Result<Vec<Figure>, FigureError> {
    for (index, figure) in figures.iter().enumerate() {
        let name = &figure.metric.name;
        let mut before = figures.iter().take(index);
        if before.any(|other| other.metric.name == *name) {
            return Err(FigureError::Twice {
                metric: name.clone(),
            });
        }
    }
    Ok(figures)
}
