//! From counts to facts.

use coalescope_capture::file::Source;

use crate::connections::MOST;
use crate::facts::Replay;
use crate::options::{Incoming, Options};
use crate::results::Results;

pub(crate) fn facts(
    options: &Options,
    incoming: Incoming,
    polls: u64,
    results: &Results,
    source: &Source,
) -> Replay {
    let profile = options.profile;
    let (acks_before, acks_saved) = results.connections.acks();
    Replay {
        profile: profile.name.to_owned(),
        frames_in: incoming.frames,
        frames_out: results.frames_out,
        merged_frames: results.data.merged,
        merge_factor_mean: results.data.merge_factor_mean(),
        reversible: results.irreversible == 0,
        reasons: results.tally.reasons(),
        connections: results.connections.facts(),
        profile_source: profile.source.to_owned(),
        interval_us: options.interval_us,
        mtu_bytes: options.mtu_bytes,
        polls,
        merge_factor_max: results.data.merge_factor_max(),
        data_frames_in: results.data.data_in,
        data_frames_out: results.data.data_out,
        segments: results.segments,
        irreversible_frames: results.irreversible,
        absorbed_frames: results.absorbed,
        bytes_in: incoming.bytes,
        bytes_out: results.bytes_out,
        acks_before,
        acks_saved,
        already_merged_frames: incoming.already_merged,
        truncated_frames: incoming.truncated,
        unverified_frames: incoming.unverified,
        offloaded_frames: incoming.offloaded,
        other_frames: incoming.other,
        unlisted_frames: incoming.unlisted,
        left_out_frames: incoming.left_out,
        unreadable_bytes: source.unreadable_bytes(),
        warnings: warnings(&incoming, options.mtu_bytes, source),
    }
}

fn warnings(incoming: &Incoming, mtu: u32, source: &Source) -> Vec<String> {
    let damage = source.warnings().iter().map(ToString::to_string);
    damage.chain(of_frames(incoming, mtu)).collect()
}

/// Warnings about doubtful frames.
fn of_frames(incoming: &Incoming, mtu: u32) -> impl Iterator<Item = String> {
    let say = |count: u64, text: String| (count > 0).then(|| format!("{count} {text}"));
    [
        say(
            incoming.already_merged,
            format!(
                "frames were merged, or not yet cut, when they were captured (larger than their \
                 SYN allows, or than {mtu} bytes without a SYN): they pass as they are; capture \
                 with GRO, LRO, RSC and TSO off, or on the wire, to see what becomes of them"
            ),
        ),
        say(
            incoming.unverified,
            "frames are not captured whole: their checksums were taken to be right".to_owned(),
        ),
        say(
            incoming.offloaded,
            "frames were captured before the network card completed their checksums: they were \
             taken to be right"
                .to_owned(),
        ),
        say(
            incoming.unlisted,
            format!("frames are of connections beyond the first {MOST} directions, not listed"),
        ),
        say(
            incoming.left_out,
            "frames of interfaces beyond the first 128 (each way one) were left out".to_owned(),
        ),
        say(
            incoming.ended_early,
            "times all polls ended early, since the held frames took too much memory".to_owned(),
        ),
    ]
    .into_iter()
    .flatten()
}
