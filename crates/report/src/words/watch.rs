//! Words for counts of merged frames.

use coalescope_knowledge::{gets_little_through, plain_reason, saw_enough};
use coalescope_watch::facts::{Connection, Drop, Interface, Level, Sample, Watched, sum};

use super::units::{
    UNKNOWN, bytes, count, counted, percent, rate, seconds, short_count, three_digits,
};

/// All counts, in one line.
pub(crate) fn line(watched: &Watched) -> String {
    let time = seconds(watched.took_s);
    if watched.level == Level::Counters {
        return format!("{time}: {} received", counted(packets(watched), "packet"));
    }
    let sums = Sums::of(watched);
    if watched.level == Level::Perf {
        return format!(
            "{time}: {} received, {} segments in each; {} dropped, merged or not",
            counted(sums.frames, "frame"),
            sums.factor(),
            counted(watched.dropped_unknown(), "frame"),
        );
    }
    format!(
        "{time}: {}{} received, {} segments in each; {} of {} died",
        about(watched),
        counted(sums.frames, "frame"),
        sums.factor(),
        count(sums.died),
        counted(sums.merged, "merged frame"),
    )
}

/// The result in one sentence or two.
pub(crate) fn verdict(watched: &Watched) -> String {
    let time = seconds(watched.took_s);
    if watched.level == Level::Counters {
        return format!(
            "In {time} {}, as the counters of the kernel say. Whether frames are \
             merged, or which of them die, these do not say.",
            received(packets(watched), "packet")
        );
    }
    let sums = Sums::of(watched);
    let came = format!(
        "In {time} {}{}, with {} segments in each",
        about(watched),
        received(sums.frames, "frame"),
        sums.factor()
    );
    if watched.level == Level::Perf {
        return format!(
            "{came}. {} dropped on this host; whether merged ones were among them, perf's events do not say.",
            were_dropped(watched.dropped_unknown())
        );
    }
    let too_little = match saw_enough(watched) {
        true => "",
        false => " That is too little to say how merged frames fare.",
    };
    let died = match (sums.merged, sums.died) {
        (0, 0) => format!("{came}. None of them was merged."),
        (merged, 0) => format!("{came}. None of {} died.", counted(merged, "merged frame")),
        (merged, died) => format!(
            "{came}. Merged frames that were dropped: {}, beside {} received.",
            count(died),
            count(merged)
        ),
    };
    format!("{died}{too_little}")
}

/// In front of a number of frames.
fn about(watched: &Watched) -> &'static str {
    match watched.sampling {
        Some(_) => "about ",
        None => "",
    }
}

/// `1 frame was received`, `2 frames were received`.
fn received(number: u64, noun: &str) -> String {
    let were = if number == 1 { "was" } else { "were" };
    format!("{} {were} received", counted(number, noun))
}

fn were_dropped(frames: u64) -> String {
    match frames {
        0 => "No frame was".to_owned(),
        1 => "1 frame was".to_owned(),
        _ => format!("{} were", counted(frames, "frame")),
    }
}

fn packets(watched: &Watched) -> u64 {
    let all = watched.interfaces.iter();
    let all = all.filter_map(|interface| interface.counters.get("rx_packets"));
    sum(all.copied())
}

/// Sums over all interfaces.
struct Sums {
    frames: u64,
    segments: u64,
    merged: u64,
    died: u64,
}

impl Sums {
    fn of(watched: &Watched) -> Self {
        let mut sums = Self {
            frames: 0,
            segments: 0,
            merged: 0,
            died: watched.dropped_merged(),
        };
        for frames in watched.interfaces.iter().filter_map(|one| one.frames) {
            sums.frames = sum([sums.frames, frames.received.frames]);
            sums.segments = sum([sums.segments, frames.received.segments]);
            sums.merged = sum([sums.merged, frames.received.merged_frames]);
        }
        sums
    }

    fn factor(&self) -> String {
        match self.frames {
            0 => "0".to_owned(),
            frames => three_digits(self.segments as f64 / frames as f64),
        }
    }
}

