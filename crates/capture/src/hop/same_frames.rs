//! How far apart positions are at two points, by frames that are the same but for their numbers.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use super::outcome::Seen;

/// Frames that must be equally far apart, and how many times as many as all that are not: by chance two frames have one
/// identification, and no two such pairs are equally far apart.
const ENOUGH: u32 = 4;
const TIMES_OTHERS: u32 = 4;
/// Distances that are counted.
const DISTANCES: usize = 64;

/// Frames of one direction at two points.
#[derive(Debug, Default)]
pub(super) struct SameFrames {
    /// Where the frame with a token begins; `None` if several have it.
    shown: [HashMap<u64, Option<u64>, FixedState>; 2],
    /// The second point's position less the first's, with the frames that are so far apart.
    distances: Vec<(i64, u32)>,
}

impl SameFrames {
    /// Adds a frame of one of the points, by its own numbers.
    pub(super) fn add(&mut self, side: usize, seen: &Seen) {
        let Some(token) = token(seen) else { return };
        match self.shown[side].entry(token) {
            Entry::Vacant(vacant) => {
                vacant.insert(Some(seen.start));
            }
            Entry::Occupied(mut known) => {
                if *known.get() != Some(seen.start) {
                    known.insert(None);
                }
                return;
            }
        }
        if let Some(Some(other)) = self.shown[1 - side].get(&token) {
            let apart = seen.start.wrapping_sub(*other) as i64;
            self.count(if side == 1 { apart } else { -apart });
        }
    }

    fn count(&mut self, apart: i64) {
        let known = self.distances.iter().position(|(known, _)| *known == apart);
        match known {
            Some(at) => self.distances[at].1 += 1,
            None if self.distances.len() < DISTANCES => self.distances.push((apart, 1)),
            None => {}
        }
    }

    /// How far nearly all frames are apart, if they are enough.
    pub(super) fn apart(&self) -> Option<i64> {
        let (apart, frames) = self.distances.iter().max_by_key(|(_, frames)| *frames)?;
        let all: u32 = self.distances.iter().map(|(_, frames)| frames).sum();
        let is_clear = *frames >= ENOUGH && *frames >= TIMES_OTHERS * (all - frames);
        is_clear.then_some(*apart)
    }
}

/// What tells a frame from others of its direction, whatever its numbers are: a merged frame has the identification of its first
/// segment. Without one many frames have the same timestamp, and fewer the same length as well.
fn token(seen: &Seen) -> Option<u64> {
    match (seen.id, seen.tsval) {
        (0, 0) => None,
        (0, tsval) => Some(u64::from(seen.len) << 32 | u64::from(tsval)),
        (id, _) => Some(1 << 63 | u64::from(id)),
    }
}
