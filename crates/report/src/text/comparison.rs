//! Two transfers side by side.

use coalescope_knowledge::{Comparison, Transfer};
use comfy_table::{CellAlignment, ContentArrangement};

use super::WIDTH;
use super::page::{self, Page, Tone, printable};
use crate::words::units::{UNKNOWN, bytes, count, rate, seconds, three_digits};

const INDENT: usize = 2;
/// What the indent leaves of the page.
const COLUMNS: u16 = (WIDTH - INDENT) as u16;

/// A row: its title, and what it shows of a transfer.
type Row = (&'static str, fn(&Transfer) -> Option<String>);

const ROWS: [Row; 18] = [
    ("client", |t| Some(printable(&t.client))),
    ("server", |t| Some(printable(&t.server))),
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

pub(crate) fn show(page: &mut Page, comparison: &Comparison) {
    let Comparison { first, second } = comparison;
    let names = [first, second].map(|transfer| printable(&transfer.point));
    let mut table = page::table(["", &names[0], &names[1]]);
    // Names may be long, so here cells may be broken.
    table
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(COLUMNS);
    for (title, value) in ROWS {
        let both =
            [first, second].map(|transfer| value(transfer).unwrap_or_else(|| UNKNOWN.to_owned()));
        let [one, other] = both;
        table.add_row([title.to_owned(), one, other]);
    }
    page::align(&mut table, 0, CellAlignment::Left);
    page.gap();
    page.table(&table, INDENT, |_| Tone::Plain);
}

fn merge_factor(transfer: &Transfer) -> Option<String> {
    let mean = transfer.merge_factor_mean?;
    let max = transfer.merge_factor_max?;
    Some(format!("{mean:.2} / {max}"))
}
