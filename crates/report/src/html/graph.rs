//! The graph of a host's interfaces, with their roles and the offloads that matter.

use std::collections::{BTreeMap, BTreeSet};

use coalescope_host::model::Snapshot;
use coalescope_host::roles::Role;
use coalescope_knowledge::rules::Checked;
use maud::{Markup, html};

use super::chips::{Chip, Mark, chips};
use super::layout::{Layout, edges};
use super::page::Page;
use super::svg::{Drawing, Path, px, shortened};
use crate::check::{CheckReport, name_of};
use crate::words::units::count;

/// Most interfaces drawn of one host: more would be unreadable. The table has all.
const MOST: usize = 40;
const WIDTH_PX: f64 = 190.0;
const GAP_PX: f64 = 24.0;
const LINE_PX: f64 = 17.0;
/// Letters that fit into a box.
const LETTERS: usize = 26;
/// Distance between rows of boxes.
const ROW_GAP_PX: f64 = 46.0;

/// One interface, as it is drawn.
struct Node<'a> {
    key: &'a str,
    lines: Vec<String>,
    chips: Vec<Chip>,
}

/// Adds the section.
pub(crate) fn section(page: &mut Page, report: &CheckReport) {
    let roles = report.roles();
    let hosts = report.hosts.iter().zip(&roles).enumerate();
    let graphs = hosts.filter(|(_, ((snapshot, _), _))| !snapshot.interfaces.is_empty());
    let graphs: Vec<Markup> = graphs
        .map(|(i, ((snapshot, checked), roles))| graph(i, snapshot, checked, roles))
        .collect();
    if graphs.is_empty() {
        return;
    }
    let body = html! {
        p.note {
            "A line leads from an interface up to what stands on it: a bridge, a bond, a VLAN, a tunnel; "
            "a dotted one joins both ends of a pair. "
            "! on or off, and a finding says that this harms. ? a finding suspects it, or misses it. "
            "\u{2713} often blamed, and right as it is."
        }
        @for graph in graphs { (graph) }
    };
    page.section("graph", "Interfaces: roles, and offloads that matter", body);
}

fn graph(
    number: usize,
    snapshot: &Snapshot,
    checked: &Checked,
    roles: &BTreeMap<String, Vec<Role>>,
) -> Markup {
    let chosen = chosen(snapshot, checked, roles);
    let left_out = snapshot.interfaces.len() - chosen.len();
    let nodes: Vec<Node<'_>> = chosen
        .iter()
        .map(|key| node(key, snapshot, checked, roles))
        .collect();
    let layout = Layout::of(snapshot, &chosen);
    html! {
        h3 { (name_of(snapshot)) }
        figure { (drawing(number, snapshot, &nodes, &layout)) }
        @if left_out > 0 {
            p.note { (count(left_out as u64)) " more interfaces are in the table below." }
        }
    }
}

/// The interfaces with findings first, then those with roles, together with the interfaces that they depend on.
fn chosen<'a>(
    snapshot: &'a Snapshot,
    checked: &Checked,
    roles: &BTreeMap<String, Vec<Role>>,
) -> Vec<&'a str> {
    let named: BTreeSet<&str> = checked
        .findings
        .iter()
        .filter_map(|finding| finding.interface.as_deref())
        .collect();
    let rank = |key: &str| {
        let has_role = roles.get(key).is_some_and(|roles| !roles.is_empty());
        (!named.contains(key), !has_role)
    };
    let mut keys: Vec<&str> = snapshot.interfaces.keys().map(String::as_str).collect();
    keys.sort_by_key(|key| rank(key));
    keys.truncate(MOST);
    keys.sort_unstable();
    keys
}

fn node<'a>(
    key: &'a str,
    snapshot: &Snapshot,
    checked: &Checked,
    roles: &BTreeMap<String, Vec<Role>>,
) -> Node<'a> {
    let interface = snapshot.interfaces.get(key);
    let kind = interface.and_then(|one| one.kind.clone());
    let driver = interface.and_then(|one| one.driver.as_ref());
    let driver = driver.map(|driver| driver.name.clone());
    let mtu = interface.and_then(|one| one.mtu_bytes);
    let mtu = mtu.map(|mtu| format!("MTU {mtu}"));
    let about: Vec<String> = [kind, driver, mtu].into_iter().flatten().collect();
    let roles = roles.get(key).into_iter().flatten();
    let roles = roles.map(|role| role.role.name().to_owned());
    Node {
        key,
        lines: std::iter::once(about.join(", ")).chain(roles).collect(),
        chips: interface.map_or_else(Vec::new, |one| chips(key, one, checked)),
    }
}

