//! Strangers' files: unpacked, and read within bounds.
//!
//! | what | where |
//! |---|---|
//! | a whole file, if it is not too long | [`bounded`] |
//! | all that one path may cost | [`Budget`] |
//! | gzip, zstd, bzip2, xz | [`Unpacked`]: what stands before damage is given out before the error |
//! | tar | [`tar::each_member`] |
//!
//! Nothing in a file makes a reader panic, or take memory that its bytes have not paid for.

pub mod bounded;
mod budget;
#[cfg(feature = "streams")]
mod packed;
#[cfg(feature = "streams")]
mod packing;
#[cfg(feature = "archives")]
pub mod tar;
#[cfg(feature = "streams")]
mod unpacked;
#[cfg(feature = "streams")]
mod zstd;

pub use budget::{Budget, Metered};
#[cfg(feature = "streams")]
pub use packing::Packing;
#[cfg(feature = "streams")]
pub use unpacked::Unpacked;
