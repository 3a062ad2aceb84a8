//! Huge pages for large tables: fewer page faults while a table fills, and fewer TLB misses while
//! it is read in random order.
//!
//! Linux uses huge pages by itself only where `/sys/kernel/mm/transparent_hugepage/enabled` is
//! `always`; on most distributions it is `madvise`. See
//! `Documentation/admin-guide/mm/transhuge.rst` of the kernel, and `madvise(2)`.

/// The unit of rounding: 2 MiB, the huge page of `x86_64` and of `aarch64` with pages of 4 KiB, and
/// a multiple of every page size in use.
#[cfg(any(target_os = "linux", test))]
const HUGE: usize = 2 << 20;

/// Asks the kernel to back the memory of `items`, as far as its capacity goes, with huge pages.
///
/// This is only advice: nothing happens on another system, in a kernel without huge pages, or if
/// the capacity covers no aligned 2 MiB; memory that was already written stays in small pages.
/// Untouched memory is not allocated, except within a huge page that is touched elsewhere.
#[cfg_attr(not(target_os = "linux"), expect(unused_variables))]
pub fn advise<T>(items: &mut Vec<T>) {
    #[cfg(target_os = "linux")]
    linux::advise(items);
}

/// The whole aligned huge pages within `length` bytes at `address`: their offset and length. `None`
/// if there are none.
#[cfg(any(target_os = "linux", test))]
fn aligned(address: usize, length: usize) -> Option<(usize, usize)> {
    let skipped = address.next_multiple_of(HUGE) - address;
    let left = length.checked_sub(skipped)?;
    let whole = left - left % HUGE;
    (whole > 0).then_some((skipped, whole))
}

#[cfg(target_os = "linux")]
mod linux {
    use super::aligned;

    #[allow(unsafe_code)]
    pub(super) fn advise<T>(items: &mut Vec<T>) {
        let length = items.capacity().saturating_mul(size_of::<T>());
        let start = items.as_mut_ptr();
        let Some((skipped, whole)) = aligned(start.addr(), length) else {
            return;
        };
        let start = start.cast::<u8>().wrapping_add(skipped).cast();
        // SAFETY: `start` and `whole` lie within the one allocation that `items` owns, and which it
        // cannot give back while it is borrowed here. `MADV_HUGEPAGE` changes neither what the
        // memory holds nor whether it can be read and written, whatever else lies in its pages;
        // it stays a wish when the allocator uses the memory for something else afterwards.
        let asked = unsafe { wish(start, whole) };
        // An error means a kernel without huge pages: the table works without them.
        asked.unwrap_or_default();
    }

    #[allow(unsafe_code)]
    unsafe fn wish(start: *mut std::ffi::c_void, length: usize) -> rustix::io::Result<()> {
        if cfg!(miri) {
            return Ok(()); // It has no such call.
        }
        // SAFETY: as required of the caller.
        unsafe { rustix::mm::madvise(start, length, rustix::mm::Advice::LinuxHugepage) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_huge_pages_only() {
        assert_eq!(aligned(HUGE, HUGE), Some((0, HUGE)));
        assert_eq!(aligned(HUGE, HUGE - 1), None);
        assert_eq!(aligned(HUGE + 1, HUGE), None);
        assert_eq!(aligned(HUGE + 1, 2 * HUGE), Some((HUGE - 1, HUGE)));
        assert_eq!(aligned(16, 5 * HUGE), Some((HUGE - 16, 4 * HUGE)));
        assert_eq!(aligned(16, 0), None);
    }

    #[test]
    fn what_is_there_stays_and_more_can_be_added() {
        let mut items: Vec<u64> = Vec::with_capacity(4 * HUGE / size_of::<u64>());
        items.extend(0..1000);
        advise(&mut items);
        items.extend(1000..2000);
        assert!(items.iter().copied().eq(0..2000));
        advise(&mut Vec::<u64>::new());
        advise(&mut vec![(); 3]);
    }

    /// Whether the wish reaches the kernel: the mapping has the mark (`VmFlags: hg`).
    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn the_kernel_marks_the_mapping() {
        const ENABLED: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
        let Ok(enabled) = std::fs::read_to_string(ENABLED) else {
            return coalescope_needs::skipped("the_kernel_marks_the_mapping", ENABLED);
        };
        let mut items: Vec<u8> = Vec::with_capacity(8 * HUGE);
        advise(&mut items);
        let inside = items.as_ptr().addr() + 4 * HUGE;
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
        assert!(flags(&maps, inside).contains("hg"), "{enabled}");
    }

    /// The line `VmFlags` of the mapping that holds an address.
    #[cfg(all(target_os = "linux", not(miri)))]
    fn flags(maps: &str, address: usize) -> String {
        let holds = |line: &str| {
            let (from, rest) = line.split_once('-')?;
            let (to, _) = rest.split_once(' ')?;
            let bound = |hex| usize::from_str_radix(hex, 16).ok();
            Some((bound(from)?..bound(to)?).contains(&address))
        };
        maps.lines()
            .skip_while(|line| holds(line) != Some(true))
            .find(|line| line.starts_with("VmFlags:"))
            .unwrap_or_default()
            .to_owned()
    }
}
