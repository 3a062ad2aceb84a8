//! Runs far from the others of their cell.

use super::summary::median;

/// Median absolute deviations from which hyperfine warns (`OUTLIER_THRESHOLD`, ten standard
/// deviations of normal noise; Iglewicz and Hoaglin, How to detect and handle outliers, 1993).
const FAR: f64 = 14.826;
/// Also the least distance from the median, as a share of it: figures that are nearly all the same
/// (a counter, a coarse clock) have almost no deviation.
const APART: f64 = 0.1;

/// Indices of the outliers among `figures`, in order. They are for a warning only: a disturbed run
/// is evidence too, and dropping it would be a choice made after the fact.
#[must_use]
pub fn outliers(figures: &[f64]) -> Vec<usize> {
    let Some(middle) = median(figures) else {
        return Vec::new();
    };
    let away: Vec<f64> = figures
        .iter()
        .map(|figure| (figure - middle).abs())
        .collect();
    let deviation = median(&away).unwrap_or(0.0);
    let far = (FAR * deviation).max(APART * middle.abs());
    let indices = away.iter().enumerate();
    // If half of the figures are 0, median and deviation are 0, and nothing follows for the others.
    indices
        .filter(|(_, away)| far > 0.0 && **away > far)
        .map(|(index, _)| index)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_far_off() {
        assert_eq!(outliers(&[10.0, 10.1, 9.9, 10.2, 30.0, 9.8]), [4]);
        assert_eq!(outliers(&[10.0, 11.0, 9.0, 12.0, 13.0]), [0; 0]);
        assert_eq!(outliers(&[0.0, 0.0, 0.0, 1.0]), [0; 0]);
        assert_eq!(outliers(&[5.0, 5.0, 5.0, 5.01, 9.0]), [4]);
        assert_eq!(outliers(&[]), [0; 0]);
    }
}
