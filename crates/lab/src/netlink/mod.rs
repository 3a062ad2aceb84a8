//! Netlink, as much as the lab needs: requests framed by hand, answers read once and whole.
//!
//! No netlink crate: the blocking ones bring more than these few requests, and none of them sets
//! ethtool features. Layout: Documentation/userspace-api/netlink/intro.rst of the Linux tree.

mod attributes;
pub(crate) mod ethtool;
pub(crate) mod generic;
pub(crate) mod napi;
pub(crate) mod route;

pub(crate) use attributes::{Attributes, Request};

use crate::Error;
use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, setsockopt, socket,
};
use std::os::fd::{AsRawFd, OwnedFd};

nix::setsockopt_impl!(
    ExtendedAck,
    libc::SOL_NETLINK,
    libc::NETLINK_EXT_ACK,
    bool,
    SetBool
);
nix::setsockopt_impl!(
    CappedAck,
    libc::SOL_NETLINK,
    libc::NETLINK_CAP_ACK,
    bool,
    SetBool
);
use nix::sys::socket::sockopt::SetBool;

/// Asks the kernel to say in words why it refused.
#[derive(Clone, Copy)]
struct ExtendedAck;

/// Asks the kernel not to repeat the request in its answer.
#[derive(Clone, Copy)]
struct CappedAck;

const HEADER: usize = 16;
/// Longest answer that is read; the kernel's dumps come in pieces of at most 32 KiB.
const ANSWER: usize = 1 << 16;

/// A netlink socket in the namespace of the thread that opened it.
pub(crate) struct Netlink {
    socket: OwnedFd,
}

impl Netlink {
    /// Opens one for `protocol`.
    pub(crate) fn open(protocol: SockProtocol) -> Result<Self, Error> {
        let flags = SockFlag::SOCK_CLOEXEC;
        let socket = socket(AddressFamily::Netlink, SockType::Raw, flags, protocol)
            .map_err(Error::system("open a netlink socket"))?;
        // Only for better words in errors: an old kernel that has neither is as good.
        let _ = setsockopt(&socket, ExtendedAck, &true);
        let _ = setsockopt(&socket, CappedAck, &true);
        Ok(Self { socket })
    }

    /// Sends a request and gives back the payloads of the answers.
    pub(crate) fn ask(&self, request: Request, action: &str) -> Result<Vec<Vec<u8>>, Error> {
        let fd = self.socket.as_raw_fd();
        send(fd, &request.finish(), MsgFlags::empty()).map_err(Error::system(action))?;
        let mut answers = Vec::new();
        let mut buffer = vec![0; ANSWER];
        loop {
            let length = recv(fd, &mut buffer, MsgFlags::empty()).map_err(Error::system(action))?;
            if read_answers(&buffer[..length], action, &mut answers)? {
                return Ok(answers);
            }
        }
    }
}

/// Takes all messages of one datagram; true at the end of the answer.
fn read_answers(mut bytes: &[u8], action: &str, answers: &mut Vec<Vec<u8>>) -> Result<bool, Error> {
    while let Some((kind, payload, rest)) = split_message(bytes) {
        bytes = rest;
        match i32::from(kind) {
            libc::NLMSG_DONE => return Ok(true),
            libc::NLMSG_ERROR => return acknowledged(payload, action).map(|()| true),
            _ => answers.push(payload.to_vec()),
        }
    }
    Ok(false)
}

/// Kind and payload of the first message, and the rest.
fn split_message(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = u32::from_ne_bytes(*bytes.first_chunk()?) as usize;
    let kind = u16::from_ne_bytes(*bytes.get(4..)?.first_chunk()?);
    let payload = bytes.get(HEADER..length)?;
    Some((
        kind,
        payload,
        bytes.get(length.next_multiple_of(4)..).unwrap_or_default(),
    ))
}

/// An error number of 0 is the kernel's yes.
fn acknowledged(payload: &[u8], action: &str) -> Result<(), Error> {
    let code = payload
        .first_chunk()
        .map_or(0, |code| i32::from_ne_bytes(*code));
    if code == 0 {
        return Ok(());
    }
    let words = Attributes(payload.get(4 + HEADER..).unwrap_or_default());
    let message = words.get(1).map(text).unwrap_or_default();
    Err(Error::Refused {
        action: action.to_owned(),
        errno: Errno::from_raw(code.wrapping_neg()),
        message,
    })
}

/// A number of two bytes.
fn split_u16(value: &[u8]) -> Option<u16> {
    Some(u16::from_ne_bytes(*value.first_chunk()?))
}

/// A string attribute without the zero at its end.
pub(crate) fn text(value: &[u8]) -> String {
    let end = value
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(value.len());
    String::from_utf8_lossy(&value[..end]).into_owned()
}
