//! The plan of a path.

use super::rooms::Place;
use super::steps::Step;
use super::{Bonding, Element};
use coalescope_netlink::ipsec::Tunnel;
use std::collections::BTreeSet;
use std::net::SocketAddrV4;

/// MTU of Ethernet (RFC 894).
const MTU: u16 = 1500;

/// Two TAP devices, and the elements between them.
pub struct Wire {
    pub(super) ends: [Place; 2],
    pub(super) mtu: [u16; 2],
    pub(super) elements: Vec<Box<dyn Element>>,
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.name())
    }
}

impl Wire {
    /// A wire from an interface on the client's side to one on the server's, each named with its
    /// room. Both get an MTU of 1500 bytes.
    #[must_use]
    pub fn new(client: (&str, &str), server: (&str, &str)) -> Self {
        Self {
            ends: [client, server].map(|(room, name)| (room.to_owned(), name.to_owned())),
            mtu: [MTU; 2],
            elements: Vec::new(),
        }
    }

    /// Adds an element at the server's side of the present ones.
    #[must_use]
    pub fn with(mut self, element: impl Element + 'static) -> Self {
        self.elements.push(Box::new(element));
        self
    }

    /// Sets the MTUs of the client's and the server's interface, in bytes: 68 to 65,521.
    #[must_use]
    pub fn mtu(mut self, client: u16, server: u16) -> Self {
        self.mtu = [client, server];
        self
    }

    /// The wire's name in counters and errors.
    pub(super) fn name(&self) -> String {
        let [(room, interface), (other, to)] = &self.ends;
        format!("{room}/{interface} - {other}/{to}")
    }
}

/// The plan of a path. Rooms are made when wires and veth pairs name them; all other steps are done
/// in the order in which they were added.
#[derive(Debug, Default)]
pub struct Plan {
    pub(super) wires: Vec<Wire>,
    pub(super) steps: Vec<Step>,
    pub(super) named: bool,
}

impl Plan {
    /// An empty plan.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives each room a name under /run/netns, so that other programs can enter it: see
    /// [`Path::name`](super::Path::name).
    pub fn named(&mut self) -> &mut Self {
        self.named = true;
        self
    }

    /// Adds a wire.
    pub fn wire(&mut self, wire: Wire) -> &mut Self {
        self.wires.push(wire);
        self
    }

    /// Joins two interfaces by a veth pair with an MTU in bytes: no element is between them, and
    /// merged frames pass whole.
    pub fn veth(&mut self, one: (&str, &str), two: (&str, &str), mtu: u32) -> &mut Self {
        self.step(Step::Veth {
            ends: [one, two].map(|(room, name)| (room.to_owned(), name.to_owned())),
            mtu,
        })
    }

    /// Joins two rooms by a pair of the kernel's bonds, round robin. Members follow the bond's
    /// feature `rx-gro`. This takes a kernel with bonding and netem.
    pub fn bond(
        &mut self,
        one: (&str, &str),
        two: (&str, &str),
        mtu: u32,
        lines: Bonding,
    ) -> &mut Self {
        self.step(Step::Bond {
            ends: [one, two].map(|(room, name)| (room.to_owned(), name.to_owned())),
            mtu,
            lines,
        })
    }

    /// Makes a room an IPVS director: connections to a TCP service go on to a real server, with
    /// both addresses translated. The real server's way back has to lead through the room. This
    /// takes a kernel with IPVS.
    pub fn ipvs(&mut self, room: &str, service: SocketAddrV4, real: SocketAddrV4) -> &mut Self {
        self.step(Step::Ipvs {
            room: room.to_owned(),
            service,
            real,
        })
    }

