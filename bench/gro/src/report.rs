//! Markdown.

use crate::frames::ETHERNET;
use crate::id::Id;
use crate::measure::Row;

/// A way to use an engine: what is compared with what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mode {
    pub(crate) title: &'static str,
    /// Length of the link header.
    pub(crate) link: usize,
    pub(crate) ours: &'static [Id],
    pub(crate) peers: &'static [Id],
    pub(crate) floors: &'static [Id],
}

pub(crate) const ZERO_COPY: Mode = Mode {
    title: "Zero-copy, checksums trusted",
    link: ETHERNET,
    ours: &[Id::OursDpdk, Id::OursLinux, Id::OursTable],
    peers: &[Id::DpdkBurst, Id::DpdkTable],
    floors: &[Id::FloorHeaders],
};

pub(crate) const COPYING: Mode = Mode {
    title: "Checksums verified, payload copied",
    link: 0,
    ours: &[Id::OursCopy128, Id::OursCopy64, Id::OursVerify],
    peers: &[Id::WireguardGo, Id::Tailscale, Id::Gvisor, Id::TunRs],
    floors: &[Id::FloorRead, Id::FloorCopy, Id::FloorBoth],
};

impl Mode {
    fn engines(&self) -> impl Iterator<Item = Id> {
        let (ours, peers, floors) = (self.ours, self.peers, self.floors);
        ours.iter().chain(peers).chain(floors).copied()
    }

    /// Peers over our engine.
    fn ratios(&self) -> impl Iterator<Item = (Id, Id)> {
        let pairs: &[(Id, Id)] = match self.ours[0] {
            Id::OursDpdk => &[
                (Id::DpdkBurst, Id::OursDpdk),
                (Id::DpdkBurst, Id::OursLinux),
                (Id::DpdkTable, Id::OursTable),
            ],
            _ => &[
                (Id::WireguardGo, Id::OursCopy128),
                (Id::Tailscale, Id::OursCopy128),
                (Id::Gvisor, Id::OursCopy128),
                (Id::TunRs, Id::OursCopy128),
            ],
        };
        pairs.iter().copied()
    }
}

/// Times of all engines, what they merged, and how many times ours the peers' times are.
pub(crate) fn tables(mode: &Mode, cache: &str, rows: &[Row]) {
    let Some(first) = rows.first() else {
        return;
    };
    let packets = first.load.packets;
    println!("\n### {}, {cache}: {packets} packets", mode.title);
    let engines: Vec<_> = mode
        .engines()
        .filter(|&id| first.get(id).is_some())
        .collect();
    table(
        "Nanoseconds for each packet: median (best).",
        rows,
        &engines,
        Id::title,
        time,
    );
    let is_engine = |id: &Id| !mode.floors.contains(id);
    let engines: Vec<_> = engines.into_iter().filter(is_engine).collect();
    table(
        "Packets in for each frame out.",
        rows,
        &engines,
        Id::title,
        merged,
    );
    let pairs = mode.ratios();
    let pairs: Vec<_> = pairs
        .filter(|&pair| first.ratio(pair.0, pair.1).is_some())
        .collect();
    let title = |(peer, ours): (Id, Id)| format!("{} / {}", peer.title(), ours.title());
    let said = "The peer's time over ours: the median of the rounds (best runs).";
    table(said, rows, &pairs, title, ratio);
}

/// A table with a column for each of `columns`.
fn table<C: Copy, T: Into<String>>(
    said: &str,
    rows: &[Row],
    columns: &[C],
    title: impl Fn(C) -> T,
    cell: impl Fn(&Row, C) -> String,
) {
    if columns.is_empty() {
        return;
    }
    let titles: Vec<String> = columns.iter().map(|&column| title(column).into()).collect();
    println!("\n{said}\n\n| flows | order | {} |", titles.join(" | "));
    println!("|---|---|{}", "---|".repeat(columns.len()));
    for row in rows {
        let cells: Vec<_> = columns.iter().map(|&column| cell(row, column)).collect();
        println!(
            "| {} | {} | {} |",
            row.load.flows,
            order(row),
            cells.join(" | ")
        );
    }
}

pub(crate) fn order(row: &Row) -> &'static str {
    match row.load.run {
        1 => "round robin",
        _ => "runs of 8",
    }
}

fn time(row: &Row, id: Id) -> String {
    row.get(id).map_or_else(String::new, |outcome| {
        format!("{:.1} ({:.1})", outcome.median(), outcome.best())
    })
}

fn merged(row: &Row, id: Id) -> String {
    row.get(id).map_or_else(String::new, |outcome| {
        format!("{:.1}", row.load.packets as f64 / outcome.out as f64)
    })
}

fn ratio(row: &Row, (peer, ours): (Id, Id)) -> String {
    row.ratio(peer, ours)
        .map_or_else(String::new, |(median, best)| {
            format!("{median:.2} ({best:.2})")
        })
}
