//! A wire: rate, delay, loss, reordering, and a queue that drops what doesn't fit.

use super::{Outbox, Why};
use crate::chance::Chance;
use crate::packet::{MARKED, MAY_BE_MARKED, Packet};
use crate::path::{Lane, Link};
use crate::schedule::{Nanos, SECOND};

/// Preamble, frame check sequence and gap (IEEE 802.3).
const OVERHEAD: usize = 8 + 4 + 12;
/// Shortest frame without its check sequence.
const SHORTEST: usize = 60;

/// Both directions of a link.
#[derive(Debug)]
pub(crate) struct LinkState([LaneState; 2]);

#[derive(Debug)]
struct LaneState {
    lane: Lane,
    chance: Chance,
    free_at: Nanos,
    last_arrival: Nanos,
    bad: bool,
}

impl LinkState {
    /// An idle link.
    pub(crate) fn new(link: &Link, seed: u64, stream: u64) -> Self {
        let [client, server] = &link.toward;
        Self([
            LaneState::new(client, Chance::new(seed, stream * 2)),
            LaneState::new(server, Chance::new(seed, stream * 2 + 1)),
        ])
    }

    /// A packet enters.
    pub(crate) fn handle(&mut self, mut packet: Packet, now: Nanos, out: &mut Outbox) {
        let lane = &mut self.0[packet.toward.index()];
        match lane.arrival(&mut packet, now) {
            Ok(at) => out.onward.push((at, packet)),
            Err(why) => out.dropped.push((packet, why)),
        }
    }
}

/// The reason for a packet that a queue of so many bytes cannot take even when empty.
fn longest_of(queue: usize, packet: &Packet) -> Why {
    let around = packet.frame_len() - packet.ip_len() + OVERHEAD;
    Why::Longer(queue.saturating_sub(around))
}

impl LaneState {
    fn new(lane: &Lane, chance: Chance) -> Self {
        Self {
            lane: lane.clone(),
            chance,
            free_at: 0,
            last_arrival: 0,
            bad: false,
        }
    }

    /// When a packet comes out, if it does.
    fn arrival(&mut self, packet: &mut Packet, now: Nanos) -> Result<Nanos, Why> {
        let bytes = packet.frame_len().max(SHORTEST) + OVERHEAD;
        let start = self.free_at.max(now);
        let waiting =
            u128::from(start - now) * u128::from(self.lane.rate_bps) / u128::from(8 * SECOND);
        if bytes > self.lane.queue {
            return Err(longest_of(self.lane.queue, packet));
        }
        if waiting + bytes as u128 > self.lane.queue as u128 {
            return Err(Why::Full);
        }
        if packet.ecn == MAY_BE_MARKED && waiting >= self.lane.marks_from as u128 {
            packet.ecn = MARKED;
        }
        self.free_at = start + bytes as u64 * 8 * SECOND / self.lane.rate_bps;
        if self.is_out(now) || self.loses(bytes) {
            return Err(Why::Chance);
        }
        Ok(self.propagate(self.free_at))
    }

    fn is_out(&self, now: Nanos) -> bool {
        let outage = self.lane.outage;
        outage.is_some_and(|(from, until)| (from..until).contains(&now))
    }

    fn loses(&mut self, bytes: usize) -> bool {
        if let Some(bursts) = self.lane.bursts {
            let turn = if self.bad { bursts.end } else { bursts.begin };
            self.bad ^= self.chance.happens(turn);
            if self.bad && self.chance.happens(bursts.loss) {
                return true;
            }
        }
        let sound = f64::powi(1.0 - self.lane.bit_errors, 8 * bytes as i32);
        self.chance.happens(1.0 - sound) || self.chance.happens(self.lane.loss)
    }

    /// The end of the pause, if a time lies in one.
    fn after_pause(&self, at: Nanos) -> Nanos {
        let Some((every, pause)) = self.lane.pauses else {
            return at;
        };
        let into = at % every.max(1);
        let begins = every.saturating_sub(pause);
        if into < begins { at } else { at - into + every }
    }

    fn propagate(&mut self, sent: Nanos) -> Nanos {
        let detour = self.lane.detour.filter(|(at, _)| sent >= *at);
        let arrival = sent + self.lane.delay + detour.map_or(0, |(_, longer)| longer);
        let arrival = self.after_pause(arrival);
        if let Some(reorder) = self.lane.reorder
            && self.chance.happens(reorder.probability)
        {
            return arrival + 1 + self.chance.below(reorder.extra);
        }
        let jitter = match self.lane.jitter {
            0 => 0,
            jitter => self.chance.below(jitter),
        };
        self.last_arrival = self.last_arrival.max(arrival + jitter);
        self.last_arrival
    }
}
