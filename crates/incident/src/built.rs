//! An incident, built for one measurement.

use crate::element::{Element, Side};
use crate::model::{Change, Control, Incident, Workload};
use crate::path::{Bonded, Does, Part, Room};
use crate::setting::{Setting, Value};
use crate::table::Row;
use std::collections::BTreeMap;

/// Which measurement is made.
#[derive(Clone, Copy, Debug)]
pub enum Build<'a> {
    /// As the incident was.
    AsIs,
    /// With the remedy, from the start.
    Remedied,
    /// With the changes of a control.
    Control(&'a Control),
    /// With the settings of a row of the table.
    Row(&'a Row),
}

/// An incident with everything in it that a measurement changes.
#[derive(Clone, Debug)]
pub struct Built {
    /// The incident; the settings are part of its rooms and wires.
    pub incident: Incident,
    /// The number of the client's room.
    pub client: usize,
}

/// Why something cannot be done by the simulator: what, and why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported(pub String);

impl Incident {
    /// The incident as a measurement needs it. Of a checked incident nothing can be missing; in
    /// another one what is not there is passed over.
    #[must_use]
    pub fn built(&self, build: Build<'_>) -> Built {
        let mut incident = self.clone();
        let mut client = 0;
        match build {
            Build::AsIs => {}
            Build::Remedied => incident.set(&self.remedy),
            Build::Control(control) => client = incident.control_as(control),
            Build::Row(row) => row.set.iter().for_each(|setting| incident.set(setting)),
        }
        Built { incident, client }
    }

    fn control_as(&mut self, control: &Control) -> usize {
        control.set.iter().for_each(|setting| self.set(setting));
        self.only_route(&control.without);
        for elements in self.wires_mut() {
            elements.retain(|element| !control.without.iter().any(|name| name == element.name()));
            elements
                .iter_mut()
                .for_each(|element| change(element, &control.change));
        }
        for bond in self.bonds_mut() {
            let changed = control.change.get(&bond.name);
            let packets = changed.and_then(|change| change.packets_per_slave);
            bond.packets_per_slave = packets.unwrap_or(bond.packets_per_slave);
        }
        self.workload = control
            .workload
            .clone()
            .unwrap_or_else(|| self.workload.clone());
        self.rtt_us = control.rtt_us.unwrap_or(self.rtt_us);
        self.segment_bytes = control.segment_bytes.unwrap_or(self.segment_bytes);
        let from = control.from.as_deref();
        from.and_then(|name| self.room_number(name)).unwrap_or(0)
    }

    /// Rooms of these names that do IPVS have no service.
    fn only_route(&mut self, names: &[String]) {
        for part in &mut self.path {
            if let Part::Room(room) = part
                && room.does == Does::Ipvs
                && names.contains(&room.name)
            {
                room.does = Does::Route;
            }
        }
    }

    /// Makes a setting a part of the path.
    pub(crate) fn set(&mut self, setting: &Setting) {
        let Some(number) = self.room_number(&setting.room) else {
            return;
        };
        match &setting.value {
            Value::Mtu { interface, bytes } => self.set_mtu(number, interface, *bytes),
            Value::Feature {
                interface,
                feature,
                on,
            } => {
                if let Some(room) = self.room_mut(number) {
                    let features = room.features.entry(interface.clone()).or_default();
                    features.insert(feature.clone(), *on);
                }
            }
            Value::GsoMaxSize { interface, bytes } => {
                if let Some(room) = self.room_mut(number) {
                    room.gso_max_size.insert(interface.clone(), *bytes);
                }
            }
            Value::Sysctl { key, value } => {
                if let Some(room) = self.room_mut(number) {
                    room.sysctls.insert(key.clone(), value.clone());
                }
            }
        }
    }

    fn set_mtu(&mut self, number: usize, interface: &str, bytes: u16) {
        let Some(toward) = self.side_of(number, interface) else {
            return;
        };
        let joint = match toward {
            Side::Client => (2 * number).checked_sub(1),
            Side::Server => Some(2 * number + 1),
        };
        match joint.and_then(|joint| self.path.get_mut(joint)) {
            Some(Part::Wire(wire)) if toward == Side::Client => wire.mtu_bytes.1 = bytes,
            Some(Part::Wire(wire)) => wire.mtu_bytes.0 = bytes,
            Some(Part::Veth(veth)) => veth.mtu_bytes = bytes,
            Some(Part::Bond(bond)) => bond.mtu_bytes = bytes,
            _ => {}
        }
    }

    /// The rooms, from the client to the server.
    pub fn rooms(&self) -> impl DoubleEndedIterator<Item = &Room> {
        self.path.iter().filter_map(|part| match part {
            Part::Room(room) => Some(room),
            _ => None,
        })
    }

    /// The number of a room, from 0 for the client.
    #[must_use]
    pub(crate) fn room_number(&self, name: &str) -> Option<usize> {
        self.rooms().position(|room| room.name == name)
    }

    fn room_mut(&mut self, number: usize) -> Option<&mut Room> {
        match self.path.get_mut(2 * number) {
            Some(Part::Room(room)) => Some(room),
            _ => None,
        }
    }

    /// All elements, from the client to the server.
    pub fn elements(&self) -> impl Iterator<Item = &Element> {
        let wires = self.path.iter().filter_map(|part| match part {
            Part::Wire(wire) => Some(&wire.elements),
            _ => None,
        });
        wires.flatten()
    }

    /// Joints that are bonds of the kernel's own.
    pub(crate) fn bonds(&self) -> impl Iterator<Item = &Bonded> {
        self.path.iter().filter_map(|part| match part {
            Part::Bond(bond) => Some(bond),
            _ => None,
        })
    }

    fn bonds_mut(&mut self) -> impl Iterator<Item = &mut Bonded> {
        self.path.iter_mut().filter_map(|part| match part {
            Part::Bond(bond) => Some(bond),
            _ => None,
        })
    }

    fn wires_mut(&mut self) -> impl Iterator<Item = &mut Vec<Element>> {
        self.path.iter_mut().filter_map(|part| match part {
            Part::Wire(wire) => Some(&mut wire.elements),
            _ => None,
        })
    }

    /// The name of a room's interface toward a side; an end of the path has none on its far side.
    #[must_use]
    pub fn interface(&self, number: usize, toward: Side) -> Option<&str> {
        let last = self.rooms().count().checked_sub(1)?;
        let room = self.rooms().nth(number)?;
        let is_end = number == 0 || number == last;
        let (own, usual) = match toward {
            Side::Client if number == 0 => return None,
            Side::Server if number == last => return None,
            Side::Client => (&room.toward_client, "down0"),
            Side::Server => (&room.toward_server, "up0"),
        };
        Some(
            own.as_deref()
                .unwrap_or(if is_end { "eth0" } else { usual }),
        )
    }

    /// The side toward which a room's interface is.
    #[must_use]
    pub(crate) fn side_of(&self, number: usize, interface: &str) -> Option<Side> {
        let sides = [Side::Client, Side::Server];
        let mut sides = sides.into_iter();
        sides.find(|side| self.interface(number, *side) == Some(interface))
    }

    /// MTU of a room's interface toward a side, in bytes.
    #[must_use]
    pub fn mtu_bytes(&self, number: usize, toward: Side) -> Option<u16> {
        let joint = match toward {
            Side::Client => (2 * number).checked_sub(1)?,
            Side::Server => 2 * number + 1,
        };
        match (self.path.get(joint)?, toward) {
            (Part::Wire(wire), Side::Client) => Some(wire.mtu_bytes.1),
            (Part::Wire(wire), Side::Server) => Some(wire.mtu_bytes.0),
            (Part::Veth(veth), _) => Some(veth.mtu_bytes),
            (Part::Bond(bond), _) => Some(bond.mtu_bytes),
            (Part::Room(_), _) => None,
        }
    }
}

impl Built {
    /// Payload bits per second as segments a round trip.
    #[must_use]
    pub fn effective_window(&self, bps: f64) -> f64 {
        self.incident.effective_window(bps)
    }

    /// The workload.
    #[must_use]
    pub fn workload(&self) -> &Workload {
        &self.incident.workload
    }

    /// The director on the way to the server, if there is one.
    #[must_use]
    pub fn director(&self) -> Option<&crate::element::Director> {
        let mut parts = self.incident.path.iter().skip(2 * self.client);
        parts.find_map(|part| match part {
            Part::Wire(wire) => wire.elements.iter().find_map(director),
            _ => None,
        })
    }

    /// Whether an offload of an interface was set, by any of its names.
    #[must_use]
    pub fn feature(&self, number: usize, toward: Side, names: &[&str]) -> Option<bool> {
        let interface = self.incident.interface(number, toward)?;
        let room = self.incident.rooms().nth(number)?;
        let features = room.features.get(interface)?;
        names.iter().find_map(|name| features.get(*name).copied())
    }
}

fn director(element: &Element) -> Option<&crate::element::Director> {
    match element {
        Element::Director(director) => Some(director),
        _ => None,
    }
}

fn change(element: &mut Element, changes: &BTreeMap<String, Change>) {
    let Some(change) = changes.get(element.name()) else {
        return;
    };
    match element {
        Element::Link(link) => {
            link.rate_bps = change.rate_bps.or(link.rate_bps);
            link.delay_us = change.delay_us.unwrap_or(link.delay_us);
            link.jitter_us = change.jitter_us.unwrap_or(link.jitter_us);
            link.loss = change.loss.unwrap_or(link.loss);
            if let Some(back) = &mut link.back {
                back.rate_bps = change.rate_bps.or(back.rate_bps);
                back.delay_us = change.delay_us.unwrap_or(back.delay_us);
                back.jitter_us = change.jitter_us.unwrap_or(back.jitter_us);
            }
        }
        Element::Nic(nic) => {
            nic.interval_us = change.interval_us.unwrap_or(nic.interval_us);
        }
        Element::Switch(switch) | Element::FreebsdBridge(switch) | Element::Forwarder(switch) => {
            switch.mtu_bytes = change.mtu_bytes.unwrap_or(switch.mtu_bytes);
        }
        Element::Director(director) => {
            director.mtu_bytes = change.mtu_bytes.unwrap_or(director.mtu_bytes);
        }
        _ => {}
    }
}
