//! A built incident as a plan of rooms, wires and addresses.

use super::elements;
use crate::path::{Plan, Recorder, Wire};
use coalescope_incident::{BRIDGE, Built, Does, Part, Room, Side};
use std::net::{Ipv4Addr, SocketAddrV4};

/// Prefix of the subnets: one for each run of rooms that no router divides.
const PREFIX: u8 = 24;
/// Host number of a director's virtual address; rooms have 1 to 16.
const VIRTUAL: u8 = 100;
/// Prefix length of a single address.
const HOST: u8 = 32;
/// Port of the server: HTTP's.
pub(super) const PORT: u16 = 80;

/// Settings of TCP in every room unless the file sets others, so that an incident is the same on
/// every machine. Reno is the one congestion control that each kernel has and lets a namespace
/// choose (`tcp_set_default_congestion_control`). The buffers are the kernel's defaults
/// (Documentation/networking/ip-sysctl.rst). No metrics are saved: after a slow measurement, saved
/// metrics would slow down the next connection.
const USUAL: [(&str, &str); 4] = [
    ("net.ipv4.tcp_congestion_control", "reno"),
    ("net.ipv4.tcp_rmem", "4096 131072 6291456"),
    ("net.ipv4.tcp_wmem", "4096 16384 4194304"),
    ("net.ipv4.tcp_no_metrics_save", "1"),
];

/// The plan of a built incident.
pub(super) struct Planned {
    pub(super) plan: Plan,
    /// Recorders of the capture points, from the client to the server.
    pub(super) recorders: Vec<Recorder>,
    /// The address at which the client reaches the server.
    pub(super) server: Ipv4Addr,
}

/// The plan, with all settings of the incident but offloads.
pub(super) fn of(built: &Built) -> Planned {
    let mut planned = Planned {
        plan: Plan::new(),
        recorders: Vec::new(),
        server: virtual_address(built).unwrap_or_else(|| real(built)).into(),
    };
    planned.plan.named();
    for place in (1..built.incident.path.len()).step_by(2) {
        planned.join(built, place);
    }
    for (number, room) in built.incident.rooms().enumerate() {
        planned.furnish(built, number, room);
    }
    planned.receive_window(built);
    planned
}

impl Planned {
    /// Joins two rooms by the wire or link at this place of the path.
    fn join(&mut self, built: &Built, place: usize) {
        let incident = &built.incident;
        let number = place / 2;
        let rooms = [number, number + 1].map(|number| name_of(built, number));
        let ends = [
            incident.interface(number, Side::Server).unwrap_or_default(),
            incident
                .interface(number + 1, Side::Client)
                .unwrap_or_default(),
        ];
        let (one, two) = ((rooms[0], ends[0]), (rooms[1], ends[1]));
        match incident.path.get(place) {
            Some(Part::Wire(wire)) => {
                let made = Wire::new(one, two).mtu(wire.mtu_bytes.0, wire.mtu_bytes.1);
                let made = self.with_elements(made, built, &wire.elements);
                self.plan.wire(made);
                if wire.esp {
                    self.tunnel(built, number);
                }
            }
            Some(Part::Veth(veth)) => {
                self.plan.veth(one, two, veth.mtu_bytes.into());
            }
            Some(Part::Bond(bond)) => {
                let lines = elements::bonding(bond);
                self.plan.bond(one, two, bond.mtu_bytes.into(), lines);
            }
            _ => {}
        }
    }

    /// Puts the traffic of the wire behind a room into a tunnel: to the room at the other end, and
    /// to the subnets beyond that room.
    fn tunnel(&mut self, built: &Built, number: usize) {
        let [_, between] = subnets(built, number);
        let ends = [number, number + 1].map(|number| address(number, between));
        let farthest = subnets(built, last(built))[0];
        let whole = |subnet| ([10, 77, subnet, 0], PREFIX);
        let client_side: Vec<_> = (0..between).map(whole).chain([(ends[0], HOST)]).collect();
        let above = (between + 1..=farthest).map(whole);
        let server_side: Vec<_> = above.chain([(ends[1], HOST)]).collect();
        let [one, two] = [number, number + 1].map(|number| name_of(built, number));
        self.plan.esp(one, ends, &server_side);
        self.plan.esp(two, [ends[1], ends[0]], &client_side);
    }

    fn with_elements(
        &mut self,
        wire: Wire,
        built: &Built,
        all: &[coalescope_incident::Element],
    ) -> Wire {
        let subnet = subnets(built, last(built))[0];
        let addresses = [stands_for(subnet), real(built)];
        all.iter().fold(wire, |wire, element| {
            let (wire, recorder) = elements::add(wire, element, addresses, built.incident.seed);
            self.recorders.extend(recorder);
            wire
        })
    }

