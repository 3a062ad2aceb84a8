//! The report of a watch.

use std::io::{self, Write};

use coalescope_knowledge::rules::{Blame, HostFinding};
use coalescope_knowledge::saw_enough;
use coalescope_watch::facts::{Connection, Drop, Interface, Level, Sample, Watched};
use schemars::{JsonSchema, Schema};
use serde::Serialize;

use crate::document::{self, Document};
use crate::html;
use crate::made::Made;
use crate::separated;
use crate::text::{self, TextOptions};

/// Name and version of the JSON document.
const SCHEMA: &str = "coalescope/watch/1";

/// Columns of the CSV, from an interface's JSON.
const COLUMNS: [&str; 24] = [
    "name",
    "index",
    "kind",
    "driver",
    "master",
    "mtu_bytes",
    "speed_bps",
    "roles",
    "frames.received.frames",
    "frames.received.bytes",
    "frames.received.segments",
    "frames.received.merged_frames",
    "frames.received.long_frames",
    "frames.queued.frames",
    "frames.queued.segments",
    "frames.queued.merged_frames",
    "frames.queued.long_frames",
    "frames.forwarded.frames",
    "frames.forwarded.merged_frames",
    "frames.sent.frames",
    "frames.sent.merged_frames",
    "frames.sent.cut_frames",
    "counters.rx_packets",
    "counters.tx_packets",
];

/// Columns of the CSV, from a connection's JSON.
const CONNECTION_COLUMNS: [&str; 17] = [
    "namespace",
    "local",
    "remote",
    "segment_bytes",
    "acked_bytes",
    "received_bytes",
    "sent_segments",
    "repeated_segments",
    "busy_s",
    "receiver_limited_s",
    "buffer_limited_s",
    "effective_window_segments",
    "in_flight_segments",
    "congestion_window_segments",
    "delivery_rate_bps",
    "rtt_s",
    "min_rtt_s",
];

/// The report of `coalescope watch`.
#[derive(Clone, Debug)]
pub struct WatchReport {
    pub(crate) watched: Watched,
    pub(crate) findings: Vec<HostFinding>,
}

/// What `coalescope watch` prints.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Watch")]
struct Body<'a> {
    #[serde(flatten)]
    watched: &'a Watched,
    /// What the counts show, what harms first.
    findings: &'a [HostFinding],
}

impl WatchReport {
    /// A report of counts and findings.
    #[must_use]
    pub fn new(watched: Watched, findings: Vec<HostFinding>) -> Self {
        Self { watched, findings }
    }

    /// Whether merging was seen to harm.
    #[must_use]
    pub fn has_findings(&self) -> bool {
        let mut all = self.findings.iter();
        all.any(|finding| Blame::is_wrong(finding.blame))
    }

    /// Whether enough was seen to exclude that merging harms.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        saw_enough(&self.watched)
    }

    /// All counts in one line, for progress.
    #[must_use]
    pub fn line(watched: &Watched) -> String {
        crate::words::watch::line(watched)
    }

    /// An interface, in the columns of the table of interfaces.
    #[must_use]
    pub fn row(interface: &Interface, level: Level) -> Vec<String> {
        crate::words::watch::row(interface, level).to_vec()
    }

    /// Dropped merged frames of an interface, and their share.
    #[must_use]
    pub fn died(interface: &Interface, died: u64) -> String {
        crate::words::watch::died(interface, died)
    }

    /// The number of merged frames dropped at a place; the place and the reason.
    #[must_use]
    pub fn died_where(drop: &Drop) -> (String, String) {
        crate::words::watch::died_where(drop)
    }

    /// What is not visible, and why; empty if all is visible.
    #[must_use]
    pub fn unseen(watched: &Watched) -> Vec<String> {
        text::not_seen(watched)
    }

    /// Dropped frames of a place and the reason, in one line.
    #[must_use]
    pub fn dropped(drop: &Drop) -> String {
        crate::words::watch::dropped(drop)
    }

    /// A connection, in a line.
    #[must_use]
    pub fn connection(connection: &Connection) -> String {
        crate::words::watch::connection_line(connection)
    }

    /// A dropped frame, in one line.
    #[must_use]
    pub fn sample(sample: &Sample, watched: &Watched) -> String {
        crate::words::watch::sample(sample, watched.begun_unix_s)
    }
}

impl Document for WatchReport {
    fn schema() -> Schema {
        document::schema::<Body<'static>>(SCHEMA)
    }

    fn warnings(&self) -> Vec<String> {
        text::not_seen(&self.watched)
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let body = Body {
            watched: &self.watched,
            findings: &self.findings,
        };
        document::write(SCHEMA, &body, out)
    }

    /// One row per interface, or, if connections were asked for and seen, one per connection.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let connections = &self.watched.connections;
        if !connections.is_empty() {
            return separated::write_fields(out, &CONNECTION_COLUMNS, connections);
        }
        separated::write_fields(out, &COLUMNS, &self.watched.interfaces)
    }

    fn write_text(&self, out: &mut dyn Write, options: &TextOptions) -> io::Result<()> {
        text::write_watch(self, out, options)
    }

    fn write_html(&self, made: &Made, out: &mut dyn Write) -> io::Result<()> {
        html::write_watch(self, made, out)
    }
}
