//! What findings of a running host say.

use coalescope_host::safe::sh;
use coalescope_watch::facts::{Drop, Frames, Interface, Received, Watched};

use super::{MERGED_FRAMES_DROPPED, NOT_MERGING, SEGMENTED_IN_SOFTWARE, lasts, plain_reason};
use crate::finding::Proof;
use crate::odds::Table;
use crate::rules::{Blame, HostEvidence, HostFinding, Remedy, RemedyKind};
use crate::words::share;

/// What a finding is about.
pub(super) enum Subject<'a> {
    Dropped(&'a Drop, Table, f64),
    Cut(&'a Interface, Frames),
    Single(&'a Interface, Received, f64),
}

pub(super) fn finding(watched: &Watched, subject: &Subject<'_>) -> HostFinding {
    let mut finding = match subject {
        Subject::Dropped(drop, table, p) => dropped(drop, *table, *p),
        Subject::Cut(interface, frames) => cut(interface, frames, watched.took_s),
        Subject::Single(interface, received, factor) => single(interface, received, *factor),
    };
    finding.host = watched.host.clone().unwrap_or_default();
    finding
}

fn dropped(drop: &Drop, table: Table, p: f64) -> HostFinding {
    let reason = plain_reason(drop.reason.as_deref(), drop.location.as_deref());
    let interface = drop.from.as_ref().or(drop.interface.as_ref());
    let name = interface.map_or("", String::as_str);
    let way = match &drop.from {
        Some(from) => format!("received on {from}"),
        None => format!("sent on {name}"),
    };
    let mut evidence = vec![table.words(Some(p), "died"), format!("why: {reason}")];
    evidence.extend(lasting(drop));
    let (experiment, remedies) = ways_out(drop, name);
    HostFinding {
        id: MERGED_FRAMES_DROPPED.to_owned(),
        blame: Blame::Harms,
        interface: interface.cloned(),
        title: format!(
            "{} merged frames {way} are dropped, and single ones pass",
            share(table.merged_lost, table.merged)
        ),
        mechanism: "The kernel drops frames of several segments in a place that single segments \
                    pass. The sender repeats what was in them in single segments, so a round trip \
                    delivers one to three, whatever the speed of the link."
            .to_owned(),
        evidence: told(evidence),
        experiment,
        remedies,
        cost: Some("More packets for the same data, so more CPU on this host.".to_owned()),
        sources: vec!["docs/watch.md: findings".to_owned()],
        ..empty()
    }
}

/// That it went on, in words.
fn lasting(drop: &Drop) -> Option<String> {
    let (first, again) = lasts(drop)?;
    let flow = first.flow.as_ref()?;
    Some(format!(
        "{flow}: a merged frame died, and {:.1} s later the next one, so single ones passed meanwhile",
        again.unix_s - first.unix_s
    ))
}

/// The experiment, and remedies, by what the interface does with the frames.
fn ways_out(drop: &Drop, name: &str) -> (Option<String>, Vec<Remedy>) {
    let switches: &[&str] = match drop.from {
        // Which of them merges is known to the settings: `check`.
        Some(_) => &["lro", "rx-gro-hw", "gro"],
        None => &["tso", "gso"],
    };
    let (namespace, own) = coalescope_host::names::of_key(name);
    if namespace.is_some() || !coalescope_host::safe::is_plain(own) {
        return (None, of_rule(drop));
    }
    let last = switches.last().copied().unwrap_or_default();
    let experiment = format!("coalescope ab --set {own}:{last}=off -- COMMAND");
    let off = switches.iter().map(|switch| remedy(own, switch, "off"));
    let on = remedy(own, last, "on");
    let on = Remedy {
        kind: RemedyKind::Undo,
        ..on
    };
    let remedies = of_rule(drop).into_iter().chain(off).chain([on]);
    (Some(experiment), remedies.collect())
}

fn remedy(interface: &str, switch: &str, state: &str) -> Remedy {
    Remedy {
        platform: "linux".to_owned(),
        kind: RemedyKind::Runtime,
        command: format!("ethtool -K {} {switch} {state}", sh(interface)),
        settings: vec![format!("{interface}:{switch}={state}")],
    }
}

/// Where a rule drops, the rule is what to change.
fn of_rule(drop: &Drop) -> Vec<Remedy> {
    let command = match drop.reason.as_deref() {
        Some("NETFILTER_DROP") => {
            "nft list ruleset  # which rule asks for a length? A merged frame is longer than the MTU"
        }
        Some("TC_INGRESS" | "TC_EGRESS") => {
            "tc -s filter show dev IFACE ingress  # a policer's mtu must be longer than a merged frame: 65535"
        }
        _ => return Vec::new(),
    };
    vec![Remedy {
        platform: "linux".to_owned(),
        kind: RemedyKind::Runtime,
        command: command.to_owned(),
        settings: Vec::new(),
    }]
}

fn cut(interface: &Interface, frames: &Frames, took_s: f64) -> HostFinding {
    let each = frames.sent.cut_frames as f64 / took_s.max(0.001);
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
        evidence: told(vec![format!(
            "{} merged frames were cut, {each:.0} each second",
            share(frames.sent.cut_frames, frames.queued.merged_frames)
        )]),
        remedies: switch_on(name, "tso"),
        sources: vec!["docs/watch.md: findings".to_owned()],
        ..empty()
    }
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
        evidence: told(vec![format!(
            "{factor:.2} segments in a frame, of {} frames with TCP data that were looked into",
            received.looked_tcp_frames
        )]),
        remedies: switch_on(name, "gro"),
        sources: vec!["docs/watch.md: findings".to_owned()],
        ..empty()
    }
}

fn switch_on(name: &str, switch: &str) -> Vec<Remedy> {
    let (namespace, own) = coalescope_host::names::of_key(name);
    match namespace {
        None if coalescope_host::safe::is_plain(own) => vec![remedy(own, switch, "on")],
        _ => Vec::new(),
    }
}

fn told(texts: Vec<String>) -> Vec<HostEvidence> {
    let texts = texts.into_iter();
    texts.map(|text| HostEvidence { text }).collect()
}

fn empty() -> HostFinding {
    HostFinding {
        id: String::new(),
        // They were counted.
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
    }
}
