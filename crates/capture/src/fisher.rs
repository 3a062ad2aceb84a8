//! Fisher's exact test for a 2x2 table.
//!
//! The test of `statrs` takes a tail as one minus the other, so that a p below about 1e-16 comes
//! out as rounding noise, and walks the whole support, which is as long as the capture. Here
//! hypergeometric probabilities are summed from the observed table outward.
//!
//! Logarithms are those of `libm` and not of the system, which differ in the last digit from one system to the next: a page
//! in the browser gives the same p as the program.

use statrs::function::factorial::{MAX_FACTORIAL, factorial};

/// Tables whose probabilities differ by less than this factor count as equally likely, as in R's `fisher.test`.
const SAME: f64 = 1e-7;
/// A term this much smaller than the sum so far ends the sum.
const NEGLIGIBLE: f64 = 1e-17;

/// Two-sided p of Fisher's exact test for the table [a lost, a not lost, b lost, b not lost]; `None`
/// where a row is empty.
#[must_use]
pub fn fisher_exact(table: [u64; 4]) -> Option<f64> {
    odds_and_p(table).1
}

/// For the table [a lost, a not lost, b lost, b not lost]: the odds ratio, null where it is not
/// finite, and the two-sided p, null where a row is empty.
pub(crate) fn odds_and_p(table: [u64; 4]) -> (Option<f64>, Option<f64>) {
    let [a, b, c, d] = table;
    if a + b == 0 || c + d == 0 {
        return (None, None);
    }
    let odds = (a as f64 * d as f64) / (b as f64 * c as f64);
    (odds.is_finite().then_some(odds), Some(two_sided(table)))
}

/// The logarithm of a binomial coefficient.
fn ln_binomial(n: u64, k: u64) -> f64 {
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

fn ln_factorial(n: u64) -> f64 {
    if n <= MAX_FACTORIAL as u64 {
        libm::log(factorial(n))
    } else {
        libm::lgamma(n as f64 + 1.0)
    }
}

fn two_sided([a, b, c, d]: [u64; 4]) -> f64 {
    let draws = a + b;
    let lowest = draws.saturating_sub(b + d);
    let highest = draws.min(a + c);
    let mode = ((draws + 1) as f64 * (a + c + 1) as f64 / (draws + c + d + 2) as f64) as u64;
    let mode = mode.clamp(lowest, highest);
    let all = ln_binomial(draws + c + d, draws);
    let ln = |x: u64| ln_binomial(a + c, x) + ln_binomial(b + d, draws - x) - all;
    let limit = ln(a) + SAME;
    let left = last_within(lowest, mode, |x| ln(x) <= limit);
    let right = last_within(0, highest - mode, |back| ln(highest - back) <= limit);
    let left_sum = left.map_or(0.0, |x| sum((lowest..=x).rev().map(ln)));
    // Where the mode itself is within the limit, both sides begin there: count it once.
    let start = right.map(|back| (highest - back).max(left.map_or(0, |x| x + 1)));
    let right_sum = start.map_or(0.0, |x| sum((x..=highest).map(ln)));
    (left_sum + right_sum).min(1.0)
}

/// The last number of `from..=to` for which `holds`, which holds up to some number, or for none.
fn last_within(from: u64, to: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    if !holds(from) {
        return None;
    }
    let (mut low, mut high) = (from, to);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if holds(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    Some(low)
}

/// Sums falling terms given as logarithms.
fn sum(terms: impl Iterator<Item = f64>) -> f64 {
    let mut total = 0.0;
    for term in terms.map(libm::exp) {
        total += term;
        if term < total * NEGLIGIBLE {
            break;
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By direct summation over all tables with the same margins.
    fn naive([a, b, c, d]: [u64; 4]) -> f64 {
        let ln_factorial = |n: u64| (1..=n).map(|i| (i as f64).ln()).sum::<f64>();
        let (row, column, all) = (a + b, a + c, a + b + c + d);
        let ln = |x: u64| {
            ln_factorial(row)
                + ln_factorial(all - row)
                + ln_factorial(column)
                + ln_factorial(all - column)
                - ln_factorial(all)
                - ln_factorial(x)
                - ln_factorial(row - x)
                - ln_factorial(column - x)
                - ln_factorial(all + x - row - column)
        };
        let observed = ln(a);
        ((row + column).saturating_sub(all)..=row.min(column))
            .map(ln)
            .filter(|p| *p <= observed + SAME)
            .map(f64::exp)
            .sum()
    }

    /// Expected values by exact rational arithmetic.
    #[test]
    fn known_tables() {
        let p = |table| odds_and_p(table).1.unwrap();
        assert_eq!(odds_and_p([8, 2, 1, 5]).0, Some(20.0));
        assert!((p([8, 2, 1, 5]) - 0.034_965).abs() < 1e-5);
        assert!((p([3, 5, 4, 50]) - 0.039_707_492).abs() < 1e-6);
        assert!(p([40, 0, 3, 500]) < 1e-50);
        assert_eq!(odds_and_p([40, 0, 3, 500]).0, None);
        assert_eq!(odds_and_p([0, 0, 3, 500]), (None, None));
        assert_eq!(p([0, 10, 0, 10]), 1.0);
    }

    #[test]
    fn agrees_with_direct_summation_on_all_small_tables() {
        for n in 0..10_000u64 {
            let table = [n % 10, n / 10 % 10, n / 100 % 10, n / 1000];
            if let (_, Some(p)) = odds_and_p(table) {
                let expected = naive(table).min(1.0);
                assert!(
                    (p - expected).abs() < 1e-9,
                    "{table:?}: {p} against {expected}"
                );
            }
        }
    }

    #[test]
    fn millions_of_frames_take_no_time() {
        let (_, p) = odds_and_p([5_000, 995_000, 50_000, 9_950_000]);
        assert!(p.unwrap() > 0.9);
        let (_, p) = odds_and_p([900_000, 100_000, 1_000, 9_999_000]);
        assert!(p.unwrap() < 1e-300);
    }
}
