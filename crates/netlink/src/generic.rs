//! Generic netlink: families are found by name.

use crate::attributes::{Attributes, emit};
use crate::error::Error;
use crate::socket::{Raw, Socket};
use netlink_packet_core::{DefaultNla, Emitable};
use netlink_packet_generic::constants::{
    CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME, CTRL_ATTR_VERSION,
};
use netlink_packet_generic::ctrl::{GenlCtrl, GenlCtrlCmd};
use netlink_packet_generic::{GenlHeader, GenlMessage};
use netlink_sys::protocols::NETLINK_GENERIC;

/// Length of `struct genlmsghdr`.
const HEADER: usize = 4;

/// A family of generic netlink, with a socket of its own.
#[derive(Debug)]
pub(crate) struct Family {
    socket: Socket,
    id: u16,
    version: u8,
    name: &'static str,
}

/// One answer: its command, and the bytes after the generic header.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) command: u8,
    bytes: Vec<u8>,
}

impl Answer {
    /// The attributes of an answer of a family without a header of its own.
    pub(crate) fn attributes(&self) -> Attributes<'_> {
        self.after(0)
    }

    /// The attributes after the family's own header.
    pub(crate) fn after(&self, header: usize) -> Attributes<'_> {
        Attributes(self.bytes.get(header..).unwrap_or_default())
    }

    /// The family's own header, if the answer is long enough.
    pub(crate) fn own_header<const N: usize>(&self) -> Option<&[u8; N]> {
        self.bytes.first_chunk()
    }
}

impl Family {
    /// Finds a family among all that are registered. Asking for one by its name would make the
    /// kernel load a module for it, and looking must not change anything.
    pub(crate) fn open(name: &'static str) -> Result<Self, Error> {
        let socket = Socket::open(NETLINK_GENERIC)?;
        let all = GenlMessage::from_payload(GenlCtrl {
            cmd: GenlCtrlCmd::GetFamily,
            nlas: Vec::new(),
        });
        let families = socket.dump(&all, "list the netlink families")?;
        let found = families.iter().find_map(|family| identity(family, name));
        let (id, version) = found.ok_or(Error::NoFamily { family: name })?;
        Ok(Self {
            socket,
            id,
            version,
            name,
        })
    }

    /// The socket, for ioctls in the same namespace.
    pub(crate) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Sends a request for one object.
    pub(crate) fn ask(
        &self,
        command: u8,
        attributes: &[DefaultNla],
        action: &str,
    ) -> Result<Vec<Answer>, Error> {
        let request = self.request(command, &[], attributes);
        let answers = self.socket.ask(request, 0, &self.name_action(action))?;
        Ok(self.answers(answers))
    }

    /// Requests a dump; `own` is the family's own header, often empty.
    pub(crate) fn dump(
        &self,
        command: u8,
        own: &[u8],
        attributes: &[DefaultNla],
        action: &str,
    ) -> Result<Vec<Answer>, Error> {
        let request = self.request(command, own, attributes);
        let answers = self.socket.dump(&request, &self.name_action(action))?;
        Ok(self.answers(answers))
    }

    fn name_action(&self, action: &str) -> String {
        format!("{action} through {}", self.name)
    }

    fn request(&self, command: u8, own: &[u8], attributes: &[DefaultNla]) -> Raw {
        let header = GenlHeader {
            cmd: command,
            version: self.version,
        };
        let mut bytes = vec![0; HEADER];
        header.emit(&mut bytes);
        bytes.extend(own);
        bytes.extend(emit(attributes));
        Raw {
            kind: self.id,
            bytes,
        }
    }

    fn answers(&self, messages: Vec<Raw>) -> Vec<Answer> {
        let ours = messages
            .into_iter()
            .filter(|message| message.kind == self.id);
        ours.filter_map(|message| {
            let header = GenlHeader::parse(&message.bytes).ok()?;
            let bytes = message.bytes.get(HEADER..)?.to_vec();
            Some(Answer {
                command: header.cmd,
                bytes,
            })
        })
        .collect()
    }
}

/// Id and version of a family, if it has this name.
fn identity(message: &Raw, name: &str) -> Option<(u16, u8)> {
    let attributes = Attributes(message.bytes.get(HEADER..)?);
    let named = attributes.text(CTRL_ATTR_FAMILY_NAME)? == name;
    let id = attributes.u16(CTRL_ATTR_FAMILY_ID).filter(|_| named)?;
    let version = attributes.u32(CTRL_ATTR_VERSION).unwrap_or(1);
    Some((id, u8::try_from(version).unwrap_or(1)))
}
