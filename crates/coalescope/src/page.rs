//! `--report FILE.html`: a page besides the printed report.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use coalescope_analysis::inputs;
use coalescope_files::{self as files, Replacement, Rights};
use coalescope_report::{Document, Made};

use crate::cli::ReportArgs;
use crate::speech;

/// The file of a page, if one is wanted.
#[derive(Default)]
pub(crate) struct PageFile {
    path: Option<PathBuf>,
    /// Extended attributes of the existing file, read with all rights.
    attributes: BTreeSet<String>,
}

impl PageFile {
    /// Checks whether the page can be written, before the work is done.
    pub(crate) fn check(args: &ReportArgs) -> anyhow::Result<Self> {
        let Some(path) = args.report.clone() else {
            return Ok(Self::default());
        };
        check_name(&path)?;
        let attributes = files::check(&path).and_then(|()| files::attributes(&path));
        Ok(Self {
            attributes: attributes.with_context(|| cannot(&path))?,
            path: Some(path),
        })
    }

    /// The folder of the page.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        self.path.as_deref().map(|path| folder_of(&target(path)))
    }

    /// Whether a page is wanted.
    pub(crate) fn is_wanted(&self) -> bool {
        self.path.is_some()
    }

    /// Writes the page, completely or not at all. Only the report goes to standard output.
    pub(crate) fn write(
        &self,
        report: &dyn Document,
        made: impl FnOnce() -> Made,
    ) -> anyhow::Result<()> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let page = |out: &mut dyn Write| report.write_html(&made(), out);
        let lost = replace(path, page).with_context(|| cannot(path))?;
        self.mention(path, lost);
        Ok(())
    }

    /// Reports extended attributes that the page has lost: rights to set and to see some of them
    /// are given up before strangers' files are read.
    fn mention(&self, path: &Path, lost: Vec<String>) {
        let is = files::attributes(path).unwrap_or_default();
        let mut all: BTreeSet<String> = self.attributes.difference(&is).cloned().collect();
        all.extend(lost);
        if !all.is_empty() {
            let names: Vec<String> = all.into_iter().collect();
            speech::tell(&format!(
                "warning: {} has no {} any more: reading strangers' files leaves no right to set these",
                inputs::display(path),
                names.join(", ")
            ));
        }
    }
}

/// Refuses a name that is not a page's: a capture in the wrong place of the command line must not be overwritten.
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

fn replace(
    path: &Path,
    page: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<Vec<String>> {
    let replacement = Replacement {
        may_lose: true,
        ..Replacement::of(path, Rights::Usual)
    };
    files::replace(&replacement, |file| {
        let mut out = BufWriter::new(file);
        page(&mut out)?;
        out.flush()
    })
}

/// The path to write to: a symbolic link stays one.
fn target(path: &Path) -> PathBuf {
    files::real(path).unwrap_or_else(|_| path.to_owned())
}

fn cannot(path: &Path) -> String {
    format!(
        "cannot write {}: check the folder, its free space, and that you may write there",
        inputs::display(path)
    )
}

/// The folder that a path is in.
pub(crate) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}
