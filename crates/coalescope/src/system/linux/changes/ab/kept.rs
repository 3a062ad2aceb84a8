//! The file of an experiment's record.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use coalescope_experiment::record::{Asked, Record, SCHEMA};
use coalescope_files::{self as files, Replacement, Rights};
use serde::{Deserialize, Serialize};

use crate::speech;
use crate::system::linux::changes::places;

/// The file of a record.
pub(super) struct Kept {
    path: PathBuf,
}

impl Kept {
    /// A file that the user has chosen.
    pub(super) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// The file of a new record, which the user has chosen. What is there already is replaced only if nothing is lost by
    /// that: an empty file, or an earlier record of the same experiment.
    pub(super) fn chosen(path: &Path, asked: &Asked) -> anyhow::Result<Self> {
        let shown = path.display();
        files::check(path).with_context(|| format!("cannot write {shown}"))?;
        match found(path)? {
            Found::Nothing => {}
            Found::Record(known) if is_same(&known, asked) => {
                speech::tell(&format!(
                    "{shown} has an earlier record of this experiment, which is replaced"
                ));
            }
            Found::Record(_) => bail!(
                "--save {shown}: the record of another experiment is there, and is not replaced: name another file, or \
                 go on with that experiment with --resume {shown}"
            ),
            Found::Other => bail!(
                "--save {shown}: there is something that is no record of an experiment, and is not replaced: name \
                 another file"
            ),
        }
        Ok(Self::at(path.to_owned()))
    }

    /// A new file in the usual folder.
    pub(super) fn usual(begun_unix_s: u64) -> anyhow::Result<Self> {
        let folder = places::records();
        if folder.is_relative() {
            bail!(
                "COALESCOPE_STATE has a relative path ({}): name it from / on",
                folder.display()
            );
        }
        files::private(&folder).with_context(|| {
            format!(
                "cannot make the folder {}: use --save FILE",
                folder.display()
            )
        })?;
        let name = format!("{begun_unix_s}-{}.json", std::process::id());
        Ok(Self::at(folder.join(name)))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn read(&self) -> anyhow::Result<Record> {
        let path = self.path.display();
        let file = File::open(&self.path).with_context(|| format!("cannot read {path}"))?;
        let record: Record = serde_json::from_reader(io::BufReader::new(file))
            .with_context(|| format!("{path} is not the record of an experiment"))?;
        if record.schema != SCHEMA {
            bail!(
                "{path} has the schema {}, this version knows {SCHEMA}",
                record.schema
            );
        }
        Ok(record)
    }

    /// Replaces the record; after a crash there is this version or the one before. The record has a
    /// command line, which only its owner may read.
    pub(super) fn write(&self, record: &impl Serialize) -> io::Result<()> {
        let replacement = Replacement::of(&self.path, Rights::Exactly(0o600));
        files::replace(&replacement, |file| {
            let mut out = io::BufWriter::new(file);
            serde_json::to_writer_pretty(&mut out, record)?;
            out.write_all(b"\n")?;
            out.flush()
        })
        .map(drop)
    }
}

/// What is in the place of a new record.
enum Found {
    Nothing,
    Record(Box<Asked>),
    Other,
}

/// What a record of any version has.
#[derive(Deserialize)]
struct Begun {
    schema: String,
    asked: Asked,
}

fn found(path: &Path) -> anyhow::Result<Found> {
    let about = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        about => about.with_context(|| format!("cannot read {}", path.display()))?,
    };
    // As of mktemp(1).
    if about.is_file() && about.len() == 0 {
        return Ok(Found::Nothing);
    }
    if !about.is_file() {
        return Ok(Found::Other);
    }
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let begun = serde_json::from_reader(io::BufReader::new(file));
    Ok(match begun {
        Ok(Begun { schema, asked }) if schema == SCHEMA => Found::Record(Box::new(asked)),
        _ => Found::Other,
    })
}

/// Whether two requests compare the same with the same command; the number and the order of runs may differ.
fn is_same(one: &Asked, other: &Asked) -> bool {
    one.factors == other.factors && one.command == other.command && one.place == other.place
}

/// The time, in seconds since 1970.
pub(super) fn now_unix_s() -> u64 {
    since_1970().as_secs()
}

/// The time in nanoseconds, truncated: a number that differs from run to run, for a seed.
#[expect(clippy::cast_possible_truncation, reason = "its low bits are wanted")]
pub(super) fn now_ns() -> u64 {
    since_1970().as_nanos() as u64
}

fn since_1970() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}
