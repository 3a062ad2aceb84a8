//! Strangers' files: unpacked, and read within bounds.
//!
//! | what | where |
//! |---|---|
//! | a whole file, if it is not too long | [`bounded`] |
//! | the budget of one path | [`Budget`] |
//! | gzip, zstd, bzip2, xz | [`Unpacked`]: bytes before a damaged place are returned before the error |
//! | tar | [`tar::each_member`] |
//!
//! No contents of a file make a reader panic, or take more memory than in proportion to the bytes read.

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
