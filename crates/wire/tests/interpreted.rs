//! All that is `unsafe` here, with few enough inputs for Miri. To see the vector instructions it needs
//! `RUSTFLAGS="-C target-feature=+avx2"`; `tests/all/checksums.rs` looks at what comes out.

use coalescope_wire::checksum::{copy_and_sum, sum};
use coalescope_wire::{Work, prefetch, prefetch_at, prefetch_head, prefetch_value, widely};

/// Lengths around a register, a block of four, and the length from which on vectors are used.
const LENGTHS: [usize; 9] = [127, 128, 129, 159, 160, 255, 256, 257, 300];

#[test]
fn vectors_stay_inside_their_bytes() {
    for len in LENGTHS {
        // Of their own allocation each, so that a byte too many is one that nobody owns.
        let bytes: Vec<u8> = (0..len).map(|at| at as u8).collect();
        let mut room = vec![0; len];
        assert_eq!(copy_and_sum(&bytes, &mut room), sum(&bytes), "{len} bytes");
        assert_eq!(room, bytes);
    }
}

struct Differ<'a>(&'a [u8], &'a [u8]);

impl Work for Differ<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        self.0.iter().zip(self.1).filter(|(a, b)| a != b).count()
    }
}

#[test]
fn work_gives_what_it_gives_elsewhere() {
    for len in LENGTHS {
        let bytes: Vec<u8> = (0..len).map(|at| at as u8).collect();
        let mut other = bytes.clone();
        (other[0], other[len - 1]) = (!other[0], !other[len - 1]);
        assert_eq!(widely(Differ(&bytes, &other)), 2);
    }
}

#[test]
fn any_bytes_can_be_fetched() {
    for len in [0, 1, 64, 65, 1500] {
        let bytes = vec![1; len];
        prefetch(&bytes);
        prefetch_head::<96>(&bytes);
    }
}

#[test]
fn any_place_can_be_fetched() {
    prefetch_value(&());
    prefetch_value(&[7_u64; 100]);
    let parts: Vec<u32> = Vec::new();
    prefetch_at(parts.as_ptr());
    prefetch_at(parts.as_ptr().wrapping_add(1000));
}
