//! The file of an experiment's record.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use coalescope_experiment::record::{Record, SCHEMA};
use coalescope_files::{self as files, Replacement, Rights};
use serde::Serialize;

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

    /// A new file in the usual folder.
    pub(super) fn usual(begun_unix_s: u64) -> anyhow::Result<Self> {
        let folder = places::records();
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
