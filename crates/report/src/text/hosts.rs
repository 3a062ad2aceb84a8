//! Hosts: the roles and settings of each interface, and virtual switches.

use std::collections::BTreeMap;

use coalescope_host::model::{Ovs, OvsPort, Snapshot, VirtualSwitch};
use coalescope_host::roles::Role;

use super::grid::{Column, Grid};
use super::page::{Page, Tone};
use crate::check::CheckReport;
use crate::words::check::{about, heading, role_names};
use crate::words::connections::known;
use crate::words::offloads::{Offload, UNREAD, offloads};
use crate::words::units::on_off;

const INDENT: usize = 2;
/// Columns about an interface; its offloads follow, then its roles, which may be long.
const ABOUT: [&str; 4] = ["interface", "kind", "driver", "MTU"];

pub(super) fn show(page: &mut Page, report: &CheckReport) {
    for ((snapshot, _), roles) in report.hosts.iter().zip(report.roles()) {
        page.heading(&heading(snapshot));
        interfaces(page, snapshot, &roles);
        switches(page, &snapshot.switches);
        bridges(page, snapshot.ovs.as_ref());
    }
    if report
        .hosts
        .iter()
        .any(|(snapshot, _)| has_unread(snapshot))
    {
        page.gap();
        let legend =
            format!("{UNREAD} was not read, or is not known to that kernel: neither on nor off.");
        page.paragraph("", "", &legend, Tone::Plain);
    }
}

fn has_unread(snapshot: &Snapshot) -> bool {
    let columns = offloads(snapshot.platform);
    let mut interfaces = snapshot.interfaces.values();
    interfaces.any(|one| columns.iter().any(|column| column.state(one) == UNREAD))
}

/// One table, or two if the page is too narrow for one.
fn interfaces(page: &mut Page, snapshot: &Snapshot, roles: &BTreeMap<String, Vec<Role>>) {
    let columns = offloads(snapshot.platform);
    let whole = table(snapshot, roles, columns);
    if columns.is_empty() || whole.is_table(page.width().saturating_sub(INDENT)) {
        return page.table(&whole, INDENT, |_| Tone::Plain);
    }
    page.table(&table(snapshot, roles, &[]), INDENT, |_| Tone::Plain);
    page.gap();
    page.table(&states(snapshot, columns), INDENT, |_| Tone::Plain);
}

fn table(snapshot: &Snapshot, roles: &BTreeMap<String, Vec<Role>>, columns: &[Offload]) -> Grid {
    let heads = ABOUT.into_iter().chain(columns.iter().map(|one| one.head));
    let last = ABOUT.len() + columns.len();
    let mut table = Grid::new(heads.chain(["roles"]))
        .with(0..3, Column::Name)
        .with(ABOUT.len()..last, Column::Name)
        .with([last], Column::Words);
    for (key, interface) in &snapshot.interfaces {
        let roles = roles.get(key).map(Vec::as_slice).unwrap_or_default();
        let mut row = about(key, interface).to_vec();
        row.extend(columns.iter().map(|one| one.state(interface).to_owned()));
        row.push(role_names(interface, roles));
        table.row(row);
    }
    table
}

fn states(snapshot: &Snapshot, columns: &[Offload]) -> Grid {
    let heads = ["interface"].into_iter();
    let mut table = Grid::new(heads.chain(columns.iter().map(|one| one.head)))
        .with(0..=columns.len(), Column::Name);
    for (key, interface) in &snapshot.interfaces {
        let states = columns.iter().map(|one| one.state(interface));
        table.row([key.as_str()].into_iter().chain(states));
    }
    table
}

/// Virtual switches of Hyper-V and ESXi.
fn switches(page: &mut Page, switches: &BTreeMap<String, VirtualSwitch>) {
    if switches.is_empty() {
        return;
    }
    let heads = [
        "switch",
        "product",
        "kind",
        "MTU",
        "software RSC",
        "uplinks",
    ];
    let mut table = Grid::new(heads)
        .with([0, 1, 2, 4], Column::Name)
        .with([5], Column::Words);
    for (name, switch) in switches {
        table.row([
            name.clone(),
            known(switch.product.as_ref(), ToString::to_string),
            known(switch.kind.as_ref(), ToString::to_string),
            known(switch.mtu_bytes, |mtu| mtu.to_string()),
            switch.software_rsc.map_or(UNREAD, on_off).to_owned(),
            switch.uplinks.join(", "),
        ]);
    }
    page.gap();
    page.table(&table, INDENT, |_| Tone::Plain);
}

/// Bridges of Open vSwitch.
fn bridges(page: &mut Page, ovs: Option<&Ovs>) {
    let Some(ovs) = ovs.filter(|ovs| !ovs.bridges.is_empty()) else {
        return;
    };
    let mut table = Grid::new(["Open vSwitch", "datapath", "ports"])
        .with(0..2, Column::Name)
        .with([2], Column::Words);
    for (name, bridge) in &ovs.bridges {
        let ports: Vec<String> = bridge.ports.iter().map(port).collect();
        table.row([
            name.clone(),
            known(bridge.datapath.as_ref(), ToString::to_string),
            ports.join(", "),
        ]);
    }
    page.gap();
    page.table(&table, INDENT, |_| Tone::Plain);
}

/// `eth0`, or `vx0 (vxlan)` for a port of another kind.
fn port((name, port): (&String, &OvsPort)) -> String {
    match port.kind.as_deref().filter(|kind| *kind != "system") {
        Some(kind) => format!("{name} ({kind})"),
        None => name.clone(),
    }
}
