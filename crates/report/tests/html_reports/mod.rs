//! Small reports, full of one name.

use std::collections::BTreeMap;

use coalescope_capture::facts::{
    Connection, Connections, Direction, Hop, Outcomes, Point, Trace, Vantage,
};
use coalescope_host::drift::{Differs, Drift};
use coalescope_host::model::{Driver, Feature, Platform, Snapshot};
use coalescope_incident::{Kind, LabAgreement, LabControl, LabRow, Published};
use coalescope_knowledge::rules::{
    Blame, Checked, HostEvidence, HostFinding, LeftAlone, Remedy, RemedyKind,
};
use coalescope_knowledge::{
    ConnectionLimit, ConnectionRef, Diagnosis, Evidence, Finding, HopRef, Id, Limit, Merging,
    Proof, Subject, Verdict,
};
use coalescope_replay::facts::{self as replayed, Replay};
use coalescope_report::{
    CheckReport, DiagnoseReport, LabIncident, LabReport, ReplayReport, Report, Skipped, WatchReport,
};
use coalescope_watch::facts::{Compared, Drop, Frames, Interface, Level, Sample, Unseen, Watched};
#[cfg(target_os = "linux")]
use {
    coalescope_change::restore::{Fate, Undone},
    coalescope_knowledge::Standing,
    coalescope_report::{FixReport, Fixed, Shown, UndoReport, Verified},
};

fn connection(id: u64, name: &str) -> Connection {
    Connection {
        id,
        vantage: Vantage::Between,
        tunnel: Some(name.to_owned()),
        to_client: Direction {
            unique_bytes: 1_000_000 - id,
            segment_size_bytes: Some(1448),
            merge_factor_mean: Some(2.5),
            merge_factor_max: Some(44),
            throughput_bps: Some(2_800_000.0),
            rtt_min_s: Some(0.01),
            ..Direction::default()
        },
        ..Connection::default()
    }
}

fn point(name: String, connections: u64) -> Point {
    let all = (0..connections).map(|id| connection(id, &name));
    Point {
        connections: Connections::from_iter(all),
        warnings: vec![format!("{name} was cut")],
        frames: 1000,
        name,
        ..Point::default()
    }
}

fn outcomes(arrived: u64, lost: u64) -> Outcomes {
    Outcomes {
        seen: arrived + lost,
        arrived,
        lost,
        ..Outcomes::default()
    }
}

fn finding(name: &str) -> Finding {
    Finding {
        id: Id::MergedFramesLost,
        proof: Proof::Observed,
        reason: None,
        subject: Subject::Plain,
        note: false,
        share: None,
        title: format!("merged frames are lost between {name}-1 and {name}-2"),
        connection: Some(ConnectionRef {
            point: name.to_owned(),
            id: 0,
            client: name.to_owned(),
            server: name.to_owned(),
        }),
        hop: Some(HopRef {
            from: format!("{name}-1"),
            to: format!("{name}-2"),
        }),
        evidence: vec![Evidence {
            text: format!("31 of 31 at {name}"),
            point: Some(name.to_owned()),
            frames: vec![4, 5, 6],
        }],
        next: format!("switch merging off at {name}"),
    }
}

fn facts(name: &str, connections: u64) -> (Trace, Diagnosis) {
    let points = [1, 2].map(|i| point(format!("{name}-{i}"), connections));
    let hop = Hop {
        from: format!("{name}-1"),
        to: format!("{name}-2"),
        connections_matched: connections,
        merged: outcomes(0, 31),
        single: outcomes(346, 1),
        p_value: Some(1e-20),
        ..Hop::default()
    };
    let limits = (0..connections).map(|id| ConnectionLimit {
        point: format!("{name}-1").into(),
        connection: id,
        direction: "to_client",
        limit: if id == 0 {
            Limit::MergedLoss
        } else {
            Limit::None
        },
    });
    let diagnosis = Diagnosis {
        verdict: Verdict {
            merging: Merging::Harms,
            impact: Some(format!("1 Mbit/s: merged frames vanish behind {name}-1")),
            text: format!("Merged frames are lost behind {name}-1."),
        },
        findings: vec![finding(name)],
        limits: limits.collect(),
    };
    let trace = Trace {
        points: points.into(),
        hops: vec![hop],
        ..Trace::default()
    };
    (trace, diagnosis)
}

/// Two points, a hop between them that loses merged frames.
pub(crate) fn trace(name: &str, connections: u64) -> Report {
    let (trace, diagnosis) = facts(name, connections);
    Report::new(trace, diagnosis)
}

/// What settings and packets say of one host.
pub(crate) fn diagnosis(name: &str) -> DiagnoseReport {
    DiagnoseReport::new(check(name), Some(facts(name, 3)))
}

