//! Work compiled for the vector registers that the processor has.
//!
//! With this the merge engine compares the headers of two frames in 13 instructions instead of 40
//! (`docs/gro-performance.md` of the project). Naming the instructions, as for checksums, would need `unsafe` there,
//! and no library of this workspace may set `target-cpu`.
#![allow(unsafe_code)]

#[cfg(all(feature = "avx2", target_arch = "x86_64"))]
cpufeatures::new!(detected, "avx2", "bmi1", "bmi2");

/// Work that [`widely`] runs.
pub trait Work {
    /// The result of the work.
    type Output;

    /// Does the work. `#[inline(always)]`, like all functions that are to profit: a function that is called is compiled
    /// for any processor.
    fn run(self) -> Self::Output;
}

/// Runs `work`, compiled for AVX2 where the processor has it. The result is the same.
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
