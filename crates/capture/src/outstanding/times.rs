//! Times of the transmissions that one acknowledgment covers.

use super::transmission::{Fate, Transmission};

/// Times of transmissions that were acknowledged together.
#[derive(Debug)]
pub(super) struct Times {
    pub(super) count: usize,
    /// When the newest transmission that was never sent again was sent.
    clean_ns: Option<i64>,
    /// When any of the transmissions was sent last.
    latest_ns: i64,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            count: 0,
            clean_ns: None,
            latest_ns: i64::MIN,
        }
    }
}

impl Times {
    /// Notes a transmission; returns its fate if it arrived at the first try and was not reported by SACK before.
    #[inline(always)]
    pub(super) fn note(&mut self, sent: &Transmission) -> Option<Fate> {
        self.count += 1;
        self.latest_ns = self.latest_ns.max(sent.time_ns);
        sent.again.is_none().then(|| {
            self.clean_ns = Some(sent.time_ns);
            sent.fate_at_first_try()
        })
    }

    /// When the newest transmission that was never sent again was sent, and whether another was sent after it.
    pub(super) fn newest_clean(&self) -> Option<(i64, bool)> {
        let sent_ns = self.clean_ns?;
        Some((sent_ns, self.latest_ns > sent_ns))
    }
}
