//! Generic netlink: families are found by name.

use super::{Attributes, Netlink, Request, split_u16};
use crate::Error;
use nix::libc;
use nix::sys::socket::SockProtocol;

/// Length of the family's own header.
const HEADER: usize = 4;

/// A family of generic netlink.
pub(crate) struct Family {
    netlink: Netlink,
    id: u16,
    name: &'static str,
}

impl Family {
    /// Looks a family up.
    pub(crate) fn open(name: &'static str) -> Result<Self, Error> {
        let netlink = Netlink::open(SockProtocol::NetlinkGeneric)?;
        let action = format!("find the netlink family {name}");
        let request = Request::new(
            libc::GENL_ID_CTRL as u16,
            0,
            &header(libc::CTRL_CMD_GETFAMILY as u8),
        )
        .text(libc::CTRL_ATTR_FAMILY_NAME as u16, name);
        let answers = netlink.ask(request, &action)?;
        let id = answers.first().and_then(|answer| family_id(answer));
        Ok(Self {
            netlink,
            id: id.ok_or(Error::Answer {
                action,
                lacks: "its number",
            })?,
            name,
        })
    }

    /// A request of a command, to be filled.
    pub(crate) fn request(&self, command: u8, flags: i32) -> Request {
        Request::new(self.id, flags, &header(command))
    }

    /// Asks, and gives back the attributes of each answer.
    pub(crate) fn ask(&self, request: Request, action: &str) -> Result<Vec<Vec<u8>>, Error> {
        let action = format!("{action} through {}", self.name);
        let answers = self.netlink.ask(request, &action)?;
        Ok(answers
            .iter()
            .map(|answer| answer.get(HEADER..).unwrap_or_default().to_vec())
            .collect())
    }
}

fn header(command: u8) -> [u8; HEADER] {
    [command, 1, 0, 0]
}

fn family_id(answer: &[u8]) -> Option<u16> {
    split_u16(Attributes(answer.get(HEADER..)?).get(libc::CTRL_ATTR_FAMILY_ID as u16)?)
}
