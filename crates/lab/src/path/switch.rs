//! Switches that drop merged frames.

use super::{DropReason, Element, Follow, Followed, Frame, Nanos, Nic, Onward, Side};
use gro::Profile;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The guest's MTU beyond which the virtual switch of Windows Server 2019 loses merged frames, in
/// bytes (story E: "it starts where the guest's MTU exceeds 2850").
pub const HYPERV_2019_MTU: u32 = 2850;

/// A switch that drops frames longer than its MTU, without ICMP.
#[derive(Debug)]
pub struct Switch {
    name: String,
    mtu: usize,
    length: fn(&Frame) -> usize,
}

impl Switch {
    /// A switch whose ports all have this MTU in bytes. For a frame with a gso_size, the length of
    /// its segments counts.
    #[must_use]
    pub fn new(name: &str, mtu: u16) -> Self {
        Self {
            name: name.to_owned(),
            mtu: mtu.into(),
            length: Frame::longest_packet,
        }
    }

    /// A forwarding userspace stack: the whole length of a merged frame counts, even if it has a
    /// gso_size. gVisor's netstack compares like this when it forwards, and sends no ICMP
    /// (google/gvisor#14011).
    #[must_use]
    pub(crate) fn by_whole_length(name: &str, mtu: u16) -> Self {
        Self {
            length: Frame::packet_len,
            ..Self::new(name, mtu)
        }
    }

    /// FreeBSD's bridge with members of this MTU: frames that LRO merged are longer, and dropped.
    ///
    /// Where in bridge, epair and jail the frames of story B are dropped was not found out. That
    /// merged frames are, the remedy shows (story B, and if_bridge's BRIDGE_IFCAPS_STRIP, which
    /// turns LRO off on direct members for this reason).
    #[must_use]
    pub fn freebsd_bridge(name: &str, mtu: u16) -> Self {
        Self::new(name, mtu)
    }
}

impl Element for Switch {
    fn name(&self) -> &str {
        &self.name
    }

    fn frame(&mut self, frame: Frame, toward: Side, _at: Nanos, out: &mut Onward<'_>) {
        match (self.length)(&frame) > self.mtu {
            true => out.drop_frame(toward, DropReason::TooLong),
            false => out.pass(frame, toward),
        }
    }
}

/// The virtual switch of Windows Server 2019 in front of a guest. The switch merges in software
/// (RSC), and while the guest's MTU is over [`HYPERV_2019_MTU`], merged frames do not arrive.
///
/// Two elements, so that a [`Point`](super::Point) between them captures what the switch's mirror
/// port showed: [`rsc`](Self::rsc) merges, and this element, nearer to the guest, drops. It follows
/// the MTU of the interface at the guest's end of the wire.
#[derive(Debug)]
pub struct HyperV2019 {
    name: String,
    guest: Side,
    guest_mtu: Arc<AtomicU32>,
}

impl HyperV2019 {
    /// The element that drops, for the guest at one end of the wire.
    #[must_use]
    pub fn new(name: &str, guest: Side) -> Self {
        Self {
            name: name.to_owned(),
            guest,
            guest_mtu: Arc::new(AtomicU32::new(0)),
        }
    }

    /// The element that merges. Its feature `rx-gro` stands for both other remedies of the story:
    /// the switch's `EnableSoftwareRsc` and the guest's `large-receive-offload`.
    #[must_use]
    pub fn rsc(name: &str, guest: Side) -> Nic {
        Nic::new(name, guest, Profile::ndis_rsc()).losing_segment_size()
    }
}

impl Element for HyperV2019 {
    fn name(&self) -> &str {
        &self.name
    }

    fn frame(&mut self, frame: Frame, toward: Side, _at: Nanos, out: &mut Onward<'_>) {
        let large = self.guest_mtu.load(Ordering::Relaxed) > HYPERV_2019_MTU;
        match toward == self.guest && frame.merged() > 1 && large {
            true => out.drop_frame(toward, DropReason::Merged),
            false => out.pass(frame, toward),
        }
    }

    fn follows(&self) -> Vec<Follow> {
        vec![Follow {
            end: self.guest,
            what: Followed::Mtu(Arc::clone(&self.guest_mtu)),
        }]
    }
}
