//! Gives up rights that reading strangers' files does not need: once the inputs are open, before
//! their first byte is read.

use std::path::{Path, PathBuf};

use coalescope_host::sources::Given;

use crate::cli::RulesArgs;
use crate::page::{PageFile, folder_of};
use crate::system::rights;

/// Files and folders that are still to be opened after the inputs.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    /// Folders to be read, with all their contents.
    folders: Vec<PathBuf>,
    /// Files to be overwritten, and folders in which files are made.
    outputs: Vec<PathBuf>,
}

impl Needs {
    /// The needs of a page, if one is wanted.
    pub(crate) fn of_page(page: &PageFile) -> Self {
        Self {
            outputs: page.folder().into_iter().collect(),
            ..Self::default()
        }
    }

    /// Adds a folder to be read.
    pub(crate) fn and_folder(mut self, folder: &Path) -> Self {
        self.folders.push(folder.to_owned());
        self
    }

    /// Adds a file to be written, if one is wanted.
    pub(crate) fn and_output(mut self, path: Option<&Path>) -> Self {
        self.outputs.extend(path.map(there_or_folder));
        self
    }

    /// Adds the folders of rules.
    pub(crate) fn and_rules(mut self, rules: &RulesArgs) -> Self {
        self.folders.extend(rules.rules.iter().cloned());
        self
    }

    /// Adds folders of saved output; single files are open already.
    pub(crate) fn and_folders(mut self, given: &[Given]) -> Self {
        let folders = given.iter().filter_map(Given::folder);
        self.folders.extend(folders.map(Path::to_owned));
        self
    }
}

/// The path of an existing file, or the folder in which a new one will be made.
fn there_or_folder(path: &Path) -> PathBuf {
    match path.canonicalize() {
        Ok(there) => there,
        Err(_) => folder_of(path),
    }
}

/// Gives up all rights but these.
pub(crate) fn enter(needs: &Needs) {
    rights::give_up(&needs.folders, &needs.outputs);
}
