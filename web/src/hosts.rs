//! Hosts by what they printed: read whole, and checked as `diagnose` does.

use std::sync::atomic::AtomicBool;

use coalescope_capture::facts::Trace;
use coalescope_capture::provenance::digest;
use coalescope_host::model::Snapshot;
use coalescope_host::sources::{Limits, apart, read_bytes};
use coalescope_knowledge::rules::{Checked, Rules, check};
use coalescope_knowledge::{join, judge};
use coalescope_report::{CheckReport, DiagnoseReport, Is, Source, with_causes};

use crate::asked::{Asked, AskedFile};
use crate::tell_progress;

/// More is read of no file: sosreports are packed, and held in memory here.
const MOST_BYTES: u64 = 512 << 20;

/// Hosts, and what each was found to be.
#[derive(Debug)]
pub(crate) struct Hosts(Vec<(Snapshot, Checked)>);

/// Reads and checks what hosts printed; nothing if none was given.
pub(crate) fn read(asked: &Asked) -> Result<Option<Hosts>, String> {
    if asked.hosts.is_empty() {
        return Ok(None);
    }
    let rules = Rules::built_in().map_err(|error| with_causes(&error))?;
    let mut hosts = Vec::new();
    for file in &asked.hosts {
        let bytes = file.bytes(MOST_BYTES)?;
        let read = read_bytes(&file.name, &bytes, &Limits::default());
        hosts.extend(read.map_err(|error| with_causes(&error))?);
    }
    let hosts = apart(hosts).into_iter().map(|host| host.snapshot);
    let checked = hosts.map(|snapshot| {
        let checked = check(&rules, &snapshot);
        (snapshot, checked)
    });
    Ok(Some(Hosts(checked.collect())))
}

impl Hosts {
    /// Joined with what captures show.
    pub(crate) fn beside(self, captured: Option<Trace>) -> DiagnoseReport {
        let captured = captured.map(|trace| {
            let diagnosis = judge(&trace);
            (trace, diagnosis)
        });
        let name = |snapshot: &Snapshot| snapshot.name.clone().unwrap_or_default();
        let (snapshots, checked): (Vec<_>, Vec<_>) = self.0.into_iter().unzip();
        let names = snapshots.iter().map(name);
        let mut hosts: Vec<(String, Checked)> = names.zip(checked).collect();
        if let Some((_, diagnosis)) = &captured {
            join(&mut hosts, diagnosis);
        }
        DiagnoseReport::new(CheckReport::of(snapshots, hosts), captured)
    }
}

/// What was given, hashed.
pub(crate) fn sources(asked: &Asked, stop: &AtomicBool) -> Vec<Source> {
    asked.hosts.iter().map(|file| source(file, stop)).collect()
}

fn source(file: &AskedFile, stop: &AtomicBool) -> Source {
    tell_progress("hashing", 0.0);
    Source {
        about: None,
        name: file.name.clone(),
        is: Is::file(digest(&mut file.reader(), stop)),
    }
}
