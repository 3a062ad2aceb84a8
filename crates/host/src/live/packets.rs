//! Packet sockets: captures, intrusion detection, DHCP clients.

use super::host::{has_module, read_file};
use super::unread::Unreads;
use crate::model::PacketSocket;
use crate::text::linux::files;
use coalescope_netlink::packet_sockets::packet_sockets;
use std::collections::BTreeMap;

/// The inode of a socket, by which its process is found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) inode: Option<u32>,
}

/// Names of interfaces by number.
type Names = BTreeMap<u32, String>;

/// All of the namespace, in the same order as their inodes.
pub(super) fn read(
    names: &Names,
    inside: &str,
    unread: &mut Unreads,
) -> (Vec<Found>, Option<Vec<PacketSocket>>) {
    // Socket diagnosis also tells of rings; asking for it where it isn't would load a module.
    let diagnosed = has_module("af_packet_diag")
        .then(|| packet_sockets().ok())
        .flatten();
    let sockets: Option<Vec<_>> = match diagnosed {
        Some(sockets) => Some(
            sockets
                .into_iter()
                .map(|one| diagnosis(one, names))
                .collect(),
        ),
        None => listed(names, inside, unread),
    };
    let (found, sockets): (Vec<_>, Vec<_>) = match sockets {
        Some(sockets) => sockets.into_iter().unzip(),
        None => return (Vec::new(), None),
    };
    (found, Some(sockets))
}

fn diagnosis(
    socket: coalescope_netlink::packet_sockets::PacketSocket,
    names: &Names,
) -> (Found, PacketSocket) {
    let found = Found {
        inode: Some(socket.inode),
    };
    let socket = PacketSocket {
        interface: name_of(socket.interface, names),
        protocol: Some(socket.protocol),
        process: None,
        ring: Some(socket.ring),
    };
    (found, socket)
}

fn listed(names: &Names, inside: &str, unread: &mut Unreads) -> Option<Vec<(Found, PacketSocket)>> {
    let mut own = Unreads::default();
    let Some(table) = read_file("/proc/thread-self/net/packet", &mut own) else {
        for note in own.finish() {
            unread.note(format!("packet sockets{inside}"), note.why);
        }
        return None;
    };
    let sockets = files::packets(&table).flatten().map(|packet| {
        let found = Found {
            inode: Some(packet.inode),
        };
        let socket = PacketSocket {
            interface: name_of(packet.interface, names),
            protocol: Some(packet.protocol),
            process: None,
            ring: None,
        };
        (found, socket)
    });
    Some(sockets.collect())
}

/// An interface that came after the list was made goes by its number.
fn name_of(index: Option<u32>, names: &Names) -> Option<String> {
    let index = index?;
    let known = names.get(&index).cloned();
    Some(known.unwrap_or_else(|| files::unnamed(index)))
}
