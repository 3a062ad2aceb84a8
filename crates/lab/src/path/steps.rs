//! Steps in a room after its TAPs are made.

use super::Error;
use super::bonding::{self, Bonding, Follower};
use super::rooms::{Place, Rooms};
use super::veth;
use crate::error::{Error as LabError, Unavailable};
use crate::link::Link;
use crate::namespace::write;
use coalescope_netlink::Error as KernelError;
use coalescope_netlink::ipsec::Tunnel;
use coalescope_netlink::route::Route;
use coalescope_netlink::{ipvs, nftables};
use nix::errno::Errno;
use std::net::{Ipv4Addr, SocketAddrV4};

/// Port of VXLAN (RFC 7348).
const VXLAN: u16 = 4789;
/// IPVS's round robin.
const SCHEDULER: &str = "rr";

/// Both ends of a tunnel: the near one and the far one.
type Ends = [Ipv4Addr; 2];

/// One step.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Veth {
        ends: [Place; 2],
        mtu: u32,
    },
    Bond {
        ends: [Place; 2],
        mtu: u32,
        lines: Bonding,
    },
    Ipvs {
        room: String,
        service: SocketAddrV4,
        real: SocketAddrV4,
    },
    Esp {
        room: String,
        tunnel: Tunnel,
    },
    Bridge {
        room: String,
        name: String,
        ports: Vec<String>,
    },
    Vxlan {
        room: String,
        name: String,
        vni: u32,
        ends: Ends,
    },
    Address {
        room: String,
        name: String,
        address: Ipv4Addr,
        prefix: u8,
    },
    Route {
        room: String,
        network: Ipv4Addr,
        prefix: u8,
        gateway: Ipv4Addr,
    },
    Masquerade {
        room: String,
        name: String,
    },
    Mtu {
        room: String,
        name: String,
        mtu: u32,
    },
    Feature {
        room: String,
        name: String,
        feature: String,
        on: bool,
    },
    SingleFrames {
        room: String,
        name: String,
    },
    Setting {
        room: String,
        path: String,
        value: String,
    },
}

impl Step {
    /// Interfaces whose rooms this step makes.
    pub(super) fn makes_rooms(&self) -> &[Place] {
        match self {
            Self::Veth { ends, .. } | Self::Bond { ends, .. } => ends,
            _ => &[],
        }
    }

    fn room(&self) -> &str {
        match self {
            Self::Veth { ends, .. } | Self::Bond { ends, .. } => &ends[0].0,
            Self::Ipvs { room, .. }
            | Self::Esp { room, .. }
            | Self::Bridge { room, .. }
            | Self::Vxlan { room, .. }
            | Self::Address { room, .. }
            | Self::Route { room, .. }
            | Self::Masquerade { room, .. }
            | Self::Mtu { room, .. }
            | Self::Feature { room, .. }
            | Self::SingleFrames { room, .. }
            | Self::Setting { room, .. } => room,
        }
    }

    /// Runs the step.
    pub(super) fn run(&self, rooms: &Rooms) -> Result<(), Error> {
        match self {
            Self::Veth { ends, mtu } => veth::make(rooms, ends, *mtu),
            Self::Bond { ends, mtu, lines } => {
                or_unavailable(bonding::make(rooms, ends, *mtu, lines), self.needs())
            }
            _ => or_unavailable(self.in_room(rooms), self.needs()),
        }
    }

    /// Features of the kernel that the step needs, and a kernel that has them; `None` if every kernel does.
    fn needs(&self) -> Option<[&'static str; 2]> {
        let uml = "; user-mode Linux has it (coalescope lab run --kernel uml)";
        match self {
            Self::Bond { .. } => Some(["bonding with netem", uml]),
            Self::Ipvs { .. } => Some(["IPVS", uml]),
            Self::Esp { .. } => Some(["ESP with AES-GCM", uml]),
            Self::Masquerade { .. } => Some(["NAT by nftables", ""]),
            _ => None,
        }
    }

