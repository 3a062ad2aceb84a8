//! What a check has to say.

use std::collections::BTreeMap;
use std::io::{self, Write};

use coalescope_host::drift::Drift;
use coalescope_host::model::{
    Distribution, Driver, Feature, Interface, Platform, Snapshot, Unread,
};
use coalescope_host::roles::{Role, roles};
use coalescope_knowledge::rules::{Blame, Checked, HostFinding, LeftAlone, RuleError};
use schemars::{JsonSchema, Schema};
use serde::Serialize;

use crate::document;
use crate::html;
use crate::separated;
use crate::text::{self, TextOptions};

/// Name and version of the JSON document.
const SCHEMA: &str = "coalescope/check/1";

/// What is printed of a finding as comma-separated values.
const COLUMNS: [&str; 12] = [
    "host",
    "interface",
    "switch",
    "id",
    "proof",
    "blame",
    "title",
    "mechanism",
    "evidence.text",
    "experiment",
    "cost",
    "sources",
];

/// What `coalescope check` has to say.
#[derive(Clone, Debug, Default)]
pub struct CheckReport {
    /// The hosts, and what each was found to be.
    pub(crate) hosts: Vec<(Snapshot, Checked)>,
    /// What differs between them.
    pub(crate) drift: Vec<Drift>,
}

/// What `coalescope check` prints of hosts.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Check")]
pub(crate) struct Body<'a> {
    /// The hosts that were looked at.
    hosts: Vec<Host<'a>>,
    /// What differs between them; empty for one host.
    drift: &'a [Drift],
    /// What is wrong, host by host.
    findings: Vec<&'a HostFinding>,
    /// What looks wrong, and is better left as it is.
    left_alone: Vec<&'a LeftAlone>,
    /// Rules that could not be asked.
    rule_errors: Vec<&'a RuleError>,
}

/// A host.
#[derive(Serialize, JsonSchema)]
struct Host<'a> {
    /// Its name, or what stands for it.
    name: &'a str,
    /// What system it runs.
    platform: Option<Platform>,
    /// Release of its kernel.
    kernel: Option<&'a str>,
    /// Its distribution.
    distribution: Option<&'a Distribution>,
    /// The hypervisor that it is a guest of.
    virtualisation: Option<&'a str>,
    /// Its interfaces.
    interfaces: Vec<HostInterface<'a>>,
    /// Whether there is a rule about its platform: without one nothing is said of it.
    judged: bool,
    /// What was not read, and without which little can be said.
    missing: &'a [String],
    /// What could not be read.
    unread: &'a [Unread],
}

/// An interface of a host.
#[derive(Serialize, JsonSchema)]
struct HostInterface<'a> {
    /// Its name.
    name: &'a str,
    /// What kind it is, such as `bridge` or `vlan`.
    kind: Option<&'a str>,
    /// Its driver's name.
    driver: Option<&'a str>,
    /// More about its driver.
    driver_info: Option<&'a Driver>,
    /// Its MTU, in bytes.
    mtu_bytes: Option<u64>,
    /// The bridge, bond or the like that it is a port of.
    master: Option<&'a str>,
    /// Names of its roles (docs/check.md).
    roles: Vec<&'static str>,
    /// Why it has each role, by the role's name.
    because: BTreeMap<&'static str, &'a str>,
    /// Its switches, by name.
    features: &'a BTreeMap<String, Feature>,
}

impl CheckReport {
    /// Takes hosts with what was found, and what differs between them.
    #[must_use]
    pub fn new(hosts: Vec<(Snapshot, Checked)>, drift: Vec<Drift>) -> Self {
        Self { hosts, drift }
    }

    /// Whether anything is wrong: what would help, and what is to be tested, is not.
    #[must_use]
    pub fn has_findings(&self) -> bool {
        self.blames().any(Blame::is_wrong)
    }

    /// Who is to blame in each finding.
    pub fn blames(&self) -> impl Iterator<Item = Blame> {
        self.findings().map(|finding| finding.blame)
    }

