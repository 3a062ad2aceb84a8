//! Raw Ethernet frames on an interface: AF_PACKET, many frames with one system call.
//!
//! Semantics: packet(7) and Documentation/networking/packet_mmap.rst of the Linux tree.

mod buffers;
mod options;
mod vnet;

pub use buffers::{Buffers, Frame};
pub use vnet::{Gso, VnetHeader};

use crate::error::Error;
use crate::link::Link;
use coalescope_netlink as netlink;
use nix::errno::Errno;
use nix::ifaddrs::getifaddrs;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::sockopt::{RcvBuf, RcvBufForce, ReceiveTimeout, SndBuf, SndBufForce};
use nix::sys::socket::{
    AddressFamily, LinkAddr, MsgFlags, MultiHeaders, SetSockOpt, SockFlag, SockProtocol, SockType,
    bind, sendmmsg, setsockopt, socket,
};
use nix::sys::time::{TimeSpec, TimeVal};
use std::io::IoSlice;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// The most frames that are sent with one system call: a veth without a queueing discipline has
/// room for 256 (`VETH_RING_SIZE`), and one of them stays free.
pub(crate) const MAX_SEND: usize = 255;
/// Shortest frame that can be sent: an Ethernet header.
pub(crate) const MIN_FRAME: usize = 14;
/// Room for frames waiting in the kernel.
const QUEUE_BYTES: usize = 64 << 20;

/// A socket that sends and receives whole Ethernet frames on one interface. It stays in the network
/// namespace in which it was opened.
#[derive(Debug)]
pub struct PacketSocket {
    fd: OwnedFd,
    link: Link,
    vnet: bool,
}

impl PacketSocket {
    /// A socket that only sends. Frames bypass the qdisc, so that none waits or is reordered.
    pub fn sender(link: &Link) -> Result<Self, Error> {
        let opened = Self::open(link, None)?;
        opened.set(
            options::QdiscBypass,
            &true,
            "bypass the queueing discipline",
        )?;
        opened.grow_queues();
        Ok(opened)
    }

    /// A socket that only sends, through the qdisc: a burst waits for a slow interface.
    pub fn queued_sender(link: &Link) -> Result<Self, Error> {
        let opened = Self::open(link, None)?;
        opened.grow_queues();
        Ok(opened)
    }

    /// A socket that only receives, with virtio-net headers: a frame merged by the kernel arrives
    /// whole. Frames that this machine sends on the interface are left out.
    pub fn receiver(link: &Link) -> Result<Self, Error> {
        let opened = Self::open(link, Some(SockProtocol::EthAll))?;
        opened.listen()?;
        Ok(opened)
    }

    /// A socket that is never read. Opened before a [`receiver`](Self::receiver), it makes the
    /// receiver get all frames in the order in which they came.
    ///
    /// The kernel delivers a list of frames handler by handler, and delays the last handler of a
    /// frame until a frame with another last handler comes (`__netif_receive_skb_list_core` in
    /// net/core/dev.c). For a frame of a protocol that the kernel does not know, the last handler
    /// is a packet socket: the one that was opened first.
    pub fn placeholder(link: &Link) -> Result<Self, Error> {
        let opened = Self::open(link, Some(SockProtocol::EthAll))?;
        opened.set(RcvBuf, &0, "shrink the receive queue")?;
        Ok(opened)
    }

    /// As [`receiver`](Self::receiver), and also frames for other stations.
    pub fn promiscuous(link: &Link) -> Result<Self, Error> {
        let opened = Self::receiver(link)?;
        let membership = options::promiscuous(link.index());
        opened.set(
            options::Membership,
            &membership,
            "receive frames for all stations",
        )?;
        Ok(opened)
    }

    /// The interface.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// Makes [`receive`](Self::receive) give up after this time.
    pub fn set_timeout(&self, timeout: Duration) -> Result<(), Error> {
        let value = TimeVal::new(timeout.as_secs() as _, timeout.subsec_micros().into());
        self.set(ReceiveTimeout, &value, "set a time-out")
    }

    /// Sends frames in order, up to 255 with one system call. Stops at the first that the
    /// kernel does not take.
    pub fn send<F: AsRef<[u8]>>(&self, frames: &[F]) -> Result<(), SendError> {
        let mut sent = 0;
        while sent < frames.len() {
            let end = frames.len().min(sent + MAX_SEND);
            let taken = self.send_some(&frames[sent..end]);
            sent += taken.map_err(|errno| SendError {
                index: sent,
                link: self.link.name().to_owned(),
                errno,
            })?;
        }
        Ok(())
    }

