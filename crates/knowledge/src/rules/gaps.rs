//! Data that was not read of a host, and that rules need.

mod wanted;

use std::collections::BTreeMap;

use coalescope_host::model::{Interface, Platform, Snapshot};
use coalescope_host::names::{LINK_NAMESPACE, OLD_LENGTH_RULES, QUEUEING, is_of_two_files};
use coalescope_host::roles::{Role, RoleName, is_alone, roles, undecided};
use wanted::{LINUX_LINKS, any, has_features, wanted};

/// ethtool(8)'s name for LRO: of all merging it harms hosts that forward frames most.
const LRO: &str = "large-receive-offload";

/// ifconfig(8)'s name for LRO.
const BSD_LRO: &str = "LRO";

/// Data that was not read.
pub(super) struct Gap {
    /// The data, and the command that prints it, in words.
    pub(super) what: String,
    /// Whether it hides what an interface does or is set to.
    pub(super) decides: bool,
}

/// All gaps of a host.
pub(super) fn gaps(snapshot: &Snapshot) -> Vec<Gap> {
    let wanted = wanted(snapshot.platform).iter();
    let lacks = wanted.filter(|wanted| !(wanted.is_there)(snapshot));
    let lacks = lacks.map(|wanted| Gap {
        what: wanted.what.to_owned(),
        decides: wanted.decides,
    });
    let lacks = lacks.chain(masters(snapshot));
    let lacks = lacks.chain(underlays(snapshot));
    lacks
        .chain(wires(snapshot))
        .chain(disputed(snapshot))
        .collect()
}

/// The gaps of NICs that decide.
fn wires(snapshot: &Snapshot) -> Vec<Gap> {
    let roles = roles(snapshot);
    match snapshot.platform {
        Some(Platform::Linux) => vec![
            unplaced(snapshot, &roles),
            unmerged(snapshot, &roles, (LRO, "(ethtool -k)")),
            old_rules(snapshot),
            alone(snapshot, &roles, "(ip -d link)"),
        ],
        Some(Platform::Freebsd) => vec![
            unmerged(snapshot, &roles, (BSD_LRO, "(ifconfig)")),
            alone(snapshot, &roles, "(ifconfig)"),
        ],
        Some(Platform::Windows) => vec![unnamed(snapshot, &roles)],
        _ => Vec::new(),
    }
    .into_iter()
    .flatten()
    .collect()
}

type Roles = BTreeMap<String, Vec<Role>>;

/// NICs whose offloads were read, but not whether they are ports of something.
fn unplaced(snapshot: &Snapshot, roles: &Roles) -> Option<Gap> {
    let known: Vec<String> = undecided(snapshot)
        .into_iter()
        .map(|(port, _)| port)
        .collect();
    let all = snapshot.interfaces.iter().filter(|(key, interface)| {
        let is_open = !interface.features.is_empty() && is_nic(interface);
        is_open && roles[*key].is_empty() && !known.contains(key) && interface.up != Some(false)
    });
    gap(
        "what is the master of",
        all.map(|(key, _)| key),
        "(ip -d link)",
    )
    .filter(|_| (LINUX_LINKS.is_there)(snapshot))
}

/// NICs whose frames are forwarded, and whose LRO state, which has this name and is printed by this command, was not read.
fn unmerged(snapshot: &Snapshot, roles: &Roles, (lro, command): (&str, &str)) -> Option<Gap> {
    let all = snapshot.interfaces.iter().filter(|(key, interface)| {
        let is_read = interface.features.contains_key(lro);
        let own = &roles[*key];
        let is_guest = own.iter().any(|role| role.role == RoleName::GuestPort);
        let is_transit = own.iter().any(|role| role.role.is_transit()) && !is_guest;
        let is_member = own.iter().any(|role| role.role == RoleName::BondMember);
        is_transit && !is_read && (is_wire(interface) || is_member && is_nic(interface))
    });
    gap("whether LRO is on at", all.map(|(key, _)| key), command).filter(|_| has_features(snapshot))
}

/// Ends, as far as was read, of a host that forwards: what it forwards to may be a link that nobody listed.
fn alone(snapshot: &Snapshot, roles: &Roles, command: &str) -> Option<Gap> {
    let all = snapshot.interfaces.keys().filter(|key| {
        let mut own = roles[*key].iter();
        own.any(|role| role.role == RoleName::Endpoint) && is_alone(snapshot, key)
    });
    gap("which links there are beside", all, command)
}

