//! How frames come out: passing frames, and held ones, each on its own, with its batch, by age, or all.

use coalescope_wire::Flags;

use super::{Engine, Incoming, PASSED, budget};
use crate::bytes::flags_at;
use crate::frame::held::Held;
use crate::merge::finish;
use crate::out::decision::{Action, Decision};
use crate::out::outgoing::About;
use crate::payload::store::{Outlet, Store};
use crate::profile::{Bystanders, Emission, Profile};
use crate::reason::Reason;

impl<S: Store> Engine<S> {
    /// Lets a frame pass, behind the frames that it must not overtake.
    pub(super) fn pass(
        &mut self,
        incoming: Incoming<'_, S::Token>,
        reason: Reason,
        out: &mut impl Outlet<S>,
    ) -> Decision {
        if self.profile.bystanders == Bystanders::Flush {
            self.flush_buckets(Reason::Overtaken, out);
        }
        let decision = Decision {
            action: Action::Passed,
            frame: self.counters.frames_in,
            reason: Some(reason),
        };
        if let Some(slot) = self.room_to_wait(out) {
            self.wait(slot, incoming, reason);
        } else {
            self.counters.leave();
            let about = About::unchanged(self.counters.frames_in, reason);
            out.take(self.store.pass(incoming.frame, incoming.token, about));
        }
        decision
    }

    /// A slot for a passing frame, if it must not overtake the frames that come out with its batch.
    fn room_to_wait(&mut self, out: &mut impl Outlet<S>) -> Option<u32> {
        if self.profile.emission != Emission::Batch || self.table.is_empty() {
            return None;
        }
        self.make_room(0, out);
        self.table.take(0)
    }

    /// Keeps a frame that passes for the end of the batch.
    fn wait(&mut self, slot: u32, incoming: Incoming<'_, S::Token>, reason: Reason) {
        let held = &mut self.table.slots[slot as usize];
        (held.segments, held.empty) = (0, PASSED);
        held.frame = self.counters.frames_in;
        held.since = incoming.now;
        held.closed = Some(reason);
        let len = incoming.frame.len();
        self.store
            .start(slot, incoming.frame, len..len, incoming.token);
    }

    /// Ends the merge of a held frame: the frame comes out now, or with its batch.
    pub(crate) fn end(&mut self, slot: u32, reason: Reason, out: &mut impl Outlet<S>) {
        match self.profile.emission {
            Emission::Decided => self.emit(slot, reason, out),
            Emission::Batch => {
                self.table.slots[slot as usize].closed = Some(reason);
                self.table.close(slot);
            }
        }
    }

    /// Sends a held frame up and frees its slot.
    #[inline(never)]
    pub(crate) fn emit(&mut self, slot: u32, reason: Reason, out: &mut impl Outlet<S>) {
        self.emit_here(slot, reason, out);
    }

    #[inline(always)]
    fn emit_here(&mut self, slot: u32, reason: Reason, out: &mut impl Outlet<S>) {
        let held = &mut self.table.slots[slot as usize];
        let reason = held.closed.take().unwrap_or(reason);
        let frames = held.frames();
        self.counters.leave();
        if frames != PASSED {
            self.counters.flush(reason);
        }
        if frames <= 1 {
            let about = About::unchanged(held.frame, reason);
            if let Some(single) = self.store.single(slot, about) {
                out.take(single);
            }
        } else {
            self.counters.merged_out += 1;
            finish::finish(held, self.settings.checksums, self.profile.list);
            let accurate_ecn = is_accurate_ecn(&self.profile, held);
            let about = finish::about(held, reason, accurate_ecn);
            out.take(self.store.merged(slot, &mut held.header, about));
        }
        self.table.release(slot);
    }

    /// Sends up all held frames: bucket by bucket, the oldest first.
    pub(crate) fn flush(&mut self, reason: Reason, out: &mut impl Outlet<S>) {
        self.until_flush = budget(&self.profile);
        self.flush_buckets(reason, out);
    }

    pub(super) fn flush_buckets(&mut self, reason: Reason, out: &mut impl Outlet<S>) {
        if self.table.is_large() && self.table.is_crowded() {
            return self.flush_far(reason, out);
        }
        for bucket in 0..self.table.buckets() {
            while let Some(slot) = self.table.oldest(bucket) {
                self.table.fetch_newer(slot);
                self.emit_here(slot, reason, out);
            }
        }
    }

    /// When the oldest held frame came.
    pub(crate) fn oldest(&self) -> Option<u64> {
        let oldest = (0..self.table.buckets()).filter_map(|bucket| self.table.oldest(bucket));
        oldest
            .map(|slot| self.table.slots[slot as usize].since)
            .min()
    }

    /// Sends up frames that came before `since`, the oldest of each bucket first.
    pub(crate) fn flush_before(&mut self, since: u64, out: &mut impl Outlet<S>) {
        for bucket in 0..self.table.buckets() {
            while let Some(slot) = self.table.oldest(bucket)
                && self.table.slots[slot as usize].since < since
            {
                self.emit(slot, Reason::Age, out);
            }
        }
    }
}

/// Whether all segments have CWR: where the flag must be equal, it is a bit of a counter (AccECN); elsewhere it belongs
/// to the first segment alone.
fn is_accurate_ecn(profile: &Profile, held: &Held) -> bool {
    let kept = profile.tcp.equal & Flags::CWR;
    kept != 0 && held.is_tcp && flags_at(&held.header, held.layer4.into()) & kept != 0
}
