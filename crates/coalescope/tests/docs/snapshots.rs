//! Snapshots name nothing of the machine that made them.

use std::path::PathBuf;

use crate::root;

/// All snapshots of the workspace's crates.
fn snapshots() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "snap")
            {
                found.push(path);
            }
        }
    }
    found
}

/// insta writes where a snapshot's test is; built elsewhere than in the repository's own `target`, by a path that leads
/// through folders outside.
#[test]
fn snapshots_name_their_tests_by_a_path_in_the_repository() {
    let snapshots = snapshots();
    assert!(snapshots.len() > 100, "{} snapshots", snapshots.len());
    for path in snapshots {
        let text = std::fs::read_to_string(&path).unwrap();
        let source = text.lines().find_map(|line| line.strip_prefix("source: "));
        let source = source.unwrap_or_default();
        assert!(
            source.starts_with("crates/") && root().join(source).is_file(),
            "{}: {source}",
            path.display()
        );
    }
}
