//! The committed inputs of the fuzz targets, through the same code: what fuzzing found stays mended, and a target whose claims
//! have become untrue is found here, not by the next one who fuzzes.

use std::fs;

use super::root;

#[path = "../../../../fuzz/bodies/files.rs"]
mod files;
#[path = "../../../../fuzz/bodies/host_sources.rs"]
mod host_sources;
#[path = "../../../../fuzz/bodies/host_text.rs"]
mod host_text;
#[path = "../../../../fuzz/bodies/merge.rs"]
mod merge;
#[path = "../../../../fuzz/bodies/split.rs"]
mod split;
#[path = "../../../../fuzz/bodies/trace.rs"]
mod trace;
#[path = "../../../../fuzz/bodies/walk.rs"]
mod walk;

/// The name of a target, and what it does with an input.
type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 7] = [
    ("files", files::run),
    ("host_sources", host_sources::run),
    ("host_text", host_text::run),
    ("merge", merge::run),
    ("split", split::run),
    ("trace", trace::run),
    ("walk", walk::run),
];

#[test]
fn every_target_takes_its_corpus() {
    for (name, run) in TARGETS {
        let inputs = fs::read_dir(root().join("fuzz/corpus").join(name)).unwrap();
        let taken = inputs.map(|input| run(&fs::read(input.unwrap().path()).unwrap()));
        assert!(taken.count() > 0, "{name}");
    }
}

#[test]
fn every_target_is_one_of_these() {
    let sources = fs::read_dir(root().join("fuzz/fuzz_targets")).unwrap();
    let mut names: Vec<String> = sources
        .map(|source| {
            source
                .unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    assert_eq!(names, TARGETS.map(|(name, _)| name));
}