/// A bridge over a card with GRO, at which a rule points.
fn snapshot(name: &str, host: &str) -> Snapshot {
    let mut snapshot = Snapshot {
        name: Some(host.to_owned()),
        platform: Some(Platform::Linux),
        kernel: Some(name.to_owned()),
        ..Snapshot::default()
    };
    let card = snapshot.interface_mut(name);
    card.kind = Some("physical".to_owned());
    card.master = Some("br0".to_owned());
    card.driver = Some(Driver {
        name: name.to_owned(),
        ..Driver::default()
    });
    let on = Feature {
        active: true,
        ..Feature::default()
    };
    card.features
        .insert("generic-receive-offload".to_owned(), on);
    snapshot.interface_mut("br0").kind = Some("bridge".to_owned());
    snapshot
}

fn host_finding(name: &str) -> HostFinding {
    HostFinding {
        id: "bridge-gro".to_owned(),
        proof: Proof::Suspected,
        blame: Blame::Harms,
        host: name.to_owned(),
        interface: Some(name.to_owned()),
        switch: None,
        title: format!("GRO is on at {name}"),
        mechanism: format!("{name} merges"),
        evidence: vec![HostEvidence {
            text: format!("{name}: on"),
        }],
        experiment: Some(format!("coalescope ab --set {name}:gro=off").into()),
        remedies: vec![Remedy {
            platform: "Linux".to_owned(),
            kind: RemedyKind::Runtime,
            command: format!("ethtool -K {name} gro off"),
            settings: Vec::new(),
        }],
        cost: Some(name.to_owned()),
        sources: vec!["https://example.org/".to_owned(), name.to_owned()],
        explains: Vec::new(),
        dropped_as: Vec::new(),
        holding: Vec::new(),
    }
}

/// Two hosts that differ, one with a finding and something that is left alone.
pub(crate) fn check(name: &str) -> CheckReport {
    let checked = Checked {
        findings: vec![host_finding(name)],
        left_alone: vec![LeftAlone {
            id: "innocent".to_owned(),
            host: name.to_owned(),
            interface: Some("br0".to_owned()),
            title: format!("{name} is right"),
            why: name.to_owned(),
        }],
        judged: true,
        ..Checked::default()
    };
    let hosts = vec![
        (snapshot(name, name), checked),
        (snapshot(name, "other"), Checked::default()),
    ];
    let drift = Drift {
        what: format!("MTU of {name}"),
        majority: Some("1500".to_owned()),
        hosts: vec![Differs {
            host: name.to_owned(),
            interface: Some(name.to_owned()),
            value: "9000".to_owned(),
        }],
        like_most: vec!["other".to_owned()],
    };
    CheckReport::new(hosts, vec![drift])
}

/// An incident with published figures, one that was skipped.
pub(crate) fn lab(name: &str) -> LabReport {
    let incident = LabIncident {
        name: name.to_owned(),
        title: name.to_owned(),
        kind: Kind::Harm,
        kernel: name.to_owned(),
        published: Published {
            slow_bps: Some(2.8e6),
            fast_bps: Some(1.3e8),
            ratio: Some(46.7),
            effective_window_segments: None,
            note: Some(name.to_owned()),
        },
        slow_bps: 1.3e6,
        fast_bps: 1.5e8,
        ratio: 114.0,
        effective_window_segments: 1.15,
        undone_bps: Some(1.3e6),
        suspected: true,
        watched: None,
        observed: true,
        proven: true,
        fixed: true,
        undone: true,
        accused: vec![name.to_owned()],
        controls: vec![LabControl {
            name: name.to_owned(),
            title: name.to_owned(),
            bps: 1e8,
            effective_window_segments: 2.0,
            took_s: Some(0.5),
            data_frames: Some(60),
        }],
        table: vec![lab_row(name)],
        agreement: vec![LabAgreement {
            change: name.to_owned(),
            figure: name.to_owned(),
            published_ratio: 1.6,
            measured_ratio: 1.0,
            agrees: false,
        }],
        problems: vec![name.to_owned()],
        captures: vec![name.into()],
        took_s: 1.5,
    };
    let skipped = Skipped {
        name: name.to_owned(),
        why: name.to_owned(),
    };
    LabReport {
        incidents: vec![incident],
        failed: vec![skipped.clone()],
        skipped: vec![skipped],
    }
}

fn lab_row(name: &str) -> LabRow {
    LabRow {
        levels: [(name.to_owned(), name.to_owned())].into(),
        bps: 2.9e8,
        sender_us_per_kb: Some(4.0),
        receiver_us_per_kb: None,
        acks_per_segment: Some(0.5),
        merge_factor: Some(1.0),
        retransmitted_segments: Some(3.0),
        published: None,
    }
}

