//! Why tracepoints cannot be read.

use std::io;

/// Why perf's tracepoints cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PerfError {
    /// The descriptions of the events are out of reach.
    #[error(
        "the kernel's tracepoints cannot be read ({0}): it takes tracefs, mounted at /sys/kernel/tracing, and root"
    )]
    NoTracefs(io::Error),
    /// The kernel lacks an event, or a field of one.
    #[error("the kernel has no tracepoint {event} that says {field}")]
    NoField {
        /// Which.
        event: &'static str,
        /// The field.
        field: &'static str,
    },
    /// Rights are missing.
    #[error(
        "perf events may not be opened: it takes root or CAP_PERFMON, or kernel.perf_event_paranoid = -1"
    )]
    Denied,
    /// The kernel refuses an event.
    #[error("the kernel refuses to open {event} for perf: {source}")]
    Open {
        /// Which.
        event: &'static str,
        /// Why.
        source: io::Error,
    },
    /// A counter cannot be read.
    #[error("what perf counted cannot be read: {0}")]
    Read(io::Error),
}