    /// Makes one end of an ESP tunnel between two addresses, for packets to some networks. This
    /// takes a kernel with IPsec and AES-GCM.
    pub fn esp(
        &mut self,
        room: &str,
        [here, there]: [[u8; 4]; 2],
        beyond: &[([u8; 4], u8)],
    ) -> &mut Self {
        let beyond = beyond.iter();
        let beyond = beyond.map(|&(network, prefix)| (network.into(), prefix));
        self.step(Step::Esp {
            room: room.to_owned(),
            tunnel: Tunnel {
                here: here.into(),
                there: there.into(),
                beyond: beyond.collect(),
            },
        })
    }

    /// Makes a bridge of existing interfaces.
    pub fn bridge(&mut self, room: &str, name: &str, ports: &[&str]) -> &mut Self {
        self.step(Step::Bridge {
            room: room.to_owned(),
            name: name.to_owned(),
            ports: ports.iter().copied().map(str::to_owned).collect(),
        })
    }

    /// Makes one end of a VXLAN tunnel between two addresses, on port 4789.
    pub fn vxlan(
        &mut self,
        room: &str,
        name: &str,
        vni: u32,
        local: [u8; 4],
        remote: [u8; 4],
    ) -> &mut Self {
        self.step(Step::Vxlan {
            room: room.to_owned(),
            name: name.to_owned(),
            vni,
            ends: [local.into(), remote.into()],
        })
    }

    /// Gives an interface an IPv4 address.
    pub fn address(&mut self, room: &str, name: &str, address: [u8; 4], prefix: u8) -> &mut Self {
        self.step(Step::Address {
            room: room.to_owned(),
            name: name.to_owned(),
            address: address.into(),
            prefix,
        })
    }

    /// Adds a route through a neighbour; `([0; 4], 0)` is the default.
    pub fn route(&mut self, room: &str, to: ([u8; 4], u8), through: [u8; 4]) -> &mut Self {
        self.step(Step::Route {
            room: room.to_owned(),
            network: to.0.into(),
            prefix: to.1,
            gateway: through.into(),
        })
    }

    /// Makes a room a router for IPv4.
    pub fn forwarding(&mut self, room: &str) -> &mut Self {
        self.setting(room, "net/ipv4/ip_forward", "1")
    }

    /// Gives packets that leave a room by this interface the interface's address (source NAT). This
    /// takes a kernel with nf_tables.
    pub fn masquerade(&mut self, room: &str, name: &str) -> &mut Self {
        self.step(Step::Masquerade {
            room: room.to_owned(),
            name: name.to_owned(),
        })
    }

    /// Sets an MTU in bytes.
    pub fn mtu(&mut self, room: &str, name: &str, mtu: u32) -> &mut Self {
        self.step(Step::Mtu {
            room: room.to_owned(),
            name: name.to_owned(),
            mtu,
        })
    }

    /// Turns an offload on or off, by the kernel's name for it: `rx-gro`.
    pub fn feature(&mut self, room: &str, name: &str, feature: &str, on: bool) -> &mut Self {
        self.step(Step::Feature {
            room: room.to_owned(),
            name: name.to_owned(),
            feature: feature.to_owned(),
            on,
        })
    }

    /// Makes the kernel hand only single frames to an interface: TCP's own large segments are segmented first.
    pub fn single_frames(&mut self, room: &str, name: &str) -> &mut Self {
        self.step(Step::SingleFrames {
            room: room.to_owned(),
            name: name.to_owned(),
        })
    }

    /// Writes a setting of the room's network by its path under /proc/sys: `net/ipv4/tcp_reordering`.
    pub fn setting(&mut self, room: &str, path: &str, value: &str) -> &mut Self {
        self.step(Step::Setting {
            room: room.to_owned(),
            path: path.to_owned(),
            value: value.to_owned(),
        })
    }

    fn step(&mut self, step: Step) -> &mut Self {
        self.steps.push(step);
        self
    }

    /// Names of all rooms of the plan.
    pub(super) fn rooms(&self) -> BTreeSet<String> {
        let wires = self.wires.iter().flat_map(|wire| &wire.ends);
        let pairs = self.steps.iter().flat_map(Step::makes_rooms);
        wires.chain(pairs).map(|(room, _)| room.clone()).collect()
    }
}