impl Node<'_> {
    fn height(&self) -> f64 {
        let lines = 1 + self.lines.len() + self.chips.len();
        lines as f64 * LINE_PX + 10.0
    }

    fn spoken(&self) -> String {
        let chips = self.chips.iter().map(Chip::spoken);
        let all: Vec<String> = self.lines.iter().cloned().chain(chips).collect();
        format!("{}: {}.", self.key, all.join(", "))
    }

    fn mark(&self) -> Option<Mark> {
        self.chips.iter().filter_map(|chip| chip.mark).min()
    }
}

fn drawing(number: usize, snapshot: &Snapshot, nodes: &[Node<'_>], layout: &Layout<'_>) -> Markup {
    let tops = tops(nodes, layout);
    let height = tops.last().copied().unwrap_or_default();
    let place = |key: &str| {
        let (row, column) = layout.place(key)?;
        let node = nodes.iter().find(|node| node.key == key)?;
        Some((column * (WIDTH_PX + GAP_PX) + GAP_PX, tops[row], node))
    };
    let spoken: Vec<String> = nodes.iter().map(Node::spoken).collect();
    let drawing = Drawing {
        id: &format!("graph-{number}"),
        title: &format!("Interfaces of {}", name_of(snapshot)),
        description: &spoken.join(" "),
        width: layout.columns() as f64 * (WIDTH_PX + GAP_PX) + GAP_PX,
        height,
    };
    drawing.markup(&html! {
        @for edge in edges(snapshot) {
            @if let (Some(lower), Some(upper)) = (place(&edge.lower), place(&edge.upper)) {
                path.edge.pair[edge.is_pair] d=(line(&lower, &upper)) {}
            }
        }
        @for node in nodes { @if let Some((x, y, _)) = place(node.key) { (node_markup(node, x, y)) } }
    })
}

/// The upper edge of each row, and the lower edge of the last.
fn tops(nodes: &[Node<'_>], layout: &Layout<'_>) -> Vec<f64> {
    let mut tops = vec![GAP_PX / 2.0];
    for row in layout.rows() {
        let heights = nodes
            .iter()
            .filter(|node| row.contains(&node.key))
            .map(Node::height);
        let tallest = heights.fold(0.0, f64::max);
        let last = tops.last().copied().unwrap_or_default();
        tops.push(last + tallest + ROW_GAP_PX);
    }
    if let Some(last) = tops.last_mut() {
        *last -= ROW_GAP_PX - GAP_PX / 2.0;
    }
    tops
}

/// A line from the upper edge of the lower interface to the lower edge of the upper one.
fn line(lower: &(f64, f64, &Node<'_>), upper: &(f64, f64, &Node<'_>)) -> Path {
    let half = WIDTH_PX / 2.0;
    if (lower.1 - upper.1).abs() < 1.0 {
        let y = lower.1 + LINE_PX;
        let (left, right) = if lower.0 < upper.0 {
            (lower.0, upper.0)
        } else {
            (upper.0, lower.0)
        };
        return Path::of(&[(left + WIDTH_PX, y), (right, y)]);
    }
    Path::of(&[
        (lower.0 + half, lower.1),
        (upper.0 + half, upper.1 + upper.2.height()),
    ])
}

fn node_markup(node: &Node<'_>, x: f64, y: f64) -> Markup {
    let class = node.mark().map_or("", Mark::class);
    let line = |i: usize| px(y + 18.0 + i as f64 * LINE_PX);
    let mut outline = Path::new();
    outline.rectangle(x, y, WIDTH_PX, node.height());
    html! {
        g {
            title { (node.spoken()) }
            path class={ "box " (class) } d=(outline) {}
            text.name x=(px(x + 8.0)) y=(line(0)) { (shortened(node.key, LETTERS)) }
            @for (i, text) in node.lines.iter().enumerate() {
                text.small x=(px(x + 8.0)) y=(line(i + 1)) { (shortened(text, LETTERS + 3)) }
            }
            @for (i, chip) in node.chips.iter().enumerate() {
                text class={ "chip " (chip.mark.map_or("", Mark::class)) }
                    x=(px(x + 8.0)) y=(line(i + 1 + node.lines.len())) { (chip.text()) }
            }
        }
    }
}
