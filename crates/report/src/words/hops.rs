//! Words for the outcomes of a hop's frames.

use coalescope_capture::facts::{DatagramHop, Hop, Outcomes, Trace};
use coalescope_knowledge::{Finding, Id, Subject};

use super::units::{count, counted, p_value, percent, seconds, short_count, three_digits};

/// A hop with fewer data frames, such as the requests of a download, gets no table.
pub(crate) const FEW: u64 = 10;

pub(crate) fn seen(hop: &Hop) -> u64 {
    hop.merged.seen + hop.tso.seen + hop.single.seen
}

pub(crate) fn lost(hop: &Hop) -> u64 {
    hop.merged.lost + hop.tso.lost + hop.single.lost
}

/// Frames that were lost, in whole or in part.
fn damaged(hop: &Hop) -> u64 {
    hop.merged.damaged() + hop.tso.damaged() + hop.single.damaged()
}

fn judged(hop: &Hop) -> u64 {
    hop.merged.judged() + hop.tso.judged() + hop.single.judged()
}

/// Hops without loss and with almost no data.
pub(crate) fn brief(hops: &[&Hop]) -> String {
    let name = |hop: &&Hop| {
        let frames = counted(seen(hop), "data frame");
        format!("{} -> {} ({frames})", hop.from, hop.to)
    };
    let names: Vec<String> = hops.iter().map(name).collect();
    format!("nothing lost: {}", names.join(", "))
}

pub(crate) fn title(hop: &Hop) -> String {
    let matched = counted(hop.connections_matched, "connection");
    format!("{} -> {} ({matched} found at both)", hop.from, hop.to)
}

/// Pairs of neighbouring points without a common connection, each with possible reasons. Where neither saw any, there is nothing to
/// find at both.
pub(crate) fn unmatched(trace: &Trace) -> Vec<String> {
    let hops = &trace.hops;
    let mut pairs: Vec<[&str; 2]> = Vec::new();
    for hop in hops.iter().filter(|hop| saw_any(hop, trace)) {
        let pair = [hop.from.as_str(), hop.to.as_str()];
        let is_matched = hops
            .iter()
            .any(|other| has_met(other) && is_between(other, pair));
        if !is_matched && !pairs.iter().any(|known| is_between(hop, *known)) {
            pairs.push(pair);
        }
    }
    let say = |[from, to]: &[&str; 2]| {
        format!(
            "{from} and {to} have no connection in common: they saw other traffic, or at another time, \
             or something between them ends connections (a proxy)"
        )
    };
    pairs.iter().map(say).collect()
}

/// Whether a connection was seen at either point.
fn saw_any(hop: &Hop, trace: &Trace) -> bool {
    let mut ends = trace.points.iter();
    ends.any(|point| {
        (point.name == hop.from || point.name == hop.to) && !point.connections.is_empty()
    })
}

/// Whether any frame was found at both points.
fn has_met(hop: &Hop) -> bool {
    hop.connections_matched > 0 || seen(hop) > 0
}

/// Whether a hop is between these points, in either direction.
fn is_between(hop: &Hop, [one, other]: [&str; 2]) -> bool {
    let ends = (hop.from.as_str(), hop.to.as_str());
    ends == (one, other) || ends == (other, one)
}

pub(crate) fn is_accused(hop: &Hop, findings: &[Finding]) -> bool {
    accused(hop, findings).is_some()
}

/// Whether a sort of frames is what a finding says to be lost here.
pub(crate) fn is_accused_sort(sort: &str, hop: &Hop, findings: &[Finding]) -> bool {
    let sort_of = |finding: &Finding| if is_large(finding) { "TSO" } else { "merged" };
    accused(hop, findings).is_some_and(|finding| sort == sort_of(finding))
}

/// The finding that accuses merging on this hop.
fn accused<'a>(hop: &Hop, findings: &'a [Finding]) -> Option<&'a Finding> {
    found(Id::MergedFramesLost, [&hop.from, &hop.to], findings)
}

/// Whether it is about frames of which the captures do not show whether they were merged or the sender's own.
fn is_large(finding: &Finding) -> bool {
    finding.subject == Subject::LargeFrames
}

/// Whether a finding reports lost merged datagrams here.
pub(crate) fn loses_datagrams(hop: &DatagramHop, findings: &[Finding]) -> bool {
    found(Id::MergedDatagramsLost, [&hop.from, &hop.to], findings).is_some()
}

fn found<'a>(id: Id, [from, to]: [&str; 2], findings: &'a [Finding]) -> Option<&'a Finding> {
    let is_here = |finding: &Finding| {
        let place = finding.hop.as_ref();
        place.is_some_and(|place| place.from == from && place.to == to)
    };
    let mut findings = findings.iter();
    findings.find(|one| one.id == id && is_here(one))
}

