//! The report of a check.

mod gaps;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::time::SystemTime;

use coalescope_host::drift::{Drift, drift};
use coalescope_host::model::{
    Distribution, Driver, Feature, GsoLimits, Interface, Ovs, Platform, Snapshot, Unread,
    VirtualSwitch,
};
use coalescope_host::roles::{Role, roles};
use coalescope_knowledge::rules::{
    Aside, Baseline, Blame, Checked, FindingRef, HostFinding, Ignore, LeftAlone, RuleError,
};
use coalescope_watch::facts::Watched;
use schemars::{JsonSchema, Schema};
use serde::Serialize;

use crate::document::{self, Document};
use crate::fleet;
use crate::html;
use crate::made::Made;
use crate::separated;
use crate::text::{self, TextOptions};

pub(crate) use gaps::{is_decided, not_read};

/// Name and version of the JSON document.
const SCHEMA: &str = "coalescope/check/1";

/// Columns of the CSV, from a finding's JSON.
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

/// The report of `coalescope check`.
#[derive(Clone, Debug, Default)]
pub struct CheckReport {
    /// The hosts, with roles and findings.
    pub(crate) hosts: Vec<(Snapshot, Checked)>,
    /// Differences between the hosts.
    pub(crate) drift: Vec<Drift>,
    /// Findings that are set aside: ignored ones, and those of the baseline.
    pub(crate) aside: Aside,
    /// Whether a baseline was given, so that only new findings are printed.
    pub(crate) has_baseline: bool,
    /// The input of each host, by its name; none for a host that was read live.
    pub(crate) files: BTreeMap<String, String>,
    /// Counts of merged frames on these hosts.
    pub(crate) watched: Vec<Watched>,
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
    /// Findings that `--ignore` set aside; left out where there are none, as are the next two.
    #[serde(skip_serializing_if = "no_items")]
    ignored: &'a [FindingRef],
    /// Findings that the baseline has as well.
    #[serde(skip_serializing_if = "no_items")]
    known: &'a [FindingRef],
    /// Findings of the baseline that these hosts no longer have.
    #[serde(skip_serializing_if = "no_items")]
    gone: &'a [FindingRef],
    /// What was counted on these hosts (`--watch`, `--watched`), as `coalescope watch` has it.
    #[serde(skip_serializing_if = "no_items")]
    watched: &'a [Watched],
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
    /// Virtual switches of Hyper-V and ESXi, by name; left out where none was read.
    #[serde(skip_serializing_if = "is_empty")]
    switches: &'a BTreeMap<String, VirtualSwitch>,
    /// Open vSwitch; left out where it was not read, or is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    ovs: Option<&'a Ovs>,
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
    /// Whether it is switched on; this and all below are left out where they were not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    up: Option<bool>,
    /// Speed of the link, in bits per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    speed_bps: Option<u64>,
    /// The interface beneath it (VLAN, macvlan).
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a str>,
    /// Network addresses with prefix length.
    #[serde(skip_serializing_if = "no_items")]
    addresses: &'a [String],
    /// Largest frames that may be built for or by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    gso: Option<&'a GsoLimits>,
    /// Ring sizes, as `ethtool -g` names them: `rx`, `rx-max`.
    #[serde(skip_serializing_if = "is_empty")]
    rings: &'a BTreeMap<String, u64>,
    /// Counters that every interface has: `rx_packets`, `rx_dropped`.
    #[serde(skip_serializing_if = "is_empty")]
    counters: &'a BTreeMap<String, u64>,
    /// Counters of its driver, as `ethtool -S` names them.
    #[serde(skip_serializing_if = "is_empty")]
    statistics: &'a BTreeMap<String, u64>,
}

fn is_empty<V>(map: &&BTreeMap<String, V>) -> bool {
    map.is_empty()
}

fn no_items<T>(list: &&[T]) -> bool {
    list.is_empty()
}

impl CheckReport {
    /// A report of hosts with their findings, and of differences between them.
    #[must_use]
    pub fn new(hosts: Vec<(Snapshot, Checked)>, drift: Vec<Drift>) -> Self {
        Self {
            hosts,
            drift,
            ..Self::default()
        }
    }

