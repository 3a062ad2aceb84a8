//! The hosts of a command: this one, or those of saved output.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use coalescope_analysis::hosts;
use coalescope_host::model::Snapshot;
use coalescope_host::sources::{self, Given, Host, Limits};
use coalescope_knowledge::rules::{Checked, Rules};

use crate::cli::{LiveArgs, RulesArgs};
use crate::speech::{self, in_brief, took};
use crate::system::host::this_host;
use crate::system::memory;

/// The hosts of a command.
pub(crate) enum Asked {
    /// This host, already read.
    Live(Box<Snapshot>),
    /// Saved output of hosts, opened.
    Saved(Vec<Given>),
}

impl Asked {
    /// Reads this host, or opens saved output if there is any.
    pub(crate) fn of(from: &[PathBuf], live: &LiveArgs) -> anyhow::Result<Self> {
        Ok(match from.is_empty() {
            true => Self::Live(Box::new(this_host(live)?)),
            false => Self::Saved(hosts::open(from)?),
        })
    }

    /// Saved output that is still to be read.
    pub(crate) fn given(&self) -> &[Given] {
        match self {
            Self::Live(_) => &[],
            Self::Saved(given) => given,
        }
    }

    /// Reads saved output.
    pub(crate) fn snapshots(self) -> anyhow::Result<Vec<Snapshot>> {
        Ok(self.with_files(&Limits::default())?.0)
    }

    /// Reads saved output; also returns, by the names of hosts, the files or folders that were read.
    pub(crate) fn with_files(
        self,
        limits: &Limits,
    ) -> anyhow::Result<(Vec<Snapshot>, BTreeMap<String, String>)> {
        Ok(match self {
            Self::Live(snapshot) => (vec![*snapshot], BTreeMap::new()),
            Self::Saved(given) => hosts::with_files(read(given, limits)?),
        })
    }
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

/// The built-in rules, and those of `--rules`.
pub(crate) fn rules(args: &RulesArgs) -> anyhow::Result<Rules> {
    Ok(hosts::rules(&args.rules)?)
}

/// All rules with their fixtures.
pub(crate) fn whole_rules(args: &RulesArgs) -> anyhow::Result<Rules> {
    Ok(hosts::whole_rules(&args.rules)?)
}

/// Applies the rules to each host; returns results by the host's name.
pub(crate) fn checked(rules: &Rules, snapshots: &[Snapshot]) -> Vec<(String, Checked)> {
    let begun = Instant::now();
    let checked = hosts::checked(rules, snapshots);
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
