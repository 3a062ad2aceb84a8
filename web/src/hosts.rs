//! Hosts by what they printed: read whole, and checked as `diagnose` does.

use std::sync::atomic::AtomicBool;

use coalescope_capture::facts::Trace;
use coalescope_capture::provenance::digest;
use coalescope_host::model::Snapshot;
use coalescope_host::sources::{Host, Limits, apart, read_bytes};
use coalescope_knowledge::rules::{Checked, Rules, check};
use coalescope_knowledge::{join, judge};
use coalescope_report::{CheckReport, DiagnoseReport, Is, Source, with_causes};

use crate::asked::{Asked, AskedFile};
use crate::tell_progress;

/// More is read of no file: sosreports are packed, and held in memory here.
const MOST_BYTES: u64 = 512 << 20;

/// What the program says of a capture among hosts, and what the page does.
const CAPTURE: &str = "a capture: give it to coalescope trace";
const UNPACK: &str =
    "a capture, packed as this page does not read it: unpack it, or pack it with gzip or zstd";

/// Hosts, and what each was found to be.
#[derive(Debug)]
pub(crate) struct Hosts(Vec<(Snapshot, Checked)>);

/// Reads and checks what hosts printed; nothing if none was given. Files that are of no use are taken out of what is asked for, and
/// named, as long as there is something else to judge: a folder has more in it than captures.
pub(crate) fn read(asked: &mut Asked) -> Result<(Option<Hosts>, Vec<String>), String> {
    let mut hosts = Vec::new();
    let mut left_out = Vec::new();
    let mut kept = Vec::new();
    for file in std::mem::take(&mut asked.hosts) {
        match one(&file)? {
            Ok(read) => {
                hosts.extend(read);
                kept.push(file);
            }
            Err(why) => left_out.push(format!("left out: {why}")),
        }
    }
    asked.hosts = kept;
    if asked.hosts.is_empty() {
        let is_all = asked.points.is_empty() && !left_out.is_empty();
        let why = || left_out.join("\n").replace("left out: ", "");
        return if is_all {
            Err(why())
        } else {
            Ok((None, left_out))
        };
    }
    Ok((Some(checked(hosts)?), left_out))
}

/// The hosts of a file, or why it has none. That it cannot be read at all, or is a capture, is for whoever gave it.
fn one(file: &AskedFile) -> Result<Result<Vec<Host>, String>, String> {
    let bytes = file.bytes(MOST_BYTES)?;
    match read_bytes(&file.name, &bytes, &Limits::default()) {
        Ok(read) => Ok(Ok(read)),
        Err(error) => {
            let why = with_causes(&error);
            match why.strip_suffix(CAPTURE) {
                Some(file) => Err(format!("{file}{UNPACK}")),
                None => Ok(Err(why)),
            }
        }
    }
}

fn checked(hosts: Vec<Host>) -> Result<Hosts, String> {
    let rules = Rules::built_in().map_err(|error| with_causes(&error))?;
    let hosts = apart(hosts).into_iter().map(|host| host.snapshot);
    let checked = hosts.map(|snapshot| {
        let checked = check(&rules, &snapshot);
        (snapshot, checked)
    });
    Ok(Hosts(checked.collect()))
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