    /// A report of hosts and their findings by name; compares the hosts with each other.
    #[must_use]
    pub fn of(hosts: Vec<Snapshot>, found: Vec<(String, Checked)>) -> Self {
        let drift = drift(&hosts);
        let found = found.into_iter().map(|(_, checked)| checked);
        Self::new(hosts.into_iter().zip(found).collect(), drift)
    }

    /// Adds the input of each host, by its name.
    pub fn read_from(&mut self, files: BTreeMap<String, String>) {
        self.files = files;
    }

    /// Adds counts of merged frames.
    pub fn watched(&mut self, watched: Vec<Watched>) {
        self.watched = watched;
    }

    /// Sets aside findings that are ignored, and those that an earlier check had.
    pub fn set_aside(&mut self, ignore: &[Ignore], baseline: Option<&Baseline>) {
        let (mut lists, mut names) = (Vec::new(), BTreeSet::new());
        for (snapshot, checked) in &mut self.hosts {
            names.extend(snapshot.name.as_deref());
            lists.push(&mut checked.findings);
        }
        self.aside = Aside::take(&mut lists, &names, ignore, baseline);
        self.has_baseline = baseline.is_some();
    }

    /// Whether there is a fault: improvements and tests to make do not count.
    #[must_use]
    pub fn has_findings(&self) -> bool {
        self.blames().any(Blame::is_wrong)
    }

    /// What each finding blames.
    pub fn blames(&self) -> impl Iterator<Item = Blame> {
        self.findings().map(|finding| finding.blame)
    }

    /// Whether enough was read of every host to say that nothing was found.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        let mut hosts = self.hosts.iter();
        hosts.all(|(snapshot, checked)| is_decided(snapshot, checked))
    }

    pub(crate) fn findings(&self) -> impl Iterator<Item = &HostFinding> {
        self.hosts.iter().flat_map(|(_, checked)| &checked.findings)
    }

    /// Prints each interface as a test case of its host, in JUnit's XML. `fails` decides which
    /// findings make a case fail; with other findings, a case is skipped. `when` is the time of the
    /// check.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_junit(
        &self,
        out: &mut dyn Write,
        fails: &dyn Fn(Blame) -> bool,
        when: SystemTime,
    ) -> io::Result<()> {
        fleet::write_junit(self, out, fails, when)
    }

    /// Prints each finding as a result, in SARIF 2.1.0.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_sarif(&self, out: &mut dyn Write) -> io::Result<()> {
        fleet::write_sarif(self, out)
    }

    /// Prints numbers of findings as metrics, in the text format of OpenMetrics.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_openmetrics(&self, out: &mut dyn Write) -> io::Result<()> {
        fleet::write_openmetrics(self, out)
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
            ignored: &self.aside.ignored,
            known: &self.aside.known,
            gone: &self.aside.gone,
            watched: &self.watched,
        }
    }
}

impl Document for CheckReport {
    fn schema() -> Schema {
        document::schema::<Body<'static>>(SCHEMA)
    }

    fn warnings(&self) -> Vec<String> {
        let of_host = |(snapshot, checked): &(Snapshot, Checked)| {
            let name = name_of(snapshot).to_owned();
            let texts = not_read(snapshot, checked).into_iter();
            texts.map(move |text| format!("{name}: {text}"))
        };
        let watched = self.watched.iter().flat_map(text::not_seen);
        self.hosts.iter().flat_map(of_host).chain(watched).collect()
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let roles = self.roles();
        document::write(SCHEMA, &self.body(&roles), out)
    }

    /// One row per finding.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        separated::write_fields(out, &COLUMNS, self.findings())
    }

    fn write_text(&self, out: &mut dyn Write, options: &TextOptions) -> io::Result<()> {
        text::write_check(self, out, options)
    }

    fn write_html(&self, made: &Made, out: &mut dyn Write) -> io::Result<()> {
        html::write_check(self, made, out)
    }
}

/// The host's name, or words for a host without one.
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
        switches: &snapshot.switches,
        ovs: snapshot.ovs.as_ref(),
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
        up: interface.up,
        speed_bps: interface.speed_bps,
        parent: interface.parent.as_deref(),
        addresses: &interface.addresses,
        gso: interface.gso.as_ref(),
        rings: &interface.rings,
        counters: &interface.counters,
        statistics: &interface.statistics,
    }
}
