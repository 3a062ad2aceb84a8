//! What a check has to say.

use std::collections::BTreeMap;
use std::io::{self, Write};

use coalescope_host::drift::Drift;
use coalescope_host::model::{
    Distribution, Driver, Feature, Interface, Platform, Snapshot, Unread,
};
use coalescope_host::roles::{Role, roles};
use coalescope_knowledge::rules::{Checked, HostFinding, LeftAlone, RuleError};
use serde::Serialize;

use crate::html;
use crate::json;
use crate::text::{self, TextOptions};

/// What `coalescope check` has to say.
#[derive(Clone, Debug, Default)]
pub struct CheckReport {
    /// The hosts, and what each was found to be.
    pub(crate) hosts: Vec<(Snapshot, Checked)>,
    /// What differs between them.
    pub(crate) drift: Vec<Drift>,
}

/// What `check` and `diagnose` both print.
#[derive(Serialize)]
pub(crate) struct Body<'a> {
    hosts: Vec<Host<'a>>,
    drift: &'a [Drift],
    findings: Vec<&'a HostFinding>,
    left_alone: Vec<&'a LeftAlone>,
    rule_errors: Vec<&'a RuleError>,
}

#[derive(Serialize)]
struct Host<'a> {
    name: &'a str,
    platform: Option<Platform>,
    kernel: Option<&'a str>,
    distribution: Option<&'a Distribution>,
    virtualisation: Option<&'a str>,
    interfaces: Vec<HostInterface<'a>>,
    missing: &'a [String],
    unread: &'a [Unread],
}

#[derive(Serialize)]
struct HostInterface<'a> {
    name: &'a str,
    kind: Option<&'a str>,
    driver: Option<&'a str>,
    driver_info: Option<&'a Driver>,
    mtu_bytes: Option<u64>,
    master: Option<&'a str>,
    roles: Vec<&'static str>,
    because: BTreeMap<&'static str, &'a str>,
    features: &'a BTreeMap<String, Feature>,
}

impl CheckReport {
    /// Takes hosts with what was found, and what differs between them.
    #[must_use]
    pub fn new(hosts: Vec<(Snapshot, Checked)>, drift: Vec<Drift>) -> Self {
        Self { hosts, drift }
    }

    /// Whether anything is wrong.
    #[must_use]
    pub fn has_findings(&self) -> bool {
        self.hosts
            .iter()
            .any(|(_, checked)| !checked.findings.is_empty())
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
        json::document("coalescope/check/1", &self.body(&roles), out)
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
            findings: checked().flat_map(|checked| &checked.findings).collect(),
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
