//! Merged and single frames of the same flows.

use crate::facts::Compared;
use crate::kernel::{Fate, Shapes};

/// Merged frames of a flow that are dropped so far apart have been repeated meanwhile: the shortest timeout (RFC 6298, 2.4).
const LASTS_NS: u64 = 1_000_000_000;

/// What became of the flows whose merged frames were dropped in one place; none where no flow was followed, or where none
/// was recognized before and behind that place. Frames that are dropped `in_queue` had been counted as queued before.
pub(super) fn compared(fates: Option<&[Fate]>, in_queue: bool) -> Option<Compared> {
    let lasting = fates?.iter().filter(|fate| fate.lasted_ns >= LASTS_NS);
    let lasting: Vec<_> = lasting.map(|fate| seen(fate, in_queue)).collect();
    let mut seen = lasting.iter().copied().flatten().peekable();
    if !lasting.is_empty() && seen.peek().is_none() {
        return None;
    }
    Some(seen.fold(Compared::default(), |sum, one| Compared {
        flows: sum.flows + 1,
        merged_frames: sum.merged_frames + one.merged_frames,
        merged_died: sum.merged_died + one.merged_died,
        single_frames: sum.single_frames + one.single_frames,
        single_died: sum.single_died + one.single_died,
    }))
}

/// Where addresses are translated, frames are received by other ones than they are dropped and sent by.
fn seen(fate: &Fate, in_queue: bool) -> Option<Compared> {
    let Fate {
        died, came, went, ..
    } = fate;
    // The first frame that died is among those that came, whether that was seen or not.
    let all = match (came.single > 0 || came.merged > 1, in_queue) {
        (true, _) => *came,
        (false, true) => *went,
        (false, false) => Shapes {
            merged: went.merged + died.merged,
            single: went.single + died.single,
        },
    };
    let is_seen = came.single > 0 || came.merged > 1 || *went != Shapes::default();
    is_seen.then(|| Compared {
        flows: 1,
        merged_frames: all.merged.max(died.merged),
        merged_died: died.merged,
        single_frames: all.single.max(died.single),
        single_died: died.single,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Where;

    fn shapes(merged: u64, single: u64) -> Shapes {
        Shapes { merged, single }
    }

    fn fate(lasted_ns: u64, died: Shapes, came: Shapes, went: Shapes) -> Fate {
        Fate {
            at: Where {
                place: None,
                from: 0,
                reason: 0,
                location: 0,
            },
            lasted_ns,
            died,
            came,
            went,
        }
    }

    fn said(fates: &[Fate], in_queue: bool) -> Option<[u64; 5]> {
        compared(Some(fates), in_queue).map(|of| {
            [
                of.flows,
                of.merged_died,
                of.merged_frames,
                of.single_died,
                of.single_frames,
            ]
        })
    }

    #[test]
    fn flows_compare_if_merged_frames_die_again_and_again() {
        let long = fate(LASTS_NS, shapes(7, 1), shapes(70, 10), shapes(63, 9));
        let short = fate(LASTS_NS - 1, shapes(9, 0), shapes(9, 9), shapes(0, 9));
        assert_eq!(said(&[long, short], false), Some([1, 7, 70, 1, 10]));
        assert_eq!(said(&[long, long], false), Some([2, 14, 140, 2, 20]));
        assert_eq!(said(&[short], false), Some([0; 5]), "none lasts");
        assert_eq!(compared(None, false), None);
    }

    #[test]
    fn what_is_received_by_another_address_is_known_by_what_is_sent() {
        let of = |went| fate(LASTS_NS, shapes(7, 1), shapes(1, 0), went);
        let sent = of(shapes(3, 20));
        assert_eq!(said(&[sent], false), Some([1, 7, 10, 1, 21]));
        assert_eq!(said(&[sent], true), Some([1, 7, 7, 1, 20]));
        assert_eq!(said(&[of(shapes(0, 0))], false), None, "not recognized");
    }
}
