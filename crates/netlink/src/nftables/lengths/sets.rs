//! Sets and maps of lengths.

use super::super::{HEADER, NF_TABLES};
use super::Verdict;
use super::reading::verdict;
use super::values::{big, length};
use crate::attributes::{Attributes, emit, string};
use crate::socket::{Raw, Socket};
use netlink_packet_core::DefaultNla;
use std::collections::BTreeMap;

/// `NFT_MSG_GETSET`, `_GETSETELEM`.
const GET_SETS: u16 = (NF_TABLES << 8) | 10;
const GET_ELEMENTS: u16 = (NF_TABLES << 8) | 13;
/// `NFTA_SET_NAME`, `_FLAGS`; `NFT_SET_INTERVAL`.
const NAME: u16 = 2;
const SET_FLAGS: u16 = 3;
const OF_RANGES: u32 = 4;
/// `NFTA_SET_ELEM_LIST_TABLE`, `_SET`, `_ELEMENTS`.
const TABLE: u16 = 1;
const SET: u16 = 2;
const ELEMENTS: u16 = 3;
/// `NFTA_SET_ELEM_KEY`, `_DATA`, `_FLAGS`; `NFT_SET_ELEM_INTERVAL_END`.
const KEY: u16 = 1;
const DATA: u16 = 2;
const FLAGS: u16 = 3;
const END: u32 = 1;

/// Where a range of lengths begins, with its verdict in a map, or where the range before has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Edge {
    Begin(u32, Option<Verdict>),
    Behind(u32),
}

impl Edge {
    fn at(&self) -> u32 {
        match self {
            Self::Begin(at, _) | Self::Behind(at) => *at,
        }
    }
}

/// The sets of tables, listed once for each table: by name, whether they have ranges.
#[derive(Debug, Default)]
pub(super) struct Sets(BTreeMap<(u8, String), BTreeMap<String, bool>>);

impl Sets {
    /// The lengths in a set of a family and table, each with its verdict if the set is a map of verdicts; `None` if they cannot be
    /// listed.
    pub(super) fn elements(
        &mut self,
        socket: &Socket,
        (family, table, set): (u8, &str, &str),
    ) -> Option<Vec<(u32, u32, Option<Verdict>)>> {
        let list = |kind, attributes: &[DefaultNla]| {
            let bytes = [&[family], &HEADER[1..], &emit(attributes)].concat();
            let request = Raw { kind, bytes };
            socket.dump(&request, "list a set of nftables").ok()
        };
        let of_table = self.0.entry((family, table.to_owned())).or_insert_with(|| {
            let sets = list(GET_SETS, &[string(TABLE, table)]).unwrap_or_default();
            sets.iter().filter_map(name_and_ranges).collect()
        });
        let is_ranged = *of_table.get(set)?;
        let answers = list(GET_ELEMENTS, &[string(TABLE, table), string(SET, set)])?;
        let lists = answers
            .iter()
            .filter_map(|message| message.bytes.get(HEADER.len()..));
        let elements = lists.flat_map(|list| Attributes(list).inside(ELEMENTS).iter());
        let edges = elements.map(|(_, element)| edge(Attributes(element), is_ranged));
        let edges = edges.collect::<Option<Vec<Edge>>>()?;
        Some(if is_ranged {
            ranges(edges)
        } else {
            singles(edges)
        })
    }
}

/// The name of a set, and whether it has ranges.
fn name_and_ranges(message: &Raw) -> Option<(String, bool)> {
    let set = Attributes(message.bytes.get(HEADER.len()..)?);
    let flags = set.get(SET_FLAGS).and_then(big).unwrap_or(0);
    Some((set.text(NAME)?, flags & OF_RANGES != 0))
}

/// Keys are in network byte order where ranges are looked up, and single lengths as the machine has them.
fn edge(element: Attributes<'_>, is_ranged: bool) -> Option<Edge> {
    let flags = element.get(FLAGS);
    let is_end = flags.and_then(big).is_some_and(|flags| flags & END != 0);
    let key = length(element.inside(KEY).get(1)?, is_ranged)?;
    if is_end {
        return Some(Edge::Behind(key));
    }
    Some(Edge::Begin(key, verdict(element.inside(DATA).inside(2))))
}

fn singles(edges: Vec<Edge>) -> Vec<(u32, u32, Option<Verdict>)> {
    let single = |edge| match edge {
        Edge::Begin(at, verdict) => Some((at, at, verdict)),
        Edge::Behind(_) => None,
    };
    edges.into_iter().filter_map(single).collect()
}

/// The ranges that edges in any order make. A range ends where the next one begins, at the latest; the last may have no end.
fn ranges(mut edges: Vec<Edge>) -> Vec<(u32, u32, Option<Verdict>)> {
    // Where one range ends, and the next one begins, the end comes first.
    edges.sort_by_key(|edge| (edge.at(), matches!(edge, Edge::Begin(..))));
    let mut ranges = Vec::new();
    let mut open: Option<(u32, Option<Verdict>)> = None;
    for edge in edges {
        if let Some((from, verdict)) = open.take() {
            ranges.push((from, edge.at().saturating_sub(1), verdict));
        }
        if let Edge::Begin(from, verdict) = edge {
            open = Some((from, verdict));
        }
    }
    ranges.extend(open.map(|(from, verdict)| (from, u32::MAX, verdict)));
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_in_any_order_make_ranges() {
        let edges = [
            Edge::Behind(0),
            Edge::Begin(3001, None),
            Edge::Behind(3001),
            Edge::Begin(1501, None),
            Edge::Behind(65_536),
        ];
        let expected = [(1501, 3000, None), (3001, 65_535, None)];
        assert_eq!(ranges(edges.to_vec()), expected);
        let backwards: Vec<Edge> = edges.iter().rev().cloned().collect();
        assert_eq!(ranges(backwards), expected);
        let open = vec![Edge::Behind(0), Edge::Begin(1501, None)];
        assert_eq!(ranges(open), [(1501, u32::MAX, None)]);
        let next = vec![Edge::Begin(1501, None), Edge::Begin(0, None)];
        assert_eq!(ranges(next), [(0, 1500, None), (1501, u32::MAX, None)]);
        assert_eq!(singles(vec![Edge::Begin(1500, None)]), [(1500, 1500, None)]);
    }
}
