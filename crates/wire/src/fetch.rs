//! Asking for bytes before they are read.
#![allow(unsafe_code)]

/// Bytes in a line of the cache.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Asks the processor to fetch bytes from memory while it does something else, into the second-level cache: many
/// lines are on their way there at a time, while the first one has few places for those that it waits for. Nothing
/// but time depends on it. Only on x86-64: elsewhere Rust has no stable way to ask, and nothing happens.
///
/// It is what makes merging frames that are in no cache cost little more than merging frames that are
/// (`docs/gro-performance.md` of the project). Reading a byte of each line instead is no substitute: a
/// read has to end before its instruction can.
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

/// As [`prefetch`], for the first `LEN` bytes, into the first-level cache. Where there are fewer it asks for what lies behind them,
/// which costs nothing but room in the cache: looking would cost more than it saves.
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

/// As [`prefetch`], for the lines in which a value lies: not for what it refers to.
#[inline(always)]
pub fn prefetch_value<T>(value: &T) {
    prefetch_at::<T>(value);
}

/// As [`prefetch_value`], for a place in which no value need be.
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

/// Asks for the line that a byte lies in, into the first-level cache.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn ask(byte: *const u8) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: every x86-64 has the instruction, and it is a hint, for which any address will do.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(byte.cast()) };
}

/// Asks for the line that a byte lies in, into the second-level cache.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn ask_far(byte: *const u8) {
    use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
    // SAFETY: every x86-64 has the instruction, and it is a hint, for which any address will do.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(byte.cast()) };
}
