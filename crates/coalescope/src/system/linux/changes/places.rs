//! Folders of records and journals.

use std::path::{Path, PathBuf};

use anyhow::bail;
use coalescope_change::journal::{State, Store};
use coalescope_change::settings::Error;

use crate::speech;

/// The folder of experiments' records: `$COALESCOPE_STATE/ab`, /var/lib/coalescope/ab, or without
/// root `$XDG_STATE_HOME/coalescope/ab`, which is ~/.local/state by default.
pub(crate) fn records() -> PathBuf {
    state().join("ab")
}

/// Every folder of journals, or why it cannot be read. Without root these are the user's own, if
/// there is one. `command` is for the error.
pub(crate) fn journals(command: &str) -> anyhow::Result<Vec<Result<Store, Error>>> {
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let own = ["COALESCOPE_STATE", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"];
    if !rustix::process::geteuid().is_root() && !own.iter().any(is_set) {
        bail!(
            "{command} needs root: what fix and ab change as root is written down in /run/coalescope \
             and /var/lib/coalescope; run `sudo coalescope {command}`"
        );
    }
    Ok(Store::everywhere())
}

/// Reports commands that ended without restoring their changes.
pub(crate) fn mention_left() {
    for store in Store::everywhere().into_iter().flatten() {
        for journal in store.left().unwrap_or_default() {
            let (command, changes) = (journal.command_line(), journal.changes().join(", "));
            // A fix was to stay until an `undo`, which has failed since.
            let what = match journal.state {
                State::Failed => format!(
                    "not all that `{command}` changed ({changes}) could be taken back: `coalescope undo {}` tries again",
                    journal.id
                ),
                _ => format!(
                    "`{command}` ended without taking back what it changed ({changes}): `coalescope undo {}` takes it back",
                    journal.id
                ),
            };
            speech::tell(&format!("warning: {what}"));
        }
    }
}

fn state() -> PathBuf {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(state) = set("COALESCOPE_STATE") {
        return PathBuf::from(state);
    }
    if rustix::process::geteuid().is_root() {
        return PathBuf::from("/var/lib/coalescope");
    }
    let state = set("XDG_STATE_HOME").map(PathBuf::from);
    // As the specification of these variables has it.
    let state = state.filter(|path| path.is_absolute());
    let home = || set("HOME").map(|home| Path::new(&home).join(".local/state"));
    let base = state.or_else(home).unwrap_or_else(std::env::temp_dir);
    base.join("coalescope")
}