    /// Adds the settings, routes and services of a room.
    fn furnish(&mut self, built: &Built, number: usize, room: &Room) {
        let sides = [Side::Client, Side::Server];
        let ends = sides.map(|side| built.incident.interface(number, side));
        let subnets = subnets(built, number);
        if room.does == Does::Bridge {
            let ports: Vec<_> = ends.into_iter().flatten().collect();
            let own = address(number, subnets[0]);
            self.plan.bridge(&room.name, BRIDGE, &ports);
            self.plan.address(&room.name, BRIDGE, own, PREFIX);
        } else {
            for (interface, subnet) in ends.into_iter().zip(subnets) {
                if let Some(interface) = interface {
                    let own = address(number, subnet);
                    self.plan.address(&room.name, interface, own, PREFIX);
                }
            }
        }
        self.routes(built, number, room);
        self.settings(room);
    }

    /// Adds the usual settings, and the room's own.
    fn settings(&mut self, room: &Room) {
        let usual = USUAL.into_iter();
        let usual = usual.filter(|(key, _)| !room.sysctls.contains_key(*key));
        let own = room.sysctls.iter();
        let own = own.map(|(key, value)| (key.as_str(), value.as_str()));
        for (key, value) in usual.chain(own) {
            let path = key.replace('.', "/");
            self.plan.setting(&room.name, &path, value);
        }
    }

    fn routes(&mut self, built: &Built, number: usize, room: &Room) {
        if room.does.is_router() {
            self.plan.forwarding(&room.name);
        }
        if room.does == Does::Ipvs {
            self.service(built, number, room);
        }
        if room.does == Does::Nat
            && let Some(outside) = built.incident.interface(number, Side::Server)
        {
            self.plan.masquerade(&room.name, outside);
        }
        let [down, up] = subnets(built, number);
        for subnet in 0..=subnets(built, last(built))[0] {
            let gateway = match () {
                () if subnet < down => router_below(built, number),
                () if subnet > up => router_above(built, number),
                () => None,
            };
            if let Some(router) = gateway {
                let through = if subnet < down { down } else { up };
                let gateway = address(router, through);
                let network = ([10, 77, subnet, 0], PREFIX);
                self.plan.route(&room.name, network, gateway);
            }
        }
    }

    /// Adds the virtual address, as one of the room's own, and the IPVS service behind it.
    fn service(&mut self, built: &Built, number: usize, room: &Room) {
        let virtual_address = stands_for(subnets(built, number)[0]);
        if let Some(interface) = built.incident.interface(number, Side::Client) {
            self.plan
                .address(&room.name, interface, virtual_address, HOST);
        }
        let at = |address: [u8; 4]| SocketAddrV4::new(address.into(), PORT);
        self.plan
            .ipvs(&room.name, at(virtual_address), at(real(built)));
    }

    /// Sets the receive buffer for a receive window. Linux announces half of a buffer; the other
    /// half is for the overhead of the data (`tcp_win_from_space`, `TCP_DEFAULT_SCALING_RATIO`).
    fn receive_window(&mut self, built: &Built) {
        let receiver = match built.workload().upload {
            true => last(built),
            false => built.client,
        };
        if let Some(bytes) = built.workload().receive_window_bytes {
            let buffer = bytes.saturating_mul(2).min(1 << 30);
            let value = format!("4096 {buffer} {buffer}");
            let room = name_of(built, receiver).to_owned();
            self.plan.setting(&room, "net/ipv4/tcp_rmem", &value);
        }
    }
}

pub(super) fn last(built: &Built) -> usize {
    built.incident.rooms().count().saturating_sub(1)
}

pub(super) fn name_of(built: &Built, number: usize) -> &str {
    let mut rooms = built.incident.rooms();
    rooms.nth(number).map_or("", |room| &room.name)
}

fn is_router(built: &Built, number: usize) -> bool {
    let room = built.incident.rooms().nth(number);
    room.is_some_and(|room| room.does.is_router())
}

/// The subnets on the client's and on the server's side of a room: the number of routers before each.
fn subnets(built: &Built, number: usize) -> [u8; 2] {
    let before = (0..number).filter(|&room| is_router(built, room)).count();
    let own = usize::from(is_router(built, number));
    [before, before + own].map(|subnet| u8::try_from(subnet).unwrap_or(u8::MAX))
}

fn router_below(built: &Built, number: usize) -> Option<usize> {
    (0..number).rev().find(|&room| is_router(built, room))
}

fn router_above(built: &Built, number: usize) -> Option<usize> {
    (number + 1..=last(built)).find(|&room| is_router(built, room))
}

/// The address of a room in a subnet. The rooms are closed namespaces, so that no address of the
/// machine can conflict.
fn address(number: usize, subnet: u8) -> [u8; 4] {
    let host = u8::try_from(number + 1).unwrap_or(u8::MAX);
    [10, 77, subnet, host]
}

/// The server's own address.
fn real(built: &Built) -> [u8; 4] {
    address(last(built), subnets(built, last(built))[0])
}

/// The address to which the client connects if a director stands between client and server.
fn virtual_address(built: &Built) -> Option<[u8; 4]> {
    if built.director().is_some() {
        return Some(stands_for(subnets(built, last(built))[0]));
    }
    let mut rooms = built.incident.rooms().enumerate().skip(built.client + 1);
    let (number, _) = rooms.find(|(_, room)| room.does == Does::Ipvs)?;
    Some(stands_for(subnets(built, number)[0]))
}

fn stands_for(subnet: u8) -> [u8; 4] {
    [10, 77, subnet, VIRTUAL]
}
