//! Names of figures in sentences. Their names in JSON are for programs.

/// Prefix of figures that are measured at the other end.
pub const PEER: &str = "peer_";

const KNOWN: [(&str, &str); 14] = [
    ("throughput_bps", "throughput"),
    ("wall_s", "run time"),
    ("time_total_s", "transfer time"),
    ("time_starttransfer_s", "time to the first byte"),
    ("service_demand_us_per_kb", "CPU time per KB"),
    ("cpu_user_s", "CPU time of programs"),
    ("cpu_system_s", "CPU time of the kernel"),
    ("cpu_softirq_s", "CPU time of soft interrupts"),
    ("retransmitted_segments", "the number of resent segments"),
    ("merge_factor", "the number of segments per frame"),
    (
        "receive_queue_coalesced",
        "the number of frames joined in sockets' queues",
    ),
    (
        "acks_per_data_segment",
        "the number of ACKs per data segment",
    ),
    (
        "softnet_dropped",
        "the number of frames dropped by full backlogs",
    ),
    (
        "interface_drops",
        "the number of frames dropped by the interface",
    ),
];

/// Units at the end of a name.
const UNITS: [&str; 5] = ["_us_per_kb", "_percent", "_bytes", "_bps", "_s"];

/// A figure's name in words; a user's own figure keeps its name.
#[must_use]
pub fn spoken(metric: &str) -> String {
    if let Some(known) = known(metric) {
        return known.to_owned();
    }
    if let Some(known) = at_peer(metric).and_then(known) {
        return format!("{known} at the other end");
    }
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if !metric.chars().all(is_name) {
        return metric.to_owned();
    }
    let bare = UNITS.iter().find_map(|unit| metric.strip_suffix(unit));
    bare.unwrap_or(metric).replace('_', " ")
}

/// The name at this end of a figure that is measured at the other end; `None` for other figures.
#[must_use]
pub fn at_peer(metric: &str) -> Option<&str> {
    metric.strip_prefix(PEER)
}

fn known(metric: &str) -> Option<&'static str> {
    let mut all = KNOWN.iter();
    all.find(|(name, _)| *name == metric)
        .map(|(_, words)| *words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_words() {
        assert_eq!(spoken("service_demand_us_per_kb"), "CPU time per KB");
        let peer = "the number of resent segments at the other end";
        assert_eq!(spoken("peer_retransmitted_segments"), peer);
        assert_eq!(spoken("latency_p99_s"), "latency p99");
        assert_eq!(spoken("/end/sum/bps"), "/end/sum/bps");
        assert_eq!(spoken("Speed_s: ([0-9]+)"), "Speed_s: ([0-9]+)");
    }
}
