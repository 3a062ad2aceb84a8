//! Everything of one network namespace, read by a thread inside of it.

use super::filters;
use super::identity::Identity;
use super::interfaces::{self, Around, Handles};
use super::namespaces::{Space, Spaces};
use super::packets::{self, Found};
use super::processes::Processes;
use super::stack;
use super::unread::Unreads;
use crate::model::{Interface, Ovs, OvsBridge, OvsPort, Stack};
use coalescope_netlink::{Error, openvswitch};
use std::fs;

/// The settings of one namespace.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) name: Option<String>,
    pub(super) identity: Option<Identity>,
    pub(super) interfaces: Vec<Interface>,
    pub(super) stack: Stack,
    pub(super) packets: Vec<Found>,
    pub(super) ovs: Option<Ovs>,
    pub(super) unread: Unreads,
}

/// Reads the namespace of the calling thread.
pub(super) fn read(space: &Space, spaces: &Spaces, sys: Result<(), &Error>) -> Part {
    let mut unread = Unreads::default();
    let inside = inside(space);
    if let Err(error) = sys {
        unread.note(format!("/sys/class/net{inside}"), error);
    }
    let mut part = Part {
        name: space.key.clone(),
        identity: space.identity,
        ..Part::default()
    };
    let around = Around {
        spaces,
        own: space.identity,
        inside: &inside,
    };
    part.links(&around, &mut unread);
    stack::read(&mut part.stack, &inside, &mut unread);
    part.ovs = ovs(&inside, &mut unread);
    part.unread = unread;
    part
}

/// What is added to the name of something to tell that it is of another namespace.
fn inside(space: &Space) -> String {
    match space.name() {
        super::namespaces::MAIN => String::new(),
        name => format!(" in {name}"),
    }
}

impl Part {
    /// Its interfaces, and the packet sockets that are told by their numbers.
    fn links(&mut self, around: &Around<'_>, unread: &mut Unreads) {
        let inside = around.inside;
        match Handles::open(unread, inside) {
            Ok(handles) => {
                let (interfaces, names, routes) = interfaces::read(&handles, around, unread);
                (self.interfaces, self.stack.routes) = (interfaces, routes);
                (self.packets, self.stack.packet_sockets) = packets::read(&names, inside, unread);
                filters::read(&mut self.stack, &handles.route, &names, inside, unread);
            }
            Err(error) => unread.note(format!("interfaces{inside}"), error),
        }
    }
}

/// Open vSwitch; `None` if it is not in the kernel.
fn ovs(inside: &str, unread: &mut Unreads) -> Option<Ovs> {
    let datapaths = match openvswitch::datapaths() {
        Ok(datapaths) if !datapaths.is_empty() => datapaths,
        Ok(_) => return None,
        Err(error) if error.is_unsupported() => return None,
        Err(error) => {
            unread.note(format!("Open vSwitch{inside}"), error);
            return None;
        }
    };
    let version = fs::read_to_string("/sys/module/openvswitch/version").ok();
    Some(Ovs {
        version: version.map(|version| version.trim().to_owned()),
        bridges: datapaths.into_iter().map(bridge).collect(),
    })
}

fn bridge(datapath: openvswitch::Datapath) -> (String, OvsBridge) {
    let ports = datapath.ports.into_iter().map(|port| {
        let kind = port.kind.map(str::to_owned);
        let port_of_kind = OvsPort {
            kind,
            ..OvsPort::default()
        };
        (port.name, port_of_kind)
    });
    let bridge = OvsBridge {
        datapath: Some("system".to_owned()),
        ports: ports.collect(),
    };
    (datapath.name, bridge)
}

/// Gives the sockets the processes that hold them.
pub(super) fn name_holders(part: &mut Part, processes: &Processes) {
    let sockets = part.stack.packet_sockets.iter_mut().flatten();
    for (found, socket) in part.packets.iter().zip(sockets) {
        let process = found.inode.and_then(|inode| processes.of_socket(inode));
        socket.process = process.map(str::to_owned);
    }
}
