//! The progress bar.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use coalescope_capture::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Reading that ends sooner needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often a bar may be drawn, in Hertz.
const REFRESH_HZ: u8 = 10;

const BYTES: &str = "reading {bar:40} {decimal_bytes} of {decimal_total_bytes}, {eta} left";
const FRAMES: &str = "reading {spinner} {human_pos} frames, {elapsed}";

/// Shows on standard error how far reading is, if that is a terminal and it takes long.
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
            is_wanted: io::stderr().is_terminal(),
        }
    }

    /// Tells how far reading is.
    pub(crate) fn tell(&mut self, progress: Progress) {
        if !self.is_wanted || self.bar.is_none() && self.started.elapsed() < PATIENCE {
            return;
        }
        let total_bytes = self.total_bytes;
        let bar = self.bar.get_or_insert_with(|| draw(total_bytes));
        bar.set_position(match total_bytes {
            Some(_) => progress.consumed_bytes,
            None => progress.frames,
        });
    }

    /// Takes the bar away.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
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
}
