//! A netlink socket: a request, and all of its answers.

use crate::attributes::Attributes;
use crate::error::Error;
use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CAPPED, NLM_F_DUMP, NLM_F_DUMP_INTR, NLM_F_REQUEST, NetlinkDeserializable,
    NetlinkHeader, NetlinkMessage, NetlinkPayload, NetlinkSerializable,
};
use netlink_sys::Socket as System;
use nix::errno::Errno;
use nix::libc;
use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::os::fd::{AsFd, BorrowedFd};

/// Length of `struct nlmsghdr`.
const HEADER: usize = 16;
/// Longest datagram that is read: the kernel's dumps come in pieces of at most 32 KiB, one message
/// (an interface with hundreds of virtual functions) may be longer.
const DATAGRAM: usize = 1 << 18;
/// How often a dump is repeated if the listed objects change meanwhile; the last dump is used as it is.
const DUMPS: usize = 4;
/// The error message in an extended acknowledgement (`NLMSGERR_ATTR_MSG`).
const WORDS: u16 = 1;

/// A netlink socket in the namespace of the thread that opened it.
#[derive(Debug)]
pub(crate) struct Socket {
    system: System,
    sequence: Cell<u32>,
    buffer: RefCell<Vec<u8>>,
}

/// A message with an undecoded payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Raw {
    /// `nlmsg_type`.
    pub(crate) kind: u16,
    /// The bytes after the netlink header.
    pub(crate) bytes: Vec<u8>,
}

impl NetlinkSerializable for Raw {
    fn message_type(&self) -> u16 {
        self.kind
    }

    fn buffer_len(&self) -> usize {
        self.bytes.len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        buffer[..self.bytes.len()].copy_from_slice(&self.bytes);
    }
}

impl NetlinkDeserializable for Raw {
    type Error = Infallible;

    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> Result<Self, Infallible> {
        Ok(Self {
            kind: header.message_type,
            bytes: payload.to_vec(),
        })
    }
}

/// The answers to a request so far.
#[derive(Default)]
struct Answers {
    messages: Vec<Raw>,
    /// Whether objects changed during the dump (`NLM_F_DUMP_INTR`).
    interrupted: bool,
    complete: bool,
    /// Number of messages that were already filtered.
    sifted: usize,
}

impl Socket {
    /// Opens a socket for a protocol of `netlink_sys::protocols`.
    pub(crate) fn open(protocol: isize) -> Result<Self, Error> {
        let system = System::new(protocol).map_err(Error::io("open a netlink socket"))?;
        // These only improve error messages: an old kernel without them will do.
        let _ = system.set_ext_ack(true);
        let _ = system.set_cap_ack(true);
        Ok(Self {
            system,
            sequence: Cell::new(0),
            buffer: RefCell::new(Vec::with_capacity(DATAGRAM)),
        })
    }

    /// The file descriptor, for ioctls in the same namespace.
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.system.as_fd()
    }

    /// Sends a request; returns the messages before the acknowledgement.
    pub(crate) fn ask<M: NetlinkSerializable>(
        &self,
        message: M,
        flags: u16,
        action: &str,
    ) -> Result<Vec<Raw>, Error> {
        let request = self.request(message, flags | NLM_F_ACK);
        self.exchange(&request, action, &|_| true)
            .map(|answers| answers.messages)
    }

    /// Requests a dump. A dump that was interrupted by a change is repeated.
    pub(crate) fn dump<M: NetlinkSerializable + Clone>(
        &self,
        message: &M,
        action: &str,
    ) -> Result<Vec<Raw>, Error> {
        self.dump_some(message, action, &|_| true)
    }

    /// Requests a dump and keeps only some messages: a routing table may have a million routes.
    pub(crate) fn dump_some<M: NetlinkSerializable + Clone>(
        &self,
        message: &M,
        action: &str,
        keep: &dyn Fn(&Raw) -> bool,
    ) -> Result<Vec<Raw>, Error> {
        let mut answers = Answers::default();
        for _ in 0..DUMPS {
            let request = self.request(message.clone(), NLM_F_DUMP);
            answers = self.exchange(&request, action, keep)?;
            if !answers.interrupted {
                break;
            }
        }
        Ok(answers.messages)
    }

    fn request<M: NetlinkSerializable>(&self, message: M, flags: u16) -> NetlinkMessage<M> {
        self.sequence.set(self.sequence.get().wrapping_add(1));
        let mut header = NetlinkHeader::default();
        header.flags = flags | NLM_F_REQUEST;
        header.sequence_number = self.sequence.get();
        let mut request = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(message));
        request.finalize();
        request
    }

    fn exchange<M: NetlinkSerializable>(
        &self,
        request: &NetlinkMessage<M>,
        action: &str,
        keep: &dyn Fn(&Raw) -> bool,
    ) -> Result<Answers, Error> {
        self.send(&serialized(request), action)?;
        self.answers(request.header.sequence_number, action, keep)
    }

    /// Sends messages as one transaction, between those that begin and end the batch.
    pub(crate) fn batch(
        &self,
        [begin, end]: [Raw; 2],
        messages: Vec<Raw>,
        flags: u16,
        action: &str,
    ) -> Result<(), Error> {
        let begin = self.request(begin, 0);
        let ask = |message| self.request(message, flags | NLM_F_ACK);
        let asked: Vec<_> = messages.into_iter().map(ask).collect();
        let end = self.request(end, 0);
        let all = std::iter::once(&begin).chain(&asked).chain([&end]);
        self.send(&all.flat_map(serialized).collect::<Vec<u8>>(), action)?;
        asked.iter().try_for_each(|request| {
            self.answers(request.header.sequence_number, action, &|_| true)
                .map(drop)
        })
    }

    fn send(&self, bytes: &[u8], action: &str) -> Result<(), Error> {
        let sent = self.system.send(bytes, 0);
        sent.map(drop).map_err(Error::io(action.to_owned()))
    }

    fn answers(
        &self,
        sequence: u32,
        action: &str,
        keep: &dyn Fn(&Raw) -> bool,
    ) -> Result<Answers, Error> {
        let mut answers = Answers::default();
        while !answers.complete {
            let datagram = self.receive(action)?;
            answers.read(&datagram, sequence, action)?;
            answers.keep(keep);
        }
        Ok(answers)
    }

    fn receive(&self, action: &str) -> Result<Vec<u8>, Error> {
        let mut buffer = self.buffer.borrow_mut();
        loop {
            buffer.clear();
            match self.system.recv(&mut *buffer, libc::MSG_TRUNC) {
                Ok(length) if length > buffer.len() => {
                    return Err(Error::system(action)(Errno::EMSGSIZE));
                }
                Ok(_) => return Ok(buffer.clone()),
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                Err(error) => return Err(Error::io(action)(error)),
            }
        }
    }
}

