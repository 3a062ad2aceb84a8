//! What files of the repository name is in it, and none names the machine that it was written on.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::root;

/// Folders that builds make, or that hold what others wrote.
const ASIDE: [&str; 4] = ["target", "node_modules", "corpus", "saved"];
/// Endings of what people write; scripts have none.
const WRITTEN: [&str; 8] = ["rs", "md", "toml", "yaml", "yml", "mjs", "snap", "c"];
/// Names pages that are not there on purpose.
const ABOUT_LOST_PAGES: &str = "crates/coalescope/tests/docs/links.rs";

/// All files but those of folders aside, by their paths in the repository.
fn files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && !name.starts_with('.') && !ASIDE.contains(&name) {
                folders.push(path);
            } else if path.is_file() {
                found.push(path.strip_prefix(root()).unwrap().to_owned());
            }
        }
    }
    found
}

/// The texts among them.
fn texts(files: &[PathBuf]) -> impl Iterator<Item = (&PathBuf, String)> {
    let is_written = |path: &&PathBuf| {
        path.starts_with("scripts")
            || WRITTEN
                .iter()
                .any(|one| path.extension() == Some(one.as_ref()))
    };
    let written = files.iter().filter(is_written);
    written.filter_map(|path| Some((path, std::fs::read_to_string(root().join(path)).ok()?)))
}

/// Names of pages in a text, without their folders and in small letters.
fn pages(text: &str) -> impl Iterator<Item = String> {
    let is_of_path = |letter: char| letter.is_ascii_alphanumeric() || "_./-".contains(letter);
    let words = text.split(move |letter| !is_of_path(letter));
    let words = words.map(|word| word.trim_end_matches('.'));
    let pages = words.filter(|word| word.len() > ".md".len() && word.ends_with(".md"));
    pages.filter_map(|page| Some(Path::new(page).file_name()?.to_str()?.to_lowercase()))
}

#[test]
fn a_page_that_is_named_is_there() {
    let files = files();
    let there: BTreeSet<String> = files
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy().to_lowercase())
        .collect();
    let mut lost = Vec::new();
    for (path, text) in texts(&files) {
        if path == Path::new(ABOUT_LOST_PAGES) {
            continue;
        }
        let wrong = pages(&text).filter(|page| !there.contains(page));
        lost.extend(wrong.map(|page| format!("{}: {page}", path.display())));
    }
    assert!(lost.is_empty(), "{lost:#?}");
    assert_eq!(
        pages("see x/Readme.md, .md and yes.mdx.").collect::<Vec<_>>(),
        ["readme.md"]
    );
}

/// Where `scripts/fresh` clones to.
const IN_A_BARE_ROOT: &str = "/mnt/coalescope";

#[test]
fn no_file_names_the_machine() {
    let (files, here) = (files(), root().canonicalize().unwrap());
    // In a root that was made for it, the checkout lies where the scripts say.
    let here = here.to_str().filter(|here| *here != IN_A_BARE_ROOT);
    let paths = here.into_iter().chain(["/.cargo/registry/src/"]);
    let mut looked_at = 0;
    for (path, text) in texts(&files) {
        looked_at += 1;
        // This file names what it looks for.
        if path.ends_with("tests/docs/named.rs") {
            continue;
        }
        let named = paths.clone().find(|machine| text.contains(machine));
        assert_eq!(named, None, "{}", path.display());
    }
    assert!(looked_at > 1000, "{looked_at} files");
}
