//! coalescope for Python: what the command says of captures and hosts, in the same words, and archives of captures as
//! tables of Arrow, for engines that others wrote.
//!
//! | what | where |
//! |---|---|
//! | captures and hosts to reports | `ask`, `report` |
//! | captures to rows, rows to facts, facts to a verdict | `digest`, `facts` |
//! | tables from and to pyarrow, without a copy | `tables` |
//! | captures that Python reads | `reader` |
//! | Ctrl-C while Rust works | `attended` |
//! | errors | `error` |

mod ask;
mod attended;
mod digest;
mod error;
mod facts;
mod reader;
mod report;
mod tables;

use pyo3::prelude::*;

/// What the package `coalescope` is made of; its stubs describe it.
#[pymodule]
mod _coalescope {
    #[pymodule_export]
    use crate::ask::{check, trace};
    #[pymodule_export]
    use crate::digest::{Archive, Digest, check_begins, digest, how_it_begins, unreadable};
    #[pymodule_export]
    use crate::error::{Error, Together, Unwritten};
    #[pymodule_export]
    use crate::facts::{Facts, facts, judge, parts};
    #[pymodule_export]
    use crate::report::{Check, Report};
}
