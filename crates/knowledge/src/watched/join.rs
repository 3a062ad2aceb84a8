//! Settings and counts together: counts confirm what settings let suspect, or contradict it.

use coalescope_host::names::OFFLOADS;
use coalescope_watch::facts::{Drop, Interface, Level, Watched, sum};

use super::subjects;
use super::thresholds::LOOKS_WELL;
use super::words::{Subject, finding};
use crate::experiment::SetTo;
use crate::finding::{Id, Proof};
use crate::rules::outside::reach;
use crate::rules::{Blame, Checked, HostEvidence, HostFinding};

/// Raises findings of hosts that explain the counts from suspected to observed, adds evidence against the others where
/// the counts contradict them, and adds findings that no setting explains.
///
/// With several hosts, a watch belongs to the host with its name; with one host, to that host.
pub fn join_watched(hosts: &mut [(String, Checked)], all: &[Watched]) {
    let is_single = hosts.len() == 1;
    for (name, checked) in hosts {
        let of_it = all.iter().filter(|watched| {
            let host = watched.host.as_deref().unwrap_or_default();
            is_single || host.eq_ignore_ascii_case(name)
        });
        for watched in of_it {
            join(checked, watched);
        }
    }
}

fn join(checked: &mut Checked, watched: &Watched) {
    for subject in subjects(watched) {
        let seen = finding(watched, &subject);
        let all = checked.findings.iter_mut();
        let mut explaining = all
            .filter(|one| explains(one, &subject, &seen, watched))
            .peekable();
        if explaining.peek().is_some() {
            explaining.for_each(|one| raise(one, &seen, watched));
        } else {
            checked.findings.push(seen);
        }
    }
    let suspected = checked.findings.iter_mut();
    for one in suspected.filter(|one| one.proof == Proof::Suspected && accuses(one)) {
        note_innocence(one, watched);
    }
    checked.findings.iter_mut().for_each(reach);
    checked
        .findings
        .sort_by_key(|finding| std::cmp::Reverse(finding.proof));
}

/// Whether a finding about settings is the cause of the counts.
fn explains(
    finding: &HostFinding,
    subject: &Subject<'_>,
    seen: &HostFinding,
    watched: &Watched,
) -> bool {
    match subject {
        Subject::Dropped(drop, ..) => {
            accuses(finding) && is_reason(finding, drop) && is_near(finding, drop, watched)
        }
        Subject::Cut(interface, _) | Subject::Single(interface, ..) => {
            finding.blame == Blame::Missed
                && finding.interface.as_deref() == Some(interface.name.as_str())
                && has_same_remedy(finding, seen)
        }
    }
}

fn accuses(finding: &HostFinding) -> bool {
    let about = [Id::MergedFramesLost, Id::MergedFramesRejected];
    finding.explains.iter().any(|id| about.contains(id))
}

/// Whether the kernel's drop reason is one of the rule's. A packet filter and tc drop by rules of their own, whatever
/// the settings of an interface.
fn is_reason(finding: &HostFinding, drop: &Drop) -> bool {
    let Some(reason) = drop.reason.as_deref() else {
        return true;
    };
    match finding.dropped_as.as_slice() {
        [] => !["NETFILTER_DROP", "TC_INGRESS", "TC_EGRESS"].contains(&reason),
        some => some.iter().any(|one| one == reason),
    }
}

/// Whether a finding is about the whole host, an interface that the frames went through, or the bridge or bond whose
/// port that interface is.
fn is_near(finding: &HostFinding, drop: &Drop, watched: &Watched) -> bool {
    let Some(place) = finding.place() else {
        return true;
    };
    let ends = drop.from.iter().chain(&drop.interface);
    let mut near = ends.flat_map(|end| {
        let all = watched.interfaces.iter();
        let master = all.filter(move |one| one.name == *end);
        let master = master.filter_map(|one| one.master.as_deref());
        [end.as_str()].into_iter().chain(master)
    });
    near.any(|name| name == place)
}

fn has_same_remedy(finding: &HostFinding, seen: &HostFinding) -> bool {
    let of_seen = seen.remedies.iter().flat_map(|one| &one.settings);
    let mut of_seen = of_seen.map(short);
    let of_it = finding.remedies.iter().flat_map(|one| &one.settings);
    let of_it: Vec<_> = of_it.map(short).collect();
    of_seen.any(|one| of_it.contains(&one))
}

/// Interface, switch by its short name, and value.
fn short(level: &SetTo) -> (&str, &str, &str) {
    let mut known = OFFLOADS.iter();
    let known = known.find(|(long, _)| *long == level.name);
    let name = known.map_or(level.name.as_str(), |(_, short)| short);
    (&level.subject, name, &level.value)
}

fn raise(finding: &mut HostFinding, seen: &HostFinding, watched: &Watched) {
    finding.proof = finding.proof.max(Proof::Observed);
    // The counts are the test that the rule asks for.
    if finding.blame == Blame::Ask {
        finding.blame = Blame::Harms;
    }
    let first = seen.evidence.first();
    let why = first.map(|evidence| format!(": {}", evidence.text));
    let text = format!(
        "a watch of {:.0} s shows it: {}{} [{}]",
        watched.took_s,
        seen.title,
        why.unwrap_or_default(),
        seen.id
    );
    finding.evidence.push(HostEvidence { text });
    let more = seen.evidence.iter().skip(1).cloned();
    finding.evidence.extend(more);
}

/// Notes that enough merged frames came through there, and none was dropped.
fn note_innocence(finding: &mut HostFinding, watched: &Watched) {
    let Some(place) = finding.place().filter(|_| watched.level == Level::Bpf) else {
        return;
    };
    let of = |one: &Interface| {
        let is_it = one.name == place || one.master.as_deref() == Some(place);
        let frames = one.frames.filter(|_| is_it);
        frames.map_or(0, |frames| frames.received.merged_frames)
    };
    let merged = sum(watched.interfaces.iter().map(of));
    let dead = watched
        .drops
        .iter()
        .filter(|drop| is_near(finding, drop, watched));
    if merged < LOOKS_WELL || sum(dead.map(Drop::died)) > 0 {
        return;
    }
    let text = format!(
        "a watch of {:.0} s speaks against it: {merged} merged frames came in there, and this host dropped none of them",
        watched.took_s
    );
    finding.evidence.push(HostEvidence { text });
}

#[cfg(test)]
mod tests;