/// Findings and reordering on a hop, or before it; the second of each pair is whether this accuses merging.
pub(crate) fn happens(hop: &Hop, trace: &Trace, findings: &[Finding]) -> Vec<(String, bool)> {
    let mut words = Vec::new();
    if let Some(finding) = accused(hop, findings) {
        let frames = if is_large(finding) { "large" } else { "merged" };
        words.push((format!("\u{26a0} {frames} frames are lost here"), true));
    } else if damaged(hop) > 0 {
        words.push((share_lost(hop), false));
    }
    let others = findings.iter().filter(|one| one.id != Id::MergedFramesLost);
    let here = others.filter(|finding| is_about(finding, hop, trace, findings));
    words.extend(here.map(|finding| (finding.title.clone(), false)));
    if hop.reordered > 0 {
        let share = percent(hop.reordered, seen(hop));
        words.push((
            format!("{share} of the frames change their order here"),
            false,
        ));
    }
    words.extend(before(hop, trace).into_iter().map(|words| (words, false)));
    words
}

/// The share of the frames that are lost: never less than in each lane, where those lost in part have a share as well.
fn share_lost(hop: &Hop) -> String {
    let share = percent(damaged(hop), judged(hop));
    let how = match lost(hop) {
        0 => " in part",
        whole if whole < damaged(hop) => ", in whole or in part",
        _ => "",
    };
    format!("{share} of the frames are lost here{how}")
}

/// Whether a finding is about this hop. Of those without a hop a loss belongs where most is lost, and nowhere if no hop loses
/// anything; a doubt nowhere if a hop is accused; others to the first hop of their data.
fn is_about(finding: &Finding, hop: &Hop, trace: &Trace, findings: &[Finding]) -> bool {
    if finding.note {
        return false;
    }
    match (&finding.hop, finding.id) {
        (Some(place), _) => place.from == hop.from && place.to == hop.to,
        (None, Id::LossNotMerging) => loses_most(hop, trace),
        (None, Id::NotEnoughEvidence) => {
            let mut hops = trace.hops.iter();
            let is_loss = matches!(finding.subject, Subject::Loss | Subject::DoubtedLoss);
            let is_here = if is_loss {
                loses_most(hop, trace)
            } else {
                is_first(hop, trace)
            };
            is_here && !hops.any(|hop| is_accused(hop, findings))
        }
        (None, _) => is_first(hop, trace),
    }
}

/// Whether no hop loses more frames than this one, and this one loses any.
fn loses_most(hop: &Hop, trace: &Trace) -> bool {
    let most = trace.hops.iter().map(damaged).max().unwrap_or(0);
    most > 0 && damaged(hop) == most
}

/// Whether no other hop with as much data leads to the beginning of this one.
fn is_first(hop: &Hop, trace: &Trace) -> bool {
    let leads = |other: &&Hop| other.to == hop.from && other.from != hop.to;
    let busiest = trace.hops.iter().map(seen).max().unwrap_or(0);
    seen(hop) * 2 > busiest
        && !trace
            .hops
            .iter()
            .filter(|other| seen(other) * 2 > busiest)
            .any(|other| leads(&other))
}

/// Frames that came to the beginning of the path overtaken, or late: lost before it and retransmitted.
fn before(hop: &Hop, trace: &Trace) -> Vec<String> {
    let mut points = trace.points.iter();
    let Some(point) = points.find(|point| point.name == hop.from && is_first(hop, trace)) else {
        return Vec::new();
    };
    let ways = hop.connections.iter().filter_map(|seen| {
        let connection = point.connections.get(seen.from_id)?;
        let way = connection.direction(seen.direction);
        Some([way.out_of_order_frames, way.late_frames, way.data_frames])
    });
    let [odd, late, all] = ways.fold([0; 3], |sum, way| std::array::from_fn(|i| sum[i] + way[i]));
    let overtaken = odd.saturating_sub(late);
    let shares = [
        (overtaken, format!("were overtaken before {}", hop.from)),
        (
            late,
            format!("were lost before {}, and sent again", hop.from),
        ),
    ];
    let shares = shares.into_iter().filter(|(frames, _)| *frames > 0);
    shares
        .map(|(frames, what)| format!("{} of the frames {what}", percent(frames, all)))
        .collect()
}

/// Whether merged frames are lost more often than single ones.
pub(crate) fn test(hop: &Hop) -> Option<String> {
    let p = p_value(hop.p_value.filter(|_| lost(hop) > 0)?);
    Some(match hop.odds_ratio {
        // A small p in the harmless direction would only look like an accusation.
        Some(odds) if odds <= 1.0 => {
            "merged frames are not lost more often than single ones".to_owned()
        }
        Some(odds) => {
            let odds = three_digits(odds);
            format!(
                "merged frames are lost more often: odds ratio {odds}, {p} (Fisher's exact test)"
            )
        }
        None => format!("loss of merged against single frames: {p} (Fisher's exact test)"),
    })
}

