//! Rights that nobody needs who reads strangers' files: given up once the inputs are open, before their
//! first byte is read.

use std::path::{Path, PathBuf};

use coalescope_host::sources::Given;

use crate::cli::RulesArgs;
use crate::page::{PageFile, folder_of};
use crate::system::rights;

/// What is still to be opened after the inputs.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    /// Folders to be read, with all that is in them.
    folders: Vec<PathBuf>,
    /// Files to be written over, and folders in which files are made.
    outputs: Vec<PathBuf>,
}

impl Needs {
    /// What a page needs, if one is wanted.
    pub(crate) fn of_page(page: &PageFile) -> Self {
        Self {
            outputs: page.folder().into_iter().collect(),
            ..Self::default()
        }
    }

    /// A folder to be read as well.
    pub(crate) fn and_folder(mut self, folder: &Path) -> Self {
        self.folders.push(folder.to_owned());
        self
    }

    /// A file to be written as well, if one is wanted.
    pub(crate) fn and_output(mut self, path: Option<&Path>) -> Self {
        self.outputs.extend(path.map(there_or_folder));
        self
    }

    /// Folders of rules as well.
    pub(crate) fn and_rules(mut self, rules: &RulesArgs) -> Self {
        self.folders.extend(rules.rules.iter().cloned());
        self
    }

    /// Folders of saved output as well; what else was given is open.
    pub(crate) fn and_folders(mut self, given: &[Given]) -> Self {
        let folders = given.iter().filter_map(Given::folder);
        self.folders.extend(folders.map(Path::to_owned));
        self
    }
}

/// A file that is there, or the folder in which it is going to be made.
fn there_or_folder(path: &Path) -> PathBuf {
    match path.canonicalize() {
        Ok(there) => there,
        Err(_) => folder_of(path),
    }
}

/// Gives up what is not needed.
pub(crate) fn enter(needs: &Needs) {
    rights::give_up(&needs.folders, &needs.outputs);
}
