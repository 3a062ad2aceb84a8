//! The first data frames of a direction, until its segment size is settled.

use super::WARM_UP;
use crate::few::Few;
use crate::outstanding::Fate;

/// Frames of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Length {
    pub(crate) payload: u32,
    pub(crate) frames: u32,
    /// The first one's number.
    pub(crate) first: u64,
}

/// The first data frames, and what became of them before the size was settled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WarmUp {
    pub(crate) lengths: Few<Length>,
    /// With how often.
    pub(crate) fates: Few<(Fate, u32)>,
    pub(super) frames: u32,
}

impl WarmUp {
    pub(super) fn touch(&self) -> u32 {
        let length = self.lengths.peek().map_or(0, |length| length.frames);
        let fate = self.fates.peek().map_or(0, |(_, times)| *times);
        self.frames ^ length ^ fate
    }

    pub(super) fn add(&mut self, payload: u32, number: u64) {
        self.frames += 1;
        match self.lengths.find(|known| known.payload == payload) {
            Some(known) => known.frames += 1,
            None => self.lengths.push(Length {
                payload,
                frames: 1,
                first: number,
            }),
        }
    }

    #[inline]
    pub(super) fn add_again(&mut self, payload: u32) -> bool {
        match self.lengths.first() {
            Some(known) if known.payload == payload && self.frames + 1 < WARM_UP => {
                known.frames += 1;
                self.frames += 1;
                true
            }
            _ => false,
        }
    }

    #[inline]
    pub(super) fn tell_again(&mut self, fate: Fate) -> bool {
        match self.fates.first() {
            Some((known, times)) if known.is_like(fate) => {
                *times += 1;
                true
            }
            _ => false,
        }
    }
}
