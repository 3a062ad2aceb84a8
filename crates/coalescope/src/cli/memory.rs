//! How much memory strangers' files may take.

use clap::Args;

/// What a byte count may be followed by.
const UNITS: [(&str, u32); 4] = [("K", 10), ("M", 20), ("G", 30), ("T", 40)];
/// The program itself takes some 20 MiB, and a window to unpack a file as much again.
const LEAST_BYTES: u64 = 64 << 20;

/// How much memory may be taken.
#[derive(Clone, Copy, Debug, Args)]
pub struct MemoryArgs {
    /// Memory that the inputs may take, such as 2G; where it is not enough, the program ends with an error
    #[arg(long, value_name = "SIZE", default_value = "512M", value_parser = size)]
    pub max_memory: u64,
}

/// Bytes, of `512M`, `2G`, `2GiB` or `1000000000`.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit());
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let shift = shift(unit).ok_or("write a number of bytes, or such as 512M, 2G")?;
    let number: u64 = number
        .parse()
        .map_err(|_| "a number is missing".to_owned())?;
    let bytes = number.checked_mul(1 << shift);
    match bytes.ok_or("too large")? {
        bytes if bytes < LEAST_BYTES => {
            Err("64M is the least that a file can be read with".to_owned())
        }
        bytes => Ok(bytes),
    }
}

fn shift(unit: &str) -> Option<u32> {
    let unit = unit.to_ascii_uppercase();
    let unit = unit.trim_end_matches('B').trim_end_matches('I');
    if unit.is_empty() {
        return Some(0);
    }
    let known = UNITS.iter().find(|(name, _)| *name == unit);
    known.map(|(_, shift)| *shift)
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes() {
        assert_eq!(size("512M"), Ok(512 << 20));
        assert_eq!(size("2g"), Ok(2 << 30));
        assert_eq!(size("2GiB"), Ok(2 << 30));
        assert_eq!(size("1000000000"), Ok(1_000_000_000));
        for wrong in [
            "",
            "M",
            "1.5G",
            "-1",
            "1X",
            "1M",
            "99999999999999T",
            "18446744073709551616",
        ] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
