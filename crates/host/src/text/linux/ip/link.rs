//! `ip link` and `ip addr`, of iproute2 and busybox, with or without `-d`, `-s` and `-o`.

use std::collections::{BTreeMap, BTreeSet};

use super::beneath::Beneath;
use super::details::{self, common, of_kind, of_port, on_bus};
use super::facts::{self, Facts};
use super::stats;
use crate::model::{Interface, Snapshot};
use crate::text::linux::out::Out;
use crate::text::notes::{first_line, mac};
use crate::text::{Reader, Text};

/// `ip link` and `ip addr`.
pub(in crate::text::linux) const LINK: Reader = Reader {
    name: "ip link",
    recognises: |text| {
        let line = first_line(text);
        let header = Header::of(line).is_some_and(|header| !header.is_port());
        // A program for macOS with the name and the form of ip(8) says `status UP`.
        let is_of_mac = line.contains(" status ");
        header && !is_of_mac || one_line_address(line).is_some()
    },
    read,
};

/// `2: eth0.5@eth0: <BROADCAST,UP> mtu 1500 ...`
pub(super) struct Header<'a> {
    pub(super) index: u32,
    pub(super) name: &'a str,
    /// What is behind the `@`.
    pub(super) at: Option<&'a str>,
    flags: &'a str,
    rest: &'a str,
}

impl<'a> Header<'a> {
    pub(super) fn of(line: &'a str) -> Option<Self> {
        let (index, rest) = line.split_once(": ")?;
        let (names, rest) = rest.split_once(": <")?;
        let (flags, rest) = rest.split_once("> ")?;
        let (name, at) = names
            .split_once('@')
            .map_or((names, None), |(n, at)| (n, Some(at)));
        let one = !names.contains(char::is_whitespace);
        (one && rest.contains("mtu ")).then_some(Self {
            index: index.parse().ok()?,
            name,
            at: at.filter(|at| *at != "NONE"),
            flags,
            rest,
        })
    }

    /// Whether this is of `bridge link`, which says nothing of queueing.
    pub(super) fn is_port(&self) -> bool {
        let states = [
            "disabled",
            "listening",
            "learning",
            "forwarding",
            "blocking",
        ];
        let is = |state: &&str| self.rest.contains(&format!(" state {state} "));
        self.rest.contains("master ") && !self.rest.contains("qdisc ") && states.iter().any(is)
    }

    /// The line without the part behind the `@`.
    pub(super) fn block(&self, facts: &mut Facts) -> Interface {
        let mut block = Interface {
            index: Some(self.index),
            ..Interface::default()
        };
        details::flags(&mut block, self.flags.split(','));
        facts::of_words(self.rest.split_whitespace(), facts);
        block
    }
}

/// A link while its lines are read.
struct Link<'a> {
    header: Header<'a>,
    block: Interface,
    facts: Facts,
    columns: Option<Vec<Option<&'static str>>>,
    /// Whether its kind was given, and its details were read.
    detailed: bool,
    /// What follows is about virtual functions: their counters have titles of the same words.
    functions: bool,
    /// The next line has numbers of one.
    skip: bool,
}

fn read(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, LINK.name, snapshot);
    let mut links = Links::default();
    for line in out.lines() {
        for part in parts(line) {
            links.line(&mut out, part);
        }
    }
    links.end(&mut out);
    std::mem::take(&mut links.beneath).resolve(&mut out);
    links.put_addresses(&mut out);
    out.finish();
}

/// With `-o`, what would be a line of its own follows a backslash.
fn parts(line: &str) -> impl Iterator<Item = &str> {
    let one_line = line.contains("\\    ");
    let separator = if one_line { '\\' } else { '\n' };
    let mut index = 0;
    let trimmed = line.split(separator).map(move |part| {
        index += 1;
        if index == 1 {
            part.trim_end()
        } else {
            part.trim()
        }
    });
    trimmed.filter(|part| !part.is_empty())
}

#[derive(Default)]
struct Links<'a> {
    current: Option<Link<'a>>,
    beneath: Beneath,
    /// Addresses of `ip -o addr`, in their order and each once.
    addresses: BTreeMap<&'a str, Vec<String>>,
    known: BTreeSet<(&'a str, String)>,
}

impl<'a> Links<'a> {
    fn line(&mut self, out: &mut Out<'_>, line: &'a str) {
        if let Some(header) = Header::of(line) {
            self.end(out);
            self.start(header);
            return;
        }
        if let Some(rest) = one_line_address(line) {
            self.address_of(out, rest);
            return;
        }
        let line = line.trim();
        let known = self.current.as_mut().and_then(|link| link.line(line));
        if known.is_none() && !line.starts_with("valid_lft ") {
            out.unknown(line);
        }
    }

    fn start(&mut self, header: Header<'a>) {
        let mut facts = Facts::new();
        let block = header.block(&mut facts);
        self.current = Some(Link {
            header,
            block,
            facts,
            columns: None,
            detailed: false,
            functions: false,
            skip: false,
        });
    }

    fn end(&mut self, out: &mut Out<'_>) {
        let Some(mut link) = self.current.take() else {
            return;
        };
        common(&mut link.block, &link.facts);
        if let Some(bus) = link.facts.get("parentbus") {
            on_bus(&mut link.block, bus);
        }
        let Header { name, at, .. } = link.header;
        self.beneath.add(name, at, &mut link.block, &link.facts);
        out.interface(name, link.block);
    }

