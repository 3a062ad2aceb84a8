//! Headings around a command or a path.

use super::{Separator, Style};

/// Reads a line as a heading: `==> /proc/net/snmp <==` (head and tail), `### ethtool -k eth0`,
/// `===== ip -d link =====`, `--- sysctl -a ---`.
pub(super) fn read(line: &str) -> Option<Separator<'_>> {
    let line = line.trim_end();
    head_or_tail(line)
        .or_else(|| watched(line))
        .or_else(|| marks(line))
        .or_else(|| bare(line))
}

/// Commands that stand on a line of their own above their output, and what they begin with there.
const BARE: [&str; 22] = [
    "ethtool -",
    "ethtool e",
    "ip link",
    "ip addr",
    "ip -",
    "ip a",
    "ip route",
    "bridge link",
    "brctl show",
    "cat /proc/",
    "cat /sys/",
    "cat /etc/",
    "sysctl net.",
    "sysctl -",
    "uname -",
    "ifconfig -",
    "ovs-vsctl show",
    "nft list ruleset",
    "iptables-save",
    "ipvsadm -",
    "nmcli dev",
    "teamdctl ",
];

/// `ethtool -k eth0`, with or without the marks that Markdown has for a command.
fn bare(line: &str) -> Option<Separator<'_>> {
    let text = line.trim_end_matches(':').trim_matches(['`', '*']);
    let is_command = BARE.iter().any(|begin| text.starts_with(begin));
    is_command.then_some(Separator {
        style: Style::Known,
        host: None,
        command: text,
    })
}

fn head_or_tail(line: &str) -> Option<Separator<'_>> {
    let file = line.strip_prefix("==> ")?.strip_suffix(" <==")?;
    Some(Separator {
        style: Style::Certain,
        host: None,
        command: file,
    })
}

/// `Every 2.0s: ethtool -k eth0      gw1: Sun Nov 29 10:00:00 2026`, as watch(1) has above what it shows.
fn watched(line: &str) -> Option<Separator<'_>> {
    let (period, rest) = line.strip_prefix("Every ")?.split_once("s: ")?;
    period.parse::<f32>().ok()?;
    let (command, title) = rest.split_once("  ").unwrap_or((rest, ""));
    let host = title.trim().split_once(": ").map(|(host, _)| host);
    Some(Separator {
        style: Style::Certain,
        host: host.filter(|host| !host.contains(' ')),
        command: command.trim(),
    })
}

/// At least three of the same mark, and a text.
fn marks(line: &str) -> Option<Separator<'_>> {
    let mark = line.chars().next().filter(|c| "#=*-".contains(*c))?;
    let behind = line.trim_start_matches(mark);
    let text = behind.trim_end_matches(mark).trim();
    let text = text.trim_end_matches(':').trim_matches(['\'', '"', '`']);
    let fits = line.len() - behind.len() >= 3 && !text.is_empty();
    fits.then_some(Separator {
        style: Style::Once(mark),
        host: None,
        command: text,
    })
}
