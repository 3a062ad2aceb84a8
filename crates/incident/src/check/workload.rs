//! Workloads: values in their ranges.

use super::{Checked, require};
use crate::model::Workload;

/// Bytes asked for at most: a minute at 140 Mbit/s.
const MOST_BYTES: u64 = 1 << 30;

pub(super) fn check(workload: &Workload) -> Checked {
    let bytes = [Some(workload.bytes), workload.trial_bytes];
    for bytes in bytes.into_iter().flatten() {
        let reason = "bytes of a workload: 1 to 1 GiB (1073741824)";
        require((1..=MOST_BYTES).contains(&bytes), bytes, reason)?;
    }
    let limit = (0.1..=600.0).contains(&workload.limit_s);
    require(limit, "limit_s", "limit_s: 0.1 to 600 seconds")?;
    let streams = (1..=1000).contains(&workload.streams);
    require(streams, "streams", "streams: 1 to 1000")?;
    let rate = workload.sender_rate_bps.is_none_or(|rate| rate >= 8000);
    require(rate, "sender_rate_bps", "sender_rate_bps: 8000 or more")?;
    let window = workload
        .receive_window_bytes
        .is_none_or(|bytes| bytes >= 2048);
    let reason = "receive_window_bytes: 2048 or more, as of SO_RCVBUF (socket(7))";
    require(window, "receive_window_bytes", reason)
}
