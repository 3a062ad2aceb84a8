//! Where the program keeps what is to be found again.

use std::path::{Path, PathBuf};

/// The folder of experiments' records: `$COALESCOPE_STATE/ab`, /var/lib/coalescope/ab, or without
/// root `$XDG_STATE_HOME/coalescope/ab`, which is ~/.local/state by default.
pub(crate) fn records() -> PathBuf {
    state().join("ab")
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
