//! Settings and packets together: captures confirm what settings let suspect, or contradict it.

use crate::finding::{Finding, Id, Proof};
use crate::rules::{Blame, Checked, HostEvidence, HostFinding};
use crate::verdict::{Diagnosis, Merging};

/// Raises findings of hosts that explain what a trace shows from suspected to observed, and adds evidence against the
/// others where the trace contradicts them.
///
/// With several hosts, a finding of the trace is tied to the host after which its point is named
/// (`NAME=CAPTURE`); with one host, to that one.
pub fn join(hosts: &mut [(String, Checked)], diagnosis: &Diagnosis) {
    let single = hosts.len() == 1;
    for (name, checked) in hosts {
        for finding in &mut checked.findings {
            let shown = diagnosis.findings.iter().find(|shown| {
                shown.proof >= Proof::Observed
                    && finding.explains.contains(&shown.id)
                    && (single || is_at(shown, name))
            });
            match shown {
                Some(shown) => raise(finding, shown),
                None if accuses_merging(finding) => note_innocence(finding, diagnosis),
                None => {}
            }
        }
        checked
            .findings
            .sort_by_key(|finding| std::cmp::Reverse(finding.proof));
    }
}

fn raise(finding: &mut HostFinding, shown: &Finding) {
    finding.proof = finding.proof.max(Proof::Observed);
    // The captures are the test that the rule asks for.
    if finding.blame == Blame::Ask {
        finding.blame = Blame::Harms;
    }
    let why = shown
        .evidence
        .first()
        .map(|evidence| format!(": {}", evidence.text));
    let text = format!(
        "the captures show it: {}{} [{}]",
        shown.title,
        why.unwrap_or_default(),
        shown.id.name()
    );
    finding.evidence.push(HostEvidence { text });
}

fn accuses_merging(finding: &HostFinding) -> bool {
    let about = [
        Id::MergedFramesLost,
        Id::MergedFramesRejected,
        Id::MergedDatagramsLost,
    ];
    finding.explains.iter().any(|id| about.contains(id))
}

/// Notes that the captures do not show the harm. They may show another path than the finding's.
fn note_innocence(finding: &mut HostFinding, diagnosis: &Diagnosis) {
    if diagnosis.verdict.merging != Merging::Innocent {
        return;
    }
    let text = "the captures speak against it: merged frames arrive there, and do no harm; if they \
                show the path through this host, it is not what limits these connections";
    finding.evidence.push(HostEvidence {
        text: text.to_owned(),
    });
}

/// Whether a finding is at a point that is named after a host: `lb1`, or `lb1/eth0`, `lb1:eth0`.
fn is_at(finding: &Finding, host: &str) -> bool {
    let hop = finding.hop.iter().flat_map(|hop| [&hop.from, &hop.to]);
    let point = finding
        .connection
        .iter()
        .map(|connection| &connection.point);
    let mut points = hop.chain(point);
    points.any(|point| {
        let name = point.split(['/', ':']).next().unwrap_or(point);
        name.eq_ignore_ascii_case(host)
    })
}
