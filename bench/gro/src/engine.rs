//! What is measured.

use std::io;

use crate::frames::Load;
use crate::id::Id;

/// One measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// Nanoseconds of all passes.
    pub(crate) ns: i64,
    /// Frames that came out of the last pass.
    pub(crate) out: usize,
}

/// When an engine ends a merged frame, as far as these frames can tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// Packets after which all that is held goes up.
    pub(crate) hold: usize,
    /// Segments in a merged frame at most.
    pub(crate) segments: usize,
}

impl Rule {
    /// Frames that must come out: computed by counting, not by an engine.
    pub(crate) fn outputs(self, load: &Load) -> usize {
        let packets: Vec<_> = (0..load.packets).collect();
        let mut counts = vec![0_usize; load.flows];
        let held = packets.chunks(self.hold);
        held.map(|packets| self.outputs_of(packets, load, &mut counts))
            .sum()
    }

    /// Those of packets between two flushes.
    fn outputs_of(self, packets: &[usize], load: &Load, counts: &mut [usize]) -> usize {
        let flow = |packet: &usize| packet / load.run % load.flows;
        let mut outputs = 0;
        for flow in packets.iter().map(flow) {
            outputs += usize::from(counts[flow].is_multiple_of(self.segments));
            counts[flow] += 1;
        }
        packets.iter().for_each(|packet| counts[flow(packet)] = 0);
        outputs
    }
}

/// An engine, or a lower bound of one.
pub(crate) trait Engine {
    /// Which it is.
    fn id(&self) -> Id;

    /// Makes its frames. Not measured.
    fn load(&mut self, load: &Load) -> io::Result<()>;

    /// Restores the frames and merges them, so many times. Only merging is measured.
    fn pass(&mut self, loops: u32) -> io::Result<Sample>;

    /// What must come out; `None` where that depends on a hash.
    fn rule(&self, load: &Load) -> Option<Rule>;
}
