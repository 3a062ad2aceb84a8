//! What was aimed at, and what was reached.

use crate::id::Id;
use crate::measure::Row;
use crate::report::order;

/// Against DPDK's burst mode.
const ZERO_COPY: f64 = 3.0;
/// Against each engine that verifies checksums.
const COPYING: f64 = 2.0;
/// 65,536 flows over one.
const SCALING: f64 = 3.0;

/// Rows of one mode, with a word on the cache for each.
pub(crate) type Rows = Vec<(&'static str, Vec<Row>)>;

/// Prints the table of goals.
pub(crate) fn goals(zero_copy: &Rows, copying: &Rows) {
    println!("\n### Against the goals\n");
    println!(
        "By the median of the rounds, and by best runs in brackets, on the workload where it is worst.\n"
    );
    println!("| goal | worst | where | met |\n|---|---|---|---|");
    for ours in [Id::OursDpdk, Id::OursLinux] {
        against(zero_copy, Id::DpdkBurst, ours, ZERO_COPY);
    }
    for ours in [Id::OursDpdk, Id::OursLinux, Id::OursTable, Id::DpdkTable] {
        scaling(zero_copy, ours);
    }
    let peers = [Id::WireguardGo, Id::Tailscale, Id::Gvisor, Id::TunRs];
    for ours in [Id::OursCopy128, Id::OursCopy64] {
        for peer in peers {
            against(copying, peer, ours, COPYING);
        }
    }
}

/// How much faster we are than a peer on each workload. DPDK's burst counts where it merges.
fn against(rows: &Rows, peer: Id, ours: Id, goal: f64) {
    let merges = |row: &Row| {
        peer != Id::DpdkBurst
            || row
                .get(peer)
                .is_some_and(|outcome| outcome.out < row.load.packets)
    };
    let ratios = rows.iter().flat_map(|(cache, rows)| {
        let rows = rows.iter().filter(|row| merges(row));
        rows.filter_map(move |row| Some((row.ratio(peer, ours)?, *cache, row)))
    });
    let ratios: Vec<_> = ratios.collect();
    let met = ratios
        .iter()
        .filter(|((median, _), _, _)| *median >= goal)
        .count();
    let worst = ratios
        .iter()
        .min_by(|one, other| one.0.0.total_cmp(&other.0.0));
    let Some(((median, best), cache, row)) = worst else {
        return;
    };
    println!(
        "| {}: {goal} times faster than {} | {median:.2} ({best:.2}) | {cache}, {} flows, {} | {met} of {} |",
        ours.title(),
        peer.title(),
        row.load.flows,
        order(row),
        ratios.len(),
    );
}

/// What many flows cost over one, on cold memory.
fn scaling(rows: &Rows, id: Id) {
    let Some((_, rows)) = rows.iter().find(|(cache, _)| *cache == "cold") else {
        return;
    };
    for many in rows.iter().filter(|row| row.load.flows == 65_536) {
        let same = |row: &&Row| (row.load.flows, row.load.run) == (1, many.load.run);
        let one = rows.iter().find(same).and_then(|row| row.get(id));
        let (Some(one), Some(cost)) = (one, many.get(id)) else {
            continue;
        };
        let (median, best) = (cost.median() / one.median(), cost.best() / one.best());
        let met = match id {
            Id::DpdkTable => "the peer",
            _ if median <= SCALING => "yes",
            _ => "no",
        };
        println!(
            "| {}: 65,536 flows cost at most {SCALING} times one | {median:.2} ({best:.2}) | cold, {} | {met} |",
            id.title(),
            order(many),
        );
    }
}
