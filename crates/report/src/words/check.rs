//! Words for hosts' settings.

use coalescope_host::model::{Interface, Platform, Snapshot};
use coalescope_host::roles::Role;
use coalescope_knowledge::rules::{Blame, FindingRef, HostFinding};

use super::connections::known;
use super::findings::capitalised;
use super::offloads::UNREAD;
use super::units::{UNKNOWN, counted};
use crate::check::{CheckReport, name_of};

pub(crate) fn all_findings(report: &CheckReport) -> Vec<&HostFinding> {
    report.findings().collect()
}

/// The verdict, and what was set aside.
pub(crate) fn verdict_text(report: &CheckReport, findings: &[&HostFinding]) -> String {
    let watched = report.watched.iter().map(super::watch::verdict);
    let watched: Vec<String> = watched.collect();
    sentences([
        judgement(report, findings),
        aside(report),
        watched.join(" "),
    ])
}

/// The number of findings set aside, and why.
fn aside(report: &CheckReport) -> String {
    let said = |list: &[FindingRef], text: &str| match list.len() {
        0 => String::new(),
        1 => format!("1 finding is {text}."),
        n => format!("{n} findings are {text}."),
    };
    sentences([
        said(&report.aside.ignored, "ignored, as asked (--ignore)"),
        said(&report.aside.known, "not new (--baseline)"),
        said(&report.aside.gone, "gone since the baseline"),
    ])
}

fn judgement(report: &CheckReport, findings: &[&HostFinding]) -> String {
    let unknown = report
        .hosts
        .iter()
        .filter(|(snapshot, _)| snapshot.platform.is_none());
    let unknown: Vec<&str> = unknown.map(|(snapshot, _)| name_of(snapshot)).collect();
    if !unknown.is_empty() {
        let names = unknown.join(", ");
        return format!(
            "What system {names} runs cannot be told from this, so no rule could be asked."
        );
    }
    let groups = groups(findings);
    let Some(first) = groups.first().and_then(|group| group.first()) else {
        return innocent(report);
    };
    let more = match groups.len() - 1 {
        0 => String::new(),
        more => format!(" And {}.", counted(more as u64, "more finding")),
    };
    if first.blame == Blame::Ask {
        let where_ = judged(report).unwrap_or_default();
        let test = format!("To be tested: {}.{more}", first.title.trim_end_matches('.'));
        return sentences([nothing_found(report, &where_), gaps(report), test]);
    }
    let proof = capitalised(first.proof.name());
    let host = if report.hosts.len() > 1 {
        format!(" on {}", first.host)
    } else {
        String::new()
    };
    format!(
        "{proof}{host}: {}.{more}",
        first.title.trim_end_matches('.')
    )
}

pub(crate) fn innocent(report: &CheckReport) -> String {
    let Some(where_) = judged(report) else {
        return unjudged(report);
    };
    sentences([
        nothing_found(report, &where_),
        gaps(report),
        unjudged(report),
        left_alone(report),
    ])
}

/// The sentences that are not empty, joined.
fn sentences<const N: usize>(all: [String; N]) -> String {
    let said: Vec<_> = all.into_iter().filter(|text| !text.is_empty()).collect();
    said.join(" ")
}

/// The verdict without findings, which counts only if enough was read.
fn nothing_found(report: &CheckReport, where_: &str) -> String {
    if !report.is_decided() {
        return format!("Not enough was read of {where_} to say that nothing is wrong.");
    }
    let aside = &report.aside;
    if !aside.ignored.is_empty() || !aside.known.is_empty() {
        return format!("Nothing else found on {where_}.");
    }
    if gaps(report).is_empty() {
        return format!(
            "Nothing wrong found on {where_}: no setting that is known to harm in its role."
        );
    }
    format!("Nothing wrong found on {where_} as far as it was read.")
}

/// The host that rules were applied to, or the number of hosts; none without any.
fn judged(report: &CheckReport) -> Option<String> {
    let hosts = report.hosts.iter().filter(|(_, checked)| checked.judged);
    let names: Vec<_> = hosts.map(|(snapshot, _)| name_of(snapshot)).collect();
    match names.as_slice() {
        [] => None,
        [one] => Some((*one).to_owned()),
        more => Some(counted(more.len() as u64, "host")),
    }
}

