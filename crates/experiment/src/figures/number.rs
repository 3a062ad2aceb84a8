//! Numbers in text.

/// Parses a plain number: digits, with an optional sign, point and exponent. `inf` and `nan`, which
/// Rust would parse, and numbers too large for a float are refused.
pub(super) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let plain =
        |letter: char| letter.is_ascii_digit() || matches!(letter, '+' | '-' | '.' | 'e' | 'E');
    if !text.chars().all(plain) {
        return None;
    }
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_plain() {
        let right = [
            ("12", 12.0),
            (" -1.5\n", -1.5),
            ("1e3", 1e3),
            (".5", 0.5),
            ("+2.E-1", 0.2),
        ];
        for (text, value) in right {
            assert_eq!(number(text), Some(value), "{text}");
        }
        for text in [
            "",
            "nan",
            "inf",
            "-infinity",
            "1e999",
            "1,234.5",
            "1_000",
            "0x10",
            "1 2",
            "e",
        ] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
