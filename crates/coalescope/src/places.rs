//! Where the program keeps what is to be found again.

use std::path::{Path, PathBuf};

use anyhow::bail;
use coalescope_experiment::journal::{Store, StoreKind};

/// The folder of experiments' records: `$COALESCOPE_STATE/ab`, /var/lib/coalescope/ab, or without
/// root `$XDG_STATE_HOME/coalescope/ab`, which is ~/.local/state by default.
pub(crate) fn records() -> PathBuf {
    state().join("ab")
}

/// The journals of what was changed. Without root these are the user's own, if there is a place for
/// them. `command` is who asks.
pub(crate) fn journals(kind: StoreKind, command: &str) -> anyhow::Result<Store> {
    let own = match kind {
        StoreKind::Runtime => "XDG_RUNTIME_DIR",
        StoreKind::Persistent => "XDG_STATE_HOME",
    };
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_root = rustix::process::geteuid().is_root();
    if !is_root && !is_set("COALESCOPE_STATE") && !is_set(own) {
        bail!(
            "{command} needs root: what fix and ab change as root is written down in /run/coalescope \
             and /var/lib/coalescope; run `sudo coalescope {command}`"
        );
    }
    Ok(Store::usual(kind)?)
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
    let home = || set("HOME").map(|home| Path::new(&home).join(".local/state"));
    let base = state.or_else(home).unwrap_or_else(std::env::temp_dir);
    base.join("coalescope")
}
