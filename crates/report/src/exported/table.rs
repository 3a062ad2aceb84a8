//! The metrics of interfaces.

use coalescope_watch::facts::Frames;

/// A metric of each interface.
pub(super) type Metric = (&'static str, &'static str, fn(&Frames) -> u64);

/// All of them.
pub(super) const METRICS: [Metric; 14] = [
    (
        "coalescope_watch_received_frames",
        "Frames received, after merging.",
        |one| one.received.frames,
    ),
    (
        "coalescope_watch_received_bytes",
        "Bytes of these, from the network header on.",
        |one| one.received.bytes,
    ),
    (
        "coalescope_watch_received_segments",
        "Segments in frames received; a frame that is not merged is one.",
        |one| one.received.segments,
    ),
    (
        "coalescope_watch_received_merged_frames",
        "Frames received of more than one segment.",
        |one| one.received.merged_frames,
    ),
    (
        "coalescope_watch_received_long_frames",
        "Frames received that are longer than the MTU and have no segment size.",
        |one| one.received.long_frames,
    ),
    (
        "coalescope_watch_looked_tcp_frames",
        "Frames with TCP data among those received that were looked into, one of 64.",
        |one| one.received.looked_tcp_frames,
    ),
    (
        "coalescope_watch_looked_tcp_segments",
        "Segments in these.",
        |one| one.received.looked_tcp_segments,
    ),
    (
        "coalescope_watch_queued_frames",
        "Frames queued to be sent, before they are cut.",
        |one| one.queued.frames,
    ),
    (
        "coalescope_watch_queued_merged_frames",
        "Frames queued of more than one segment.",
        |one| one.queued.merged_frames,
    ),
    (
        "coalescope_watch_forwarded_frames",
        "Frames queued that this host had received.",
        |one| one.forwarded.frames,
    ),
    (
        "coalescope_watch_forwarded_merged_frames",
        "Frames forwarded of more than one segment.",
        |one| one.forwarded.merged_frames,
    ),
    (
        "coalescope_watch_sent_frames",
        "Frames that the driver got.",
        |one| one.sent.frames,
    ),
    (
        "coalescope_watch_sent_merged_frames",
        "Frames that the driver got of more than one segment.",
        |one| one.sent.merged_frames,
    ),
    (
        "coalescope_watch_cut_frames",
        "Merged frames that the processor cut on their way to the driver.",
        |one| one.sent.cut_frames,
    ),
];

/// Metrics that only programs in the kernel can fill.
pub(super) const NOT_BY_PERF: [&str; 5] = [
    "coalescope_watch_received_long_frames",
    "coalescope_watch_looked_tcp_frames",
    "coalescope_watch_looked_tcp_segments",
    "coalescope_watch_forwarded_frames",
    "coalescope_watch_forwarded_merged_frames",
];
