//! Judges the counts of a running host.

mod connections;
mod join;
mod reasons;
mod remedies;
mod thresholds;
mod words;

use coalescope_watch::facts::{Drop, Frames, Interface, Sample, Watched};

use crate::odds::{Table, fisher};
use crate::rules::HostFinding;
use crate::thresholds::{ALPHA, DOES_NOT_MERGE, HANDFUL, TIMES_SINGLE};
pub use connections::gets_little_through;
pub use join::join_watched;
pub use reasons::plain_reason;
use thresholds::{CUT_EACH_SECOND, FAST_BPS, LASTS_S, LOADED, LOOKED, MOSTLY};
use words::{Subject, finding};

/// Id of the finding that merged frames are dropped where single ones pass.
const MERGED_FRAMES_DROPPED: &str = "merged-frames-dropped";
/// Id of the finding that the processor segments merged frames.
const SEGMENTED_IN_SOFTWARE: &str = "segmented-in-software";
/// Id of the finding that a fast link delivers single segments.
const NOT_MERGING: &str = "not-merging";

/// Findings, those that harm first.
#[must_use]
pub fn judge_watched(watched: &Watched) -> Vec<HostFinding> {
    let subjects = subjects(watched).into_iter();
    subjects.map(|subject| finding(watched, &subject)).collect()
}

/// The subjects of findings, the most harmful first.
fn subjects(watched: &Watched) -> Vec<Subject<'_>> {
    let looks = watched.drops.iter().filter(|drop| drop.died() > 0).count();
    let dropped = watched
        .drops
        .iter()
        .filter_map(|drop| dropped(drop, watched, looks));
    let cut = watched.interfaces.iter();
    let cut = cut.filter_map(|interface| cut_in_software(interface, watched));
    let single = watched.interfaces.iter();
    let single = single.filter_map(|interface| not_merging(interface, watched));
    dropped.chain(cut).chain(single).collect()
}

/// Merged frames that are dropped where single ones pass, repeatedly.
fn dropped<'a>(drop: &'a Drop, watched: &'a Watched, looks: usize) -> Option<Subject<'a>> {
    let table = table(drop, watched)?;
    let p = fisher(&table)?;
    let is_much_more = table.merged_share() >= TIMES_SINGLE * table.single_share();
    let is_sure = table.merged_lost >= HANDFUL && p < ALPHA / looks.max(1) as f64;
    let reason = drop.reason.as_deref().unwrap_or_default();
    if !is_sure || !is_much_more || reasons::is_queue(reason) || lasts(drop).is_none() {
        return None;
    }
    Some(Subject::Dropped(drop, table, p))
}

/// Frames that came through the interface, against those of them that were dropped.
fn table(drop: &Drop, watched: &Watched) -> Option<Table> {
    let (merged, frames) = match (&drop.from, &drop.interface) {
        (Some(from), _) => {
            let received = frames(watched, from)?.received;
            (
                received.merged_frames + received.long_frames,
                received.frames,
            )
        }
        (None, Some(out)) => {
            let queued = frames(watched, out)?.queued;
            (queued.merged_frames + queued.long_frames, queued.frames)
        }
        (None, None) => return None,
    };
    // Frames that were dropped before they were counted, as by a filter, came through as well.
    let merged = merged.max(drop.died());
    let single = frames.saturating_sub(merged).max(drop.single_frames);
    Some(Table {
        merged_lost: drop.died(),
        merged,
        single_lost: drop.single_frames,
        single,
    })
}

fn frames(watched: &Watched, name: &str) -> Option<Frames> {
    let mut all = watched.interfaces.iter();
    all.find(|interface| interface.name == name)?.frames
}

/// Two dropped frames of one flow so far apart that single frames must have passed between them: a flow of which
/// nothing passes sends single segments only, and path MTU discovery takes one round trip.
fn lasts(drop: &Drop) -> Option<(&Sample, &Sample)> {
    drop.samples.iter().enumerate().find_map(|(n, first)| {
        let mut later = drop.samples[n + 1..].iter();
        let again = later.find(|sample| {
            sample.flow.is_some()
                && sample.flow == first.flow
                && sample.unix_s - first.unix_s >= LASTS_S
        })?;
        Some((first, again))
    })
}

fn cut_in_software<'a>(interface: &'a Interface, watched: &Watched) -> Option<Subject<'a>> {
    let frames = interface.frames?;
    let cut = frames.sent.cut_frames as f64;
    let is_much = cut >= CUT_EACH_SECOND * watched.took_s.max(1.0);
    let is_most = cut >= MOSTLY * frames.queued.merged_frames as f64;
    (is_much && is_most).then_some(Subject::Cut(interface, frames))
}

fn not_merging<'a>(interface: &'a Interface, watched: &Watched) -> Option<Subject<'a>> {
    let received = interface.frames?.received;
    let speed = interface.speed_bps.filter(|speed| *speed >= FAST_BPS)? as f64;
    // An interface with a kind is made of software: a veth reports 10 Gbit/s whatever it carries.
    let is_hardware = interface.kind.is_none() && interface.driver.is_some();
    let is_loaded = received.bytes as f64 * 8.0 >= LOADED * speed * watched.took_s;
    let factor = received.looked_tcp_segments as f64 / received.looked_tcp_frames.max(1) as f64;
    let is_single = received.looked_tcp_frames >= LOOKED && factor < DOES_NOT_MERGE;
    let is_found = is_hardware && is_loaded && is_single;
    is_found.then_some(Subject::Single(interface, received, factor))
}

#[cfg(test)]
mod tests;
