//! Takes many frames in.

use coalescope_wire::{LinkType, Work, prefetch};

use super::{Engine, Incoming};
use crate::merge::plain::{ALL, IPV4_HEADERS, NOTHING};
use crate::out::decision::Action;
use crate::payload::store::{Outlet, Store};

/// Number of frames after a merge for which another merge still counts as likely: one frame that starts the next run of
/// a flow does not change that (docs/gro-performance.md).
const LIKELY: u32 = 2;

/// A batch on its way through the engine.
pub(crate) struct PushAll<'a, S, I, O> {
    pub(crate) engine: &'a mut Engine<S>,
    pub(crate) frames: I,
    pub(crate) now: u64,
    pub(crate) out: &'a mut O,
}

impl<'f, S, I, O> Work for PushAll<'_, S, I, O>
where
    S: Store,
    I: Iterator<Item = (&'f [u8], S::Token)>,
    O: Outlet<S>,
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.engine.push_all(self.frames, self.now, self.out);
    }
}

impl<S: Store> Engine<S> {
    /// Takes frames in, one after the other.
    #[inline(always)]
    fn push_all<'f>(
        &mut self,
        frames: impl Iterator<Item = (&'f [u8], S::Token)>,
        now: u64,
        out: &mut impl Outlet<S>,
    ) {
        let frames = frames.map(|(frame, token)| Incoming { frame, token, now });
        // The choice is made once, not for every frame.
        match (self.short, self.rules.checks()) {
            (Some(LinkType::Ethernet), NOTHING) => {
                for incoming in frames {
                    self.push_behind::<14, NOTHING>(incoming, out);
                }
            }
            (Some(LinkType::Ethernet), IPV4_HEADERS) => {
                for incoming in frames {
                    self.push_behind::<14, IPV4_HEADERS>(incoming, out);
                }
            }
            (Some(LinkType::Ethernet), _) => self.push_fetched::<14>(frames, out),
            (Some(_), _) => self.push_fetched::<0>(frames, out),
            (None, _) => {
                for incoming in frames {
                    self.push_counted(incoming, out);
                }
            }
        }
    }

    /// Takes frames in, and prefetches the payload of each two frames ahead, if it will be read: always, or when the
    /// frame merges, which is likely soon after a merge.
    #[inline(always)]
    fn push_fetched<'f, const LINK: usize>(
        &mut self,
        frames: impl Iterator<Item = Incoming<'f, S::Token>>,
        out: &mut impl Outlet<S>,
    ) where
        S::Token: 'f,
    {
        let mut frames = frames.fuse();
        let (mut next, mut later) = (frames.next(), frames.next());
        let mut likely = 0_u32;
        while let Some(incoming) = next {
            (next, later) = (later, frames.next());
            if self.rules.fetches(likely > 0)
                && let Some(later) = &later
            {
                prefetch(later.frame);
            }
            let decision = self.push_behind::<LINK, ALL>(incoming, out);
            likely = match decision.action {
                Action::Merged => LIKELY,
                _ => likely.saturating_sub(1),
            };
            if likely == LIKELY && self.rules.lazy {
                self.fetch_first(out);
            }
        }
    }

    /// Prefetches the held frame that the second frame from now will likely join, if nothing has joined it yet, as
    /// nothing had joined the one that the last frame joined: flows that take turns have their second frames one after
    /// the other.
    #[inline(always)]
    fn fetch_first(&self, out: &impl Outlet<S>) {
        if let Some(slot) = self.table.after_next(2) {
            self.store.fetch_first(slot, out);
        }
    }
}
