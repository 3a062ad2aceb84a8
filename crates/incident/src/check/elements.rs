//! Elements: values in their ranges, names of their own, in places where they make sense.

use super::{Checked, fault, require};
use crate::element::{Bursts, Element, Lane, Nic, Side};
use crate::model::{Change, Control, Incident};
use crate::path::{Bonded, Does, Part, Wire};
use std::collections::BTreeSet;

/// A minute: nothing waits longer for an answer.
const LONGEST_US: u64 = 60_000_000;
/// The smallest MTU of IPv4 (RFC 791).
const SMALLEST_MTU: u16 = 68;
/// The largest MTU of a TAP: what fits a 16-bit length with its Ethernet header.
const LARGEST_MTU: u16 = 65_521;

pub(super) fn check(incident: &Incident) -> Checked {
    let mut names = BTreeSet::new();
    for element in incident.elements() {
        let name = element.name();
        let sound = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let is_name = (1..=32).contains(&name.len()) && name.bytes().all(sound);
        require(
            is_name,
            name,
            format!("element {name:?}: 1 to 32 letters, digits, - _ ."),
        )?;
        require(
            names.insert(name),
            name,
            format!("two elements are called {name}"),
        )?;
        values(element)?;
    }
    directors(incident)?;
    tunnels(incident)?;
    let last = incident.path.len().saturating_sub(2);
    let mut parts = incident.path.iter().enumerate();
    parts.try_for_each(|(place, part)| joint(part, [place == 1, place == last]))
}

/// A director is transparent at layer 2: what asks it and what it hands on to are in one network.
fn directors(incident: &Incident) -> Checked {
    let all = incident.elements();
    let count = all
        .filter(|one| matches!(one, Element::Director(_)))
        .count();
    require(count <= 1, "director", "a path has one director at most")?;
    let services = incident.rooms().filter(|room| room.does == Does::Ipvs);
    let reason = "a path has one room at most that does ipvs";
    require(services.count() <= 1, "ipvs", reason)?;
    let router = incident.rooms().find(|room| room.does.is_router());
    match router.filter(|_| count > 0) {
        Some(room) => fault(
            &room.name,
            format!(
                "room {} routes; a path with a director has no router",
                room.name
            ),
        ),
        None => Ok(()),
    }
}

/// A tunnel's ends have addresses of their own on its wire, and decide by addresses what goes into it: bridges do not.
fn tunnels(incident: &Incident) -> Checked {
    for (number, joint) in incident.path.iter().skip(1).step_by(2).enumerate() {
        let mut ends = incident.rooms().skip(number).take(2);
        let bridge = ends.find(|room| room.does == Does::Bridge);
        if let (Part::Wire(Wire { esp: true, .. }), Some(room)) = (joint, bridge) {
            let name = &room.name;
            let reason =
                format!("room {name} is a bridge; an ESP tunnel ends at a room that is none");
            return fault(name, reason);
        }
    }
    Ok(())
}

/// What is between two rooms; `ends` are whether it is the client's, and whether the server's.
fn joint(part: &Part, ends: [bool; 2]) -> Checked {
    let mtus = match part {
        Part::Room(_) => return Ok(()),
        Part::Veth(veth) => [veth.mtu_bytes; 2],
        Part::Bond(it) => {
            bonded(it)?;
            [it.mtu_bytes; 2]
        }
        Part::Wire(wire) => [wire.mtu_bytes.0, wire.mtu_bytes.1],
    };
    mtus.into_iter().try_for_each(mtu)?;
    let Part::Wire(wire) = part else {
        return Ok(());
    };
    for element in &wire.elements {
        if let Element::HyperV2019(switch) = element {
            let fits = ends[usize::from(switch.guest == Side::Server)];
            let name = &switch.name;
            require(fits, name, format!("{name}: a guest is an end of the path"))?;
        }
    }
    Ok(())
}

fn mtu(bytes: u16) -> Checked {
    let reason = format!("an MTU of {bytes} bytes: {SMALLEST_MTU} to {LARGEST_MTU}");
    require((SMALLEST_MTU..=LARGEST_MTU).contains(&bytes), bytes, reason)
}

fn values(element: &Element) -> Checked {
    let name = element.name();
    match element {
        Element::Nic(it) => nic(it),
        Element::Link(link) => link.lanes().iter().try_for_each(|it| lane(name, it)),
        Element::Bond(it) => lanes(&it.name, &it.lanes),
        Element::Switch(switch) | Element::FreebsdBridge(switch) | Element::Forwarder(switch) => {
            mtu(switch.mtu_bytes)
        }
        Element::Decapsulator(end) => {
            let reason = format!("{name}: guess_bytes: 1 or more");
            require(end.guess_bytes > 0, "guess_bytes", reason)
        }
        Element::Director(director) => mtu(director.mtu_bytes),
        Element::HyperV2019(_) | Element::Headerless(_) | Element::Point(_) => Ok(()),
    }
}

