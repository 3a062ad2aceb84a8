//! Reusable buffers for received frames.

use super::vnet::{LENGTH, VnetHeader};
use nix::libc;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, MultiHeaders, RecvMsg, recvmmsg};
use std::io::IoSliceMut;
use std::os::fd::RawFd;

/// An IP packet of 65,535 bytes with Ethernet header and a few tags before it.
const LONGEST: usize = 65_535 + 64;
/// Both Ethernet addresses, before which a VLAN tag is put back.
const ADDRESSES: usize = 12;
/// Length of a VLAN tag.
const TAG: usize = 4;
/// Length of `struct tpacket_auxdata`.
const AUXILIARY: usize = 20;

/// Buffers for a number of frames.
#[derive(Debug)]
pub struct Buffers {
    slots: Vec<Slot>,
    filled: usize,
}

/// A received frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The whole frame, with the VLAN tag that the kernel had removed.
    pub bytes: &'a [u8],
    /// The virtio-net header; all zero if the socket has none.
    pub vnet: VnetHeader,
}

/// One buffer. The frame begins behind room for a VLAN tag.
#[derive(Clone, Debug)]
struct Slot {
    header: [u8; LENGTH],
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

/// Length of a message with its headers, and its VLAN tag.
type Arrival = (usize, Option<[u8; TAG]>);

impl Buffers {
    /// Buffers for `frames` frames, 64 KiB each.
    pub fn new(frames: usize) -> Self {
        let slot = Slot {
            header: [0; LENGTH],
            bytes: vec![0; TAG + LONGEST],
            start: TAG,
            end: TAG,
        };
        Self {
            slots: vec![slot; frames],
            filled: 0,
        }
    }

    /// The frames of the last receive.
    pub fn frames(&self) -> impl ExactSizeIterator<Item = Frame<'_>> {
        self.slots[..self.filled].iter().map(Slot::frame)
    }

    /// Receives as many frames as there are, and as there are buffers.
    pub(super) fn fill(&mut self, fd: RawFd, vnet: bool, flags: MsgFlags) -> nix::Result<usize> {
        self.filled = 0;
        let arrivals = self.receive(fd, vnet, flags)?;
        let header = if vnet { LENGTH } else { 0 };
        for (slot, (length, tag)) in self.slots.iter_mut().zip(&arrivals) {
            slot.finish(length.saturating_sub(header), *tag);
        }
        self.filled = arrivals.len();
        Ok(self.filled)
    }

    /// The message headers are new each time: the kernel writes the lengths of control messages
    /// into them, and nix does not set them back.
    fn receive(&mut self, fd: RawFd, vnet: bool, flags: MsgFlags) -> nix::Result<Vec<Arrival>> {
        let mut slices: Vec<_> = self
            .slots
            .iter_mut()
            .map(|slot| slot.slices(vnet))
            .collect();
        let control = nix::cmsg_space!([u8; AUXILIARY]);
        let mut headers = MultiHeaders::<()>::preallocate(slices.len(), Some(control));
        let messages = recvmmsg(fd, &mut headers, slices.iter_mut(), flags, None)?;
        Ok(messages
            .map(|message| (message.bytes, tag(&message)))
            .collect())
    }
}

impl Slot {
    fn slices(&mut self, vnet: bool) -> [IoSliceMut<'_>; 2] {
        let header = if vnet { &mut self.header[..] } else { &mut [] };
        [
            IoSliceMut::new(header),
            IoSliceMut::new(&mut self.bytes[TAG..]),
        ]
    }

    /// Puts the VLAN tag back: the addresses move down into the free room.
    fn finish(&mut self, length: usize, tag: Option<[u8; TAG]>) {
        (self.start, self.end) = (TAG, TAG + length);
        let Some(tag) = tag.filter(|_| length >= ADDRESSES) else {
            return;
        };
        self.bytes.copy_within(TAG..TAG + ADDRESSES, 0);
        self.bytes[ADDRESSES..ADDRESSES + TAG].copy_from_slice(&tag);
        self.start = 0;
    }

    fn frame(&self) -> Frame<'_> {
        let mut vnet = VnetHeader::read(self.header);
        vnet.shift((TAG - self.start) as u16);
        Frame {
            bytes: &self.bytes[self.start..self.end],
            vnet,
        }
    }
}

/// The VLAN tag among the control messages, as it was on the wire.
fn tag(message: &RecvMsg<'_, '_, ()>) -> Option<[u8; TAG]> {
    message.cmsgs().ok()?.find_map(|control| match control {
        ControlMessageOwned::Unknown(unknown)
            if unknown.cmsg_header.cmsg_level == libc::SOL_PACKET
                && unknown.cmsg_header.cmsg_type == libc::PACKET_AUXDATA =>
        {
            read_auxiliary(&unknown.data_bytes)
        }
        _ => None,
    })
}

/// Parses `struct tpacket_auxdata`: status, two lengths, two offsets, VLAN tag and its protocol.
fn read_auxiliary(bytes: &[u8]) -> Option<[u8; TAG]> {
    let status = u32::from_ne_bytes(*bytes.first_chunk()?);
    let [tci, tpid] = [16, 18].map(|at| bytes.get(at..).and_then(|rest| rest.first_chunk::<2>()));
    let valid = libc::TP_STATUS_VLAN_VALID | libc::TP_STATUS_VLAN_TPID_VALID;
    if status & valid != valid {
        return None;
    }
    let ([a, b], [c, d]) = (
        u16::from_ne_bytes(*tpid?).to_be_bytes(),
        u16::from_ne_bytes(*tci?).to_be_bytes(),
    );
    Some([a, b, c, d])
}
