//! The ways to use the engine.

use coalescope_wire::widely;

use crate::merge::ahead::fetched;
use crate::merge::engine::{Engine, Incoming, PushAll, PushFar};
use crate::out::decision::{Counters, Decision};
use crate::out::outgoing::{Outgoing, OutgoingBytes};
use crate::out::sink::{ByteSink, Sink};
use crate::payload::copies::{AT_ONCE, Copied, Copies, LATE};
use crate::payload::store::{Outlet, Parts};
use crate::profile::Profile;
use crate::reason::Reason;
use crate::settings::{Settings, Verification};

/// Merges frames without touching their payload.
///
/// The caller keeps the frames and hands in a token for each: an index, a buffer, an `mbuf`. The tokens come back, one
/// by one or as the parts of a merged frame with its new headers.
///
/// A held frame stays held until the caller flushes, or a rule of the profile sends it up. Nothing is allocated once
/// the largest number of parts was seen.
#[derive(Clone, Debug)]
pub struct Coalescer<T> {
    engine: Engine<Parts<T>>,
}

impl<T> Coalescer<T> {
    /// An engine with the rules of a profile. It holds `profile.table.buckets` times
    /// `profile.table.per_bucket` frames at most.
    #[must_use]
    pub fn new(profile: &Profile, settings: Settings) -> Self {
        let settings = match settings.verification {
            Verification::WhenMerging => Settings {
                verification: Verification::Verify,
                ..settings
            },
            _ => settings,
        };
        Self {
            engine: Engine::new(profile, settings, Parts::new),
        }
    }

    /// An engine that takes every frame the general way, for tests that compare the two.
    #[doc(hidden)]
    #[must_use]
    pub fn without_short_path(profile: &Profile, settings: Settings) -> Self {
        let mut coalescer = Self::new(profile, settings);
        coalescer.engine.short = None;
        coalescer
    }

    /// Takes a frame in, and sends out the frames whose merge it ends.
    ///
    /// `frame` may have any length from 0: a frame of no flow passes, and the [`Decision`] has the reason. `now` is the
    /// caller's clock, from any origin and in any unit; it may stay the same and must not go back. It is kept for
    /// [`Self::flush_before`] and [`Self::oldest`], and used for nothing else.
    #[inline]
    pub fn push(
        &mut self,
        frame: &[u8],
        token: T,
        now: u64,
        out: &mut (impl Sink<T> + ?Sized),
    ) -> Decision {
        self.engine
            .push(Incoming { frame, token, now }, &mut To(out))
    }

    /// Takes a batch in: each frame with its token, all with one `now`. Where frames are not in the cache this is
    /// faster than one [`Self::push`] after the other, since header bytes are prefetched.
    pub fn push_batch<'a>(
        &mut self,
        frames: impl Iterator<Item = (&'a [u8], T)> + Clone,
        now: u64,
        out: &mut (impl Sink<T> + ?Sized),
    ) {
        let ahead = frames.clone().map(|(frame, _)| frame);
        let out = &mut To(out);
        let engine = &mut self.engine;
        if engine.is_far() {
            return widely(PushFar {
                engine,
                frames,
                ahead,
                now,
                out,
            });
        }
        let frames = fetched(frames, ahead);
        widely(PushAll {
            engine,
            frames,
            now,
            out,
        });
    }

    /// Sends up all held frames: the end of a poll.
    pub fn flush(&mut self, out: &mut (impl Sink<T> + ?Sized)) {
        self.engine.flush(Reason::EndOfPoll, &mut To(out));
    }

    /// Sends up the frames held since before `since`, on the clock given to [`Self::push`]: those whose first segment
    /// came with a smaller `now`. To hold frames for a time `hold` at most, pass `now.saturating_sub(hold)`, which
    /// leaves frames of exactly that age.
    pub fn flush_before(&mut self, since: u64, out: &mut (impl Sink<T> + ?Sized)) {
        self.engine.flush_before(since, &mut To(out));
    }

    /// When the oldest of the held frames came, on the clock given to [`Self::push`]; `None` if nothing is held. Looks
    /// at one frame of each bucket.
    #[must_use]
    pub fn oldest(&self) -> Option<u64> {
        self.engine.oldest()
    }

    /// Whether nothing is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.engine.table.is_empty()
    }

    /// The decisions so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.engine.counters
    }
}

/// Merges one batch of frames at a time, and makes contiguous frames of them.
///
/// No frame is held from one batch to the next, so payload is copied only when two frames merge: with
/// [`Verification::WhenMerging`] a frame that merges with none is handed on without its payload being read.
#[derive(Clone, Debug)]
pub struct BatchCoalescer {
    engine: Engine<Copies<LATE>>,
}

