//! Numbers with units for people: KB is 1000 bytes, Mbit/s is 1,000,000 bits per second.

/// The text for an unknown value.
pub(crate) const UNKNOWN: &str = "-";

const BIT_RATES: [&str; 5] = ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"];

/// The state of a switch.
pub(crate) fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// `1,234,567`.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count for a table: `99,999`, `123k`, `1.23M`.
pub(crate) fn short_count(n: u64) -> String {
    if n < 100_000 {
        return count(n);
    }
    scaled(n as f64, &["", "k", "M", "G", "T"]).replace(' ', "")
}

/// `1 frame`, `2 frames`.
pub(crate) fn counted(n: u64, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(n))
}

/// `812 B`, `1.62 MB`.
pub(crate) fn bytes(n: u64) -> String {
    scaled(n as f64, &["B", "KB", "MB", "GB", "TB", "PB"])
}

/// `343 KB/s`, from bits per second.
pub(crate) fn byte_rate(bps: f64) -> String {
    scaled(bps / 8.0, &["B/s", "KB/s", "MB/s", "GB/s", "TB/s"])
}

/// `2.74 Mbit/s`, as findings have it.
pub(crate) fn bit_rate(bps: f64) -> String {
    scaled(bps, &BIT_RATES)
}

/// The change of a rate: `1.10 -> 132 Mbit/s`, or with two units.
pub(crate) fn bit_rate_change(from_bps: f64, to_bps: f64) -> String {
    let [from, to] = [from_bps, to_bps].map(|bps| parts(bps, &BIT_RATES));
    match from.1 == to.1 {
        true => format!("{} -> {} {}", from.0, to.0, to.1),
        false => format!("{} {} -> {} {}", from.0, from.1, to.0, to.1),
    }
}

/// `343 KB/s (2.74 Mbit/s)`.
pub(crate) fn rate(bps: f64) -> String {
    format!("{} ({})", byte_rate(bps), bit_rate(bps))
}

/// `12.3 us`, `10.2 ms`, `19.6 s`.
pub(crate) fn seconds(s: f64) -> String {
    let size = s.abs();
    if size == 0.0 {
        return "0 s".to_owned();
    }
    let (value, unit) = match size {
        size if size < 999.5e-9 => (s * 1e9, "ns"),
        size if size < 999.5e-6 => (s * 1e6, "us"),
        size if size < 0.9995 => (s * 1e3, "ms"),
        _ => (s, "s"),
    };
    format!("{} {unit}", three_digits(value))
}

/// `2026-11-25 03:10:07.250 UTC`, from nanoseconds since 1970; before that, in seconds.
pub(crate) fn instant(unix_ns: i64) -> String {
    let Ok(since) = u64::try_from(unix_ns) else {
        return format!("{} before 1970", duration(-(unix_ns as f64) / 1e9));
    };
    let (s, ms) = (since / 1_000_000_000, since / 1_000_000 % 1000);
    let (hour, minute) = (s % 86_400 / 3600, s / 60 % 60);
    format!("{} {hour:02}:{minute:02}:{:02}.{ms:03} UTC", day(s), s % 60)
}

/// A duration that may be days: `19.6 s`, `3.2 hours`, `1,649 days`.
pub(crate) fn duration(s: f64) -> String {
    match s {
        s if s < 2.0 * 3600.0 => seconds(s),
        s if s < 2.0 * 86_400.0 => format!("{} hours", three_digits(s / 3600.0)),
        s => format!("{} days", count((s / 86_400.0).round() as u64)),
    }
}

/// `2026-11-25 03:10 UTC`, from seconds since 1970.
pub(crate) fn date(unix_s: u64) -> String {
    let seconds = unix_s % 86_400;
    let (hour, minute) = (seconds / 3600, seconds / 60 % 60);
    format!("{} {hour:02}:{minute:02} UTC", day(unix_s))
}

/// `2026-11-25` in UTC, from seconds since 1970.
pub(crate) fn day(unix_s: u64) -> String {
    let days = unix_s / 86_400;
    // Years that begin in March have their leap day at the end (H. Hinnant, chrono-compatible
    // low-level date algorithms: civil_from_days).
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
}

/// A figure of a metric in its unit: bits stay bits, since `343 KB/s` would hide that an experiment
/// was about bits.
#[must_use]
pub fn figure(value: f64, unit: Option<&str>) -> String {
    match unit {
        Some("bit/s") => bit_rate(value),
        Some("byte/s") => byte_rate(value * 8.0),
        Some("byte") => bytes(value as u64),
        Some("s") => seconds(value),
        _ if value != 0.0 && value.abs() < 0.000_995 => format!("{value:.2e}"),
        _ if value != 0.0 && value.abs() < 0.0995 => format!("{value:.4}"),
        _ if value.abs() >= 100_000.0 => scaled(value, &["", "k", "M", "G", "T"]),
        _ => three_digits(value),
    }
}

