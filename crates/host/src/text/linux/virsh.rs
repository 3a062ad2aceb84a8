//! `virsh domiflist` and `virsh dumpxml`: which interfaces of the host lead to a guest, their bridges and MTU.

use super::out::{Out, is_name};
use crate::model::{Interface, Snapshot, Tun};
use crate::text::notes::{first_line, mac};
use crate::text::{Reader, Text};

/// `virsh domiflist GUEST`.
pub(super) const LIST: Reader = Reader {
    name: "virsh domiflist",
    recognises: |text| first_line(text).split_whitespace().eq(TITLES),
    read: list,
};

/// `virsh dumpxml GUEST`, or the element of an interface in it.
pub(super) const XML: Reader = Reader {
    name: "virsh dumpxml",
    recognises: |text| {
        let line = first_line(text);
        line.starts_with("<domain ") || line.starts_with("<interface type=")
    },
    read: xml,
};

const TITLES: [&str; 5] = ["Interface", "Type", "Source", "Model", "MAC"];

/// A TAP of the host; `bridge` is what it is a port of, if that was said.
fn guest(bridge: Option<&str>) -> Interface {
    Interface {
        kind: Some("tun".to_owned()),
        tun: Some(Tun {
            mode: Some("tap".to_owned()),
            ..Tun::default()
        }),
        master: bridge.map(str::to_owned),
        master_kind: bridge.map(|_| "bridge".to_owned()),
        ..Interface::default()
    }
}

/// ` vnet0       bridge   br0      virtio   52:54:00:11:22:33`; a guest that is off has `-` for a name.
fn list(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, LIST.name, snapshot);
    for line in out.lines().filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [name, kind, source, _, address] if mac(address).is_some() => {
                let bridge = Some(*source).filter(|_| *kind == "bridge");
                let is_on = *name != "-" && is_name(name);
                if is_on && matches!(*kind, "bridge" | "network") {
                    out.interface(name, guest(bridge));
                }
            }
            _ if words == TITLES || line.starts_with("---") => {}
            _ => out.unknown(line),
        }
    }
    out.finish();
}

/// libvirt prints each element on a line of its own, and attributes within single quotes; others within double ones.
fn xml(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, XML.name, snapshot);
    let mut open: Option<Plug<'_>> = None;
    let mut is_whole = false;
    let end = match first_line(text).starts_with("<domain ") {
        true => "</domain>",
        false => "</interface>",
    };
    for line in out.lines().map(str::trim) {
        is_whole |= line == end;
        if line.starts_with("<interface ") {
            open = Some(Plug::default());
        } else if line == "</interface>" {
            if let Some(plug) = open.take() {
                plug.put(&mut out);
            }
        } else if let Some(plug) = &mut open {
            plug.line(line);
        }
    }
    if !is_whole {
        out.cut();
    }
    out.finish();
}

/// An `<interface>` while its lines are read.
#[derive(Default)]
struct Plug<'a> {
    name: Option<&'a str>,
    bridge: Option<&'a str>,
    mtu_bytes: Option<u64>,
    /// It is stacked on a device of the host (macvtap).
    is_direct: bool,
}

impl<'a> Plug<'a> {
    fn line(&mut self, line: &'a str) {
        if line.starts_with("<target ") {
            self.name = attribute(line, "dev");
        } else if line.starts_with("<source ") {
            self.bridge = attribute(line, "bridge");
            self.is_direct = attribute(line, "dev").is_some();
        } else if line.starts_with("<mtu ") {
            self.mtu_bytes = attribute(line, "size").and_then(|size| size.parse().ok());
        }
    }

    fn put(self, out: &mut Out<'_>) {
        if let Some(name) = self.name.filter(|_| !self.is_direct) {
            let block = Interface {
                mtu_bytes: self.mtu_bytes,
                ..guest(self.bridge)
            };
            out.interface(name, block);
        }
    }
}

/// The value of ` name='value'`.
fn attribute<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let within = |quote: char| {
        let (_, rest) = line.split_once(&format!(" {name}={quote}"))?;
        rest.split_once(quote).map(|(value, _)| value)
    };
    within('\'').or_else(|| within('"'))
}
