//! Hosts: this one, or those of saved output.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use coalescope_host::model::Snapshot;
use coalescope_host::sources::{Given, Host, apart};
use coalescope_knowledge::rules::{Checked, Rules, check};

use crate::error::Error;
use crate::inputs;

/// Opens saved hosts.
///
/// # Errors
///
/// If one cannot be opened.
pub fn open(from: &[PathBuf]) -> Result<Vec<Given>, Error> {
    let open = |path: &PathBuf| match path.as_os_str() == "-" {
        true => Ok(Given::of_reader(inputs::display(path), std::io::stdin())),
        false => Given::open(path),
    };
    Ok(from.iter().map(open).collect::<Result<_, _>>()?)
}

/// This host.
///
/// # Errors
///
/// On other systems than Linux.
#[cfg(target_os = "linux")]
pub fn this_host() -> Result<Snapshot, Error> {
    let options = coalescope_host::live::Options::default();
    Ok(coalescope_host::live::collect(&options))
}

/// This host.
///
/// # Errors
///
/// On other systems than Linux.
#[cfg(not(target_os = "linux"))]
pub fn this_host() -> Result<Snapshot, Error> {
    Err(Error::OnlyLinux)
}

/// Hosts told apart, and by their names the files or folders that they were read from.
#[must_use]
pub fn with_files(hosts: Vec<Host>) -> (Vec<Snapshot>, BTreeMap<String, String>) {
    let hosts = apart(hosts);
    let stream = inputs::display(Path::new("-"));
    let files = hosts.iter().filter(|host| host.origin != stream);
    let files = files.filter_map(|host| Some((host.snapshot.name.clone()?, host.origin.clone())));
    let files = files.collect();
    let snapshots = hosts.into_iter().map(|host| host.snapshot);
    (snapshots.collect(), files)
}

/// The rules that come with the program, and those of a site.
///
/// # Errors
///
/// If rules of a site cannot be read.
pub fn rules(sites: &[PathBuf]) -> Result<Rules, Error> {
    with_sites(Rules::built_in()?, sites)
}

/// The same, with the fixtures of all.
///
/// # Errors
///
/// As [`rules`].
pub fn whole_rules(sites: &[PathBuf]) -> Result<Rules, Error> {
    with_sites(Rules::with_fixtures()?, sites)
}

fn with_sites(mut rules: Rules, sites: &[PathBuf]) -> Result<Rules, Error> {
    for path in sites {
        rules.add_from(path)?;
    }
    Ok(rules)
}

/// Asks the rules about each host; each with its name.
#[must_use]
pub fn checked(rules: &Rules, snapshots: &[Snapshot]) -> Vec<(String, Checked)> {
    let named = |snapshot: &Snapshot| {
        let name = snapshot.name.clone().unwrap_or_default();
        (name, check(rules, snapshot))
    };
    snapshots.iter().map(named).collect()
}
