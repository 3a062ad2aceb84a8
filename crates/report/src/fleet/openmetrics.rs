//! Metrics in the text format of OpenMetrics: only gauges, which Prometheus's older text format (of
//! node_exporter's textfile collector) writes in the same way.
//!
//! No label is an interface: the number of samples depends on hosts and on rules with findings, not
//! on interfaces that come and go.

use std::collections::BTreeMap;
use std::io::{self, Write};

use coalescope_host::model::Snapshot;
use coalescope_host::safe::printable_line;
use coalescope_knowledge::Proof;
use coalescope_knowledge::rules::{Blame, Checked};

use crate::check::{CheckReport, is_decided, name_of};
use crate::metrics::{self, Family, Labels};

/// Kinds of findings. Each has a sample even without findings, so that an alert always has a value.
const KINDS: [Blame; 4] = [Blame::Harms, Blame::BadRemedy, Blame::Ask, Blame::Missed];
/// The proof levels that a check can give.
const PROOFS: [Proof; 2] = [Proof::Suspected, Proof::Observed];

/// Writes all metrics.
pub(crate) fn write(report: &CheckReport, out: &mut dyn Write) -> io::Result<()> {
    metrics::write(families(report), out)
}

fn families(report: &CheckReport) -> Vec<Family> {
    let each = |name, help, samples: fn(&Snapshot, &Checked) -> Vec<(Labels, u64)>| {
        Family::gauge(name, help, samples_of(report, samples))
    };
    vec![
        Family::build_info("The program that looked."),
        each(
            "coalescope_check_decided",
            "Whether enough was read to say that nothing is wrong.",
            |snapshot, checked| vec![(Vec::new(), u64::from(is_decided(snapshot, checked)))],
        ),
        each(
            "coalescope_check_interfaces",
            "Network interfaces that were looked at.",
            |snapshot, _| vec![(Vec::new(), number(snapshot.interfaces.len()))],
        ),
        each(
            "coalescope_check_unread",
            "Texts and settings that could not be read.",
            |snapshot, _| vec![(Vec::new(), number(snapshot.unread.len()))],
        ),
        each(
            "coalescope_check_findings",
            "Findings by whom they blame and how sure they are.",
            |_, checked| by_kind(checked),
        ),
        each(
            "coalescope_check_rule_findings",
            "Findings of each rule that has any.",
            |_, checked| by_rule(checked),
        ),
        Family::gauge(
            "coalescope_check_ignored_findings",
            "Findings that were set aside by --ignore or --baseline.",
            vec![(
                Vec::new(),
                number(report.aside.ignored.len() + report.aside.known.len()),
            )],
        ),
    ]
}

/// Samples of all hosts, with the host as the first label.
fn samples_of(
    report: &CheckReport,
    samples: fn(&Snapshot, &Checked) -> Vec<(Labels, u64)>,
) -> Vec<(Labels, u64)> {
    let of_host = |(snapshot, checked): &(Snapshot, Checked)| {
        let host = printable_line(name_of(snapshot)).into_owned();
        let all = samples(snapshot, checked).into_iter();
        all.map(move |(labels, value)| {
            let host = ("host", host.clone());
            let labels = [host].into_iter().chain(labels).collect();
            (labels, value)
        })
    };
    report.hosts.iter().flat_map(of_host).collect()
}

fn by_kind(checked: &Checked) -> Vec<(Labels, u64)> {
    let pairs = KINDS
        .into_iter()
        .flat_map(|blame| PROOFS.map(|proof| (blame, proof)));
    let sample = |(blame, proof): (Blame, Proof)| {
        let all = checked.findings.iter();
        let found = all.filter(|one| one.blame == blame && one.proof == proof);
        let labels = vec![
            ("blame", blame.name().to_owned()),
            ("proof", proof.name().to_owned()),
        ];
        (labels, number(found.count()))
    };
    pairs.map(sample).collect()
}

fn by_rule(checked: &Checked) -> Vec<(Labels, u64)> {
    let mut rules: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for finding in &checked.findings {
        *rules
            .entry((&finding.id, finding.blame.name()))
            .or_default() += 1;
    }
    let sample = |((rule, blame), found): ((&str, &str), usize)| {
        let labels = vec![("rule", rule.to_owned()), ("blame", blame.to_owned())];
        (labels, number(found))
    };
    rules.into_iter().map(sample).collect()
}

fn number(of: usize) -> u64 {
    of as u64
}
