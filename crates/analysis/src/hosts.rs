//! Hosts: this one, or those of saved output.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use coalescope_host::model::Snapshot;
use coalescope_host::sources::{Given, Host, apart};
use coalescope_knowledge::rules::{Checked, Rules, check};

use crate::error::Error;
use crate::inputs;

/// Opens files or folders with saved output of hosts.
///
/// # Errors
///
/// If a file cannot be opened.
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

/// Hosts with distinct names, and the files or folders from which each name was read.
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

/// The built-in rules, and those of a site.
///
/// # Errors
///
/// If a site's rules cannot be read.
pub fn rules(sites: &[PathBuf]) -> Result<Rules, Error> {
    with_sites(Rules::built_in()?, sites)
}

/// The rules with their fixtures.
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

/// Applies the rules to each host; returns results by the host's name.
#[must_use]
pub fn checked(rules: &Rules, snapshots: &[Snapshot]) -> Vec<(String, Checked)> {
    let named = |snapshot: &Snapshot| {
        let name = snapshot.name.clone().unwrap_or_default();
        (name, check(rules, snapshot))
    };
    snapshots.iter().map(named).collect()
}
