//! What the second reading records.

use super::Chosen;
use super::lane::LaneRecord;
use crate::connection::{Connection, Tracked};
use crate::facts::trace::Trace;
use crate::hop::Hop;
use crate::lockstep::Observer;
use crate::point::Point;
use crate::reader::Item;

/// The lanes of all chosen connections.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    lanes: Vec<LaneRecord>,
}

impl Recorder {
    pub(super) fn new(trace: &Trace, groups: &[Vec<Chosen>], limit: usize) -> Self {
        let lane = |slot: usize, chosen: &Chosen| {
            let followed = trace.points[chosen.point].connections.followed(chosen.id)?;
            Some(LaneRecord::new(slot, *chosen, followed, limit))
        };
        let lanes = groups
            .iter()
            .enumerate()
            .flat_map(|(slot, group)| group.iter().filter_map(move |one| lane(slot, one)));
        Self {
            lanes: lanes.collect(),
        }
    }

    /// The lanes that were seen.
    pub(super) fn finish(self) -> Vec<LaneRecord> {
        let lanes = self.lanes.into_iter();
        lanes.filter(|lane| lane.here.is_some()).collect()
    }
}

impl Observer for Recorder {
    fn wants(&self, point: usize, item: &Item) -> bool {
        // In whichever tunnels: those of both directions can differ.
        let is_lane =
            |lane: &LaneRecord| lane.chosen.point == point && lane.key.has_ends_of(&item.frame.key);
        item.is_tcp() && self.lanes.iter().any(is_lane)
    }

    fn saw(
        &mut self,
        point: usize,
        item: &Item,
        (id, tracked): &(u32, Tracked),
        after: Option<&Connection>,
    ) {
        let Some(after) = after else { return };
        let is_lane = |lane: &&mut LaneRecord| lane.chosen.point == point && lane.is(*id, after);
        if let Some(lane) = self.lanes.iter_mut().find(is_lane) {
            lane.saw(*id, item, tracked, after);
        }
    }

    fn ask(&mut self, ends: [usize; 2], hop: &mut Hop) {
        hop.drain_judged(|side, id, judged| {
            let is_lane =
                |lane: &&mut LaneRecord| lane.chosen.point == ends[side] && lane.here == Some(id);
            if let Some(lane) = self.lanes.iter_mut().find(is_lane) {
                lane.set_fate(judged);
            }
        });
    }

    fn know(&mut self, points: &[Point]) {
        for lane in &mut self.lanes {
            let point = points.get(lane.chosen.point);
            let connection = point
                .zip(lane.here)
                .and_then(|(point, id)| point.table.get(id));
            if let Some(connection) = connection {
                lane.know(connection);
            }
        }
    }
}