fn left_alone(report: &CheckReport) -> String {
    let hosts = report.hosts.iter();
    match hosts
        .map(|(_, checked)| checked.left_alone.len())
        .sum::<usize>()
    {
        0 => String::new(),
        1 => "1 setting that is often blamed is right as it is.".to_owned(),
        n => format!("{n} settings that are often blamed are right as they are."),
    }
}

/// Hosts without a verdict, since no rule is for their platform.
fn unjudged(report: &CheckReport) -> String {
    let hosts = report.hosts.iter().filter(|(_, checked)| !checked.judged);
    let texts = hosts.filter_map(|(snapshot, _)| {
        let platform = snapshot.platform?.name();
        let name = name_of(snapshot);
        Some(format!(
            "There is no rule about {platform}, so {name} was not judged."
        ))
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// What is missing for a verdict, with its hosts.
pub(crate) fn gaps(report: &CheckReport) -> String {
    let with_gaps = report
        .hosts
        .iter()
        .filter(|(_, checked)| !checked.gaps.is_empty());
    let texts: Vec<String> = with_gaps
        .map(|(snapshot, checked)| {
            let of = if report.hosts.len() > 1 {
                format!(" of {}", name_of(snapshot))
            } else {
                String::new()
            };
            format!("Not read{of}: {}.", checked.gaps.join(", "))
        })
        .collect();
    texts.join(" ")
}

/// Findings of the same rule on the same host, as one group.
pub(crate) fn groups<'a>(findings: &[&'a HostFinding]) -> Vec<Vec<&'a HostFinding>> {
    let mut groups: Vec<Vec<&HostFinding>> = Vec::new();
    for finding in findings {
        let same = groups.iter_mut().find(|group| {
            let of = group.first().map(|f| (&f.id, &f.host, f.proof));
            of == Some((&finding.id, &finding.host, finding.proof))
        });
        match same {
            Some(group) => group.push(finding),
            None => groups.push(vec![finding]),
        }
    }
    groups
}

/// The host, and all interfaces with the finding.
pub(crate) fn places(group: &[&HostFinding]) -> String {
    let host = group
        .first()
        .map(|finding| finding.host.as_str())
        .unwrap_or_default();
    let named = group.iter().filter_map(|finding| finding.place());
    let names: Vec<&str> = named.collect();
    match names.as_slice() {
        [] => format!("host {host}"),
        [first] => format!("host {host}, {first}"),
        [first, rest @ ..] => format!("host {host}, {first}; the same at {}", rest.join(", ")),
    }
}

/// An interface's key, kind, driver and MTU.
pub(crate) fn about(key: &str, interface: &Interface) -> [String; 4] {
    let driver = interface.driver.as_ref().map(|driver| &driver.name);
    [
        key.to_owned(),
        known(interface.kind.as_ref(), ToString::to_string),
        known(driver, ToString::to_string),
        known(interface.mtu_bytes, |mtu| mtu.to_string()),
    ]
}

/// Names of an interface's roles. If an interface in use has none, too little was read.
pub(crate) fn role_names(interface: &Interface, roles: &[Role]) -> String {
    let is_idle = interface.up == Some(false) || interface.kind.as_deref() == Some("loopback");
    if roles.is_empty() {
        return if is_idle { UNKNOWN } else { UNREAD }.to_owned();
    }
    let names: Vec<&str> = roles.iter().map(|role| role.role.name()).collect();
    names.join(", ")
}

pub(crate) fn heading(snapshot: &Snapshot) -> String {
    let system = snapshot.distribution.as_ref().map(|distribution| {
        let full = distribution.name.clone();
        full.unwrap_or_else(|| distribution.id.clone())
    });
    let platform = snapshot.platform.map(Platform::name);
    let parts = [system, platform.map(str::to_owned), snapshot.kernel.clone()];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        return name_of(snapshot).to_owned();
    }
    format!("{} ({})", name_of(snapshot), parts.join(", "))
}
