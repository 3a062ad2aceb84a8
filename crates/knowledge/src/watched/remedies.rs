//! Remedies for dropped frames: by where they are dropped, and by the role of the interface.

use coalescope_host::names::of_key;
use coalescope_host::safe::{is_plain, sh, within};
use coalescope_watch::facts::{Drop, Interface, Watched};

use super::thresholds::MOSTLY;
use crate::experiment::{Experiment, SetTo};
use crate::odds::Table;
use crate::rules::{Remedy, RemedyKind};

/// Roles in which an interface forwards the frames that it receives: there merging may be left to the hosts that read
/// the data.
const TRANSIT: [&str; 5] = [
    "forwarder",
    "bridge-port",
    "guest-uplink",
    "guest-port",
    "ipvs-director",
];

/// An experiment and remedies.
#[derive(Default)]
pub(super) struct Ways {
    pub(super) experiment: Option<Experiment>,
    pub(super) remedies: Vec<Remedy>,
    pub(super) cost: Option<&'static str>,
}

impl Ways {
    /// The experiment and remedies for dropped frames.
    pub(super) fn of(watched: &Watched, drop: &Drop, table: Table) -> Self {
        let name = drop.place().unwrap_or_default();
        let interface = watched.interfaces.iter().find(|one| one.name == name);
        let mut ways = Self {
            remedies: of_rule(drop),
            ..Self::default()
        };
        if !has_name(name) {
            return ways;
        }
        let switches = switches(drop, interface);
        if let Some(last) = switches.last() {
            ways.experiment = Some(Experiment::with(vec![SetTo::switch(name, last, false)]));
        }
        if is_to_go_off(drop, interface, table) {
            if !switches.is_empty() {
                ways.switch_off(name, &switches);
            }
            ways.remedies.extend(of_sender(drop, interface));
        }
        ways.remedies.sort_by_key(|one| one.kind);
        ways
    }

    fn switch_off(&mut self, name: &str, switches: &[&str]) {
        let off = switches.iter().map(|switch| remedy(name, switch, false));
        self.remedies.extend(off);
        let on = switches.iter().rev().map(|switch| Remedy {
            kind: RemedyKind::Undo,
            ..remedy(name, switch, true)
        });
        self.remedies.extend(on);
        self.cost = Some("More packets for the same data, so more CPU on this host.");
    }
}

/// Whether merging should be switched off: not where transfers end, which would pay for it with each frame, and not
/// where most merged frames pass, since then only one way out is at fault.
fn is_to_go_off(drop: &Drop, interface: Option<&Interface>, table: Table) -> bool {
    let roles = interface.map_or(&[][..], |one| &one.roles);
    let is_transit = roles.iter().any(|role| TRANSIT.contains(&role.as_str()));
    // An interface without a known role may have any.
    let may_be = drop.from.is_none() || is_transit || roles.is_empty();
    may_be && table.merged_share() >= MOSTLY
}

/// The switches that merge, of those that are on; all of them where that is not known.
fn switches(drop: &Drop, interface: Option<&Interface>) -> Vec<&'static str> {
    let all: &[&'static str] = match drop.from {
        // Frames that GRO merges have a segment size.
        Some(_) if is_bare(drop) => match on_virtual_wire(interface) {
            Some(_) => &[],
            None => &["lro", "rx-gro-hw"],
        },
        Some(_) => &["lro", "rx-gro-hw", "gro"],
        None => &["tso", "gso"],
    };
    let on = interface.and_then(|one| one.offloads_on.as_ref());
    let is_on = |switch: &&str| on.is_none_or(|on| on.iter().any(|one| one == *switch));
    all.iter().copied().filter(is_on).collect()
}

/// Whether most dropped frames were longer than the MTU and had no segment size.
fn is_bare(drop: &Drop) -> bool {
    drop.long_frames > drop.merged_frames
}

/// The sender, where the interface is the end of a wire within this machine.
fn on_virtual_wire(interface: Option<&Interface>) -> Option<&'static str> {
    match interface?.kind.as_deref()? {
        "veth" => Some("the other end of this veth"),
        "tun" => Some("the guest, or the program behind this TAP,"),
        _ => None,
    }
}

/// The remedy for frames from a virtual wire: they were not merged here, their sender did not segment them.
fn of_sender(drop: &Drop, interface: Option<&Interface>) -> Option<Remedy> {
    let sender = on_virtual_wire(interface).filter(|_| drop.from.is_some())?;
    Some(by_hand(&match is_bare(drop) {
        true => format!(
            "# {sender} hands frames over uncut, and without their segment size: switch TSO off where they are sent (ethtool -K IFACE tso off); GRO here, and GSO there, change nothing"
        ),
        false => format!(
            "# {sender} sends frames uncut, whatever GRO says here: switch TSO and GSO off there (ethtool -K IFACE tso off gso off)"
        ),
    }))
}

/// Where a rule drops frames, the rule is to be changed.
fn of_rule(drop: &Drop) -> Vec<Remedy> {
    let command = match drop.reason.as_deref() {
        Some("NETFILTER_DROP") => {
            "nft list ruleset  # which rule asks for a length? A merged frame is longer than the MTU"
        }
        Some("TC_INGRESS" | "TC_EGRESS") => {
            "tc -s filter show dev IFACE ingress  # a policer's mtu must be longer than a merged frame: 65535"
        }
        Some("PKT_TOO_BIG") if drop.long_frames == 0 => {
            "nft add rule inet filter forward tcp flags syn tcp option maxseg size set rt mtu  # segments that fit the way out; or give it the MTU of the way in"
        }
        _ => return Vec::new(),
    };
    vec![by_hand(command)]
}

fn by_hand(command: &str) -> Remedy {
    Remedy {
        platform: "linux".to_owned(),
        kind: RemedyKind::Runtime,
        command: command.to_owned(),
        settings: Vec::new(),
    }
}

/// Whether an interface has a name that commands accept: not so if it was gone before its name was read.
fn has_name(key: &str) -> bool {
    let (namespace, own) = of_key(key);
    !own.is_empty() && is_plain(own) && namespace.is_none_or(is_plain)
}

fn remedy(key: &str, switch: &str, is_on: bool) -> Remedy {
    let level = SetTo::switch(key, switch, is_on);
    let (namespace, own) = of_key(key);
    let command = format!("ethtool -K {} {switch} {}", sh(own), level.value);
    Remedy {
        platform: "linux".to_owned(),
        kind: RemedyKind::Runtime,
        command: match namespace {
            Some(namespace) => within(namespace, &command),
            None => command,
        },
        settings: vec![level],
    }
}

/// Remedies that switch a feature on.
pub(super) fn switch_on(name: &str, switch: &str) -> Vec<Remedy> {
    match has_name(name) {
        true => vec![remedy(name, switch, true)],
        false => Vec::new(),
    }
}
