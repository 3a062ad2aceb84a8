//! Facts that are missing, there twice, or none at all: each an error that says so.

mod folder;

use std::sync::Arc;

use crate::common::{archived, captures, digested};
use arrow_array::{ArrayRef, StringArray};
use coalescope_archive::{Error, Facts, Folder, facts, facts_of, judge, parts};
use coalescope_capture::Options;
use coalescope_simulate::story;

/// An archive of one point of a story, in four shards.
fn archive(folder: &std::path::Path) -> Folder {
    let mut scenario = story("healthy-gro").expect("a story");
    scenario.connections = 8;
    let points = captures(scenario, &[0.5]);
    archived(&points[..1], 4, folder)
}

fn facts_of_parts(archive: &Folder) -> Vec<Facts> {
    let parts = parts(archive).into_iter();
    let facts = parts.map(|part| facts(archive, part, &Options::default()).expect("rows"));
    facts.collect()
}

fn sum(all: impl IntoIterator<Item = Facts>) -> Facts {
    let mut sum = Facts::default();
    all.into_iter().for_each(|facts| sum.add(facts));
    sum
}

#[test]
fn each_shard_is_wanted_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let archive = archive(folder.path());
    let all = facts_of_parts(&archive);
    assert_eq!(all.len(), 4);
    assert!(judge(&sum(all.clone()), archive.files()).is_ok());
    let lacking = judge(&sum(all[1..].to_vec()), archive.files());
    assert!(matches!(lacking, Err(Error::Rows { .. })), "{lacking:?}");
    let twice = judge(&sum(all.iter().chain(&all[..1]).cloned()), archive.files());
    assert!(matches!(twice, Err(Error::Rows { .. })), "{twice:?}");
    let together = facts(&archive, None, &Options::default()).expect("rows");
    let twice = judge(&sum([together.clone(), together]), archive.files());
    assert!(matches!(twice, Err(Error::Facts)), "{twice:?}");
}

#[test]
fn shards_of_several_points_are_followed_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let points = captures(story("hyperv-rsc-jumbo").expect("a story"), &[]);
    let archive = archived(&points, 4, folder.path());
    assert_eq!(parts(&archive), [None]);
    let one = facts(&archive, Some(0), &Options::default());
    assert!(matches!(one, Err(Error::Together)), "{one:?}");
}

#[test]
fn a_table_of_something_else_is_refused_by_the_name_of_its_column() {
    let folder = tempfile::tempdir().expect("a folder");
    let archive = archive(folder.path());
    let mut all = sum(facts_of_parts(&archive));
    let table = all.connections[0].clone();
    let (schema, mut columns) = (table.schema(), table.columns().to_vec());
    let network = schema.index_of("network").expect("a column");
    let nonsense: ArrayRef = Arc::new(StringArray::from(vec!["ipx"; table.num_rows()]));
    columns[network] = nonsense;
    all.connections[0] = arrow_array::RecordBatch::try_new(schema, columns).expect("a table");
    let error = judge(&all, archive.files()).expect_err("no network that is known");
    assert!(matches!(error, Error::Cell { .. }), "{error}");
    all.connections[0] = table.project(&[0, 1, 2]).expect("a table");
    let error = judge(&all, archive.files()).expect_err("no facts");
    assert!(error.to_string().contains("first_place"), "{error}");
}

/// Facts and rows without the files that they are of, and those of another archive.
#[test]
fn facts_and_rows_are_of_the_files_that_are_given() {
    let folder = tempfile::tempdir().expect("a folder");
    let archive = archive(folder.path());
    let options = Options::default();
    let together = facts(&archive, None, &options).expect("rows");
    let nothing = judge(&Facts::default(), archive.files());
    assert!(matches!(nothing, Err(Error::Facts)), "{nothing:?}");
    let mut files = archive.files().to_vec();
    files[0].end.frames -= 1;
    let others = judge(&together, &files);
    assert!(matches!(others, Err(Error::Rows { .. })), "{others:?}");
    let points = captures(story("healthy-gro").expect("a story"), &[0.5]);
    let (batches, files) = digested(&points[..1], 1);
    let rows: Vec<_> = batches.into_iter().map(|batch| batch.rows).collect();
    for (shard, files) in [
        (None, &files[..0]),
        (Some(0), &files[..0]),
        (Some(0), &files[..1]),
    ] {
        let lacking = facts_of(&rows, files, shard, &options);
        assert!(matches!(lacking, Err(Error::NoFiles)), "{lacking:?}");
    }
}
