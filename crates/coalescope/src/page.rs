//! `--report FILE.html`: the page that is written besides what is printed.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use coalescope_files::{self as files, Replacement, Rights};

use crate::cli::ReportArgs;
use crate::confine::folder_of;
use crate::inputs;

/// The file of a page, if one is wanted.
pub(crate) struct PageFile {
    path: Option<PathBuf>,
}

impl PageFile {
    /// Looks whether it can be written, before the work is done.
    pub(crate) fn check(args: &ReportArgs) -> anyhow::Result<Self> {
        let path = args.report.clone();
        if let Some(path) = &path {
            check_name(path)?;
            files::check(path).with_context(|| cannot(path))?;
        }
        Ok(Self { path })
    }

    /// The folder that it is written in.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        self.path.as_deref().map(|path| folder_of(&target(path)))
    }

    /// Whether a page is wanted.
    pub(crate) fn is_wanted(&self) -> bool {
        self.path.is_some()
    }

    /// Writes it, whole or not at all. What is printed stays standard output's.
    pub(crate) fn write(
        &self,
        page: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        replace(path, page).with_context(|| cannot(path))
    }
}

/// A capture that stands in the wrong place of the command line should not be written over.
fn check_name(path: &Path) -> anyhow::Result<()> {
    let is_page = |ending: &OsStr| {
        ["html", "htm"]
            .iter()
            .any(|one| ending.eq_ignore_ascii_case(one))
    };
    if !path.extension().is_some_and(is_page) {
        bail!(
            "--report {}: name a file that ends in .html",
            inputs::display(path)
        );
    }
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        bail!(
            "--report {}: there is something that is not a file",
            inputs::display(path)
        );
    }
    Ok(())
}

fn replace(path: &Path, page: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    files::replace(&Replacement::of(path, Rights::Usual), |file| {
        let mut out = BufWriter::new(file);
        page(&mut out)?;
        out.flush()
    })
}

/// Where it is written: a link stays one.
fn target(path: &Path) -> PathBuf {
    files::real(path).unwrap_or_else(|_| path.to_owned())
}

fn cannot(path: &Path) -> String {
    format!(
        "cannot write {}: check the folder, its free space, and that you may write there",
        inputs::display(path)
    )
}
