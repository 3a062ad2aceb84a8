//! Whether merged UDP datagrams are lost where single ones pass.
//!
//! UDP does not retransmit, so only a hop can show loss. A queue or a policer takes longer datagrams more often. A box
//! that cannot carry merged datagrams takes nearly all of them and next to none of the others: less than that accuses
//! nobody.

use coalescope_capture::facts::{DatagramHop, Outcomes, Trace};

use crate::finding::{Finding, HopRef, Id, Proof};
use crate::thresholds::{ALPHA, HANDFUL, NEARLY_ALL, SPARED_BESIDE};
use crate::words::{probability, share, shown, without_frames};

/// A finding for each hop that loses merged datagrams.
pub(crate) fn lost(trace: &Trace) -> Vec<Finding> {
    let looks = trace.datagram_hops.len();
    let guilty = trace
        .datagram_hops
        .iter()
        .filter(|hop| loses_merged(hop, looks));
    guilty.map(finding).collect()
}

/// Merged datagrams at the point that has most of them.
pub(crate) fn merged(trace: &Trace) -> u64 {
    let hops = trace.datagram_hops.iter();
    let merged = hops.map(|hop| hop.merged.seen.max(hop.single.merged_further));
    merged.max().unwrap_or(0)
}

/// Number of datagrams lost in whole or in part, and of all.
fn counts(outcomes: &Outcomes) -> (u64, u64) {
    let lost = outcomes.damaged();
    (lost, lost + outcomes.intact())
}

fn loses_merged(hop: &DatagramHop, looks: usize) -> bool {
    let ((lost, merged), (single_lost, single)) = (counts(&hop.merged), counts(&hop.single));
    let part = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
    let is_sure = hop.p_value.is_some_and(|p| p * (looks as f64) < ALPHA);
    lost >= HANDFUL
        && part(lost, merged) >= NEARLY_ALL
        && part(single_lost, single) <= SPARED_BESIDE
        && is_sure
}

fn finding(hop: &DatagramHop) -> Finding {
    let ((lost, merged), (single_lost, single)) = (counts(&hop.merged), counts(&hop.single));
    let text = format!(
        "{} merged datagrams that left never arrived whole, against {} single ones (Fisher's exact {})",
        share(lost, merged),
        share(single_lost, single),
        probability(hop.p_value.unwrap_or(1.0)),
    );
    let mut evidence = vec![shown(text, &hop.from, &hop.merged_lost_frames)];
    let in_part = Some(hop.merged.partly_lost).filter(|parts| *parts > 0);
    evidence.extend(in_part.map(|parts| {
        without_frames(format!(
            "of {parts} the first part arrived alone: they were cut, and the others lost"
        ))
    }));
    let server = hop.server.as_ref().map(crate::words::endpoint);
    evidence.extend(
        server.map(|server| {
            without_frames(format!("most of them go to {server}, or come from there"))
        }),
    );
    Finding {
        id: Id::MergedDatagramsLost,
        proof: Proof::Observed,
        reason: None,
        note: false,
        share: None,
        title: format!(
            "merged UDP datagrams are lost between {} and {}",
            hop.from, hop.to
        ),
        connection: None,
        hop: Some(HopRef {
            from: hop.from.clone(),
            to: hop.to.clone(),
        }),
        evidence,
        next: format!(
            "switch off rx-gro-list and rx-udp-gro-forwarding on the interface in front of {}, and nothing else; if the \
             loss goes with it, that proves it",
            hop.from
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::{Merging, judge};

    fn hop(merged: [u64; 3], single: [u64; 2]) -> DatagramHop {
        let [lost, partly_lost, resplit] = merged;
        let merged = Outcomes {
            seen: lost + partly_lost + resplit,
            lost,
            partly_lost,
            resplit,
            ..Outcomes::default()
        };
        let [single_lost, arrived] = single;
        let single = Outcomes {
            seen: single_lost + arrived,
            lost: single_lost,
            arrived,
            ..Outcomes::default()
        };
        DatagramHop {
            from: "LAN".to_owned(),
            to: "WAN".to_owned(),
            merged,
            single,
            p_value: coalescope_capture::fisher_exact([
                lost + partly_lost,
                resplit,
                single_lost,
                arrived,
            ]),
            ..DatagramHop::default()
        }
    }

    fn judged(hop: DatagramHop) -> (Merging, Vec<Id>, String) {
        let diagnosis = judge(&Trace {
            datagram_hops: vec![hop],
            ..Trace::default()
        });
        let ids = diagnosis.findings.iter().map(|finding| finding.id);
        (
            diagnosis.verdict.merging,
            ids.collect(),
            diagnosis.verdict.text,
        )
    }

    #[test]
    fn merged_ones_lost_and_single_ones_not_accuse_whole_or_in_part() {
        for merged in [[30, 0, 0], [0, 30, 0], [20, 9, 1]] {
            let (merging, ids, text) = judged(hop(merged, [0, 40]));
            assert_eq!(
                (merging, &ids[..]),
                (Merging::Harms, &[Id::MergedDatagramsLost][..])
            );
            assert!(text.contains("between LAN and WAN"), "{text}");
        }
    }

    #[test]
    fn a_queue_a_policer_and_a_handful_accuse_nobody() {
        let innocent = [
            ([0, 0, 30], [0, 40]),
            ([4, 0, 0], [0, 40]),
            ([20, 0, 10], [0, 40]),
            ([30, 0, 0], [4, 40]),
            ([30, 0, 0], [0, 0]),
        ];
        for (merged, single) in innocent {
            let (merging, ids, text) = judged(hop(merged, single));
            assert_eq!((merging, ids.len()), (Merging::Innocent, 0), "{text}");
        }
        let (merging, _, text) = judged(hop([0, 0, 0], [0, 40]));
        assert_eq!(merging, Merging::NotSeen, "{text}");
    }
}
