//! Making settings last: which manager owns an interface, and what its files have to say.
//!
//! Nothing is written here. [`plan`] says which files would change and how, [`holds`] whether they
//! still say what was wished. Files are edited by lines, so that all else in them stays byte for byte;
//! applying and taking back is `restore::apply_files` and `restore::undo` of `coalescope-change`.

mod appliance;
mod device;
mod error;
mod ifcfg;
mod ifupdown;
mod ini;
mod link;
mod manager;
mod model;
mod names;
mod netplan;
mod networkmanager;
mod owner;
mod plan;
mod shell;
mod tree;

pub use error::Error;
pub use model::{Manager, Ownership, Reload, Wish};
pub use plan::{FileChange, Held, Plan, Refused, holds, plan};
