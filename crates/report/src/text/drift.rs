//! Differences between similar hosts: one row for each value that most hosts do not have.

use std::collections::BTreeMap;

use coalescope_host::drift::{Differs, Drift};

use super::grid::{Column, Grid};
use super::page::{Page, Tone};
use crate::words::units::UNKNOWN;

const INDENT: usize = 2;
/// Most hosts in a row; further ones are counted. The JSON has all.
const MOST_HOSTS: usize = 8;

pub(super) fn show(page: &mut Page, rows: &[Drift]) {
    if rows.is_empty() {
        return;
    }
    page.heading("Differs between these hosts");
    let mut table =
        Grid::new(["setting", "most have", "these have", "which"]).with(0..4, Column::Words);
    for row in rows {
        let most = row.majority.as_deref().unwrap_or(UNKNOWN);
        for (value, hosts) in by_value(&row.hosts) {
            table.row([&row.what, most, value, &named(&hosts)]);
        }
    }
    page.table(&table, INDENT, |_| Tone::Plain);
}

/// Interfaces of hosts, by the value that they have.
fn by_value(all: &[Differs]) -> BTreeMap<&str, BTreeMap<&str, Vec<&str>>> {
    let mut values: BTreeMap<&str, BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
    for one in all {
        let hosts = values.entry(&one.value).or_default();
        let interfaces = hosts.entry(&one.host).or_default();
        interfaces.extend(one.interface.as_deref());
    }
    values
}

/// `lb2 (eth1), lb7 (eth0, eth1), 3 more`.
fn named(hosts: &BTreeMap<&str, Vec<&str>>) -> String {
    let name = |(host, interfaces): (&&str, &Vec<&str>)| match interfaces.as_slice() {
        [] => (*host).to_owned(),
        some => format!("{host} ({})", some.join(", ")),
    };
    let mut names: Vec<String> = hosts.iter().take(MOST_HOSTS).map(name).collect();
    if let more @ 1.. = hosts.len().saturating_sub(MOST_HOSTS) {
        names.push(format!("{more} more"));
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differs(host: usize, interface: Option<&str>) -> Differs {
        Differs {
            host: format!("lb{host}"),
            interface: interface.map(str::to_owned),
            value: "on".to_owned(),
        }
    }

    fn names(all: &[Differs]) -> String {
        by_value(all).values().map(named).collect()
    }

    #[test]
    fn a_host_is_named_once_with_its_interfaces() {
        let all = [
            differs(2, Some("eth0")),
            differs(2, Some("eth1")),
            differs(3, None),
        ];
        assert_eq!(names(&all), "lb2 (eth0, eth1), lb3");
    }

    #[test]
    fn many_hosts_are_counted() {
        let all: Vec<_> = (1..10).map(|host| differs(host, None)).collect();
        assert!(names(&all).ends_with("lb7, lb8, 1 more"), "{}", names(&all));
        assert!(names(&all[..8]).ends_with("lb7, lb8"));
    }
}