impl BatchCoalescer {
    /// An engine with the rules of a profile; see [`Coalescer::new`].
    #[must_use]
    pub fn new(profile: &Profile, settings: Settings) -> Self {
        Self {
            engine: Engine::new(profile, settings, Copies::new),
        }
    }

    /// An engine that takes every frame the general way, for tests that compare the two.
    #[doc(hidden)]
    #[must_use]
    pub fn without_short_path(profile: &Profile, settings: Settings) -> Self {
        let mut coalescer = Self::new(profile, settings);
        coalescer.engine.short = None;
        coalescer
    }

    /// Merges a batch of any length: whatever comes out of it comes out now.
    pub fn run(&mut self, frames: &[&[u8]], out: &mut (impl ByteSink + ?Sized)) {
        let mut batch = Batch { frames, out };
        let ahead = frames.iter().copied();
        let numbered = ahead.clone().zip(0..);
        let frames = fetched(numbered, ahead);
        let engine = &mut self.engine;
        let out = &mut batch;
        widely(PushAll {
            engine,
            frames,
            now: 0,
            out,
        });
        self.engine.flush(Reason::EndOfPoll, &mut batch);
    }

    /// The decisions so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.engine.counters
    }
}

/// The frames of a batch, and the sink for the frames that come out.
struct Batch<'f, O: ?Sized> {
    frames: &'f [&'f [u8]],
    out: &'f mut O,
}

impl<O: ByteSink + ?Sized> Outlet<Copies<LATE>> for Batch<'_, O> {
    #[inline]
    fn take<'a>(&mut self, out: Copied<'a>)
    where
        Copies<LATE>: 'a,
    {
        let out = match out {
            Copied::Bytes(out) => out,
            Copied::Unchanged(number, about) => OutgoingBytes {
                bytes: self
                    .frames
                    .get(number as usize)
                    .copied()
                    .unwrap_or_default(),
                about,
            },
        };
        self.out.take(out);
    }

    #[inline]
    fn frame_of(&self, token: &u32) -> Option<&[u8]> {
        self.frames.get(*token as usize).copied()
    }
}

/// Merges frames into contiguous buffers of its own.
#[derive(Clone, Debug)]
pub struct CopyingCoalescer {
    engine: Engine<Copies<AT_ONCE>>,
}

impl CopyingCoalescer {
    /// An engine with the rules of a profile; see [`Coalescer::new`]. Each held frame has a buffer,
    /// which grows to the power of two behind the largest frame that it ever held.
    #[must_use]
    pub fn new(profile: &Profile, settings: Settings) -> Self {
        Self {
            engine: Engine::new(profile, settings, Copies::new),
        }
    }

    /// Takes a frame in, and sends out the frames whose merge it ends; see [`Coalescer::push`].
    #[inline]
    pub fn push(&mut self, frame: &[u8], now: u64, out: &mut (impl ByteSink + ?Sized)) -> Decision {
        // Nothing is asked for by it: the frame is copied.
        let token = 0;
        self.engine
            .push(Incoming { frame, token, now }, &mut To(out))
    }

    /// Sends up all held frames; see [`Coalescer::flush`].
    pub fn flush(&mut self, out: &mut (impl ByteSink + ?Sized)) {
        self.engine.flush(Reason::EndOfPoll, &mut To(out));
    }

    /// Sends up the frames held since before `since`; see [`Coalescer::flush_before`].
    pub fn flush_before(&mut self, since: u64, out: &mut (impl ByteSink + ?Sized)) {
        self.engine.flush_before(since, &mut To(out));
    }

    /// When the oldest of the held frames came, on the clock given to [`Self::push`]; `None` if nothing is held. Looks
    /// at one frame of each bucket.
    #[must_use]
    pub fn oldest(&self) -> Option<u64> {
        self.engine.oldest()
    }

    /// Whether nothing is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.engine.table.is_empty()
    }

    /// The decisions so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.engine.counters
    }
}

/// Passes frames to a sink as they are.
struct To<'s, O: ?Sized>(&'s mut O);

impl<T, O: Sink<T> + ?Sized> Outlet<Parts<T>> for To<'_, O> {
    #[inline(always)]
    fn take<'a>(&mut self, out: Outgoing<'a, T>)
    where
        T: 'a,
    {
        self.0.take(out);
    }
}

impl<O: ByteSink + ?Sized> Outlet<Copies<AT_ONCE>> for To<'_, O> {
    #[inline]
    fn take<'a>(&mut self, out: Copied<'a>)
    where
        Copies<AT_ONCE>: 'a,
    {
        // All that is held was copied.
        if let Copied::Bytes(out) = out {
            self.0.take(out);
        }
    }
}
