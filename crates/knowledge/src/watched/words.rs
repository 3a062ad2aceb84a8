//! Texts of findings about a running host.

use coalescope_watch::facts::{Drop, Frames, Interface, Received, Watched};

use super::remedies::{Ways, switch_on};
use super::sums::of_interface;
use super::{MERGED_FRAMES_DROPPED, NOT_MERGING, SEGMENTED_IN_SOFTWARE, lasts, plain_reason};
use crate::finding::Proof;
use crate::odds::Table;
use crate::rules::{Blame, HostEvidence, HostFinding};
use crate::words::share;

/// What a finding is about.
pub(super) enum Subject<'a> {
    Dropped(&'a Drop, Table, f64),
    Cut(&'a Interface, Frames),
    Single(&'a Interface, Received, f64),
}

pub(super) fn finding(watched: &Watched, subject: &Subject<'_>) -> HostFinding {
    let mut finding = match subject {
        Subject::Dropped(drop, table, p) => dropped(watched, drop, *table, *p),
        Subject::Cut(interface, frames) => cut(interface, frames, watched.took_s),
        Subject::Single(interface, received, factor) => single(interface, received, *factor),
    };
    finding.host = watched.host.clone().unwrap_or_default();
    finding
}

fn dropped(watched: &Watched, drop: &Drop, table: Table, p: f64) -> HostFinding {
    let reason = plain_reason(drop.reason.as_deref(), drop.location.as_deref());
    let interface = drop.from.as_ref().or(drop.interface.as_ref());
    let name = interface.map_or("", String::as_str);
    let way = match &drop.from {
        Some(from) => format!("received on {from}"),
        None => format!("sent on {name}"),
    };
    let mut evidence = vec![died(drop, &table, p), format!("why: {reason}")];
    evidence.extend(lasting(drop));
    let all = of_interface(drop, watched).filter(|all| all.single > 0);
    let all = all.unwrap_or(table);
    let ways = Ways::of(watched, drop, all);
    HostFinding {
        id: MERGED_FRAMES_DROPPED.to_owned(),
        blame: Blame::Harms,
        interface: interface.cloned(),
        title: format!(
            "{} merged frames {way} are dropped, and single ones pass",
            share(all.merged_lost, all.merged)
        ),
        mechanism: "The kernel drops frames of several segments in a place that single segments \
                    pass. The sender repeats what was in them in single segments, so a round trip \
                    delivers one to three, whatever the speed of the link."
            .to_owned(),
        evidence: as_evidence(evidence),
        experiment: ways.experiment,
        remedies: ways.remedies,
        cost: ways.cost.map(str::to_owned),
        sources: vec!["docs/watch.md: findings".to_owned()],
        ..empty()
    }
}

/// How many frames died, of the interface or of those flows that compare, in words.
fn died(drop: &Drop, table: &Table, p: f64) -> String {
    let words = table.words(Some(p), "died");
    match drop.compared.map(|of| of.flows) {
        None => words,
        Some(1) => format!("of one connection: {words}"),
        Some(flows) => format!("of {flows} connections: {words}"),
    }
}

/// Evidence that the drops continued, in words.
fn lasting(drop: &Drop) -> Option<String> {
    let (first, again) = lasts(drop)?;
    let flow = first.flow.as_ref()?;
    Some(format!(
        "{flow}: a merged frame died, and {:.1} s later the next one, so single ones passed meanwhile",
        again.unix_s - first.unix_s
    ))
}

fn cut(interface: &Interface, frames: &Frames, took_s: f64) -> HostFinding {
    let name = &interface.name;
    HostFinding {
        id: SEGMENTED_IN_SOFTWARE.to_owned(),
        blame: Blame::Missed,
        interface: Some(name.clone()),
        title: format!("merged frames are cut by the processor on their way out of {name}"),
        mechanism: "The interface takes no merged frames of this kind, so the kernel cuts each \
                    into its segments just before the driver. A card that can segment (TSO) would \
                    spare the processor that."
            .to_owned(),
        evidence: as_evidence(vec![cuts(frames, took_s)]),
        remedies: switch_on(name, "tso"),
        sources: vec!["docs/watch.md: findings".to_owned()],
        ..empty()
    }
}

/// How many merged frames were cut, and what that costs, where the kernel tells.
fn cuts(frames: &Frames, took_s: f64) -> String {
    let took_s = took_s.max(0.001);
    let (all, cut) = (frames.queued.merged_frames, frames.sent.cut_frames);
    // What is cut before the queue is in the one count, and not in the other.
    let share = share(cut, all.max(cut));
    let each = cut as f64 / took_s;
    let costs = frames.sent.cut_ns.map(|ns| {
        let percent = ns as f64 / 1e7 / took_s;
        format!("; cutting took {percent:.1}% of a processor's time")
    });
    format!(
        "{share} merged frames were cut, {each:.0} each second{}",
        costs.unwrap_or_default()
    )
}

fn single(interface: &Interface, received: &Received, factor: f64) -> HostFinding {
    let name = &interface.name;
    HostFinding {
        id: NOT_MERGING.to_owned(),
        blame: Blame::Missed,
        interface: Some(name.clone()),
        title: format!("TCP comes in single segments on {name}, though the link is fast"),
        mechanism: "Each received segment goes up through the stack by itself. With merging (GRO) \
                    the same data takes a fraction of the processor."
            .to_owned(),
        evidence: as_evidence(vec![format!(
            "{factor:.2} segments in a frame, of {} frames with TCP data that were looked into",
            received.looked_tcp_frames
        )]),
        remedies: switch_on(name, "gro"),
        sources: vec!["docs/watch.md: findings".to_owned()],
        ..empty()
    }
}

fn as_evidence(texts: Vec<String>) -> Vec<HostEvidence> {
    let texts = texts.into_iter();
    texts.map(|text| HostEvidence { text }).collect()
}

fn empty() -> HostFinding {
    HostFinding {
        id: String::new(),
        // The drops were counted.
        proof: Proof::Observed,
        blame: Blame::Innocent,
        host: String::new(),
        interface: None,
        switch: None,
        title: String::new(),
        mechanism: String::new(),
        evidence: Vec::new(),
        experiment: None,
        remedies: Vec::new(),
        cost: None,
        sources: Vec::new(),
        explains: Vec::new(),
        dropped_as: Vec::new(),
        holding: Vec::new(),
    }
}