fn serialized<M: NetlinkSerializable>(request: &NetlinkMessage<M>) -> Vec<u8> {
    let mut bytes = vec![0; request.buffer_len()];
    request.serialize(&mut bytes);
    bytes
}

impl Answers {
    /// Drops new messages that are not wanted.
    fn keep(&mut self, keep: &dyn Fn(&Raw) -> bool) {
        let new = self.messages.split_off(self.sifted);
        self.messages
            .extend(new.into_iter().filter(|raw| keep(raw)));
        self.sifted = self.messages.len();
    }

    /// Parses all messages of one datagram.
    fn read(&mut self, mut bytes: &[u8], sequence: u32, action: &str) -> Result<(), Error> {
        while !bytes.is_empty() {
            let message = NetlinkMessage::<Raw>::deserialize(bytes).map_err(|_| Error::Answer {
                action: action.to_owned(),
                lacks: "its end",
            })?;
            let length = (message.header.length as usize).next_multiple_of(4);
            bytes = bytes.get(length..).unwrap_or_default();
            // Answers to an earlier request that was given up are skipped.
            if message.header.sequence_number == sequence {
                self.take(message, action)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, message: NetlinkMessage<Raw>, action: &str) -> Result<(), Error> {
        self.interrupted |= message.header.flags & NLM_F_DUMP_INTR != 0;
        let (header, payload) = message.into_parts();
        match payload {
            NetlinkPayload::InnerMessage(raw) => self.messages.push(raw),
            NetlinkPayload::Done(done) => {
                self.complete = true;
                return verdict(done.code, &done.extended_ack, action);
            }
            NetlinkPayload::Error(error) => {
                self.complete = true;
                let words = after_echo(&error.header, header.flags);
                return verdict(error.raw_code(), words, action);
            }
            _ => {}
        }
        Ok(())
    }
}

/// The attributes of an error message, which follow the echoed request, or its header alone.
fn after_echo(payload: &[u8], flags: u16) -> &[u8] {
    let echoed = match payload.first_chunk() {
        Some(length) if flags & NLM_F_CAPPED == 0 => u32::from_ne_bytes(*length) as usize,
        _ => HEADER,
    };
    payload
        .get(echoed.next_multiple_of(4)..)
        .unwrap_or_default()
}

/// An error number of 0 is an acknowledgement.
fn verdict(code: i32, words: &[u8], action: &str) -> Result<(), Error> {
    if code >= 0 {
        return Ok(());
    }
    Err(Error::Refused {
        action: action.to_owned(),
        errno: Errno::from_raw(code.saturating_neg()),
        message: Attributes(words).text(WORDS).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_after_what_is_repeated() {
        let mut echo = vec![24, 0, 0, 0];
        echo.resize(24, 1);
        echo.extend([5, 0, 1, 0]);
        assert_eq!(after_echo(&echo, 0), [5, 0, 1, 0]);
        assert_eq!(after_echo(&echo, NLM_F_CAPPED).len(), 12);
        assert_eq!(after_echo(&[255, 255, 255, 255], 0), []);
    }

    #[test]
    fn a_cut_datagram_is_an_error_not_a_panic() {
        let mut answers = Answers::default();
        assert!(answers.read(&[40, 0, 0, 0, 1, 0], 1, "test").is_err());
        assert!(answers.read(&[0; 16], 1, "test").is_err());
    }
}
