//! Sums of many bytes, several words side by side.

#[cfg(all(feature = "avx2", target_arch = "x86_64"))]
mod avx2;

use super::sum_words;

/// Bytes summed side by side, four to a lane: one register of baseline x86-64. More lanes measure
/// the same on a full segment and cost more to add up.
const REGISTER: usize = 16;

/// Bytes in one turn of the loop: left to itself the compiler makes four turns of it when the whole
/// program is optimised at once, and they take two thirds more instructions.
const BLOCK: usize = 4 * REGISTER;

/// Blocks after which the lanes are emptied: before upper halves could add up to 2^32.
const BLOCKS: usize = 1 << 13;

/// The native sum of many bytes.
pub(super) fn sum(bytes: &[u8]) -> u64 {
    #[cfg(all(feature = "avx2", target_arch = "x86_64"))]
    if let Some(sum) = avx2::sum(bytes) {
        return sum;
    }
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let blocks: u64 = blocks.chunks(BLOCKS).map(sum_blocks).sum();
    blocks + sum_words(rest)
}

/// Copies many bytes and returns their native sum. Both slices must have one length.
pub(super) fn copy(from: &[u8], to: &mut [u8]) -> u64 {
    #[cfg(all(feature = "avx2", target_arch = "x86_64"))]
    if let Some(sum) = avx2::copy(from, to) {
        return sum;
    }
    // In smaller registers one pass measures no faster than two.
    let sum = sum(from);
    to.copy_from_slice(from);
    sum
}

/// Adds 32-bit words in four lanes without widening them, which would cost a third more
/// instructions: once whole, losing carries, and once their upper halves alone, which fit. What
/// the lower halves add up to follows from the two.
fn sum_blocks(blocks: &[[u8; BLOCK]]) -> u64 {
    let (mut whole, mut upper) = ([0_u32; REGISTER / 4], [0_u32; REGISTER / 4]);
    for block in blocks {
        for register in block.as_chunks::<REGISTER>().0 {
            for (lane, &word) in register.as_chunks::<4>().0.iter().enumerate() {
                let word = u32::from_ne_bytes(word);
                whole[lane] = whole[lane].wrapping_add(word);
                upper[lane] += word >> 16;
            }
        }
    }
    let lane = |(whole, upper): (u32, u32)| {
        let lower = whole.wrapping_sub(upper << 16);
        u64::from(lower) + u64::from(upper)
    };
    whole.into_iter().zip(upper).map(lane).sum()
}