pub(crate) fn timing(hop: &Hop) -> String {
    let clock = hop.clock_offset_s.map(|offset| clock(hop, offset));
    let least = hop
        .delay_min_s
        .map(|delay| format!("delay min {}", seconds(delay)));
    let median = hop
        .delay_median_s
        .map(|delay| format!("median {}", seconds(delay)));
    let reordered = Some(format!("reordered {}", count(hop.reordered)));
    let parts = [clock, least, median, reordered];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The offset of the clocks.
pub(crate) fn clock(hop: &Hop, offset_s: f64) -> String {
    let side = if offset_s < 0.0 { "behind" } else { "ahead" };
    let offset = match seconds(offset_s.abs()) {
        zero if zero == "0 s" => "clocks agree".to_owned(),
        offset => format!("clock of {} {offset} {side}", hop.to),
    };
    match hop.clock_drift_ppm {
        // A smaller drift is below the clocks' resolution.
        Some(ppm) if ppm.abs() >= 0.05 => format!("{offset}, drifts {ppm:+.1} ppm"),
        _ => offset,
    }
}

/// A column: its title, and its count.
pub(crate) type Column = (&'static str, fn(&Outcomes) -> u64);

const COLUMNS: [Column; 9] = [
    ("seen", |outcomes| outcomes.seen),
    ("arrived", |outcomes| outcomes.arrived),
    ("re-split", |outcomes| outcomes.resplit),
    ("merged\nfurther", |outcomes| outcomes.merged_further),
    ("fragmented", |outcomes| outcomes.fragmented),
    ("partly\nlost", |outcomes| outcomes.partly_lost),
    (LOST, |outcomes| outcomes.lost),
    ("missed", |outcomes| outcomes.missed),
    ("not\njudged", |outcomes| outcomes.not_judged),
];
const LOST: &str = "lost";
/// Columns that are shown even if all counts are zero.
const ALWAYS: [&str; 3] = ["seen", "arrived", LOST];

/// The hops with a table, and the others. A hop without a connection is neither, since nothing is known of it.
pub(crate) fn shown_and_others(hops: &[Hop]) -> (Vec<&Hop>, Vec<&Hop>) {
    let most = hops.iter().map(seen).max().unwrap_or(0);
    hops.iter()
        .filter(|hop| has_met(hop))
        .partition(|hop| most < FEW || seen(hop) >= FEW || damaged(hop) > 0)
}

/// The table of a hop: the columns with counts, and a row for each sort of frames.
pub(crate) fn outcome_table(hop: &Hop) -> Counts<'_> {
    let rows = sorts(hop).into_iter();
    columns_of(
        rows.filter(|(name, outcomes)| *name != "TSO" || outcomes.seen > 0)
            .collect(),
    )
}

/// The table of a hop's datagrams.
pub(crate) fn datagram_table(hop: &DatagramHop) -> Counts<'_> {
    columns_of(vec![("merged", &hop.merged), ("single", &hop.single)])
}

/// The columns with counts, and a row for each sort.
pub(crate) type Counts<'a> = (Vec<Column>, Vec<(&'static str, &'a Outcomes)>);

fn columns_of<'a>(rows: Vec<(&'static str, &'a Outcomes)>) -> Counts<'a> {
    let is_shown = |(title, value): &Column| {
        ALWAYS.contains(title) || rows.iter().any(|(_, outcomes)| value(outcomes) > 0)
    };
    let columns = COLUMNS.into_iter().filter(is_shown).collect();
    (columns, rows)
}

