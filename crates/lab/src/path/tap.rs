//! A TAP device: frames of a room, read and written by a program.

use super::{Error, Frame};
use crate::link::Link;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

/// Longest read: a virtio-net header, an Ethernet header with two tags, and an IP packet.
const LONGEST: usize = 10 + 22 + 65_535;

/// Length of the device's queue in frames. A whole window may come at once: 4,096 single frames are
/// 6 MB. The default of 500 overflows before TCP notices.
const QUEUE: u32 = 4096;

/// A TAP device with virtio-net headers, which sends and receives merged TCP and UDP frames.
///
/// Frames from the kernel are single, with complete checksums, if `tx-tcp-segmentation` and its kin
/// are turned off with [`crate::Link::disable_tso`]. Frames from the program are taken as they are.
pub struct Tap {
    device: SyncDevice,
    name: String,
    buffer: Vec<u8>,
}

impl std::fmt::Debug for Tap {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Tap({})", self.name)
    }
}

impl Tap {
    /// Makes a TAP in the calling thread's namespace and sets it up. `mtu` is 68 to 65,521.
    ///
    /// The device stays in that namespace wherever it is read and written, and ends with this value.
    pub fn new(name: &str, mtu: u16) -> Result<Self, Error> {
        let builder = DeviceBuilder::new().name(name).mtu(mtu).layer(Layer::L2);
        let device = builder.offload(true).build_sync();
        let device = device.map_err(failed("make", name))?;
        Link::named(name)?.set_queue_length(QUEUE)?;
        device
            .set_nonblocking(true)
            .map_err(failed("set up", name))?;
        Ok(Self {
            device,
            name: name.to_owned(),
            buffer: vec![0; LONGEST],
        })
    }

    /// The interface's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The next frame that the kernel sent, without waiting.
    ///
    /// # Errors
    ///
    /// Where the device is gone.
    pub fn receive(&mut self) -> Result<Option<Frame>, Error> {
        loop {
            match self.device.recv(&mut self.buffer) {
                Ok(length) => {
                    match Frame::from_tap(self.buffer.get(..length).unwrap_or_default()) {
                        Some(frame) => return Ok(Some(frame)),
                        None => continue,
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed("read from", &self.name)(error)),
            }
        }
    }

    /// Hands a frame to the kernel; returns whether it was taken. A frame is lost if the interface
    /// is down or the header contradicts the frame, as on any interface.
    pub fn send(&self, frame: &Frame) -> bool {
        self.device.send(frame.as_tap()).is_ok()
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

fn failed(action: &'static str, name: &str) -> impl FnOnce(io::Error) -> Error {
    let name = name.to_owned();
    move |source| Error::Tap {
        action,
        name,
        source,
    }
}
