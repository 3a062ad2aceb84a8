//! Sums in registers of 32 bytes, where the processor has them.
//!
//! The instructions are named one by one: compiled for AVX2, the portable loop becomes slower than without AVX2.
#![allow(unsafe_code)]

use core::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_add_epi64, _mm256_extract_epi64, _mm256_loadu_si256,
    _mm256_setzero_si256, _mm256_slli_epi32, _mm256_srli_epi32, _mm256_storeu_si256,
    _mm256_sub_epi32, _mm256_unpackhi_epi32, _mm256_unpacklo_epi32,
};

use crate::checksum::sum_words;

cpufeatures::new!(detected, "avx2");

const REGISTER: usize = 32;

/// Registers copied in one turn: with one, the compiler would make two passes of it.
const BLOCK: usize = 4;

/// Registers after which the lanes are emptied, which are whole blocks: before upper halves could
/// add up to 2^32.
const REGISTERS: usize = 1 << 15;

/// The native sum; `None` on a processor without AVX2, or under a kernel that does not save its
/// registers.
#[inline]
pub(super) fn sum(bytes: &[u8]) -> Option<u64> {
    if !detected::get() {
        return None;
    }
    let (registers, rest) = bytes.as_chunks();
    let chunks = registers.chunks(REGISTERS);
    // SAFETY: `sum_registers` needs AVX2 and nothing else, and AVX2 was found.
    let sums = chunks.map(|registers| unsafe { sum_registers(registers) });
    Some(sums.sum::<u64>() + sum_words(rest))
}

/// Copies bytes and returns their native sum; `None`, with nothing copied, where [`sum`] returns `None`. Both slices
/// must have one length.
#[inline]
pub(super) fn copy(from: &[u8], to: &mut [u8]) -> Option<u64> {
    if !detected::get() {
        return None;
    }
    // Copies the bytes beyond the last block, and some more: a constant length needs no call.
    *to.last_chunk_mut::<{ BLOCK * REGISTER }>()? = *from.last_chunk()?;
    let (from, rest) = from.as_chunks();
    let (to, _) = to.as_chunks_mut();
    let chunks = from.chunks(REGISTERS).zip(to.chunks_mut(REGISTERS));
    // SAFETY: `copy_blocks` needs AVX2 and nothing else, and AVX2 was found.
    let sums = chunks.map(|(from, to)| unsafe { copy_blocks(from, to) });
    Some(sums.sum::<u64>() + sum_words(rest))
}

#[target_feature(enable = "avx2")]
fn sum_registers(registers: &[[u8; REGISTER]]) -> u64 {
    let mut lanes = Lanes::new();
    for register in registers {
        lanes.add(load(register));
    }
    lanes.total()
}

/// Sums registers, and copies those that are blocks.
#[target_feature(enable = "avx2")]
fn copy_blocks(from: &[[u8; REGISTER]], to: &mut [[u8; REGISTER]]) -> u64 {
    let mut lanes = Lanes::new();
    let (blocks, rest) = from.as_chunks::<BLOCK>();
    for (from, to) in blocks.iter().zip(to.as_chunks_mut::<BLOCK>().0) {
        let words = [
            load(&from[0]),
            load(&from[1]),
            load(&from[2]),
            load(&from[3]),
        ];
        for (to, words) in to.iter_mut().zip(words) {
            store(to, words);
            lanes.add(words);
        }
    }
    for register in rest {
        lanes.add(load(register));
    }
    lanes.total()
}

/// Eight lanes: words added up whole, losing carries, and their upper halves alone, which fit.
#[derive(Clone, Copy)]
struct Lanes {
    whole: __m256i,
    upper: __m256i,
}

impl Lanes {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new() -> Self {
        Self {
            whole: _mm256_setzero_si256(),
            upper: _mm256_setzero_si256(),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn add(&mut self, words: __m256i) {
        self.whole = _mm256_add_epi32(self.whole, words);
        self.upper = _mm256_add_epi32(self.upper, _mm256_srli_epi32::<16>(words));
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn total(self) -> u64 {
        let lower = _mm256_sub_epi32(self.whole, _mm256_slli_epi32::<16>(self.upper));
        widened(lower) + widened(self.upper)
    }
}

/// The sum of eight numbers of 32 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn widened(lanes: __m256i) -> u64 {
    let zero = _mm256_setzero_si256();
    let low = _mm256_unpacklo_epi32(lanes, zero);
    let sums = _mm256_add_epi64(low, _mm256_unpackhi_epi32(lanes, zero));
    let sum = _mm256_extract_epi64::<0>(sums)
        + _mm256_extract_epi64::<1>(sums)
        + _mm256_extract_epi64::<2>(sums)
        + _mm256_extract_epi64::<3>(sums);
    sum as u64
}

/// One instruction. Made of four words, which needs no `unsafe`, it would be five.
#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; REGISTER]) -> __m256i {
    // SAFETY: it reads 32 bytes, wherever they start, and `bytes` has 32.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(bytes: &mut [u8; REGISTER], words: __m256i) {
    // SAFETY: it writes 32 bytes, wherever they start, and `bytes` has 32.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), words) }
}