/// Adapters that may be uplinks, since their descriptions were not read, or were cut.
fn unnamed(snapshot: &Snapshot, roles: &Roles) -> Option<Gap> {
    let all = snapshot.interfaces.iter().filter(|(key, interface)| {
        interface.description.is_none() && interface.kind.is_none() && roles[*key].is_empty()
    });
    let command = "(Get-NetAdapter | fl Name, InterfaceDescription)";
    gap("the description of", all.map(|(key, _)| key), command)
        .filter(|_| !snapshot.switches.is_empty())
}

/// Rules of the old iptables that could not be listed on a live host.
fn old_rules(snapshot: &Snapshot) -> Option<Gap> {
    let is_noted = snapshot
        .unread
        .iter()
        .any(|unread| unread.what.starts_with(OLD_LENGTH_RULES));
    is_noted.then(|| Gap {
        what: format!("{OLD_LENGTH_RULES} (iptables-save)"),
        decides: true,
    })
}

/// Settings that decide, and of which two files say different things: which of them holds is not known.
fn disputed(snapshot: &Snapshot) -> Option<Gap> {
    let all = snapshot.unread.iter().filter(|unread| {
        is_of_two_files(&unread.why) && DECIDING.iter().any(|what| unread.what.contains(what))
    });
    let all: Vec<String> = all.map(|unread| unread.what.clone()).collect();
    gap(
        "which of two values holds:",
        all.iter(),
        "(one listing of each)",
    )
}

/// How the settings are called in a snapshot that merge or forward.
const DECIDING: [&str; 6] = [
    "features large-receive-offload active",
    "features rx-gro-hw active",
    "features LRO active",
    "features rsc-ipv4 active",
    "features rsc-ipv6 active",
    "forward",
];

/// The most interfaces that a line names.
const NAMED: usize = 8;

fn gap<'a>(what: &str, names: impl Iterator<Item = &'a String>, command: &str) -> Option<Gap> {
    let names: Vec<&str> = names.map(String::as_str).collect();
    let more = names.len().saturating_sub(NAMED);
    let mut listed = names
        .iter()
        .take(NAMED)
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    if more > 0 {
        listed += &format!(" and {more} more");
    }
    (!names.is_empty()).then(|| Gap {
        what: format!("{what} {listed} {command}"),
        decides: true,
    })
}

/// Whether the interface is a device, or of unknown kind.
fn is_nic(interface: &Interface) -> bool {
    let kind = interface.kind.as_deref();
    matches!(kind, None | Some("physical")) && interface.parent.is_none()
}

/// Whether a device is in use, by its kind or by a queue for sending: interfaces that the kernel makes have none
/// (`IFF_NO_QUEUE`), unless somebody added one.
fn is_wire(interface: &Interface) -> bool {
    let is_used = interface.up != Some(false) && interface.carrier != Some(false);
    let has_queue = match interface.text(QUEUEING) {
        Some(name) => !matches!(name, "noqueue" | "noop"),
        None => interface.kind.is_some(),
    };
    is_used && is_nic(interface) && has_queue && interface.mac.is_some()
}

/// Tunnels whose underlay is not known, because no address was read at all. If addresses were read, a remote end
/// without a route just means that nothing carries the tunnel.
fn underlays(snapshot: &Snapshot) -> impl Iterator<Item = Gap> {
    let addressed = any(snapshot, |interface| !interface.addresses.is_empty());
    let unknown = addressed || !snapshot.stack.routes.is_empty();
    let tunnels = snapshot.interfaces.iter().filter(move |_| !unknown);
    tunnels.filter_map(|(key, interface)| {
        let tunnel = interface.tunnel.as_ref()?;
        let elsewhere = interface.properties.contains_key(LINK_NAMESPACE);
        let open = tunnel.underlay.is_empty() && !elsewhere && interface.up != Some(false);
        let remote = tunnel.remote.as_deref().filter(|_| open)?;
        Some(Gap {
            what: format!("what carries the tunnel {key} (ip addr, ip route get {remote})"),
            decides: true,
        })
    })
}

/// Masters whose kind no text shows: one line for all ports of each.
fn masters(snapshot: &Snapshot) -> impl Iterator<Item = Gap> {
    let mut ports: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (port, master) in undecided(snapshot) {
        ports.entry(master).or_default().push(port);
    }
    ports.into_iter().map(|(master, ports)| Gap {
        what: format!(
            "what {master} is, the master of {} (ip -d link)",
            ports.join(", ")
        ),
        decides: true,
    })
}