    /// One system call; returns the number of frames sent. An error concerns the first frame.
    fn send_some<F: AsRef<[u8]>>(&self, frames: &[F]) -> Result<usize, Errno> {
        let slices: Vec<_> = frames
            .iter()
            .map(|frame| [IoSlice::new(frame.as_ref())])
            .collect();
        let addresses = vec![None::<()>; frames.len()];
        let mut headers = MultiHeaders::<()>::preallocate(frames.len(), None);
        let fd = self.fd.as_raw_fd();
        let results = sendmmsg(fd, &mut headers, &slices, &addresses, [], MsgFlags::empty())?;
        Ok(results.count())
    }

    /// Waits for a frame and receives all frames that are there; 0 after the timeout, if one is set.
    pub fn receive(&self, buffers: &mut Buffers) -> Result<usize, Error> {
        self.receive_with(buffers, MsgFlags::MSG_WAITFORONE)
    }

    /// Receives all frames that are there, without waiting.
    pub(crate) fn receive_now(&self, buffers: &mut Buffers) -> Result<usize, Error> {
        self.receive_with(buffers, MsgFlags::MSG_DONTWAIT)
    }

    fn receive_with(&self, buffers: &mut Buffers, flags: MsgFlags) -> Result<usize, Error> {
        match buffers.fill(self.fd.as_raw_fd(), self.vnet, flags) {
            Err(Errno::EAGAIN) => Ok(0),
            other => other.map_err(Error::system(format!("receive on {}", self.link.name()))),
        }
    }

    fn open(link: &Link, protocol: Option<SockProtocol>) -> Result<Self, Error> {
        let name = link.name();
        let flags = SockFlag::SOCK_CLOEXEC;
        let fd = socket(AddressFamily::Packet, SockType::Raw, flags, protocol)
            .map_err(Error::system(format!("open a packet socket for {name}")))?;
        bind(fd.as_raw_fd(), &address(link)?).map_err(Error::system(format!("bind to {name}")))?;
        Ok(Self {
            fd,
            link: link.clone(),
            vnet: protocol.is_some(),
        })
    }

    fn listen(&self) -> Result<(), Error> {
        self.set(options::VnetHeader, &true, "ask for virtio-net headers")?;
        self.set(options::IgnoreOutgoing, &true, "leave out outgoing frames")?;
        self.set(options::AuxiliaryData, &true, "ask for VLAN tags")?;
        self.grow_queues();
        Ok(())
    }

    /// Sets the receive buffer as large as allowed: without rights in the first user namespace,
    /// this is the machine's limit.
    fn grow_queues(&self) {
        if setsockopt(&self.fd, RcvBufForce, &QUEUE_BYTES).is_err() {
            let _ = setsockopt(&self.fd, RcvBuf, &QUEUE_BYTES);
        }
        if setsockopt(&self.fd, SndBufForce, &QUEUE_BYTES).is_err() {
            let _ = setsockopt(&self.fd, SndBuf, &QUEUE_BYTES);
        }
    }

    fn set<O: SetSockOpt>(&self, option: O, value: &O::Val, what: &str) -> Result<(), Error> {
        setsockopt(&self.fd, option, value)
            .map_err(Error::system(format!("{what} on {}", self.link.name())))
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// A frame that was not sent. Frames before it were sent, frames after it were not tried.
#[derive(Debug, thiserror::Error)]
#[error("cannot send frame {index} of the batch on {link}: {}", errno.desc())]
pub struct SendError {
    /// Which frame, from 0.
    pub index: usize,
    /// The interface.
    pub link: String,
    /// The kernel's answer; ENOBUFS means that a queue was full and the frame is lost.
    pub errno: Errno,
}

impl From<SendError> for Error {
    fn from(error: SendError) -> Self {
        let action = format!("send frame {} of the batch on {}", error.index, error.link);
        Self::system(action)(error.errno)
    }
}

/// Waits until one of the sockets has a frame, at most `timeout`; returns which have.
pub fn wait<const N: usize>(
    sockets: [&PacketSocket; N],
    timeout: Duration,
) -> Result<[bool; N], Error> {
    let mut polled = sockets.map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLIN));
    match ppoll(&mut polled, Some(TimeSpec::from_duration(timeout)), None) {
        Ok(_) | Err(Errno::EINTR) => Ok(polled.map(|entry| entry.any().unwrap_or(false))),
        Err(errno) => Err(Error::system("wait for frames")(errno)),
    }
}

/// The address to bind to. nix cannot make one from an ifindex, but lists those of all interfaces.
fn address(link: &Link) -> Result<LinkAddr, Error> {
    let action = format!("find the address of {}", link.name());
    let all = getifaddrs().map_err(Error::system(action.clone()))?;
    let mut links = all.filter_map(|entry| entry.address?.as_link_addr().copied());
    let own = links.find(|address| address.ifindex() == link.index() as usize);
    let lacks = "a link-layer address";
    own.ok_or_else(|| netlink::Error::Answer { action, lacks }.into())
}
