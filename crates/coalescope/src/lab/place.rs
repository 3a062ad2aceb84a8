//! Where the files of an incident go.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::TempDir;

/// A folder that stays, or goes with this value.
pub(super) enum Place {
    Kept(PathBuf),
    Temporary(TempDir),
}

impl Place {
    /// A folder of the incident's name in the one to keep, or a temporary one.
    pub(super) fn new(keep: Option<&Path>, name: &str) -> anyhow::Result<Self> {
        let Some(keep) = keep else {
            let made = TempDir::with_prefix("coalescope-lab-");
            let made = made.context("cannot make a temporary folder: set TMPDIR, or use --keep");
            return Ok(Self::Temporary(made?));
        };
        let path = keep.join(name);
        fs::create_dir_all(&path)
            .with_context(|| format!("cannot make the folder {}", path.display()))?;
        Ok(Self::Kept(path))
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::Temporary(folder) => folder.path(),
        }
    }

    /// Files that are still there afterwards.
    pub(super) fn kept(&self, files: Vec<PathBuf>) -> Vec<PathBuf> {
        match self {
            Self::Kept(_) => files,
            Self::Temporary(_) => Vec::new(),
        }
    }
}
