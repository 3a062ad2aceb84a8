//! An error in words.

use coalescope_report::with_causes;

use crate::system::meant::meant;

/// An error's words; for an unknown interface or namespace, with the name that was probably meant.
pub(crate) fn explained(error: &anyhow::Error) -> String {
    format!("{}{}", with_causes(error.as_ref()), meant(error))
}
