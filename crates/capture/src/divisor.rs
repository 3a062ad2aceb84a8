//! The greatest common divisor of two numbers.

/// Euclid's algorithm.
pub(crate) fn common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 {
        one
    } else {
        common_divisor(other, one % other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_multiples_of_it() {
        assert_eq!(common_divisor(15_625, 1_000_000), 15_625);
        assert_eq!(common_divisor(0, 7), 7);
        assert_eq!(common_divisor(1_048, 2_620), 524);
    }
}
