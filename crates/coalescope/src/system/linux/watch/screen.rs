//! The terminal: shows the table and reads keys.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use coalescope_watch::facts::Watched;
use coalescope_watch::live::Watcher;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};

use super::table::Shown;
use super::{Record, seen};
use crate::cli::{WatchArgs, WatchFormat};

/// How long a key is waited for before the stop flag is checked.
const PAUSE: Duration = Duration::from_millis(100);

/// Whether to show the table: text output on a terminal.
pub(super) fn is_wanted(args: &WatchArgs) -> bool {
    let is_text = args.format == WatchFormat::Text && !args.plain;
    is_text && io::stdout().is_terminal() && io::stdin().is_terminal()
}

/// Shows the table until the end, and restores the terminal.
pub(super) fn show(
    watcher: Watcher,
    args: &WatchArgs,
    record: Option<Record>,
    stop: &AtomicBool,
) -> anyhow::Result<Watched> {
    let mut terminal = ratatui::try_init()?;
    let screen = Screen {
        watcher,
        args,
        record,
        begun: Instant::now(),
        shown: Shown::default(),
    };
    let last = screen.run(&mut terminal, stop);
    ratatui::try_restore()?;
    last
}

struct Screen<'a> {
    watcher: Watcher,
    args: &'a WatchArgs,
    record: Option<Record>,
    begun: Instant,
    shown: Shown,
}

impl Screen<'_> {
    fn run(mut self, terminal: &mut DefaultTerminal, stop: &AtomicBool) -> anyhow::Result<Watched> {
        let mut next = Duration::ZERO;
        loop {
            if self.begun.elapsed() >= next {
                let look = self.look()?;
                self.shown.take(&look);
                next = self.begun.elapsed() + self.args.every;
            }
            terminal.draw(|frame| self.shown.draw(frame))?;
            let until = self.args.duration.map_or(next, |all| all.min(next));
            if self.wait(until)? || stop.load(Ordering::Relaxed) || self.is_over() {
                return self.look();
            }
        }
    }

    fn is_over(&self) -> bool {
        let all = self.args.duration;
        all.is_some_and(|all| self.begun.elapsed() >= all)
    }

    fn look(&mut self) -> anyhow::Result<Watched> {
        let look = seen(&mut self.watcher, &self.args.live)?;
        if let Some(record) = &mut self.record {
            record.write(&look)?;
        }
        Ok(look)
    }

    /// Waits for a key, or until `until` after the beginning; true if a key ends the program.
    fn wait(&mut self, until: Duration) -> io::Result<bool> {
        let left = until.saturating_sub(self.begun.elapsed());
        if !event::poll(left.min(PAUSE))? {
            return Ok(false);
        }
        Ok(match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.shown.key(key),
            _ => false,
        })
    }
}

#[cfg(test)]
mod tests;
