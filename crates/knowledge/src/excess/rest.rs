//! Whether single frames after a pause are lost as often as others.

use coalescope_capture::facts::{Fate, Hop};

use crate::part::Part;
use crate::thresholds::{HANDFUL, LOSS_FRAMES, PAUSE, SEGMENT};

/// Whether single frames are lost after a pause as often as at any time; `None` if too few frames tell. In the pause a queue
/// or a bucket gets room for a few segments again, even if it forwards no faster than the hop did on the whole.
pub(super) fn is_alike(hop: &Hop) -> Option<bool> {
    let share = |lost: u64, all: u64| lost as f64 / all.max(1) as f64;
    let all = share(hop.single.lost, hop.single.judged());
    let rested = sum(hop.rested.get(first_class(hop)..)?);
    let spared = 2.0 * share(rested.lost, rested.all) < all;
    let tells = if spared {
        rested.all as f64 * all >= HANDFUL as f64
    } else {
        rested.lost >= LOSS_FRAMES
    };
    tells.then_some(!spared)
}

fn sum(fates: &[Fate]) -> Part {
    let parts = fates.iter().copied().map(Part::from);
    parts.fold(Part::default(), Part::and)
}

/// The first class of pauses that are all long enough: each begins at four times as much as the one before.
fn first_class(hop: &Hop) -> usize {
    let least_ms = PAUSE * 1e3 / segments_per_s(hop);
    (0..hop.rested.len())
        .find(|&class| 4_f64.powi(class as i32) >= least_ms)
        .unwrap_or(hop.rested.len())
}

/// Segments that arrived, over the time from the first frame to the last.
fn segments_per_s(hop: &Hop) -> f64 {
    let merged = hop.by_length.iter();
    let merged = merged.map(|length| f64::from(length.passed) * f64::from(length.bytes));
    let segments = merged.sum::<f64>() / f64::from(SEGMENT) + hop.single.came_through() as f64;
    segments / (hop.strip.slot_s * hop.strip.slots.len() as f64)
}

#[cfg(test)]
mod tests {
    use coalescope_capture::facts::Slot;

    use super::*;

    /// Single frames over ten seconds: how many there were and were lost, and of them those after pauses of 1, 4, 16, 64, 256
    /// and 1,024 ms.
    fn hop(all: u64, lost: u64, rested: [(u64, u64); 6]) -> Hop {
        let mut hop = Hop {
            rested: rested
                .map(|(all, lost)| Fate {
                    passed: all - lost,
                    lost,
                })
                .to_vec(),
            ..Hop::default()
        };
        hop.single.arrived = all - lost;
        hop.single.lost = lost;
        hop.strip.slot_s = 0.1;
        hop.strip.slots = vec![Slot::default(); 100];
        hop
    }

    #[test]
    fn bits_go_wrong_after_a_pause_as_well() {
        let after_any = [(300, 30), (100, 10), (100, 10), (50, 5), (30, 3), (0, 0)];
        assert_eq!(is_alike(&hop(600, 60, after_any)), Some(true));
    }

    /// 400 segments in 10 s need 100 ms for four: frames after shorter pauses are lost like all others.
    #[test]
    fn a_slow_link_has_room_again_after_a_longer_pause() {
        let rested = [(300, 80), (100, 20), (20, 4), (10, 1), (60, 1), (0, 0)];
        assert_eq!(is_alike(&hop(506, 106, rested)), Some(false));
    }

    #[test]
    fn few_frames_after_a_long_pause_say_nothing() {
        let rested = [(300, 80), (100, 20), (20, 4), (10, 1), (12, 0), (3, 0)];
        assert_eq!(is_alike(&hop(506, 106, rested)), None);
        assert_eq!(is_alike(&hop(506, 106, [(0, 0); 6])), None);
        assert_eq!(is_alike(&Hop::default()), None);
    }
}
