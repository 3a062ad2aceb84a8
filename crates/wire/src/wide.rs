//! Work compiled for the vector registers that the processor has.
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

/// Runs `work`, compiled for AVX2 where the processor has it.
#[inline(always)]
pub fn widely<W: Work>(work: W) -> W::Output {
    #[cfg(all(feature = "avx2", target_arch = "x86_64"))]
    if detected::get() {
        // SAFETY: it needs what was found, and nothing else.
        return unsafe { run_avx2(work) };
    }
    work.run()
}

#[cfg(all(feature = "avx2", target_arch = "x86_64"))]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn run_avx2<W: Work>(work: W) -> W::Output {
    work.run()
}
