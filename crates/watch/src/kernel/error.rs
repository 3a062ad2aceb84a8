//! Why frames cannot be counted.

use std::io;

use aya::maps::MapError;
use aya::programs::ProgramError;
use aya::{BtfError, EbpfError};

use super::btf::BTF;

/// Why the programs could not be loaded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    /// The kernel has no BTF.
    #[error("{BTF} cannot be read ({0}): the kernel was built without CONFIG_DEBUG_INFO_BTF")]
    NoBtf(io::Error),
    /// As with types of a newer kind.
    #[error("{BTF} is not understood ({0}): a newer version of coalescope may understand it")]
    Types(BtfError),
    /// Rights are missing.
    #[error("BPF programs may not be loaded: it takes root, or CAP_BPF and CAP_PERFMON")]
    Denied,
    /// The kernel refuses the object or one of its maps.
    #[error("the kernel refuses the object: {0}")]
    Object(#[source] EbpfError),
    /// The kernel refuses a program.
    #[error("the kernel refuses the program {name}: {source}")]
    Program {
        /// Its name.
        name: &'static str,
        /// Why.
        source: ProgramError,
    },
    /// A map cannot be read.
    #[error("what was counted cannot be read: {0}")]
    Map(#[from] MapError),
    /// The programs were attached, and then no longer.
    #[error("frames are no longer counted: {0}")]
    Ended(String),
}

/// Whether an error, or one of its causes, is the kernel's "operation not permitted".
pub(super) fn is_denied(error: &(dyn std::error::Error + 'static)) -> bool {
    io_error(error).is_some_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
}

/// What the kernel answered.
pub(super) fn io_error<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e io::Error> {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.filter_map(|error| error.downcast_ref()).last()
}
