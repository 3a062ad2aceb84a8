//! A connection that one end gives up.

use super::outgoing::bare;
use super::{Context, Endpoint};
use crate::packet::{ACK, RST};
use crate::schedule::Nanos;

impl Endpoint {
    pub(super) fn reset_at(&self) -> Option<Nanos> {
        let after = self.host.reset_after?;
        (!self.is_closed()).then_some(self.opened_at? + after)
    }

    /// Nothing more is sent after a reset, and nothing is taken in.
    pub(super) fn reset(&mut self, context: &mut Context<'_>) {
        let start = self.halves.as_ref().map_or(0, |(sender, _)| sender.next());
        self.send(&bare(start), ACK | RST, context);
        self.is_reset = true;
    }
}
