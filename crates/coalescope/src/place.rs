//! The folder for captures of an incident.

use std::fs;
use std::path::{Path, PathBuf};

use crate::scratch::Scratch;
use anyhow::Context;

/// A folder that is kept, or removed when this value is dropped.
pub(crate) enum Place {
    Kept(PathBuf),
    Temporary(Scratch),
}

impl Place {
    /// The folder to keep, which is made if it is missing, or a temporary one.
    pub(crate) fn new(keep: Option<PathBuf>) -> anyhow::Result<Self> {
        let Some(path) = keep else {
            let made = Scratch::new().context("to keep the files, use --keep DIR")?;
            return Ok(Self::Temporary(made));
        };
        fs::create_dir_all(&path)
            .with_context(|| format!("cannot make the folder {}", path.display()))?;
        Ok(Self::Kept(path))
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::Temporary(folder) => folder.path(),
        }
    }

    /// The files that remain when this value is dropped.
    pub(crate) fn kept(&self, files: Vec<PathBuf>) -> Vec<PathBuf> {
        match self {
            Self::Kept(_) => files,
            Self::Temporary(_) => Vec::new(),
        }
    }
}
