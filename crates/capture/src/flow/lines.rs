//! The cache lines of a direction, loaded before they are needed.

use super::Flow;

impl Flow {
    /// Reads a value from every cache line that an expected frame touches; see
    /// [`crate::table::Table::warm`].
    #[inline]
    pub(crate) fn touch(&self) -> u64 {
        let own = self.una ^ self.counts.frames ^ self.edge_ns as u64;
        own ^ self.outstanding.touch() ^ self.turn.touch()
    }

    /// Like [`Self::touch`], for the boxes that these lines point to.
    #[inline]
    pub(crate) fn touch_boxes(&self) -> u64 {
        let slow = self.slow.as_ref().map_or(0, |slow| slow.silences.touch());
        self.turn.touch_box() ^ self.outstanding.touch_box() ^ self.tally.touch_box() ^ slow
    }

    /// Like [`Self::touch`], for the queues in these boxes.
    #[inline]
    pub(crate) fn touch_deeply(&self) -> u64 {
        self.outstanding.touch_deeply()
    }

    /// Reads a value from every cache line that facts are made of and that [`Self::touch`] does not read.
    pub(crate) fn touch_facts(&self) -> u64 {
        let slow = self.slow.as_ref();
        let slow = slow.map_or(0, |slow| slow.silences.touch() ^ slow.unscaled.touch());
        let samples = u64::from(self.turn.touch_all());
        self.first_data_ns as u64 ^ self.tally.touch_box() ^ samples ^ slow
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use crate::flow::Flow;

    /// Where a field is moved, others move to other cache lines.
    #[test]
    fn what_is_needed_together_lies_together() {
        assert_eq!(offset_of!(Flow, outstanding), 64);
        assert_eq!(offset_of!(Flow, counts), 192);
        assert_eq!(offset_of!(Flow, acks), 224);
        assert_eq!((align_of::<Flow>(), size_of::<Flow>()), (64, 320));
    }
}
