//! Work compiled for the vector registers that the processor has.
//!
//! It is what makes the merge engine compare the headers of two frames in 13 instructions instead of 40
//! (`docs/gro-performance.md` of the project). Naming the instructions, as for checksums, would need `unsafe`
//! there, and no library of this workspace may ask for `target-cpu`.
#![allow(unsafe_code)]

#[cfg(all(feature = "avx2", target_arch = "x86_64"))]
cpufeatures::new!(detected, "avx2", "bmi1", "bmi2");

/// Work that [`widely`] runs.
pub trait Work {
    /// What comes of it.
    type Output;

    /// Does it. `#[inline(always)]`, with all that is to profit: what is called is compiled for any processor.
    fn run(self) -> Self::Output;
}

/// Runs `work`, compiled for AVX2 where the processor has it. What comes of it is the same.
#[inline(always)]
pub fn widely<W: Work>(work: W) -> W::Output {
    #[cfg(all(feature = "avx2", target_arch = "x86_64"))]
    if detected::get() {
        // SAFETY: `run_avx2` needs what was found, and nothing else.
        return unsafe { run_avx2(work) };
    }
    work.run()
}

#[cfg(all(feature = "avx2", target_arch = "x86_64"))]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn run_avx2<W: Work>(work: W) -> W::Output {
    work.run()
}
