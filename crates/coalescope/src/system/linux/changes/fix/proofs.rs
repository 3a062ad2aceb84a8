//! Proofs of this host's findings by earlier experiments: the records that `ab` keeps.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use coalescope_files as files;
use coalescope_host::model::{Interface, Snapshot};
use coalescope_knowledge::Standing;
use coalescope_knowledge::rules::HostFinding;
use coalescope_report::Shown;
use serde::Deserialize;

use crate::speech;
use crate::system::linux::changes::places;

/// The needed fields of a record.
#[derive(Deserialize)]
struct Record {
    host: Option<String>,
    begun_unix_s: u64,
    verdict: String,
    before: Option<Snapshot>,
    findings: Vec<Finding>,
}

#[derive(Deserialize)]
struct Finding {
    id: String,
    place: Option<String>,
    now: Standing,
}

/// The records, the newest first.
pub(super) struct Proofs(Vec<Record>);

impl Proofs {
    /// Reads all records in the usual folder.
    pub(super) fn read() -> Self {
        let folder = places::records();
        // A folder that others can write to proves nothing.
        let own = files::existing(&folder).and_then(fs::read_dir);
        let entries = own.into_iter().flatten().flatten();
        let mut records: Vec<Record> = entries.filter_map(|entry| record(&entry.path())).collect();
        records.sort_by_key(|record| std::cmp::Reverse(record.begun_unix_s));
        speech::detail(|| {
            format!(
                "read {} records of experiments in {}",
                records.len(),
                folder.display()
            )
        });
        Self(records)
    }

    /// The verdict of the newest experiment that settled a finding.
    pub(super) fn about(&self, finding: &HostFinding, host: &Snapshot) -> Option<Shown> {
        let records = self.0.iter().filter(|record| record.host == host.name);
        let mut about = records.filter_map(|record| settled(record, finding, host));
        about.next()
    }
}

/// A record that cannot be read proves nothing.
fn record(path: &Path) -> Option<Record> {
    if path.extension()? != "json" {
        return None;
    }
    serde_json::from_reader(BufReader::new(File::open(path).ok()?)).ok()
}

fn settled(record: &Record, finding: &HostFinding, host: &Snapshot) -> Option<Shown> {
    let place = finding.place();
    let mut all = record.findings.iter();
    let it = all.find(|one| {
        let is_it = one.id == finding.id && one.place.as_deref() == place;
        is_it && one.now != Standing::Open
    })?;
    same_interface(record, place, host).then(|| Shown {
        begun_unix_s: record.begun_unix_s,
        now: it.now,
        verdict: record.verdict.clone(),
    })
}

/// Whether the record is about the same interface: another namespace, lab or card may use the same name.
fn same_interface(record: &Record, place: Option<&str>, host: &Snapshot) -> bool {
    let Some(place) = place else { return true };
    let before = record
        .before
        .as_ref()
        .and_then(|before| before.interfaces.get(place));
    let identity = |interface: &Interface| (interface.mac.clone(), interface.kind.clone());
    let [before, now] =
        [before, host.interfaces.get(place)].map(|found| found.map(|found| identity(found)));
    before.is_some() && before == now
}
