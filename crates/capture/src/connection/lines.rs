//! The cache lines of a connection, loaded before they are needed.

use super::Connection;

impl Connection {
    /// Reads a value from every cache line that an expected frame touches; see
    /// [`crate::table::Table::warm`].
    #[inline]
    pub(crate) fn touch(&self) -> u64 {
        let [low, high] = &self.flows;
        let own = u64::from(self.key.high_port) ^ self.phases.touch();
        low.touch() ^ high.touch() ^ own
    }

    /// Like [`Self::touch`], for the boxes of both flows.
    #[inline]
    pub(crate) fn touch_boxes(&self) -> u64 {
        let [low, high] = &self.flows;
        low.touch_boxes() ^ high.touch_boxes()
    }

    /// Like [`Self::touch`], for the queues in the boxes of both flows.
    #[inline]
    pub(crate) fn touch_deeply(&self) -> u64 {
        let [low, high] = &self.flows;
        low.touch_deeply() ^ high.touch_deeply()
    }

    /// Reads a value from every cache line that facts are made of; see [`crate::kept`].
    pub(crate) fn touch_facts(&self) -> u64 {
        let [low, high] = &self.flows;
        self.touch() ^ self.first_number ^ low.touch_facts() ^ high.touch_facts()
    }
}