/// A replay of one connection.
pub(crate) fn replay(name: &str) -> ReplayReport {
    let end = |port| replayed::Endpoint {
        address: [192, 0, 2, 1].into(),
        port,
    };
    let reasons = replayed::Reasons {
        flushed: BTreeMap::from([("end-of-poll", 30)]),
        ..replayed::Reasons::default()
    };
    let connection = replayed::Connection {
        id: 0,
        interface: 0,
        network: "ipv4",
        protocol: "tcp",
        tunnel: Some(name.to_owned()),
        source: end(80),
        destination: end(40_000),
        frames_in: 100,
        frames_out: 30,
        merged_frames: 20,
        merge_factor_mean: Some(3.3),
        merge_factor_max: Some(44),
        data_frames_in: 100,
        data_frames_out: 30,
        bytes_in: 150_000,
        acks_before: 50,
        acks_saved: 35,
        already_merged_frames: 0,
        reasons: reasons.clone(),
    };
    ReplayReport::new(Replay {
        profile: "linux-gro".to_owned(),
        frames_in: 100,
        frames_out: 30,
        merged_frames: 20,
        merge_factor_mean: Some(3.3),
        reversible: true,
        reasons,
        connections: vec![connection],
        profile_source: name.to_owned(),
        interval_us: 50,
        mtu_bytes: 1500,
        polls: 12,
        merge_factor_max: Some(44),
        data_frames_in: 100,
        data_frames_out: 30,
        segments: 90,
        irreversible_frames: 0,
        absorbed_frames: 0,
        bytes_in: 150_000,
        bytes_out: 145_000,
        acks_before: 50,
        acks_saved: 35,
        already_merged_frames: 0,
        truncated_frames: 0,
        unverified_frames: 0,
        offloaded_frames: 0,
        other_frames: 0,
        unlisted_frames: 0,
        left_out_frames: 0,
        unreadable_bytes: 0,
        warnings: vec![name.to_owned()],
    })
}

/// A host on which merged frames die, beside single ones that pass.
pub(crate) fn watch(name: &str) -> WatchReport {
    let sample = Sample {
        bytes: 2948,
        segment_bytes: 1448,
        segments: 2,
        ..Sample::default()
    };
    let drop = Drop {
        from: Some(name.to_owned()),
        reason: Some(name.to_owned()),
        location: Some(name.to_owned()),
        merged_frames: 144,
        merged_segments: 410,
        compared: Some(Compared {
            flows: 1,
            merged_frames: 145,
            merged_died: 144,
            single_frames: 158,
            single_died: 0,
        }),
        samples: vec![sample],
        ..Drop::default()
    };
    let mut frames = Frames::default();
    frames.received.frames = 308;
    frames.received.segments = 579;
    frames.received.merged_frames = 147;
    let interface = Interface {
        name: name.to_owned(),
        roles: vec![name.to_owned()],
        frames: Some(frames),
        ..Interface::default()
    };
    let connection = coalescope_watch::facts::Connection {
        namespace: Some(name.to_owned()),
        local: name.to_owned(),
        remote: name.to_owned(),
        acked_bytes: 1_000_000,
        ..Default::default()
    };
    let watched = Watched {
        level: Level::Bpf,
        took_s: 6.0,
        interfaces: vec![interface],
        drops: vec![drop],
        connections: vec![connection],
        unseen: vec![Unseen {
            what: name.to_owned(),
            why: name.to_owned(),
        }],
        ..Watched::default()
    };
    WatchReport::new(watched, vec![host_finding(name)])
}

/// A fix that was applied, and does not hold.
#[cfg(target_os = "linux")]
pub(crate) fn fix(name: &str) -> FixReport {
    let shown = Shown {
        begun_unix_s: 1_795_575_491,
        now: Standing::Proven,
        verdict: name.to_owned(),
    };
    let fixed = Fixed::new(&host_finding(name), vec![name.to_owned()], true);
    FixReport {
        fixes: vec![fixed.with_proof(Some(shown))],
        left_out: vec![name.to_owned()],
        applied: true,
        changes: vec![name.to_owned()],
        journals: vec![name.to_owned()],
        problem: Some(name.to_owned()),
        unrestored: vec![name.to_owned()],
        verified: vec![Verified::new(name, name, "off", name, false)],
        ..FixReport::default()
    }
}

/// Journals that were undone, and not.
#[cfg(target_os = "linux")]
pub(crate) fn undo(name: &str) -> UndoReport {
    let undone = |fate| Undone {
        journal: name.to_owned(),
        command: name.to_owned(),
        begun_unix_s: 0,
        fate,
    };
    let mut report = UndoReport::default();
    report.add(undone(Fate::Restored {
        changes: vec![name.to_owned()],
        idle: vec![name.to_owned()],
    }));
    report.add(undone(Fate::Held {
        why: name.to_owned(),
        by_hand: Some(name.to_owned()),
    }));
    report.add(undone(Fate::Running {
        holder: name.to_owned(),
    }));
    report.forgotten(name);
    report
}
