//! Arguments of `watch`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use coalescope_watch::facts::Level;

use super::{LiveArgs, MemoryArgs, ReportArgs, WatchFormat};

const WATCH_NOTES: &str = "\
Examples:
  sudo coalescope watch --for 10s
  sudo coalescope watch eth0 br0
  sudo coalescope watch --all-netns --for 1m --format json
  coalescope watch --connections --for 10s
  sudo coalescope watch --record night.jsonl
  coalescope watch --replay night.jsonl

Programs in the kernel (BPF) count the frames of each interface: how many segments come in a frame, what
is forwarded, what is cut in software, and which frames are dropped, where and why. It takes a kernel
with BTF, and root or CAP_BPF, CAP_PERFMON and CAP_SYSLOG; else the report says what is missing, and the
kernel's own counters are told. Nothing is changed; the programs go when the command ends.

On a terminal a table shows it: s sorts, p pauses, Enter opens what died, c connections, q ends.
Without --for Ctrl-C ends watching and reports; a second one ends the program.

Exit codes:
  0  merged frames are well
  1  merged frames die where single ones pass
  2  usage or input error
  4  not enough was seen to say that nothing is wrong";

/// What `coalescope watch` may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WatchLevel {
    /// Events of the kernel, without programs in it.
    Perf,
    /// Counters that every kernel has.
    Counters,
}

impl From<WatchLevel> for Level {
    fn from(asked: WatchLevel) -> Self {
        match asked {
            WatchLevel::Perf => Self::Perf,
            WatchLevel::Counters => Self::Counters,
        }
    }
}

/// Arguments of `coalescope watch`.
#[derive(Debug, Args)]
#[command(after_help = WATCH_NOTES)]
pub struct WatchArgs {
    /// Interfaces to tell of [default: all]
    #[arg(value_name = "IFACE")]
    pub interfaces: Vec<String>,

    /// How long to watch, such as 10s, 5m [default: until Ctrl-C]
    #[arg(long = "for", value_name = "TIME", value_parser = time, conflicts_with = "replay")]
    pub duration: Option<Duration>,

    /// How often to look
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "2s")]
    pub every: Duration,

    /// Tell how it goes in lines, on a terminal as well, instead of a table with keys
    #[arg(long)]
    pub plain: bool,

    /// Tell of TCP connections that end on this host as well: how much each gets into a round trip
    #[arg(long)]
    pub connections: bool,

    /// Count each frame, however fast they come: that may take a fifth of what the host can do. Else many are estimated
    #[arg(long, conflicts_with = "replay")]
    pub exact: bool,

    /// Use no more than this, even where more is allowed
    #[arg(long, value_enum, value_name = "LEVEL", conflicts_with = "replay")]
    pub level: Option<WatchLevel>,

    /// Which part of this host.
    #[command(flatten)]
    pub live: LiveArgs,

    /// Write each look to this file, a line each
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub record: Option<PathBuf>,

    /// Report what was recorded, instead of this host
    #[arg(long, value_name = "FILE", conflicts_with_all = ["netns", "all_netns"])]
    pub replay: Option<PathBuf>,

    /// How much memory.
    #[command(flatten)]
    pub memory: MemoryArgs,

    /// How to print the report
    #[arg(long, value_enum, default_value_t)]
    pub format: WatchFormat,

    /// The page.
    #[command(flatten)]
    pub page: ReportArgs,
}

/// Counting besides, where settings are looked at.
#[derive(Debug, Default, Args)]
pub struct WatchedArgs {
    /// Count merged frames for so long as well (10s, 5m), as `coalescope watch` does: what is seen raises
    /// what settings let suspect
    #[arg(long, value_name = "TIME", value_parser = time, conflicts_with = "from")]
    pub watch: Option<Duration>,

    /// Take what `coalescope watch --record` has counted on the host; again for each host
    #[arg(long, value_name = "FILE", conflicts_with = "watch")]
    pub watched: Vec<PathBuf>,
}

/// Units of a time, in milliseconds.
const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)];
/// No look is sooner than this, nor does anybody wait for longer than a year.
const LEAST_MS: u64 = 100;
const MOST_MS: u64 = 366 * 24 * 3_600_000;

/// `10s`, `500ms`, `2m`, `1h`.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit());
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let unit = UNITS.iter().find(|(name, _)| *name == unit);
    let each = unit.map(|(_, each)| *each);
    let number: Option<u64> = number.parse().ok();
    let all = number
        .zip(each)
        .and_then(|(number, each)| number.checked_mul(each));
    match all {
        Some(ms) if (LEAST_MS..=MOST_MS).contains(&ms) => Ok(Duration::from_millis(ms)),
        Some(_) => Err("100ms is the least, 8784h the most".to_owned()),
        None => Err("write such as 10s, 500ms, 5m or 1h".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(time("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(time("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(time("2m"), Ok(Duration::from_secs(120)));
        for wrong in [
            "",
            "10",
            "s",
            "1.5s",
            "-1s",
            "0s",
            "99ms",
            "10 s",
            "99999999999999999999h",
        ] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
