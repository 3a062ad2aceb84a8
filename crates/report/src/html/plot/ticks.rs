//! Texts at the ticks of an axis that may be far from zero, with as many digits as distinguish
//! them. The script writes the same texts.

use crate::html::svg::Scale;

/// Sizes of units, the largest first.
type Units = [(f64, &'static str)];

const SECONDS: [(f64, &str); 4] = [(1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")];
const BYTES: [(f64, &str); 4] = [(1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1.0, "B")];

/// Texts for times on a scale in seconds.
pub(super) fn seconds(scale: &Scale) -> impl Fn(f64) -> String + use<> {
    let step = step(scale);
    move |value| label(value, step, &SECONDS)
}

/// Texts for numbers of bytes.
pub(super) fn bytes(scale: &Scale) -> impl Fn(f64) -> String + use<> {
    let step = step(scale);
    move |value| label(value, step, &BYTES)
}

/// The largest distance of ticks, whatever the axis: a tenth of the range.
fn step(scale: &Scale) -> f64 {
    let (low, high) = scale.values();
    let ticks = scale.ticks(10);
    match ticks[..] {
        [first, second, ..] => second - first,
        _ => high - low,
    }
}

fn label(value: f64, step: f64, units: &Units) -> String {
    let least = units.last().copied().unwrap_or((1.0, ""));
    let (size, name) = units
        .iter()
        .copied()
        .find(|(size, _)| value.abs() >= *size * (1.0 - 1e-9))
        .unwrap_or(least);
    if value.abs() < step * 1e-6 {
        return format!("0 {}", units[0].1.replace("GB", "B"));
    }
    let digits = (-(step / size).log10() - 1e-9).ceil().clamp(0.0, 9.0);
    format!("{:.*} {name}", digits as usize, value / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, units: &Units) -> Vec<String> {
        let scale = Scale::new((low, high), (0.0, 100.0));
        let step = step(&scale);
        let ticks = scale.ticks(5).into_iter();
        ticks.map(|value| label(value, step, units)).collect()
    }

    #[test]
    fn ticks_far_from_zero_differ() {
        assert_eq!(labels(0.0, 4e6, &BYTES)[..2], ["0 B", "1.0 MB"]);
        let far = labels(104_500_000.0, 104_520_000.0, &BYTES);
        assert_eq!(far[..2], ["104.500 MB", "104.505 MB"]);
        let late = labels(12.345, 12.349, &SECONDS);
        assert_eq!(late[..2], ["12.3450 s", "12.3460 s"]);
        assert_eq!(labels(0.0, 0.004, &SECONDS)[1], "1.0 ms");
    }

    #[test]
    fn odd_values_do_no_harm() {
        assert_eq!(label(0.0, 1.0, &SECONDS), "0 s");
        assert!(!label(f64::NAN, 1.0, &BYTES).is_empty());
        assert!(!label(5.0, 0.0, &BYTES).is_empty());
    }
}