fn nic(nic: &Nic) -> Checked {
    let (name, interval) = (&nic.name, nic.interval_us);
    let reason = format!("{name}: interval_us is {interval}; 1 to 1000000");
    require((1..=1_000_000).contains(&interval), "interval_us", reason)?;
    require(
        nic.frames > 0,
        "frames",
        format!("{name}: frames a poll: 1 or more"),
    )
}

fn lanes(name: &str, lanes: &[Lane]) -> Checked {
    let reason = format!("{name}: a bond has 1 to 16 lanes");
    require((1..=16).contains(&lanes.len()), "lanes", reason)?;
    lanes.iter().try_for_each(|it| lane(name, it))
}

/// What netem is asked for; its own models of bursts and reordering are others.
fn bonded(bond: &Bonded) -> Checked {
    lanes("bond", &bond.lanes)?;
    let plain = |lane: &Lane| lane.bursts.is_none() && lane.reorder.is_none();
    let reason = "bond: the lanes of the kernel's bond have no bursts and no reorder";
    require(bond.lanes.iter().all(plain), "lanes", reason)?;
    let reason = "bond: packets_per_slave: 1 to 65535";
    require(bond.packets_per_slave > 0, "packets_per_slave", reason)?;
    let fits = |[least, most]: [u64; 2]| least <= most && (1..=LONGEST_US).contains(&most);
    let reason = "bond: slot_us: the least and the most, 1 to 60000000";
    require(bond.slot_us.is_none_or(fits), "slot_us", reason)
}

fn lane(name: &str, lane: &Lane) -> Checked {
    let bursts = |bursts: Bursts| [bursts.begin, bursts.end, bursts.loss];
    let late = lane.reorder.map(|late| late.probability);
    let all = [lane.loss].into_iter().chain(late);
    for value in all.chain(lane.bursts.into_iter().flat_map(bursts)) {
        let reason = format!("{name}: a probability is {value}; it has to be 0 to 1");
        require((0.0..=1.0).contains(&value), value, reason)?;
    }
    let reason = format!("{name}: rate_bps is 0; 1 or more, or none for no limit");
    require(lane.rate_bps != Some(0), "rate_bps", reason)?;
    let extra = lane.reorder.map_or(0, |late| late.extra_us);
    for time in [lane.delay_us, lane.jitter_us, extra] {
        let reason = format!("{name}: {time} us; at most {LONGEST_US}");
        require(time <= LONGEST_US, time, reason)?;
    }
    Ok(())
}

/// The elements that a control changes exist, and their values stay in range.
pub(super) fn changes(incident: &Incident, control: &Control) -> Checked {
    for element in incident.elements() {
        if let Some(change) = control.change.get(element.name()) {
            fits(element, change, control)?;
        }
    }
    for bond in incident.bonds() {
        if let Some(change) = control.change.get(&bond.name) {
            let only = Change {
                packets_per_slave: change.packets_per_slave,
                ..Change::default()
            };
            require(*change == only, &bond.name, nothing(&bond.name, control))?;
        }
    }
    let changed = incident
        .built(crate::built::Build::Control(control))
        .incident;
    changed.bonds().try_for_each(bonded)?;
    changed.elements().try_for_each(values)
}

fn nothing(name: &str, control: &Control) -> String {
    let control = &control.name;
    format!("control {control}: {name} has nothing of what is changed")
}

fn fits(element: &Element, change: &Change, control: &Control) -> Checked {
    let of_link = change.rate_bps.is_some()
        || change.delay_us.is_some()
        || change.jitter_us.is_some()
        || change.loss.is_some();
    let (of_card, of_switch) = (change.interval_us.is_some(), change.mtu_bytes.is_some());
    let wrong = match element {
        Element::Link(_) => of_switch || of_card,
        Element::Nic(_) => of_switch || of_link,
        Element::Switch(_)
        | Element::FreebsdBridge(_)
        | Element::Forwarder(_)
        | Element::Director(_) => of_link || of_card,
        _ => true,
    };
    let (name, of_bond) = (element.name(), change.packets_per_slave.is_some());
    require(!wrong && !of_bond, name, nothing(name, control))
}
