//! The files that make up /etc/network/interfaces.

use super::lines::joined;
use crate::error::Error;
use crate::tree::Tree;
use coalescope_host::glob;
use std::path::{Component, Path, PathBuf};

const MAIN: &str = "/etc/network/interfaces";
/// How deep files may include others.
const DEPTH: usize = 8;
/// What a shell does more than to find names with, as wordexp(3) does; ifupdown forbids it to run commands.
const COMPUTED: [char; 6] = ['$', '`', '~', '"', '\'', '\\'];

/// The files, in the order in which they are read.
pub(super) fn files(tree: &Tree) -> Result<Vec<(PathBuf, String)>, Error> {
    let mut files = Vec::new();
    read(tree, Path::new(MAIN), &mut files, DEPTH)?;
    Ok(files)
}

fn read(
    tree: &Tree,
    path: &Path,
    files: &mut Vec<(PathBuf, String)>,
    depth: usize,
) -> Result<(), Error> {
    let is_known = files.iter().any(|(known, _)| known == path);
    if is_known || depth == 0 || tree.is_folder(path) {
        return Ok(());
    }
    let Some(text) = tree.text(path)? else {
        return Ok(());
    };
    files.push((path.to_owned(), text.clone()));
    for at in joined(&text) {
        let mut words = text[at].split_whitespace();
        let keyword = words.next().unwrap_or_default();
        for pattern in words {
            for path in included(tree, path, keyword, pattern)? {
                read(tree, &path, files, depth - 1)?;
            }
        }
    }
    Ok(())
}

fn included(tree: &Tree, from: &Path, keyword: &str, pattern: &str) -> Result<Vec<PathBuf>, Error> {
    if !matches!(keyword, "source" | "source-directory") {
        return Ok(Vec::new());
    }
    if pattern != "\\" && pattern.contains(COMPUTED) {
        return Err(Error::Damaged {
            path: from.to_owned(),
            problem: format!("which files `{keyword} {pattern}` names is for a shell to say"),
        });
    }
    let folder = from.parent().unwrap_or(Path::new("/"));
    let found = found(tree, &folder.join(pattern));
    if keyword == "source" {
        return Ok(found);
    }
    let inside = |folder: &PathBuf| {
        let names = tree.names(folder).into_iter().filter(|name| is_plain(name));
        names.map(|name| folder.join(name)).collect::<Vec<_>>()
    };
    Ok(found.iter().flat_map(inside).collect())
}

/// What `source-directory` takes of a folder.
fn is_plain(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    name.chars().all(is_plain)
}

/// The paths that fit a pattern, of which any part may be one, in the order of a shell.
fn found(tree: &Tree, pattern: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::from("/")];
    for part in pattern.components() {
        match part {
            Component::Normal(name) => {
                let name = name.to_string_lossy();
                found = found
                    .iter()
                    .flat_map(|folder| in_folder(tree, folder, &name))
                    .collect();
            }
            Component::ParentDir => {
                for path in &mut found {
                    path.pop();
                }
            }
            _ => {}
        }
    }
    found
}

fn in_folder(tree: &Tree, folder: &Path, pattern: &str) -> Vec<PathBuf> {
    if !glob::is_pattern(pattern) {
        return vec![folder.join(pattern)];
    }
    // A shell's `*` does not find hidden files.
    let is_seen = |name: &String| pattern.starts_with('.') || !name.starts_with('.');
    let names = tree.names(folder).into_iter().filter(is_seen);
    let fitting = names.filter(|name| glob::fits(pattern, name));
    fitting.map(|name| folder.join(name)).collect()
}
