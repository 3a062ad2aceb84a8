//! Details that a key opens: a drop with its samples and the tcpdump commands for it, or connections.

use coalescope_host::names::of_key;
use coalescope_host::safe::{sh, within};
use coalescope_report::WatchReport;
use coalescope_watch::facts::{Drop, Flow, Watched};

/// Lines about a drop: the commands first, since samples may be many.
pub(super) fn lines(drop: &Drop, look: &Watched) -> Vec<String> {
    let flow = drop.samples.iter().find_map(|one| one.flow.as_ref());
    let mut lines = vec![WatchReport::dropped(drop), String::new()];
    lines.push("In packets, while it goes on (Ctrl-C ends the first command):".to_owned());
    lines.extend(commands(drop, flow));
    lines.push(String::new());
    lines.push(match drop.samples.len() {
        0 => "No sample of these frames was kept.".to_owned(),
        _ => "The first of these frames:".to_owned(),
    });
    let samples = drop.samples.iter();
    lines.extend(samples.map(|one| format!("  {}", WatchReport::sample(one, look))));
    lines
}

/// TCP connections of this host, those with most sent bytes first.
pub(super) fn connections(look: &Watched) -> Vec<String> {
    if look.connections.is_empty() {
        return vec![
            "No TCP connection of this host has moved, or nobody asked for them (watch --connections)."
                .to_owned(),
        ];
    }
    let all = look.connections.iter();
    all.map(WatchReport::connection).collect()
}

/// Commands for the interface that the frames came in by, or else for the one that they left by.
fn commands(drop: &Drop, flow: Option<&Flow>) -> Vec<String> {
    let Some(key) = drop.place() else {
        return vec!["  the frames belonged to no interface".to_owned()];
    };
    let (namespace, own) = of_key(key);
    let filter = flow.map_or_else(String::new, |flow| format!(" {}", sh(&filter(flow))));
    let dump = format!("tcpdump -i {} -s 192 -w died.pcap{filter}", sh(own));
    let dump = namespace.map_or(dump.clone(), |namespace| within(namespace, &dump));
    vec![
        format!("  {dump}"),
        "  coalescope trace died.pcap".to_owned(),
    ]
}

/// A filter for tcpdump. It includes fragments and ICMP of the same hosts. For a tunnel it has the
/// addresses of the tunnel's ends, the only ones that tcpdump sees; `trace` parses the inner
/// packets.
fn filter(flow: &Flow) -> String {
    if let Some(tunnel) = &flow.tunnel {
        let (one, other) = (&tunnel.source, &tunnel.destination);
        return format!("(host {one} and host {other}) or icmp or icmp6");
    }
    let hosts = format!("host {} and host {}", flow.source, flow.destination);
    let ports = [flow.source_port, flow.destination_port];
    match ports {
        [Some(one), Some(other)] => {
            format!("({hosts} and port {one} and port {other}) or icmp or icmp6")
        }
        _ => format!("({hosts}) or icmp or icmp6"),
    }
}