/// Heads of the table of interfaces.
pub(crate) const HEADS: [&str; 8] = [
    "interface",
    "frames in",
    "segments\nin each",
    "merged in",
    "merged\nforwarded",
    "merged\nout",
    "cut in\nsoftware",
    "roles",
];

/// The row of an interface.
pub(crate) fn row(interface: &Interface, level: Level) -> [String; HEADS.len()] {
    let roles = interface.roles.join(", ");
    let Some(frames) = interface.frames else {
        let received = interface.counters.get("rx_packets").copied();
        let sent = [UNKNOWN; 5].map(str::to_owned);
        let [a, b, c, d, e] = sent;
        let packets = short_count(received.unwrap_or(0));
        return [interface.name.clone(), packets, a, b, c, d, e, roles];
    };
    let received = &frames.received;
    [
        interface.name.clone(),
        short_count(received.frames),
        frames
            .per_frame()
            .map_or_else(|| UNKNOWN.to_owned(), three_digits),
        short_count(received.merged_frames),
        match level {
            Level::Perf => UNKNOWN.to_owned(),
            _ => short_count(frames.forwarded.merged_frames),
        },
        short_count(frames.queued.merged_frames),
        short_count(frames.sent.cut_frames),
        roles,
    ]
}

/// Merged frames that were dropped, of those received, or of those to be sent if the interface received none.
pub(crate) fn died(interface: &Interface, died: u64) -> String {
    let of = interface.frames.map_or(0, |frames| {
        let (came, went) = (frames.received.merged_frames, frames.queued.merged_frames);
        if came > 0 { came } else { went }
    });
    match died {
        1.. if of > 0 => {
            // Drops may be counted here while their frames are still on the way to the other count.
            let share = percent(died, of.max(died));
            format!("{} ({share})", short_count(died))
        }
        _ => short_count(died),
    }
}

/// The number of dropped merged frames; the place and the reason.
pub(crate) fn died_where(drop: &Drop) -> (String, String) {
    let died = short_count(drop.died());
    let reason = plain_reason(drop.reason.as_deref(), drop.location.as_deref());
    (died, format!("{}: {reason}", place(drop)))
}

fn place(drop: &Drop) -> String {
    match (&drop.from, &drop.interface) {
        (Some(from), Some(to)) if from != to => format!("from {from}, at {to}"),
        (Some(from), _) => format!("from {from}"),
        (None, Some(at)) => format!("at {at}"),
        (None, None) => "of no interface".to_owned(),
    }
}

/// Dropped frames of a place, and the reason.
pub(crate) fn dropped(drop: &Drop) -> String {
    if drop.unknown_frames > 0 {
        let frames = counted(drop.unknown_frames, "frame");
        let reason = plain_reason(drop.reason.as_deref(), drop.location.as_deref());
        return format!("{frames}: {reason}");
    }
    let place = place(drop);
    let mut frames = vec![format!(
        "{} with {} segments",
        counted(drop.merged_frames, "merged frame"),
        count(drop.merged_segments)
    )];
    if drop.long_frames > 0 {
        let long = counted(drop.long_frames, "frame");
        frames.push(format!("{long} longer than the MTU without a segment size"));
    }
    frames.push(format!("{} single", count(drop.single_frames)));
    let reason = plain_reason(drop.reason.as_deref(), drop.location.as_deref());
    format!("{place}: {}; {reason}", frames.join(", "))
}

/// A dropped frame.
pub(crate) fn sample(sample: &Sample, begun_unix_s: f64) -> String {
    let flow = sample.flow.as_ref();
    let flow = flow.map_or_else(|| "not IP".to_owned(), ToString::to_string);
    let size = match sample.segment_bytes {
        0 => bytes(sample.bytes.into()),
        each => format!("{} segments of {each} B", sample.segments),
    };
    let at = seconds((sample.unix_s - begun_unix_s).max(0.0));
    format!("{at}: {flow}, {size}")
}