/// The sorts of frames of a hop.
pub(crate) fn sorts(hop: &Hop) -> [(&'static str, &Outcomes); 3] {
    [
        ("merged", &hop.merged),
        ("TSO", &hop.tso),
        ("single", &hop.single),
    ]
}

/// The text of a cell.
pub(crate) fn cell((title, value): Column, outcomes: &Outcomes) -> String {
    let n = value(outcomes);
    if title == LOST && n > 0 {
        return format!("{} ({})", short_count(n), percent(n, outcomes.judged()));
    }
    short_count(n)
}

#[cfg(test)]
mod tests {
    use coalescope_capture::facts::{Connection, Point};
    use coalescope_knowledge::{HopRef, Proof};

    use super::*;

    fn hop([from, to]: [&str; 2], lost: u64) -> Hop {
        let single = Outcomes {
            seen: 1_000,
            arrived: 1_000 - lost,
            lost,
            ..Outcomes::default()
        };
        Hop {
            from: from.to_owned(),
            to: to.to_owned(),
            single,
            ..Hop::default()
        }
    }

    fn finding(id: Id, title: &str, place: Option<[&str; 2]>) -> Finding {
        Finding {
            id,
            proof: Proof::Observed,
            reason: None,
            subject: Subject::Plain,
            note: false,
            share: None,
            title: title.to_owned(),
            connection: None,
            hop: place.map(|[from, to]| HopRef {
                from: from.to_owned(),
                to: to.to_owned(),
            }),
            evidence: Vec::new(),
            next: String::new(),
        }
    }

    /// What is said of each of two hops, of which each loses so many frames.
    fn said(lost: [u64; 2], findings: &[Finding]) -> [String; 2] {
        let trace = Trace {
            hops: vec![hop(["S", "A"], lost[0]), hop(["A", "B"], lost[1])],
            ..Trace::default()
        };
        [0, 1].map(|i| {
            let words = happens(&trace.hops[i], &trace, findings);
            words
                .into_iter()
                .map(|(words, _)| words)
                .collect::<Vec<_>>()
                .join("; ")
        })
    }

    #[test]
    fn a_loss_is_told_where_it_is() {
        let loss = [finding(Id::LossNotMerging, "segments are lost", None)];
        let [first, second] = said([0, 5], &loss);
        assert_eq!(first, "");
        assert!(second.contains("segments are lost"), "{second}");
        let [first, second] = said([5, 1], &loss);
        assert!(first.contains("segments are lost"), "{first}");
        assert!(!second.contains("segments are lost"), "{second}");
        assert_eq!(said([0, 0], &loss), ["", ""]);
        let doubt = [Finding {
            subject: Subject::Loss,
            ..finding(Id::NotEnoughEvidence, "much is lost", None)
        }];
        assert_eq!(said([0, 0], &doubt), ["", ""]);
        assert_eq!(said([0, 5], &doubt)[0], "");
    }

    #[test]
    fn captures_of_udp_alone_lack_no_connection() {
        let point = |name: &str, count: u64| Point {
            name: name.to_owned(),
            connections: (0..count).map(|_| Connection::default()).collect(),
            ..Point::default()
        };
        let notes = |counts: [u64; 2]| {
            let bare = Hop {
                from: "S".to_owned(),
                to: "A".to_owned(),
                ..Hop::default()
            };
            unmatched(&Trace {
                points: vec![point("S", counts[0]), point("A", counts[1])],
                hops: vec![bare],
                ..Trace::default()
            })
        };
        assert_eq!(notes([0, 0]), Vec::<String>::new());
        assert_eq!(notes([1, 0]).len(), 1);
        assert_eq!(notes([1, 1]).len(), 1);
    }

    /// The picture has a share for frames that were lost in part, and the words above it count these too.
    #[test]
    fn frames_lost_in_part_are_lost() {
        let of = |lost, partly_lost| {
            let mut hop = hop(["S", "A"], lost);
            hop.tso = Outcomes {
                seen: 1_000,
                resplit: 1_000 - partly_lost,
                partly_lost,
                ..Outcomes::default()
            };
            let trace = Trace {
                hops: vec![hop],
                ..Trace::default()
            };
            happens(&trace.hops[0], &trace, &[])
        };
        let words = |lost, partly_lost| of(lost, partly_lost).remove(0).0;
        assert_eq!(words(20, 0), "1% of the frames are lost here");
        assert_eq!(
            words(20, 40),
            "3% of the frames are lost here, in whole or in part"
        );
        assert_eq!(words(0, 40), "2% of the frames are lost here in part");
        let few = Hop {
            tso: Outcomes {
                seen: 1,
                partly_lost: 1,
                ..Outcomes::default()
            },
            connections_matched: 1,
            ..Hop::default()
        };
        let hops = [hop(["S", "A"], 0), few];
        assert_eq!(shown_and_others(&hops).0.len(), 2);
    }

    #[test]
    fn no_doubt_stands_beside_an_accusation() {
        let doubt = finding(Id::NotEnoughEvidence, "nothing shows why", None);
        let accuses = |subject: Subject| Finding {
            subject,
            ..finding(Id::MergedFramesLost, "lost on a hop", Some(["A", "B"]))
        };
        assert_eq!(
            said([0, 0], std::slice::from_ref(&doubt)),
            ["nothing shows why", ""]
        );
        let [first, second] = said([0, 9], &[accuses(Subject::Plain), doubt.clone()]);
        assert_eq!(first, "");
        assert_eq!(second, "\u{26a0} merged frames are lost here");
        let [_, second] = said([0, 9], &[accuses(Subject::LargeFrames), doubt]);
        assert_eq!(second, "\u{26a0} large frames are lost here");
    }
}
