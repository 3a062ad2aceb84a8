//! Where the frames of each point come from.

use std::sync::Arc;

use super::shared::Shared;
use super::{Options, PointInput, TraceError, UNRELATED_NS};
use crate::feed::Feed;
use crate::reader::{End, Frames, Item, Reader};

/// A point, and where its frames come from.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) frames: Box<dyn Frames>,
}

/// Points whose frames are in files.
pub(crate) fn of_files(points: Vec<PointInput>, options: &Options) -> Vec<Input> {
    let is_alone = points.len() == 1;
    let input = |point: PointInput| {
        let stop = Arc::clone(&options.stop);
        let reader = Reader::new(point.sources, options.points_by_interface, stop);
        let reader = if is_alone { reader.alone() } else { reader };
        Input {
            name: point.name,
            frames: Box::new(reader),
        }
    };
    points.into_iter().map(input).collect()
}

/// The inputs, as points.
pub(super) enum Intake<'scope> {
    /// A feed for each point.
    Feeds(Vec<Feed<'scope>>),
    /// One input, whose interfaces are points.
    Shared(Shared<'scope>),
}

impl Intake<'_> {
    /// Points known so far.
    pub(super) fn points(&self) -> usize {
        match self {
            Self::Feeds(feeds) => feeds.len(),
            Self::Shared(shared) => shared.points(),
        }
    }

    /// The next frame of a point.
    pub(super) fn next(&self, point: usize) -> Option<&Item> {
        match self {
            Self::Feeds(feeds) => feeds[point].batch.items().first(),
            Self::Shared(shared) => shared.next(point),
        }
    }

    /// Bytes of all files consumed so far.
    pub(super) fn consumed_bytes(&self) -> u64 {
        match self {
            Self::Feeds(feeds) => feeds.iter().map(|feed| feed.batch.consumed).sum(),
            Self::Shared(shared) => shared.feed.batch.consumed,
        }
    }

    /// Nanoseconds to subtract from each point's times while no connection was found at two points.
    pub(super) fn starts(&self) -> Vec<i64> {
        let first = |point| self.next(point).map_or(0, |item| item.frame.time_ns);
        let starts: Vec<i64> = (0..self.points()).map(first).collect();
        let origin = starts.first().copied().unwrap_or(0);
        let apart = starts.iter().map(|first| first.saturating_sub(origin));
        apart
            .map(|ns| if ns.abs() > UNRELATED_NS { ns } else { 0 })
            .collect()
    }

    /// Ends all reading.
    pub(super) fn ends(self, names: &[String]) -> Result<Vec<End>, TraceError> {
        let ended = match self {
            Self::Feeds(feeds) => feeds.into_iter().map(Feed::finish).collect(),
            Self::Shared(shared) => vec![shared.finish()],
        };
        let end = |(end, name): (Option<End>, &String)| {
            let name = || name.clone();
            let end = end.ok_or_else(|| TraceError::Reader { name: name() })?;
            match end.failed {
                Some(why) => Err(TraceError::Rows { name: name(), why }),
                None => Ok(end),
            }
        };
        ended.into_iter().zip(names).map(end).collect()
    }
}
