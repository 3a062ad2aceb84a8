//! Hosts by what they printed: read whole, and checked as `diagnose` does.

use std::io::Read;
use std::sync::atomic::AtomicBool;

use coalescope_capture::facts::Trace;
use coalescope_capture::provenance::digest;
use coalescope_host::model::Snapshot;
use coalescope_host::safe::printable_line;
use coalescope_host::sources::{Given, Host, Limits, apart, read as read_given, read_bytes};
use coalescope_knowledge::rules::{Checked, Rules, check};
use coalescope_knowledge::{join, judge};
use coalescope_report::{CheckReport, DiagnoseReport, Is, Source, with_causes};

use crate::asked::{Asked, AskedFile, AskedFolder};
use crate::tell_progress;

/// More is read of no file: sosreports are packed, and held in memory here.
const MOST_BYTES: u64 = 512 << 20;

/// Files of a folder that are listed with their hashes.
const HASHED: usize = 100;

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
    let mut found = Found::default();
    asked.hosts = found.add(std::mem::take(&mut asked.hosts), one)?;
    asked.folders = found.add(std::mem::take(&mut asked.folders), |one| Ok(folder(one)))?;
    let Found { hosts, left_out } = found;
    if asked.host_names().next().is_none() {
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

/// What was read, and why files are of no use.
#[derive(Default)]
struct Found {
    hosts: Vec<Host>,
    left_out: Vec<String>,
}

impl Found {
    /// Reads files or folders, and gives back those with a host.
    fn add<T>(
        &mut self,
        given: Vec<T>,
        read: impl Fn(&T) -> Result<Result<Vec<Host>, String>, String>,
    ) -> Result<Vec<T>, String> {
        let mut kept = Vec::new();
        for one in given {
            match read(&one)? {
                Ok(hosts) => {
                    self.hosts.extend(hosts);
                    kept.push(one);
                }
                Err(why) => self.left_out.push(format!("left out: {why}")),
            }
        }
        Ok(kept)
    }
}

/// The hosts of a folder, read as `--from FOLDER` reads it, or why it has none.
fn folder(folder: &AskedFolder) -> Result<Vec<Host>, String> {
    let files = folder.files.iter().map(|file| {
        let reader: Box<dyn Read> = Box::new(file.slices());
        (file.name.clone(), reader)
    });
    let given = Given::of_files(printable_line(&folder.name), files.collect());
    read_given(given, &Limits::default()).map_err(|error| with_causes(&error))
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

/// What was given, hashed: of a folder each of its files, unless these are too many to read a list of.
pub(crate) fn sources(asked: &Asked, stop: &AtomicBool) -> Vec<Source> {
    let files = asked.hosts.iter();
    let files = files.map(|file| source(file.name.clone(), file, stop));
    let folders = asked.folders.iter();
    files
        .chain(folders.flat_map(|folder| sources_in(folder, stop)))
        .collect()
}

fn sources_in(folder: &AskedFolder, stop: &AtomicBool) -> Vec<Source> {
    let AskedFolder { name, files } = folder;
    if files.len() <= HASHED {
        let files = files.iter();
        return files
            .map(|file| source(format!("{name}/{}", file.name), file, stop))
            .collect();
    }
    let is = Is::Other(format!("A folder of {} files: not hashed.", files.len()));
    vec![Source {
        about: None,
        name: name.clone(),
        is,
    }]
}

fn source(name: String, file: &AskedFile, stop: &AtomicBool) -> Source {
    tell_progress("hashing", 0.0);
    Source {
        about: None,
        name,
        is: Is::file(digest(&mut file.reader(), stop)),
    }
}
