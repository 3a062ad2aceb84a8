//! Chooses the slot, and the masks, of a frame that will be held.

use super::Engine;
use crate::frame::seen::Seen;
use crate::frame::template::Template;
use crate::payload::store::{Outlet, Store};
use crate::profile::Full;
use crate::reason::Reason;

impl<S: Store> Engine<S> {
    /// The bucket of a hash, if there is room in it; room is made if the profile evicts.
    #[inline(always)]
    pub(crate) fn room(&mut self, hash: u64, out: &mut impl Outlet<S>) -> Option<u32> {
        let bucket = match self.settings.one_bucket {
            true => 0,
            false => self.table.bucket_of(hash),
        };
        if self.table.is_full(bucket) {
            match self.profile.table.full {
                Full::Pass => return None,
                Full::Evict => self.make_room(bucket, out),
            }
        }
        Some(bucket)
    }

    /// Sends up the oldest frame of a bucket if the bucket is full.
    #[inline(never)]
    pub(super) fn make_room(&mut self, bucket: u32, out: &mut impl Outlet<S>) {
        if self.table.is_full(bucket)
            && let Some(oldest) = self.table.oldest(bucket)
        {
            self.emit(oldest, Reason::BucketFull, out);
        }
    }

    /// The number of the masks for a frame that will be held.
    pub(super) fn template_for(&mut self, slot: u32, seen: &Seen, frame: &[u8]) -> u32 {
        if let Some(number) = self.plain.number(seen) {
            return number;
        }
        let index = slot as usize;
        let headers = seen.headers.as_slice();
        let template = Template::new(&self.profile, headers, seen.header_len)
            .with_gre_checksum(headers, frame);
        while self.templates.len() <= index {
            self.templates.push(template.clone());
        }
        self.templates[index] = template;
        (self.plain.len() + index) as u32
    }
}
