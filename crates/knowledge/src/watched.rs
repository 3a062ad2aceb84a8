//! Judges the counts of a running host.

mod connections;
mod join;
mod reasons;
mod remedies;
mod sums;
mod thresholds;
mod words;

use coalescope_watch::facts::{Drop, Interface, Level, Sample, Watched, sum};

use crate::odds::{Table, fisher};
use crate::rules::HostFinding;
use crate::thresholds::{ALPHA, DOES_NOT_MERGE, HANDFUL, MERGED_LOST, TIMES_SINGLE};
pub use connections::gets_little_through;
pub use join::join_watched;
pub use reasons::plain_reason;
pub use sums::beside_single;
use sums::{compared, passing_segments};
use thresholds::{
    CUT_EACH_SECOND, FAST_BPS, LASTS_S, LOADED, LONGER, LOOKED, LOOKED_LONG, MOSTLY, NEARLY_ALL_DIE,
};
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

/// Whether enough merged frames were seen to say that they are well: fewer could not accuse anybody, whatever became of
/// them, and of what dies in less than a round of timeouts, or comes in merged frames alone, nobody knows whether single
/// frames would pass.
#[must_use]
pub fn saw_enough(watched: &Watched) -> bool {
    let died = sum(watched.drops.iter().map(Drop::died));
    let passed = watched.interfaces.iter().filter_map(|one| one.frames);
    let passed = sum(passed.map(|of| {
        let (came, went) = (of.received, of.queued);
        sum([
            came.merged_frames,
            came.long_frames,
            went.merged_frames,
            went.long_frames,
        ])
    }));
    let is_lost = watched.lost.frames > 0 || watched.lost.drops > 0;
    let has_lasted = died == 0 || watched.took_s >= LASTS_S;
    let is_open = watched.drops.iter().any(is_open);
    watched.level == Level::Bpf
        && sum([died, passed]) >= HANDFUL
        && has_lasted
        && !is_lost
        && !is_open
}

/// Whether merged frames of a flow die again and again, and none of its frames was a single one that could have passed.
fn is_open(drop: &Drop) -> bool {
    let of = drop.compared.unwrap_or_default();
    of.merged_died >= HANDFUL && of.single_frames == 0 && !reasons::is_innocent(drop)
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
    let table = compared(drop, watched)?;
    let p = fisher(&table)?;
    let is_much_more = table.merged_share() >= TIMES_SINGLE * table.single_share();
    let is_sure = table.merged_lost >= HANDFUL && p < ALPHA / looks.max(1) as f64;
    let lasts = drop.compared.is_some() || lasts(drop).is_some();
    let is_for_length = || dies_for_length(drop, &table, watched);
    if !is_sure || !is_much_more || reasons::is_innocent(drop) || !lasts || !is_for_length() {
        return None;
    }
    Some(Subject::Dropped(drop, table, p))
}

/// Whether merged frames are dropped for their length: nearly all of them, or only those beyond some length. A rate limit of the
/// firewall or of tc has the same reason in the kernel, and drops some of any length. Where flows were not followed, others
/// that go another way are among the frames of the interface.
fn dies_for_length(drop: &Drop, table: &Table, watched: &Watched) -> bool {
    let enough = match drop.compared {
        Some(_) => NEARLY_ALL_DIE,
        None => MERGED_LOST,
    };
    table.merged_share() >= enough || are_longest(drop, watched)
}

/// Whether all dropped frames that were looked into are far longer than those that pass.
fn are_longest(drop: &Drop, watched: &Watched) -> bool {
    let shortest = drop.samples.iter().map(|sample| sample.segments).min();
    let passing = passing_segments(drop, watched);
    let is_longer = shortest
        .zip(passing)
        .is_some_and(|(shortest, passing)| f64::from(shortest) >= LONGER * passing);
    is_longer && drop.samples.len() >= LOOKED_LONG
}

/// Two dropped frames of one flow of TCP so far apart that single frames must have passed between them: a flow of which
/// nothing passes sends single segments only, and path MTU discovery takes one round trip. Whoever sends datagrams goes on
/// with merged ones.
fn lasts(drop: &Drop) -> Option<(&Sample, &Sample)> {
    drop.samples.iter().enumerate().find_map(|(n, first)| {
        let mut later = drop.samples[n + 1..].iter();
        let again = later.find(|sample| {
            is_tcp(sample) && sample.flow == first.flow && sample.unix_s - first.unix_s >= LASTS_S
        })?;
        Some((first, again))
    })
}

fn is_tcp(sample: &Sample) -> bool {
    let flow = sample.flow.as_ref();
    flow.is_some_and(|flow| flow.protocol == "tcp")
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
