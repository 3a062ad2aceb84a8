//! The progress bar.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use coalescope_capture::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::speech;

/// No bar is shown before this time.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often a bar may be drawn, in Hertz.
const REFRESH_HZ: u8 = 10;

const BYTES: &str = "reading {wide_bar} {decimal_bytes} of {decimal_total_bytes}{msg}";
const FRAMES: &str = "reading {spinner} {human_pos} frames, {elapsed}";

/// Shows progress on standard error, if that is a terminal and reading takes long.
pub(crate) struct Meter {
    started: Instant,
    total_bytes: Option<u64>,
    bar: Option<ProgressBar>,
    is_wanted: bool,
}

impl Meter {
    /// Starts the clock.
    pub(crate) fn new(total_bytes: Option<u64>) -> Self {
        Self {
            started: Instant::now(),
            total_bytes,
            bar: None,
            is_wanted: io::stderr().is_terminal() && !speech::is_quiet(),
        }
    }

    /// Updates the bar.
    pub(crate) fn show(&mut self, progress: Progress) {
        let elapsed = self.started.elapsed();
        if !self.is_wanted || self.bar.is_none() && elapsed < PATIENCE {
            return;
        }
        let total_bytes = self.total_bytes;
        let bar = self.bar.get_or_insert_with(|| draw(total_bytes));
        match total_bytes {
            Some(total) => {
                bar.set_message(left(elapsed, progress.consumed_bytes, total));
                bar.set_position(progress.consumed_bytes);
            }
            None => bar.set_position(progress.frames),
        }
    }

    /// Removes the bar.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The remaining time at the pace so far, in words. (The bar's own estimate is made from the number of
/// updates; the first update comes after a second, with very many steps.)
fn left(elapsed: Duration, done_bytes: u64, total_bytes: u64) -> String {
    remaining(elapsed, done_bytes, total_bytes).map_or_else(String::new, |left| {
        match left.as_secs() {
            0 => ", less than 1 s left".to_owned(),
            seconds @ 1..120 => format!(", {seconds} s left"),
            seconds @ 120..7200 => format!(", {} min left", seconds.div_ceil(60)),
            seconds => format!(", {} h left", seconds.div_ceil(3600)),
        }
    })
}

/// The remaining time at the pace so far; `None` if nothing is done yet.
fn remaining(elapsed: Duration, done_bytes: u64, total_bytes: u64) -> Option<Duration> {
    let rest = total_bytes.saturating_sub(done_bytes);
    let seconds = elapsed.as_secs_f64() * rest as f64 / done_bytes as f64;
    Duration::try_from_secs_f64(seconds).ok()
}

fn draw(total_bytes: Option<u64>) -> ProgressBar {
    let template = if total_bytes.is_some() { BYTES } else { FRAMES };
    let style = ProgressStyle::with_template(template);
    let target = ProgressDrawTarget::stderr_with_hz(REFRESH_HZ);
    let bar = ProgressBar::with_draw_target(total_bytes, target);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_sound() {
        for template in [BYTES, FRAMES] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }

    /// At a steady pace the remaining time is right at any moment, whatever the size.
    #[test]
    fn what_is_left_is_right_at_a_steady_pace() {
        for total_s in [2, 10, 3600, 100_000_u64] {
            let total_bytes = 1_000_000_007 * total_s;
            for tenth in 1..10 {
                let elapsed = Duration::from_secs(total_s) / 10 * tenth;
                let done = total_bytes / 10 * u64::from(tenth);
                let left = remaining(elapsed, done, total_bytes).unwrap().as_secs_f64();
                let right = total_s as f64 * f64::from(10 - tenth) / 10.0;
                assert!(
                    (left - right).abs() < 0.001 * right,
                    "{left} s, not {right} s"
                );
            }
        }
    }

    #[test]
    fn words_for_what_is_left() {
        let at = |elapsed_s, done| left(Duration::from_secs(elapsed_s), done, 100);
        assert_eq!(at(36, 36), ", 64 s left");
        assert_eq!(at(1, 99), ", less than 1 s left");
        assert_eq!(at(600, 50), ", 10 min left");
        assert_eq!(at(10_000, 50), ", 3 h left");
        assert_eq!(at(1, 0), "", "nothing is known yet");
        assert_eq!(at(3, 100), ", less than 1 s left");
        assert_eq!(at(3, 120), ", less than 1 s left", "a file that grows");
    }
}
