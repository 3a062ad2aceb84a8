//! One engine for each interface, and its polls.

use std::collections::HashMap;

use coalescope_capture::file::Direction;
use coalescope_wire::LinkType;
use gro::{Checksums, Coalescer, Decision, Outgoing, Profile, Settings, Verification};

use crate::results::{Moment, Results};
use crate::token::Token;

/// The most engines: each holds some dozens of frames.
const MOST: usize = 128;

/// Frames that share an engine: those of an interface that went the same way, as far as the capture shows that. A
/// receive offload does not see sent frames.
type Name = (u32, bool);

/// An engine and the poll that it is in.
struct Lane {
    coalescer: Coalescer<Token>,
    /// When the poll's first frame came; `None` between polls.
    began: Option<i64>,
}

/// All engines.
pub(crate) struct Engines {
    profile: Profile,
    interval_ns: i64,
    lanes: Vec<Lane>,
    index: HashMap<Name, usize>,
    /// Polls begun.
    pub(crate) polls: u64,
}

impl Engines {
    pub(crate) fn new(profile: Profile, interval_us: u64) -> Self {
        let interval_ns = i64::try_from(interval_us.saturating_mul(1_000)).unwrap_or(i64::MAX);
        Self {
            profile,
            interval_ns,
            lanes: Vec::new(),
            index: HashMap::new(),
            polls: 0,
        }
    }

    /// The engine for a frame; `None` if there are too many already.
    pub(crate) fn find(
        &mut self,
        interface: u32,
        direction: Direction,
        link: LinkType,
    ) -> Option<usize> {
        let name = (interface, direction == Direction::Outbound);
        if let Some(&known) = self.index.get(&name) {
            return Some(known);
        }
        if self.lanes.len() == MOST {
            return None;
        }
        self.lanes.push(Lane::new(&self.profile, link));
        self.index.insert(name, self.lanes.len() - 1);
        Some(self.lanes.len() - 1)
    }

    /// Ends the polls that are over at this time.
    ///
    /// Clocks of several cores may differ a little, so that a frame seems to come before its poll; if it is earlier by
    /// more than a poll, it is not of that poll.
    pub(crate) fn end_due(&mut self, time_ns: i64, results: &mut Results) {
        let interval = self.interval_ns.unsigned_abs();
        for lane in &mut self.lanes {
            if let Some(began) = lane.began
                && time_ns.abs_diff(began) >= interval
            {
                lane.end(began.saturating_add(self.interval_ns), results);
            }
        }
    }

    /// Ends all polls.
    pub(crate) fn end_all(&mut self, results: &mut Results) {
        for lane in &mut self.lanes {
            if let Some(began) = lane.began {
                lane.end(began.saturating_add(self.interval_ns), results);
            }
        }
    }

    /// Passes a frame to its engine. Frames that the engine then sends up have the time of the poll's end: a card's
    /// interrupt waits that long, and then all frames are taken at once.
    pub(crate) fn push(
        &mut self,
        lane: usize,
        frame: &[u8],
        token: Token,
        moment: Moment,
        results: &mut Results,
    ) -> Decision {
        let lane = &mut self.lanes[lane];
        self.polls += u64::from(lane.began.is_none());
        let began = *lane.began.get_or_insert(moment.time_ns);
        let moment = Moment {
            time_ns: began.saturating_add(self.interval_ns),
            ..moment
        };
        results.held += token.cost();
        let out = &mut Outgoing::each(|out| results.take(out, moment));
        let decision = lane.coalescer.push(frame, token, self.polls, out);
        if self.interval_ns == 0 {
            lane.end(moment.time_ns, results);
        }
        decision
    }
}

impl Lane {
    fn new(profile: &Profile, link: LinkType) -> Self {
        let settings = Settings {
            link,
            verification: Verification::Verify,
            checksums: Checksums::Complete,
            ..Settings::default()
        };
        Self {
            coalescer: Coalescer::new(profile, settings),
            began: None,
        }
    }

    fn end(&mut self, time_ns: i64, results: &mut Results) {
        let moment = Moment {
            time_ns,
            passing_merged: false,
        };
        let out = &mut Outgoing::each(|out| results.take(out, moment));
        self.coalescer.flush(out);
        self.began = None;
    }
}
