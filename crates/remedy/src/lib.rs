//! Making settings last: which manager owns an interface, and what its files have to say.
//!
//! Nothing is written here. [`plan`] says which files would change and how, [`holds`] whether they
//! still say what was wished. Files are edited by lines, so that all else in them stays byte for byte;
//! applying and taking back is `restore::apply_files` and `restore::undo` of `coalescope-experiment`.

mod device;
mod error;
mod glob;
mod ifcfg;
mod ifupdown;
mod ini;
mod link;
mod manager;
mod names;
mod netplan;
mod networkmanager;
mod owner;
mod plan;
mod shell;
mod tree;

pub use error::Error;
pub use owner::{Manager, Ownership};
pub use plan::{FileChange, Held, Plan, Refused, Reload, holds, plan};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A switch of an interface that is to be so after every start of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Wish {
    /// The interface.
    pub interface: String,
    /// The network namespace that it is in; `None` is the one that we are in.
    pub namespace: Option<String>,
    /// The feature, by ethtool's long name (`generic-receive-offload`).
    pub feature: String,
    /// On or off.
    pub on: bool,
}
