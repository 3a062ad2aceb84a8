//! Whether merged UDP datagrams are lost where single ones pass.
//!
//! UDP does not retransmit, so only a hop can show loss. Lengths are judged as those of TCP's frames are: a box that cannot
//! carry datagrams beyond some length takes nearly all of these and next to none of the others, and a queue or a policer takes
//! longer ones more often.

use coalescope_capture::facts::{DatagramHop, Trace};

use crate::by_size::{BySize, Step};
use crate::excess::Doubt;
use crate::finding::{Finding, HopRef, Id, Proof, Subject};
use crate::words::{shown, without_frames};

/// A finding for each hop that loses merged datagrams, or may do so.
pub(crate) fn lost(trace: &Trace) -> Vec<Finding> {
    let looks = trace.datagram_hops.len();
    let of = |hop: &DatagramHop| {
        let step = BySize::of_datagrams(hop).step(looks);
        let accused = step.map(|step| accusation(hop, &step));
        accused.or_else(|| Some(doubted(hop, &Doubt::on_datagrams(hop, looks)?)))
    };
    trace.datagram_hops.iter().filter_map(of).collect()
}

/// Merged datagrams at the point that has most of them.
pub(crate) fn merged(trace: &Trace) -> u64 {
    let hops = trace.datagram_hops.iter();
    let merged = hops.map(|hop| hop.merged.seen.max(hop.single.merged_further));
    merged.max().unwrap_or(0)
}

fn accusation(hop: &DatagramHop, step: &Step) -> Finding {
    let words = step.words("merged datagrams", "that left never arrived whole");
    let title = format!(
        "merged UDP datagrams are lost between {} and {}",
        hop.from, hop.to
    );
    finding(
        hop,
        (Id::MergedDatagramsLost, Proof::Observed),
        title,
        words,
    )
}

fn doubted(hop: &DatagramHop, doubt: &Doubt) -> Finding {
    let title = doubt.title.to_owned();
    let id = Id::NotEnoughEvidence;
    finding(hop, (id, Proof::Suspected), title, doubt.words.clone())
}

fn finding(hop: &DatagramHop, (id, proof): (Id, Proof), title: String, words: String) -> Finding {
    let mut evidence = vec![shown(words, &hop.from, &hop.merged_lost_frames)];
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
        id,
        proof,
        reason: None,
        subject: Subject::Loss,
        note: false,
        share: None,
        title,
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
    use coalescope_capture::facts::{Amid, Outcomes};

    use super::*;
    use crate::verdict::{Merging, judge};

    const PART: u32 = 1_200;

    /// Merged datagrams by parts: how many were lost, lost a part, and arrived; single ones: lost and arrived.
    fn hop(merged: &[(u32, u32, u32, u32)], single: [u64; 2]) -> DatagramHop {
        let [lost, arrived] = single;
        let mut hop = DatagramHop {
            from: "LAN".to_owned(),
            to: "WAN".to_owned(),
            ..DatagramHop::default()
        };
        hop.single = Outcomes {
            seen: lost + arrived,
            lost,
            arrived,
            ..Outcomes::default()
        };
        (hop.full.passed, hop.full.lost) = (arrived, lost);
        hop.amid = Amid {
            resumed_ns: Some(1),
            last_lost_ns: Some(2),
            spared: false,
        };
        for (parts, lost, in_part, arrived) in merged.iter().copied() {
            hop.by_length.add(parts * PART, arrived, lost + in_part);
            hop.merged.seen += u64::from(lost + in_part + arrived);
            hop.merged.lost += u64::from(lost);
            hop.merged.partly_lost += u64::from(in_part);
            hop.merged.resplit += u64::from(arrived);
        }
        hop
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
        let guilty: [(&[_], _); 5] = [
            (&[(3, 30, 0, 0)], [0, 40]),
            (&[(3, 0, 30, 0)], [0, 40]),
            (&[(3, 20, 9, 1)], [0, 40]),
            // All beyond some length.
            (&[(2, 0, 0, 50), (4, 90, 0, 0)], [0, 335]),
            // Beside other loss.
            (&[(5, 161, 0, 0)], [6, 230]),
        ];
        for (merged, single) in guilty {
            let (merging, ids, text) = judged(hop(merged, single));
            assert_eq!(
                (merging, &ids[..]),
                (Merging::Harms, &[Id::MergedDatagramsLost][..]),
                "{text}"
            );
            assert!(text.contains("between LAN and WAN"), "{text}");
        }
    }

    #[test]
    fn a_queue_a_policer_and_a_handful_accuse_nobody() {
        let innocent: [(&[_], _); 4] = [
            (&[(3, 0, 0, 30)], [0, 40]),
            (&[(3, 4, 0, 0)], [0, 40]),
            (&[(3, 30, 0, 0)], [0, 0]),
            (
                &[(2, 40, 0, 260), (4, 60, 0, 140), (8, 70, 0, 60)],
                [70, 1_000],
            ),
        ];
        for (merged, single) in innocent {
            let (merging, ids, text) = judged(hop(merged, single));
            assert_eq!((merging, ids.len()), (Merging::Innocent, 0), "{text}");
        }
        let (merging, _, text) = judged(hop(&[], [0, 40]));
        assert_eq!(merging, Merging::NotSeen, "{text}");
    }

    #[test]
    fn half_of_all_merged_ones_lost_clears_nobody() {
        let half = [(2, 40, 0, 44), (3, 60, 0, 55), (4, 91, 0, 75)];
        let (merging, ids, text) = judged(hop(&half, [0, 500]));
        assert_eq!(
            (merging, &ids[..]),
            (Merging::Unclear, &[Id::NotEnoughEvidence][..]),
            "{text}"
        );
        assert!(text.contains("191 of 365 (52%) merged datagrams"), "{text}");
    }
}
