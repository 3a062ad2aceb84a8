//! Prefetches headers before they are needed, so that frames outside of the cache do not cost one wait each.

use coalescope_wire::{prefetch_head, prefetch_value};

use crate::frame::template::USUAL;

/// How many frames ahead. Of 4, 8, 12, 16, 24 and 32 this measured best on cold memory; on warm memory
/// all are alike (docs/gro-performance.md).
const AHEAD: usize = 12;

/// The frames of a batch. While a frame is handed out, the headers of a later one are prefetched; `ahead` iterates over
/// the same frames.
#[inline(always)]
pub(crate) fn fetched<'f, T>(
    frames: impl Iterator<Item = T>,
    mut ahead: impl Iterator<Item = &'f [u8]>,
) -> impl Iterator<Item = T> {
    ahead.by_ref().take(AHEAD).for_each(fetch);
    frames.inspect(move |_| {
        if let Some(frame) = ahead.next() {
            fetch(frame);
        }
    })
}

/// Prefetches the headers of frames, many at a time, into the second-level cache.
#[inline(always)]
pub(crate) fn fetch_many<'f>(frames: impl Iterator<Item = &'f [u8]>) {
    let heads = frames.filter_map(<[u8]>::first_chunk::<USUAL>);
    heads.for_each(prefetch_value);
}

#[inline(always)]
fn fetch(frame: &[u8]) {
    // As many bytes as are compared, and as are copied from the first frame of a flow.
    prefetch_head::<USUAL>(frame);
}
