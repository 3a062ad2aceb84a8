//! The sender's time by what it waited for, like Linux's `tcp_chrono`.

use super::Sender;
use crate::schedule::Nanos;

/// What a sender waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Waiting {
    /// Acknowledgements, or nothing.
    #[default]
    Network,
    /// The application: all that it wrote is acknowledged.
    Application,
    /// The receiver's window.
    Window,
}

/// Time by what it was spent waiting for. A wait counts when it is over, and one for the application only if
/// more was written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chrono {
    waiting: Waiting,
    since: Nanos,
    /// Bytes written when it began.
    written: u64,
    /// With nothing to send and nothing under way.
    pub(crate) application: Nanos,
    /// With data to send that only the receiver's window held back.
    pub(crate) window: Nanos,
}

impl Chrono {
    fn change(&mut self, waiting: Waiting, written: u64, now: Nanos) {
        if (waiting, written) == (self.waiting, self.written) {
            return;
        }
        let spent = now - self.since;
        match self.waiting {
            Waiting::Application if written > self.written => self.application += spent,
            Waiting::Network | Waiting::Application => {}
            Waiting::Window => self.window += spent,
        }
        (self.waiting, self.since, self.written) = (waiting, now, written);
    }
}

impl Sender {
    /// Notes what the sender waits for from now on.
    pub(super) fn keep_time(&mut self, now: Nanos) {
        let waiting = self.waiting();
        self.chrono.change(waiting, self.written, now);
    }

    fn waiting(&self) -> Waiting {
        let available = self.written.saturating_sub(self.next);
        if available == 0 {
            // Before the first byte there is nothing to wait for.
            return if self.board.is_empty() && self.next > 0 {
                Waiting::Application
            } else {
                Waiting::Network
            };
        }
        let len = available.min(self.mss);
        if self.next + len > self.edge && !self.board.any_lost() {
            Waiting::Window
        } else {
            Waiting::Network
        }
    }
}
