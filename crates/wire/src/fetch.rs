//! Prefetches bytes before they are read.
#![allow(unsafe_code)]

/// Bytes in a line of the cache.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Prefetches bytes from memory into the second-level cache while the processor does something else: many lines can be
/// on their way there at a time, while the first-level cache has few places for outstanding lines. Only time depends on
/// prefetching. Only on x86-64: elsewhere Rust has no stable way to prefetch, and nothing happens.
///
/// With prefetching, merging frames that are in no cache costs little more than merging frames that are
/// (`docs/gro-performance.md` of the project). Reading a byte of each line instead is no substitute: a load has to
/// complete before its instruction can.
#[inline]
pub fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    {
        let (lines, _) = bytes.as_chunks::<LINE>();
        lines.iter().for_each(|[first, ..]| ask_far(first));
        // The last bytes may lie in one line more than there are whole lines of bytes.
        if let [.., last] = bytes {
            ask_far(last);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}

/// Like [`prefetch`], for the first `LEN` bytes, into the first-level cache. If there are fewer bytes, the memory
/// behind them is prefetched, which costs only room in the cache: a check would cost more than it saves.
#[inline(always)]
pub fn prefetch_head<const LEN: usize>(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    {
        let first = bytes.as_ptr();
        for at in (0..LEN).step_by(LINE) {
            ask(first.wrapping_add(at));
        }
        ask(first.wrapping_add(LEN - 1));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}

/// Like [`prefetch`], for the lines of a value: not for memory that the value refers to.
#[inline(always)]
pub fn prefetch_value<T>(value: &T) {
    prefetch_at::<T>(value);
}

/// Like [`prefetch_value`], for a place that need not hold a value.
#[inline(always)]
pub fn prefetch_at<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        let first = place.cast::<u8>();
        for at in (0..size_of::<T>()).step_by(LINE) {
            ask_far(first.wrapping_add(at));
        }
        ask_far(first.wrapping_add(size_of::<T>().saturating_sub(1)));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// Prefetches the line of a byte into the first-level cache.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn ask(byte: *const u8) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: every x86-64 has the instruction, and it is a hint, for which any address will do.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(byte.cast()) };
}

/// Prefetches the line of a byte into the second-level cache.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn ask_far(byte: *const u8) {
    use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
    // SAFETY: every x86-64 has the instruction, and it is a hint, for which any address will do.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(byte.cast()) };
}
