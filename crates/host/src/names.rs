//! Names that stand for the same thing.

use std::net::IpAddr;

use crate::model::{Interface, Setting, Snapshot, Unread};

impl Snapshot {
    /// The interface of a name, made if it is new. `ns/NAMESPACE/NAME` is one of a namespace.
    pub fn interface_mut(&mut self, key: &str) -> &mut Interface {
        self.interfaces
            .entry(key.to_owned())
            .or_insert_with(|| Box::new(named(key)))
    }

    /// Notes something that was not read, and why.
    pub fn not_read(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.unread.push(Unread {
            what: what.into(),
            why: why.into(),
        });
    }
}

impl Interface {
    /// A property that is a text.
    #[must_use]
    pub fn text(&self, property: &str) -> Option<&str> {
        match self.properties.get(property)? {
            Setting::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// `virbr0-nic`, which libvirt makes so that its bridge has an address (src/network/bridge_driver.c).
pub(crate) fn is_placeholder(name: &str) -> bool {
    name.starts_with("virbr") && name.ends_with("-nic")
}

/// The same at a bridge of any name: never up, so that nothing leaves by it.
pub(crate) fn is_placeholder_of(bridge: &str, port: &str) -> bool {
    port.strip_suffix("-nic") == Some(bridge)
}

/// Begins of names of NICs, as the kernel and systemd give them (systemd.net-naming-scheme(7)); a number follows.
pub(crate) const NICS: &[&str] = &["eth", "eno", "ens", "enp", "enP", "em"];

/// What follows a begin in a name, if that is a number first.
pub(crate) fn numbered<'n>(name: &'n str, begins: &[&[&str]]) -> impl Iterator<Item = &'n str> {
    let rests = begins.iter().copied().flatten();
    let rests = rests.filter_map(|begin| name.strip_prefix(begin));
    let numbers: Vec<&str> = rests
        .filter(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
        .collect();
    numbers.into_iter()
}

/// The property of an interface whose lower one is in another namespace: the name of that.
pub const LINK_NAMESPACE: &str = "link-namespace";

/// How the reason ends why one of two values was taken, of texts that contradict each other.
pub(crate) const FIRST_OF_TWO: &str = "is kept; give only the newer one";

/// Whether the reason why one of two values was taken names two files: nothing tells then which of them is newer.
#[must_use]
pub fn is_of_two_files(why: &str) -> bool {
    let file = |origin: &str| origin.split(" line ").next().map(str::to_owned);
    let two = why.split_once(" says ").and_then(|(first, rest)| {
        let (_, other) = rest.split_once(", ")?;
        Some((file(first), file(other.split(" says ").next()?)))
    });
    why.ends_with(FIRST_OF_TWO) && two.is_some_and(|(first, other)| first != other)
}

/// What is not read of a host whose old iptables may have rules about the length of packets.
pub const OLD_LENGTH_RULES: &str = "rules of the old iptables about the length of packets";

/// The property of an adapter that has what was left of its description, where that was cut to fit a column.
pub(crate) const CUT_DESCRIPTION: &str = "cut description";

/// The property of an interface that names how it queues what it sends (`qdisc` of ip(8)): `noqueue` of one that the
/// kernel makes itself.
pub const QUEUEING: &str = "qdisc";

/// What the release of a VyOS kernel has in it.
pub const VYOS_KERNEL: &str = "-vyos";

/// The same of TrueNAS SCALE, which says in os-release that it is Debian.
pub const TRUENAS_SCALE_KERNEL: &str = "+truenas";

/// Namespace and name in an interface's key: `ns/NAMESPACE/NAME`, or a name alone. A namespace that has no name is called
/// by its path from / on, which ends before the last slash: names of interfaces have none.
#[must_use]
pub fn of_key(key: &str) -> (Option<&str>, &str) {
    let split = key.strip_prefix("ns/").and_then(|rest| {
        if !rest.starts_with('/') {
            return rest.split_once('/');
        }
        let end = rest.find(':').unwrap_or(rest.len());
        let (space, name) = rest.split_at(rest[..end].rfind('/')?);
        Some((space, &name[1..]))
    });
    split.map_or((None, key), |(space, name)| (Some(space), name))
}

/// The key of an interface: its name, or `ns/NAMESPACE/NAME` of one in a namespace that has a name.
#[must_use]
pub fn key_of(namespace: Option<&str>, name: &str) -> String {
    match namespace {
        Some(namespace) => format!("ns/{namespace}/{name}"),
        None => name.to_owned(),
    }
}

/// In a setting as text (`ns/NAMESPACE/NAME:gro=off`), where the key of its interface may end. Names of namespaces and
/// interfaces may have a `=`, of which the latter have no `:` and no slash.
#[must_use]
pub fn owner_end(setting: &str) -> usize {
    let (_, from) = of_key(setting);
    setting.len() - from.len() + from.find(':').unwrap_or_default()
}

/// The property that has an interface's bus, where that says which driver it has.
pub(crate) const BUS: &str = "parentbus";
pub(crate) const VIRTIO: &str = "virtio";

/// Offloads that merge what is received, or leave what is sent uncut, by the names of a snapshot and of `ethtool -K`.
pub const OFFLOADS: [(&str, &str); 5] = [
    ("generic-receive-offload", "gro"),
    ("large-receive-offload", "lro"),
    ("rx-gro-hw", "rx-gro-hw"),
    ("tcp-segmentation-offload", "tso"),
    ("generic-segmentation-offload", "gso"),
];

/// The network that holds an address and no other.
pub(crate) fn network_of(address: IpAddr) -> String {
    format!("{address}/{}", if address.is_ipv4() { 32 } else { 128 })
}

fn named(key: &str) -> Interface {
    let (namespace, name) = of_key(key);
    Interface {
        name: name.to_owned(),
        namespace: namespace.map(str::to_owned),
        ..Interface::default()
    }
}
