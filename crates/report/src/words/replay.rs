//! Words for a replay.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::SocketAddr;

use coalescope_replay::facts::{Connection, Endpoint, Reasons, Replay};

use super::units::{UNKNOWN, bytes, count, counted, short_count, three_digits};

/// Reasons named for each connection.
pub(crate) const TOP_REASONS: usize = 3;

pub(crate) fn verdict(replay: &Replay) -> String {
    let all = counted(replay.frames_in, "frame");
    let profile = &replay.profile;
    let Some(mean) = replay.merge_factor_mean else {
        return format!("Under {profile} nothing could be merged: no frame of {all} carries data.");
    };
    if replay.merged_frames == 0 {
        return format!("Under {profile} nothing would be merged of {all}.");
    }
    let out = counted(replay.frames_out, "frame");
    let merged = count(replay.merged_frames);
    let max = replay.merge_factor_max.unwrap_or(1);
    let mean = three_digits(mean);
    format!(
        "Under {profile} {all} would become {out}, {merged} of them merged: {mean} data frames in \
         for each one out, {max} in the largest. {}",
        reversible(replay)
    )
}

pub(crate) fn reversible(replay: &Replay) -> String {
    if replay.reversible {
        return "A forwarder could cut each of them again into what it was made of.".to_owned();
    }
    let lossy = count(replay.irreversible_frames);
    format!("{lossy} frames could not be cut again into exactly what they were made of.")
}

pub(crate) fn clock(replay: &Replay) -> String {
    let polls = counted(replay.polls, "poll");
    match replay.interval_us {
        0 => format!("{polls}: each frame by itself"),
        interval => format!("{polls} of {} us at most", count(interval)),
    }
}

/// The title of each sort of reasons, and their counts.
pub(crate) fn sorts(reasons: &Reasons) -> [(&'static str, &BTreeMap<&'static str, u64>); 3] {
    [
        ("passed on at once", &reasons.passed),
        ("not added, began a new one", &reasons.refused),
        ("held, then handed up", &reasons.flushed),
    ]
}

/// Counts, largest first.
pub(crate) fn by_count(counts: &BTreeMap<&'static str, u64>) -> Vec<(&'static str, u64)> {
    let mut sorted: Vec<_> = counts.iter().map(|(&reason, &n)| (reason, n)).collect();
    sorted.sort_by_key(|&(_, n)| Reverse(n));
    sorted
}

pub(crate) fn row(connection: &Connection) -> [String; 6] {
    let mean = connection.merge_factor_mean.map(three_digits);
    let max = connection.merge_factor_max.map(|max| max.to_string());
    let known = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
    [
        bytes(connection.bytes_in),
        short_count(connection.frames_in),
        short_count(connection.frames_out),
        short_count(connection.merged_frames),
        format!("{} / {}", known(mean), known(max)),
        short_count(connection.acks_saved),
    ]
}

/// The line above a row: the connection, and its commonest reasons.
pub(crate) fn caption(connection: &Connection) -> String {
    let name = name(connection);
    match top_reasons(&connection.reasons) {
        none if none.is_empty() => name,
        top => format!("{name}: {top}"),
    }
}

/// `#3 tcp 192.0.2.1:40000 -> 198.51.100.1:80, in vxlan 42`
pub(crate) fn name(connection: &Connection) -> String {
    let Connection {
        id,
        source,
        destination,
        protocol,
        tunnel,
        ..
    } = connection;
    let [from, to] =
        [source, destination].map(|end: &Endpoint| SocketAddr::new(end.address, end.port));
    let tunnel = tunnel.iter().map(|tunnel| format!(", in {tunnel}"));
    format!(
        "#{id} {protocol} {from} -> {to}{}",
        tunnel.collect::<String>()
    )
}

/// The largest connections, at most `most`.
pub(crate) fn largest(all: &[Connection], most: usize) -> Vec<&Connection> {
    let mut sorted: Vec<&Connection> = all.iter().collect();
    sorted.sort_by_key(|connection| (Reverse(connection.bytes_in), connection.id));
    sorted.truncate(most);
    sorted
}

/// Frames without data that were absorbed.
pub(crate) fn absorbed(replay: &Replay) -> Option<String> {
    let absorbed = counted(replay.absorbed_frames, "frame");
    (replay.absorbed_frames > 0)
        .then(|| format!("{absorbed} without data came out as part of another"))
}

pub(crate) fn top_reasons(reasons: &Reasons) -> String {
    let sorts = sorts(reasons)
        .into_iter()
        .zip(["passed on", "began a new one", "handed up"]);
    let mut all: Vec<_> = sorts
        .flat_map(|((_, counts), word)| {
            by_count(counts).into_iter().map(move |entry| (word, entry))
        })
        .collect();
    all.sort_by_key(|&(_, (_, n))| Reverse(n));
    let top = all.iter().take(TOP_REASONS);
    let words = top.map(|(word, (reason, n))| format!("{} {word} ({reason})", count(*n)));
    words.collect::<Vec<_>>().join(", ")
}
