//! Timestamps of pcapng interfaces as nanoseconds.

/// How an interface counts time: draft-ietf-opsawg-pcapng section 4.2, `if_tsresol` and
/// `if_tsoffset`.
///
/// `pcap_parser` has this too, but knows no negative powers of two (every `if_tsresol` with the
/// high bit set counts as invalid) and reads `if_tsoffset` in one byte order only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    scale: Scale,
    offset_ns: i128,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    Times(u64),
    Over(u64),
    Binary(u8),
}

/// Times after this (the year 2116) are set to it, and times before 1970 to 1970, so that no difference of times
/// overflows. Sums of differences saturate: a broken clock may go back and forth.
pub(crate) const LATEST_NS: i64 = (1 << 62) - 1;

/// Microseconds, for interfaces without `if_tsresol`.
pub(super) const DEFAULT_RESOLUTION: u8 = 6;

impl Clock {
    /// From the value of `if_tsresol`, and of `if_tsoffset` in seconds.
    pub(super) fn new(resolution: u8, offset: i64) -> Clock {
        Clock {
            scale: scale(resolution),
            offset_ns: i128::from(offset) * 1_000_000_000,
        }
    }

    /// Nanoseconds since 1970; `Err` has the nearest time that can be represented.
    #[inline]
    pub(super) fn nanoseconds(&self, ticks: u64) -> Result<i64, i64> {
        let since = match self.scale {
            Scale::Times(factor) => u128::from(ticks) * u128::from(factor),
            Scale::Over(divisor) => u128::from(ticks / divisor),
            Scale::Binary(bits) => (u128::from(ticks) * 1_000_000_000) >> bits,
        };
        // At most 2^64 times 10^9, below 2^94.
        let total = since as i128 + self.offset_ns;
        if (0..=i128::from(LATEST_NS)).contains(&total) {
            Ok(total as i64)
        } else {
            Err(if total < 0 { 0 } else { LATEST_NS })
        }
    }
}

fn scale(resolution: u8) -> Scale {
    let power = resolution & 0x7f;
    if resolution & 0x80 != 0 {
        return Scale::Binary(power);
    }
    match u32::from(power).checked_sub(9) {
        None => Scale::Times(10u64.pow(9 - u32::from(power))),
        // Ticks finer than 10^-28 s do not add up to a nanosecond in 64 bits.
        Some(finer) => 10u64
            .checked_pow(finer)
            .map_or(Scale::Binary(127), Scale::Over),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_ten_and_two() {
        assert_eq!(Clock::new(6, 0).nanoseconds(1_500_000), Ok(1_500_000_000));
        assert_eq!(Clock::new(9, 0).nanoseconds(7), Ok(7));
        assert_eq!(Clock::new(3, 0).nanoseconds(7), Ok(7_000_000));
        assert_eq!(Clock::new(0, 0).nanoseconds(7), Ok(7_000_000_000));
        assert_eq!(Clock::new(12, 0).nanoseconds(7_999), Ok(7));
        assert_eq!(
            Clock::new(0x80 | 20, 0).nanoseconds(3 << 19),
            Ok(1_500_000_000)
        );
        assert_eq!(Clock::new(0x80, 0).nanoseconds(2), Ok(2_000_000_000));
    }

    #[test]
    fn offsets() {
        assert_eq!(Clock::new(9, 5).nanoseconds(1), Ok(5_000_000_001));
        assert_eq!(Clock::new(9, -5).nanoseconds(5_000_000_001), Ok(1));
        assert_eq!(Clock::new(9, -5).nanoseconds(1), Err(0));
    }

    #[test]
    fn what_cannot_be_told_is_set_to_the_nearest() {
        assert_eq!(Clock::new(6, 0).nanoseconds(u64::MAX), Err(LATEST_NS));
        assert_eq!(Clock::new(9, i64::MIN).nanoseconds(0), Err(0));
        assert_eq!(
            Clock::new(0, i64::MAX).nanoseconds(u64::MAX),
            Err(LATEST_NS)
        );
        assert_eq!(Clock::new(127, 0).nanoseconds(u64::MAX), Ok(0));
        assert_eq!(Clock::new(255, 0).nanoseconds(u64::MAX), Ok(0));
        assert_eq!(Clock::new(28, 0).nanoseconds(u64::MAX), Ok(1));
    }
}