/// Heads of the table of connections.
pub(crate) const CONNECTION_HEADS: [&str; 8] = [
    "connection",
    "sent",
    "received",
    "segments a\nround trip",
    "congestion\nwindow",
    "repeated",
    "delivery\nrate",
    "RTT",
];

/// The row of a connection.
pub(crate) fn connection(one: &Connection) -> [String; CONNECTION_HEADS.len()] {
    let window = one.effective_window_segments;
    [
        ends(one),
        bytes(one.acked_bytes),
        bytes(one.received_bytes),
        window.map_or_else(|| UNKNOWN.to_owned(), three_digits),
        count(one.congestion_window_segments.into()),
        percent(one.repeated_segments, one.sent_segments),
        rate(one.delivery_rate_bps as f64),
        seconds(one.rtt_s),
    ]
}

/// A connection in one line.
pub(crate) fn connection_line(one: &Connection) -> String {
    let [ends, sent, received, window, most, repeated, rate, rtt] = connection(one);
    format!(
        "{ends}: {window} segments a round trip, congestion window {most}, {repeated} repeated, sent {sent} \
         at {rate}, received {received}, RTT {rtt}"
    )
}

fn ends(one: &Connection) -> String {
    let space = one.namespace.as_ref();
    let space = space.map_or_else(String::new, |name| format!("{name}: "));
    format!("{space}{} {}", one.local, one.remote)
}

/// The connections that get little through, then the others.
pub(crate) fn slow_and_others(watched: &Watched) -> (Vec<&Connection>, Vec<&Connection>) {
    let is_slow = |one: &&Connection| gets_little_through(one, watched.took_s);
    watched.connections.iter().partition(is_slow)
}

/// Why a connection with few segments per round trip is slow.
pub(crate) fn little(one: &Connection) -> String {
    let window = three_digits(one.effective_window_segments.unwrap_or(0.0));
    format!(
        "{}: {window} segments a round trip, {} of {} sent segments were repeated, and neither the \
         receiver nor a buffer holds it back. So it goes where merged frames die and single ones pass: \
         watch the hosts on its way, or `coalescope trace` a capture of both ends.",
        ends(one),
        count(one.repeated_segments),
        count(one.sent_segments),
    )
}

/// Frames that were not counted.
pub(crate) fn lost(watched: &Watched) -> Vec<String> {
    let lost = watched.lost;
    let kinds = [
        (
            lost.frames,
            "frame",
            "of interfaces beyond those that there was room for",
        ),
        (
            lost.drops,
            "dropped frame",
            "of places beyond those that there was room for",
        ),
        (
            match watched.level {
                Level::Perf => 0,
                _ => lost.samples,
            },
            "sample",
            "that came faster than they were read",
        ),
    ];
    let missed = kinds.into_iter().filter(|(number, ..)| *number > 0);
    let missed =
        missed.map(|(number, what, why)| format!("not counted: {} {why}", counted(number, what)));
    missed.chain(missed_events(watched)).collect()
}

/// That counts of frames are estimates, if they are.
pub(crate) fn estimated(watched: &Watched) -> Option<String> {
    let of = watched.sampling?;
    Some(format!(
        "For {} of {} frames came too fast to count each: they were counted in one of {} spans of time, and \
         multiplied. All dropped frames were counted (--exact counts each frame, which slows down the host).",
        seconds(of.took_s),
        seconds(watched.took_s),
        of.one_in
    ))
}

/// How many events of all were not read.
fn missed_events(watched: &Watched) -> Option<String> {
    let all = sum(watched.events.values().copied());
    let lost = watched.lost.samples;
    (watched.level == Level::Perf && lost > 0).then(|| {
        format!(
            "not counted: {} of {} of this host ({}): they came faster than they were read, or perf counted them \
             and gave them to nobody",
            count(lost),
            counted(all, "event"),
            percent(lost, all.max(lost))
        )
    })
}
