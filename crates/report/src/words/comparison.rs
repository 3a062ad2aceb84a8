//! Words for two transfers side by side.

use coalescope_knowledge::Transfer;

use super::units::{bytes, count, rate, seconds, three_digits};

/// A row: its title, and its value for a transfer.
pub(crate) type Row = (&'static str, fn(&Transfer) -> Option<String>);

pub(crate) const ROWS: [Row; 18] = [
    ("client", |t| Some(t.client.clone())),
    ("server", |t| Some(t.server.clone())),
    ("payload", |t| Some(bytes(t.unique_bytes))),
    ("frames with payload", |t| Some(count(t.data_frames))),
    ("frames per MB", |t| t.frames_per_megabyte.map(three_digits)),
    ("segments", |t| t.segments.map(count)),
    ("segment size", |t| {
        t.segment_size_bytes.map(|size| format!("{size} B"))
    }),
    ("merged frames", |t| Some(count(t.merged_frames))),
    ("merge factor mean / max", merge_factor),
    ("retransmitted frames", |t| {
        Some(count(t.retransmitted_frames))
    }),
    ("out-of-order frames", |t| {
        Some(count(t.out_of_order_frames))
    }),
    ("throughput", |t| t.throughput_bps.map(rate)),
    ("RTT min", |t| t.rtt_min_s.map(seconds)),
    ("effective window, segments", |t| {
        t.effective_window_segments.map(three_digits)
    }),
    ("connect", |t| t.phases.connect_s.map(seconds)),
    ("TLS", |t| t.phases.tls_s.map(seconds)),
    ("first byte", |t| t.phases.first_byte_s.map(seconds)),
    ("transfer", |t| t.phases.transfer_s.map(seconds)),
];

pub(crate) fn merge_factor(transfer: &Transfer) -> Option<String> {
    let mean = transfer.merge_factor_mean?;
    let max = transfer.merge_factor_max?;
    Some(format!("{mean:.2} / {max}"))
}
