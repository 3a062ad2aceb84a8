//! Folders in which something else is than `digest` wrote there, and folders that two write to.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{ArrayRef, BinaryArray, RecordBatch, UInt8Array, UInt32Array, UInt64Array};
use arrow_schema::DataType;
use arrow_select::concat::concat_batches;
use coalescope_archive::{Error, Facts, Folder, Write, digest, facts, judge, parts, trace};
use coalescope_capture::Options;
use coalescope_simulate::story;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::common::{Pieces, archived, captures, places, source};

/// A point of a story in two files, in four shards.
fn points() -> Vec<Pieces> {
    let mut scenario = story("healthy-gro").expect("a story");
    scenario.connections = 8;
    let mut points = captures(scenario, &[0.5]);
    points.truncate(1);
    points
}

fn files_below(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => found.extend(files_below(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> RecordBatch {
    let file = File::open(path).expect("a table");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("a table");
    let batches: Vec<_> = reader
        .build()
        .expect("a table")
        .map(|batch| batch.expect("rows"))
        .collect();
    concat_batches(&batches[0].schema(), &batches).expect("one table")
}

fn write(path: &Path, batch: &RecordBatch) {
    let file = File::create(path).expect("room");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("a table");
    writer.write(batch).expect("room");
    writer.close().expect("room");
}

/// A table with other values in one column.
fn with(batch: &RecordBatch, column: &str, values: ArrayRef) -> RecordBatch {
    let at = batch.schema().index_of(column).expect("a column");
    let mut columns = batch.columns().to_vec();
    columns[at] = values;
    RecordBatch::try_new(batch.schema(), columns).expect("a table")
}

fn rewrite(path: &Path, change: impl FnOnce(&RecordBatch) -> RecordBatch) {
    write(path, &change(&read(path)));
}

/// What is said of an archive that was changed: by a trace in one thread, in two, and by whoever judges the facts of its parts.
fn said(change: impl FnOnce(&Path)) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    archived(&points(), 4, folder.path());
    change(folder.path());
    let archive = match Folder::open(folder.path()) {
        Ok(archive) => archive,
        Err(error) => return vec![error.to_string()],
    };
    let traced = [1, 2].map(|threads| {
        let options = Options {
            threads,
            ..Options::default()
        };
        trace(&archive, &options, &mut |_| {}).map(drop)
    });
    let all = traced.into_iter().chain([judged(&archive)]);
    all.map(|result| result.expect_err("this is refused").to_string())
        .collect()
}

fn judged(archive: &Folder) -> Result<(), Error> {
    let mut all = Facts::default();
    for part in parts(archive) {
        all.add(facts(archive, part, &Options::default())?);
    }
    judge(&all, archive.files()).map(drop)
}

fn is_refused(wanted: &str, change: impl FnOnce(&Path)) {
    for said in said(change) {
        assert!(said.contains(wanted), "{said:?} lacks {wanted:?}");
    }
}

/// Rows of both files in one shard.
fn pair(archive: &Path) -> [PathBuf; 2] {
    let first = files_below(&archive.join("rows"))
        .into_iter()
        .find(|path| path.ends_with("00000-0000000000.parquet"));
    let first = first.expect("rows");
    let second = first.with_file_name("00000-0000000001.parquet");
    assert!(second.exists(), "connections go on in the second file");
    [first, second]
}

#[test]
fn rows_in_another_place_are_refused() {
    is_refused("rows of another file", |archive| {
        let [first, second] = pair(archive);
        let third = archive.join("third");
        fs::rename(&first, &third)
            .and_then(|()| fs::rename(&second, &first))
            .expect("room");
        fs::rename(&third, &second).expect("room");
    });
    is_refused("rows of another shard", |archive| {
        let all = files_below(&archive.join("rows"));
        let of_first = |path: &&PathBuf| path.ends_with("00000-0000000000.parquet");
        let some: Vec<_> = all.iter().filter(of_first).collect();
        fs::copy(some[0], some[1]).expect("room");
    });
    is_refused("no file", |archive| {
        let [first, _] = pair(archive);
        fs::remove_file(&first)
            .and_then(|()| fs::create_dir(&first))
            .expect("room");
    });
}

#[test]
fn rows_that_mean_nothing_are_refused() {
    let in_rows = |wanted: &str, change: fn(&RecordBatch) -> RecordBatch| {
        is_refused(wanted, |archive| rewrite(&pair(archive)[0], change));
    };
    in_rows("not in order", |rows| {
        let numbers = rows["number"]
            .as_primitive::<UInt64Type>()
            .values()
            .iter()
            .rev();
        with(
            rows,
            "number",
            Arc::new(UInt64Array::from_iter_values(numbers.copied())),
        )
    });
    in_rows("not in order", |rows| {
        with(
            rows,
            "number",
            Arc::new(UInt64Array::from(vec![1; rows.num_rows()])),
        )
    });
    in_rows("mean nothing", |rows| {
        with(
            rows,
            "kind",
            Arc::new(UInt8Array::from(vec![99; rows.num_rows()])),
        )
    });
    in_rows("mean nothing", |rows| {
        let ends = vec![&b"short"[..]; rows.num_rows()];
        assert_eq!(rows["ends"].data_type(), &DataType::Binary);
        with(rows, "ends", Arc::new(BinaryArray::from(ends)))
    });
    in_rows("no column seq", |rows| {
        let at = rows.schema().index_of("seq").expect("a column");
        let others: Vec<usize> = (0..rows.num_columns())
            .filter(|column| *column != at)
            .collect();
        rows.project(&others).expect("columns")
    });
}

#[test]
fn tables_of_another_version_are_refused_by_its_name() {
    let later = |table: &RecordBatch| {
        let metadata: HashMap<_, _> =
            [("coalescope".to_owned(), "coalescope/digest/2".to_owned())].into();
        let schema = table.schema().as_ref().clone().with_metadata(metadata);
        RecordBatch::try_new(Arc::new(schema), table.columns().to_vec()).expect("a table")
    };
    is_refused("coalescope/digest/2", |archive| {
        rewrite(&archive.join("files.parquet"), later);
    });
    is_refused("coalescope/digest/2", |archive| {
        rewrite(&pair(archive)[0], later);
    });
}

#[test]
fn a_table_of_files_that_cannot_be_right_is_refused() {
    is_refused("an archive has 1 to 1024", |archive| {
        rewrite(&archive.join("files.parquet"), |files| {
            with(
                files,
                "shards",
                Arc::new(UInt32Array::from(vec![u32::MAX; 2])),
            )
        });
    });
    is_refused("missing, or there twice", |archive| {
        rewrite(&archive.join("files.parquet"), |files| files.slice(1, 1));
    });
    is_refused("frames", |archive| {
        rewrite(&archive.join("files.parquet"), |files| {
            let frames = files["frames"].as_primitive::<UInt64Type>().values().iter();
            with(
                files,
                "frames",
                Arc::new(UInt64Array::from_iter_values(
                    frames.map(|frames| frames - 1),
                )),
            )
        });
    });
}

#[test]
fn a_folder_has_one_writer() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("archive");
    let first = Write::begin(&path, 4).expect("a new folder");
    let second = Write::begin(&path, 4).map(drop);
    assert!(matches!(second, Err(Error::NotEmpty { .. })), "{second:?}");
    let points = points();
    let (place, name, bytes) = places(&points, 4).remove(0);
    let digest_once = || digest(name.to_owned(), source(name, bytes), place.clone());
    let stopped = first.add(digest_once(), |_| false).map(drop);
    assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
    // Whoever stops leaves no half of a file.
    assert_eq!(files_below(&path.join("rows")), Vec::<PathBuf>::new());
    assert!(first.add(digest_once(), |_| true).is_ok());
    first.abandon();
    assert_eq!(files_below(&path), Vec::<PathBuf>::new());
    assert!(Write::begin(&path, 4).is_ok());
}

/// A writer that is killed cannot remove what it left.
#[test]
fn what_killed_writers_left_is_removed_when_the_archive_is_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = Write::begin(folder.path(), 4).expect("a new folder");
    let left = folder.path().join("rows/shard=2/00000-0000000000.7-7.part");
    fs::write(&left, "half").expect("room");
    let files: Vec<_> = places(&points(), 4)
        .into_iter()
        .map(|(place, name, bytes)| {
            write
                .add(digest(name.to_owned(), source(name, bytes), place), |_| {
                    true
                })
                .expect("room")
        })
        .collect();
    write.finish(&files).expect("room");
    assert!(!left.exists());
    assert!(!folder.path().join("unfinished").exists());
    assert!(Folder::open(folder.path()).is_ok());
}