    fn in_room(&self, rooms: &Rooms) -> Result<(), Error> {
        rooms.run(self.room(), || self.inside())
    }

    /// Followers of the step's interfaces while the path runs.
    pub(super) fn followers(&self, rooms: &Rooms) -> Result<Vec<Follower>, Error> {
        match self {
            Self::Bond { ends, lines, .. } => Follower::open(rooms, ends, lines.lanes.len()),
            _ => Ok(Vec::new()),
        }
    }

    /// The part of the step inside of its room.
    fn inside(&self) -> Result<(), LabError> {
        match self {
            Self::Veth { .. } | Self::Bond { .. } => Ok(()),
            Self::Ipvs { service, real, .. } => {
                ipvs::add_service(*service, SCHEDULER)?;
                Ok(ipvs::add_real_server(*service, *real)?)
            }
            Self::Esp { tunnel, .. } => Ok(tunnel.add()?),
            Self::Bridge { name, ports, .. } => bridge(name, ports),
            Self::Vxlan {
                name, vni, ends, ..
            } => {
                Route::open()?.add_vxlan_to(name, *vni, *ends, VXLAN)?;
                Link::named(name)?.set_up()
            }
            Self::Route {
                network,
                prefix,
                gateway,
                ..
            } => Ok(Route::open()?.add_route(*network, *prefix, *gateway)?),
            Self::Masquerade { name, .. } => Ok(nftables::masquerade(name)?),
            Self::Setting { path, value, .. } => setting(path, value),
            _ => self.on_link(),
        }
    }

    /// Steps on one interface.
    fn on_link(&self) -> Result<(), LabError> {
        match self {
            Self::Address {
                name,
                address,
                prefix,
                ..
            } => Link::named(name)?.add_address(*address, *prefix),
            Self::Mtu { name, mtu, .. } => {
                let index = Link::named(name)?.index();
                Ok(Route::open()?.set_mtu(name, index, *mtu)?)
            }
            Self::Feature {
                name, feature, on, ..
            } => Link::named(name)?.set_features(&[(feature, *on)]),
            Self::SingleFrames { name, .. } => single_frames(name),
            _ => Ok(()),
        }
    }
}

fn bridge(name: &str, ports: &[String]) -> Result<(), LabError> {
    let route = Route::open()?;
    route.add_bridge(name)?;
    let bridge = Link::named(name)?;
    for port in ports {
        route.add_port(port, Link::named(port)?.index(), bridge.index())?;
    }
    bridge.set_up()
}

/// Turns the error of a kernel without the feature into a reason to skip.
fn or_unavailable(done: Result<(), Error>, needs: Option<[&str; 2]>) -> Result<(), Error> {
    match (done, needs) {
        (Err(Error::Room { source, .. }), Some([what, elsewhere])) if lacks(&source) => {
            let reason = format!(
                "{source}: this kernel has no {what}, or its modules are not loaded{elsewhere}"
            );
            Err(Error::Unavailable(Unavailable { reason }))
        }
        (done, _) => done,
    }
}

fn lacks(source: &LabError) -> bool {
    match source {
        // An unknown qdisc is "not found" (tc_modify_qdisc).
        LabError::Kernel(KernelError::System { errno, .. }) if *errno == Errno::ENOENT => true,
        LabError::Kernel(error) => error.is_unsupported(),
        _ => false,
    }
}

fn single_frames(name: &str) -> Result<(), LabError> {
    let link = Link::named(name)?;
    link.disable_tso()?;
    link.set_features(&[("tx-udp-segmentation", false)])
}

/// Writes a sysctl. Only those of the network belong to the room: all others are the machine's.
fn setting(path: &str, value: &str) -> Result<(), LabError> {
    if !path.starts_with("net/") || path.split('/').any(|part| part == "..") {
        let action = format!("set {path}, which is not of the room's network");
        return Err(LabError::system(action)(Errno::EINVAL));
    }
    write(&format!("/proc/sys/{path}"), value)
}
