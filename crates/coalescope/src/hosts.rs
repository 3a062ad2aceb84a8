//! Which hosts a command is about: this one, or those of saved output.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use coalescope_host::model::Snapshot;
use coalescope_host::sources::{self, Given, Host, Limits, apart};
use coalescope_knowledge::rules::{Checked, Rules, check};

use crate::cli::{LiveArgs, RulesArgs};
use crate::inputs;
use crate::speech::{self, in_brief, took};
use crate::system::host::this_host;
use crate::system::memory;

/// The hosts that a command is about.
pub(crate) enum Asked {
    /// This one, as it was found.
    Live(Box<Snapshot>),
    /// Those of saved output, which is open.
    Saved(Vec<Given>),
}

impl Asked {
    /// Looks at this host, or opens saved output where some was given.
    pub(crate) fn of(from: &[PathBuf], live: &LiveArgs) -> anyhow::Result<Self> {
        Ok(match from.is_empty() {
            true => Self::Live(Box::new(this_host(live)?)),
            false => Self::Saved(open(from)?),
        })
    }

    /// What is still to be read.
    pub(crate) fn given(&self) -> &[Given] {
        match self {
            Self::Live(_) => &[],
            Self::Saved(given) => given,
        }
    }

    /// Reads what is still to be read.
    pub(crate) fn snapshots(self) -> anyhow::Result<Vec<Snapshot>> {
        Ok(self.with_files(&Limits::default())?.0)
    }

    /// The same, and by the names of hosts the files or folders that they were read from.
    pub(crate) fn with_files(
        self,
        limits: &Limits,
    ) -> anyhow::Result<(Vec<Snapshot>, BTreeMap<String, String>)> {
        let hosts = match self {
            Self::Live(snapshot) => return Ok((vec![*snapshot], BTreeMap::new())),
            Self::Saved(given) => apart(read(given, limits)?),
        };
        let stream = inputs::display(Path::new("-"));
        let files = hosts.iter().filter(|host| host.origin != stream);
        let files =
            files.filter_map(|host| Some((host.snapshot.name.clone()?, host.origin.clone())));
        let files = files.collect();
        let snapshots = hosts.into_iter().map(|host| host.snapshot);
        Ok((snapshots.collect(), files))
    }
}

/// Opens saved hosts.
pub(crate) fn open(from: &[PathBuf]) -> anyhow::Result<Vec<Given>> {
    let open = |path: &PathBuf| match path.as_os_str() == "-" {
        true => Ok(Given::of_reader(inputs::display(path), std::io::stdin())),
        false => Given::open(path),
    };
    Ok(from.iter().map(open).collect::<Result<_, _>>()?)
}

/// Reads saved hosts.
fn read(given: Vec<Given>, limits: &Limits) -> anyhow::Result<Vec<Host>> {
    let mut hosts: Vec<Host> = Vec::new();
    for given in given {
        let begun = Instant::now();
        let name = given.name().to_owned();
        memory::reading(name.clone());
        let read = sources::read(given, limits)?;
        for host in &read {
            speech::detail(|| {
                let read = in_brief(&host.snapshot);
                format!("read {name}: {read}, in {}", took(begun))
            });
        }
        hosts.extend(read);
    }
    Ok(hosts)
}

/// The rules that come with the program, and those of `--rules`.
pub(crate) fn rules(args: &RulesArgs) -> anyhow::Result<Rules> {
    with_sites(Rules::built_in()?, args)
}

/// The same, with the fixtures of all.
pub(crate) fn whole_rules(args: &RulesArgs) -> anyhow::Result<Rules> {
    with_sites(Rules::with_fixtures()?, args)
}

fn with_sites(mut rules: Rules, args: &RulesArgs) -> anyhow::Result<Rules> {
    for path in &args.rules {
        rules.add_from(path)?;
    }
    Ok(rules)
}

/// Asks the rules about each host.
pub(crate) fn checked(rules: &Rules, snapshots: &[Snapshot]) -> Vec<Checked> {
    let begun = Instant::now();
    let checked = snapshots.iter().map(|snapshot| check(rules, snapshot));
    let checked = checked.collect();
    speech::detail(|| {
        let asked = rules.iter().count();
        format!(
            "asked {asked} rules about {} hosts, in {}",
            snapshots.len(),
            took(begun)
        )
    });
    checked
}

/// The same, each with the name of its host.
pub(crate) fn named(snapshots: &[Snapshot], checked: Vec<Checked>) -> Vec<(String, Checked)> {
    let names = snapshots.iter().map(|one| one.name.clone());
    names.map(Option::unwrap_or_default).zip(checked).collect()
}
