//! Headers are fetched before they are needed, so that frames that are in no cache do not have to be
//! waited for one by one.

use coalescope_wire::prefetch_head;

use crate::merge::plain::USUAL;

/// How many frames ahead. Of 4, 8, 12, 16, 24 and 32 this measured best on cold memory; on warm memory
/// all are alike (docs/gro-performance.md).
const AHEAD: usize = 12;

/// The frames of a batch. While one is handed out, the headers of one further on are fetched; `ahead`
/// are the same frames.
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

#[inline(always)]
fn fetch(frame: &[u8]) {
    // As many as are compared, and copied of the first frame of a flow.
    prefetch_head::<USUAL>(frame);
}
