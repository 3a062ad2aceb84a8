//! `ovs-vsctl show` and `ovs-dpctl show`.

use super::out::Out;
use crate::model::{Ovs, OvsBridge, OvsPort, Snapshot};
use crate::text::notes::{first_line, first_lines};
use crate::text::{Reader, Text};

/// `ovs-vsctl show`.
pub(super) const SHOW: Reader = Reader {
    name: "ovs-vsctl show",
    recognises: |text| {
        let known = |line: &str| {
            let line = line.trim_start();
            line.starts_with("Bridge ")
                || line.starts_with("ovs_version: ")
                || line.starts_with("Manager ")
        };
        is_uuid(first_line(text)) && first_lines(text).nth(1).is_some_and(known)
    },
    read,
};

/// `ovs-dpctl show`: the kernel's datapaths, whose ports all bridges share.
pub(super) const DATAPATHS: Reader = Reader {
    name: "ovs-dpctl show",
    recognises: |text| {
        let is_datapath = datapath(first_line(text)).is_some();
        is_datapath
            && first_lines(text)
                .nth(1)
                .is_some_and(|line| line.starts_with("  "))
    },
    read: datapaths,
};

/// `system@ovs-system:`
fn datapath(line: &str) -> Option<(&str, &str)> {
    let (kind, name) = line.strip_suffix(':')?.split_once('@')?;
    (matches!(kind, "system" | "netdev") && !name.contains(char::is_whitespace))
        .then_some((kind, name))
}

fn datapaths(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, DATAPATHS.name, snapshot);
    let mut ovs = Ovs::default();
    let mut open = None;
    for line in out.lines() {
        if let Some((kind, name)) = datapath(line) {
            let bridge = OvsBridge {
                datapath: Some(kind.to_owned()),
                ..OvsBridge::default()
            };
            ovs.bridges.insert(name.to_owned(), bridge);
            open = Some(name);
        } else if let Some((name, port)) = datapath_port(line.trim_start())
            && let Some(bridge) = open.and_then(|open| ovs.bridges.get_mut(open))
        {
            bridge.ports.insert(name.to_owned(), port);
        }
    }
    out.snapshot.ovs = Some(ovs);
    out.finish();
}

/// `port 2: vxlan_sys_4789 (vxlan: packet_type=ptap)`; without a kind it is the system's.
fn datapath_port(line: &str) -> Option<(&str, OvsPort)> {
    let (_, rest) = line.strip_prefix("port ")?.split_once(": ")?;
    let (name, kind) = rest.split_once(" (").unwrap_or((rest, "system"));
    let kind = kind.trim_end_matches(')').split(':').next()?;
    let port = OvsPort {
        kind: Some(kind.to_owned()),
        ..OvsPort::default()
    };
    Some((name, port))
}

fn is_uuid(line: &str) -> bool {
    let lengths: Vec<usize> = line.split('-').map(str::len).collect();
    let letter = |letter: char| letter.is_ascii_hexdigit() || letter == '-';
    lengths == [8, 4, 4, 4, 12] && line.chars().all(letter)
}

/// Where in the listing a line is.
#[derive(Default)]
struct Listing<'a> {
    ovs: Ovs,
    bridge: Option<&'a str>,
    port: Option<&'a str>,
    /// Whether `type` may still come for the port.
    interface: bool,
}

fn read(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, SHOW.name, snapshot);
    let mut listing = Listing::default();
    for line in out.lines().skip_while(|line| !is_uuid(line)).skip(1) {
        if listing.line(line.trim()).is_none() {
            out.unknown(line);
        }
    }
    out.snapshot.ovs = Some(listing.ovs);
    out.finish();
}

impl<'a> Listing<'a> {
    fn line(&mut self, line: &'a str) -> Option<()> {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        let value = value.trim_matches('"');
        match key {
            "Bridge" => self.start_bridge(value),
            "Port" => self.start_port(value)?,
            "Interface" => self.start_interface(),
            "type:" => self.kind(value)?,
            "options:" => self.options(value)?,
            "datapath_type:" => self.bridge()?.datapath = Some(value.to_owned()),
            "ovs_version:" => {
                self.end_bridge();
                self.ovs.version = Some(value.to_owned());
            }
            _ => return is_other(line).then_some(()),
        }
        Some(())
    }

    fn bridge(&mut self) -> Option<&mut OvsBridge> {
        self.ovs.bridges.get_mut(self.bridge?)
    }

    fn port(&mut self) -> Option<&mut OvsPort> {
        let port = self.port?;
        self.bridge()?.ports.get_mut(port)
    }

    fn start_bridge(&mut self, name: &'a str) {
        self.end_bridge();
        self.bridge = Some(name);
        self.ovs.bridges.entry(name.to_owned()).or_default();
    }

    fn start_port(&mut self, name: &'a str) -> Option<()> {
        self.end_interface();
        self.port = Some(name);
        self.bridge()?.ports.entry(name.to_owned()).or_default();
        Some(())
    }

    fn start_interface(&mut self) {
        self.end_interface();
        self.interface = true;
    }

    fn kind(&mut self, kind: &str) -> Option<()> {
        self.interface = false;
        // Of a bond's members, the first tells.
        let kind = kind.to_owned();
        self.port()?.kind.get_or_insert(kind);
        Some(())
    }

    /// `{key=flow, remote_ip="192.0.2.2"}`, `{peer=patch-tun}`
    fn options(&mut self, options: &str) -> Option<()> {
        let list = options.strip_prefix('{')?.strip_suffix('}')?;
        let pairs = list.split(", ").filter_map(|pair| pair.split_once('='));
        let port = self.port()?;
        for (key, value) in pairs {
            let value = value.trim_matches('"').to_owned();
            match key {
                "peer" => port.peer = Some(value),
                "remote_ip" if value != "flow" => port.remote = Some(value),
                _ => {}
            }
        }
        Some(())
    }

    /// An interface without a type, if what follows shows that its lines are whole, is the system's.
    fn end_interface(&mut self) {
        if std::mem::take(&mut self.interface)
            && let Some(port) = self.port()
        {
            port.kind.get_or_insert_with(|| "system".to_owned());
        }
    }

    fn end_bridge(&mut self) {
        self.end_interface();
        if let Some(bridge) = self.bridge() {
            bridge.datapath.get_or_insert_with(|| "system".to_owned());
        }
        (self.bridge, self.port) = (None, None);
    }
}

/// Lines that say nothing that the model holds.
fn is_other(line: &str) -> bool {
    const OTHERS: [&str; 14] = [
        "Controller ",
        "Manager ",
        "is_connected:",
        "fail_mode:",
        "tag:",
        "trunks:",
        "error:",
        "vlan_mode:",
        "mtu:",
        "ofport:",
        "target:",
        "stp_enable:",
        "lacp:",
        "bond_mode:",
    ];
    line.is_empty() || OTHERS.iter().any(|other| line.starts_with(other)) || is_column(line)
}

/// A column of the database with its value: `bfd_status: {...}`.
fn is_column(line: &str) -> bool {
    let letter = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    let key = line.split_once(": ").map(|(key, _)| key);
    key.is_some_and(|key| key.contains('_') && key.chars().all(letter))
}
