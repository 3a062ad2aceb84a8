//! wrk's text.

use super::number::number;
use super::{Figure, FigureError};
use crate::effects::Sense;

/// The figures of wrk's output; empty for other output.
pub(super) fn figures(text: &str) -> Result<Vec<Figure>, FigureError> {
    let Some(rate) = after(text, "Requests/sec:").and_then(number) else {
        return Ok(Vec::new());
    };
    let bytes = after(text, "Transfer/sec:").and_then(|word| scaled(word, &BYTES));
    let mut latency = text.lines().map(str::split_whitespace);
    let average = latency.find_map(|mut words| {
        let is_latency = words.next() == Some("Latency");
        scaled(words.next().filter(|_| is_latency)?, &SECONDS)
    });
    let slow = after(text, "99%").and_then(|word| scaled(word, &SECONDS));
    let figures = [
        Some(Figure::new("requests_per_s", "1/s", Sense::Speed, rate)),
        bytes.map(|bytes| Figure::throughput(bytes * 8.0)),
        average.map(|seconds| Figure::time("latency_mean_s", seconds)),
        slow.map(|seconds| Figure::time("latency_p99_s", seconds)),
    ];
    Ok(figures.into_iter().flatten().collect())
}

/// The word after `head` in the last line that begins with it.
fn after<'a>(text: &'a str, head: &str) -> Option<&'a str> {
    let mut lines = text.lines().rev();
    let rest = lines.find_map(|line| line.trim_start().strip_prefix(head))?;
    rest.split_whitespace().next()
}

/// wrk's bytes are in powers of 1024, whatever their names (its `units.c`).
const BYTES: [(&str, f64); 6] = [
    ("PB", 1_125_899_906_842_624.0),
    ("TB", 1_099_511_627_776.0),
    ("GB", 1_073_741_824.0),
    ("MB", 1_048_576.0),
    ("KB", 1024.0),
    ("B", 1.0),
];

/// wrk's units of time, the longest first.
const SECONDS: [(&str, f64); 5] = [
    ("us", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3600.0),
];

fn scaled(word: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (digits, factor) = units
        .iter()
        .find_map(|(unit, factor)| Some((word.strip_suffix(unit)?, factor)))?;
    Some(number(digits)? * factor)
}