    /// Whether enough was read of every host to say that nothing was found.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        let mut hosts = self.hosts.iter();
        hosts.all(|(snapshot, checked)| snapshot.platform.is_some() && !checked.undecided)
    }

    pub(crate) fn findings(&self) -> impl Iterator<Item = &HostFinding> {
        self.hosts.iter().flat_map(|(_, checked)| &checked.findings)
    }

    /// What was not read, each with its host.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let of_host = |(snapshot, checked): &(Snapshot, Checked)| {
            let name = name_of(snapshot).to_owned();
            let rules = checked.errors.iter().map(|error| {
                let place = error.interface.as_deref().unwrap_or("the host");
                format!(
                    "rule {} could not be asked about {place}: {}",
                    error.rule, error.error
                )
            });
            let unread = snapshot
                .unread
                .iter()
                .map(|unread| format!("{}: {}", unread.what, unread.why));
            let texts: Vec<String> = rules.chain(unread).collect();
            texts.into_iter().map(move |text| format!("{name}: {text}"))
        };
        self.hosts.iter().flat_map(of_host).collect()
    }

    /// Prints one JSON document, `coalescope/check/1`.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let roles = self.roles();
        document::write(SCHEMA, &self.body(&roles), out)
    }

    /// The JSON Schema of that document.
    #[must_use]
    pub fn schema() -> Schema {
        document::schema::<Body<'static>>(SCHEMA)
    }

    /// Prints each finding as a line of comma-separated values (RFC 4180), with a header.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        separated::write_fields(out, &COLUMNS, self.findings())
    }

    /// Prints for people.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_text(&self, out: &mut dyn Write, options: &TextOptions) -> io::Result<()> {
        text::write_check(self, out, options)
    }

    /// Writes a page that stands by itself.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_html(&self, out: &mut dyn Write) -> io::Result<()> {
        html::write_check(self, out)
    }

    pub(crate) fn roles(&self) -> Vec<BTreeMap<String, Vec<Role>>> {
        self.hosts
            .iter()
            .map(|(snapshot, _)| roles(snapshot))
            .collect()
    }

    pub(crate) fn body<'a>(&'a self, roles: &'a [BTreeMap<String, Vec<Role>>]) -> Body<'a> {
        let hosts = self.hosts.iter().zip(roles);
        let checked = || self.hosts.iter().map(|(_, checked)| checked);
        Body {
            hosts: hosts
                .map(|((snapshot, checked), roles)| host(snapshot, checked, roles))
                .collect(),
            drift: &self.drift,
            findings: self.findings().collect(),
            left_alone: checked().flat_map(|checked| &checked.left_alone).collect(),
            rule_errors: checked().flat_map(|checked| &checked.errors).collect(),
        }
    }
}

/// The host's name, or what stands for it.
pub(crate) fn name_of(snapshot: &Snapshot) -> &str {
    snapshot.name.as_deref().unwrap_or("this host")
}

fn host<'a>(
    snapshot: &'a Snapshot,
    checked: &'a Checked,
    roles: &'a BTreeMap<String, Vec<Role>>,
) -> Host<'a> {
    let interfaces = snapshot.interfaces.iter();
    Host {
        name: name_of(snapshot),
        platform: snapshot.platform,
        kernel: snapshot.kernel.as_deref(),
        distribution: snapshot.distribution.as_ref(),
        virtualisation: snapshot.virtualisation.as_deref(),
        interfaces: interfaces
            .map(|(key, one)| interface(key, one, roles))
            .collect(),
        judged: checked.judged,
        missing: &checked.gaps,
        unread: &snapshot.unread,
    }
}

fn interface<'a>(
    key: &'a str,
    interface: &'a Interface,
    roles: &'a BTreeMap<String, Vec<Role>>,
) -> HostInterface<'a> {
    let roles = roles.get(key).map(Vec::as_slice).unwrap_or_default();
    HostInterface {
        name: key,
        kind: interface.kind.as_deref(),
        driver: interface.driver.as_ref().map(|driver| driver.name.as_str()),
        driver_info: interface.driver.as_ref(),
        mtu_bytes: interface.mtu_bytes,
        master: interface.master.as_deref(),
        roles: roles.iter().map(|role| role.role.name()).collect(),
        because: roles
            .iter()
            .map(|role| (role.role.name(), role.because.as_str()))
            .collect(),
        features: &interface.features,
    }
}