    /// `ip -o addr`: each address on a line with index and name.
    fn address_of(&mut self, out: &mut Out<'_>, (name, words): (&'a str, &str)) {
        self.end(out);
        match address(words) {
            None => out.unknown(words),
            Some(address) if self.known.insert((name, address.clone())) => {
                self.addresses.entry(name).or_default().push(address);
            }
            Some(_) => {}
        }
    }

    fn put_addresses(&mut self, out: &mut Out<'_>) {
        for (name, addresses) in std::mem::take(&mut self.addresses) {
            let block = Interface {
                addresses,
                ..Interface::default()
            };
            out.interface(name, block);
        }
    }
}

impl Link<'_> {
    /// Reads a line below the header; `None` if it is not understood.
    fn line(&mut self, line: &str) -> Option<()> {
        if let Some(columns) = self.columns.take() {
            return stats::put(&mut self.block, &columns, line);
        }
        if std::mem::take(&mut self.skip) {
            return Some(());
        }
        let mut words = line.split_whitespace();
        let first = words.next()?;
        self.functions |= first == "vf";
        match first {
            "RX:" | "TX:" if self.functions => self.skip = true,
            "link/ether" | "link/infiniband" if self.functions => {}
            "inet" | "inet6" => self.block.addresses.push(address(line)?),
            "valid_lft" | "vf" => {}
            "RX:" | "TX:" | "RX" | "TX" => self.columns = Some(stats::columns(line)?),
            "alias" => self.block.description = Some(line.get(5..)?.trim().to_owned()),
            "altname" => self.altname(words.next()?),
            "prog/xdp" | "prog/xdpgeneric" | "prog/xdpdrv" | "prog/xdpoffload" => {
                self.program(words);
            }
            "qlen" | "promiscuity" | "link-netnsid" | "link-netns" | "addrgenmode"
            | "gso_max_size" => {
                facts::of_words(line.split_whitespace(), &mut self.facts);
            }
            _ if first.starts_with("link/") => self.link(first, words),
            _ => return self.kind(first, line),
        }
        Some(())
    }

    fn link<'w>(&mut self, first: &str, words: impl Iterator<Item = &'w str>) {
        let mut words = words.peekable();
        if first == "link/loopback" {
            self.block.kind = Some("loopback".to_owned());
        }
        self.block.mac = words.peek().and_then(|word| mac(word));
        facts::of_words(words, &mut self.facts);
    }

    fn altname(&mut self, name: &str) {
        let name = format!("altname {name}");
        let value = crate::model::Setting::Flag(true);
        self.block.properties.insert(name, value);
    }

    fn program<'w>(&mut self, mut words: impl Iterator<Item = &'w str>) {
        if words.next() == Some("id") {
            let id = words.next().unwrap_or_default().to_owned();
            self.facts.entry("xdp_id").or_insert(id);
        }
    }

    /// A line of details: a kind, or a kind of port, and its own words.
    fn kind(&mut self, kind: &str, line: &str) -> Option<()> {
        let mut own = Facts::new();
        facts::of_words(line.split_whitespace().skip(1), &mut own);
        let port = kind.strip_suffix("_slave");
        let common = own.contains_key("inet6_addr_gen_mode") || own.contains_key("num_tx_queues");
        if !common && port.is_none() && !is_known(kind) {
            return None;
        }
        match port {
            Some(port) => of_port(&mut self.block, port, &own),
            None if !self.detailed => of_kind(&mut self.block, kind, &own),
            None => return None,
        }
        self.detailed |= port.is_none();
        self.keep_common(own);
        Some(())
    }

    /// Of a line of details only what every link has is kept: `id`, `mode` and their like are of
    /// the kind.
    fn keep_common(&mut self, own: Facts) {
        let common = ["gso_", "gro_", "tso_", "parent", "num_"];
        let is_common = |name: &str| common.iter().any(|start| name.starts_with(start));
        let kept = own.into_iter().filter(|(name, _)| is_common(name));
        self.facts.extend(kept);
    }
}

/// Kinds whose line may end without the words that all have, as before iproute2 4.5.
fn is_known(kind: &str) -> bool {
    const KINDS: [&str; 28] = [
        "bridge",
        "bond",
        "team",
        "vlan",
        "macvlan",
        "macvtap",
        "ipvlan",
        "veth",
        "vxlan",
        "geneve",
        "gre",
        "gretap",
        "ip6gre",
        "ip6gretap",
        "ipip",
        "sit",
        "ip6tnl",
        "tun",
        "vti",
        "vrf",
        "dsa",
        "dummy",
        "ifb",
        "wireguard",
        "macsec",
        "openvswitch",
        "nlmon",
        "netkit",
    ];
    KINDS.contains(&kind)
}

/// `inet 192.0.2.1/24 ...`; of `inet 192.0.2.1 peer 192.0.2.2/32` the length is the peer's.
fn address(line: &str) -> Option<String> {
    let mut words = line.split_whitespace().skip(1);
    let address = words.next()?;
    let bare = address.split('/').next()?;
    bare.parse::<std::net::IpAddr>().ok()?;
    if address.contains('/') {
        return Some(address.to_owned());
    }
    let length = match words.next() {
        Some("peer") => words.next()?.split_once('/').map(|(_, length)| length),
        _ => None,
    };
    let all = if bare.contains(':') { "128" } else { "32" };
    Some(format!("{bare}/{}", length.unwrap_or(all)))
}

/// Name and rest of `2: eth0    inet 192.0.2.1/24 ...`.
fn one_line_address(line: &str) -> Option<(&str, &str)> {
    let (index, rest) = line.split_once(": ")?;
    index.parse::<u32>().ok()?;
    let (name, rest) = rest.split_once(char::is_whitespace)?;
    let rest = rest.trim_start();
    let inet = rest.starts_with("inet ") || rest.starts_with("inet6 ");
    let name = name.split('@').next()?;
    (inet && crate::text::linux::out::is_name(name)).then_some((name, rest))
}