/// `12.3%` of a whole.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    let share = part as f64 * 100.0 / whole.max(1) as f64;
    match share {
        // A share that is neither all nor nothing must not be rounded to either.
        share if share > 99.9 && part < whole => "> 99.9%".to_owned(),
        share if share < 0.1 && part > 0 => "< 0.1%".to_owned(),
        share => format!("{}%", three_digits(share)),
    }
}

/// `p = 0.012`, `p = 3.1e-7`; below that only "very small".
pub(crate) fn p_value(p: f64) -> String {
    match p {
        p if p >= 0.001 => format!("p = {p:.3}"),
        p if p >= 1e-12 => format!("p = {p:.1e}"),
        _ => "p < 1e-12".to_owned(),
    }
}

/// Three significant digits, without cutting digits of a whole number.
pub(crate) fn three_digits(value: f64) -> String {
    let size = value.abs();
    let decimals = match size {
        size if size == size.trunc() && size < 1000.0 => 0,
        size if size < 9.995 => 2,
        size if size < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

fn scaled(value: f64, units: &[&str]) -> String {
    let (number, unit) = parts(value, units);
    format!("{number} {unit}")
}

/// A number of three digits, and its unit.
fn parts<'a>(value: f64, units: &[&'a str]) -> (String, &'a str) {
    let mut scaled = value;
    let mut index = 0;
    while scaled >= 999.5 && index + 1 < units.len() {
        scaled /= 1000.0;
        index += 1;
    }
    (three_digits(scaled), units[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        let numbers = [0, 999, 1000, 1_234_567];
        assert_eq!(numbers.map(count), ["0", "999", "1,000", "1,234,567"]);
        let short = [99_999, 123_456, 1_234_567].map(short_count);
        assert_eq!(short, ["99,999", "123k", "1.23M"]);
        assert_eq!(counted(1, "frame"), "1 frame");
        assert_eq!(counted(0, "frame"), "0 frames");
    }

    #[test]
    fn a_change_has_one_unit_where_both_rates_have_the_same() {
        assert_eq!(
            bit_rate_change(1_100_000.0, 132_000_000.0),
            "1.10 -> 132 Mbit/s"
        );
        assert_eq!(
            bit_rate_change(44_000.0, 80_000_000.0),
            "44 kbit/s -> 80 Mbit/s"
        );
    }

    #[test]
    fn dates() {
        let seconds = [0, 951_782_399, 951_782_400, 1_795_575_491, 4_102_444_800];
        let texts = [
            "1970-01-01 00:00 UTC",
            "2000-02-28 23:59 UTC",
            "2000-02-29 00:00 UTC",
            "2026-11-25 02:58 UTC",
            "2100-01-01 00:00 UTC",
        ];
        assert_eq!(seconds.map(date), texts);
    }

    #[test]
    fn moments_and_long_times() {
        assert_eq!(
            instant(1_795_575_491_250_000_000),
            "2026-11-25 02:58:11.250 UTC"
        );
        assert_eq!(instant(-1_000_000_000), "1 s before 1970");
        let times = [0.5, 7_199.0, 7_200.0, 172_800.0, 142_449_835.0].map(duration);
        assert_eq!(
            times,
            ["500 ms", "7199 s", "2 hours", "2 days", "1,649 days"]
        );
    }

    #[test]
    fn sizes() {
        let numbers = [0, 999, 1000, 999_499, 999_500, 1_620_740];
        let texts = ["0 B", "999 B", "1 KB", "999 KB", "1.00 MB", "1.62 MB"];
        assert_eq!(numbers.map(bytes), texts);
    }

    #[test]
    fn rates() {
        assert_eq!(rate(2_744_000.0), "343 KB/s (2.74 Mbit/s)");
        assert_eq!(rate(0.0), "0 B/s (0 bit/s)");
    }

    #[test]
    fn times() {
        let numbers = [0.0, 0.0102, 19.556, 12.3e-6, -0.0003, 0.99996, 120.0];
        let texts = [
            "0 s", "10.2 ms", "19.6 s", "12.3 us", "-300 us", "1.00 s", "120 s",
        ];
        assert_eq!(numbers.map(seconds), texts);
    }

    #[test]
    fn shares_that_are_not_all_do_not_look_so() {
        assert_eq!(percent(9999, 10_000), "> 99.9%");
        assert_eq!(percent(1, 10_000), "< 0.1%");
        assert_eq!(percent(31, 31), "100%");
        assert_eq!(percent(0, 0), "0%");
    }

    #[test]
    fn small_p() {
        assert_eq!(p_value(0.0123), "p = 0.012");
        assert_eq!(p_value(3.14e-7), "p = 3.1e-7");
        assert_eq!(p_value(0.0), "p < 1e-12");
    }
}
