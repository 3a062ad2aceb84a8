//! Switches that do not carry what was merged.

use super::{DropReason, Element, Follow, Followed, Frame, Nanos, Nic, Onward, Side};
use gro::Profile;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The guest's MTU beyond which the virtual switch of Windows Server 2019 loses merged frames, in
/// bytes (story E: "it starts where the guest's MTU exceeds 2850").
pub const HYPERV_2019_MTU: u32 = 2850;

/// A switch that drops what is longer than its MTU, without a word.
#[derive(Debug)]
pub struct Switch {
    name: String,
    mtu: usize,
    length: fn(&Frame) -> usize,
}

impl Switch {
    /// A switch whose ports all have this MTU in bytes. A frame that says its segment size is as long as
    /// its segments.
    #[must_use]
    pub fn new(name: &str, mtu: u16) -> Self {
        Self {
            name: name.to_owned(),
            mtu: mtu.into(),
            length: Frame::longest_packet,
        }
    }

    /// A userspace stack that forwards: a merged frame is as long as it is, whatever it says of its
    /// segments. gVisor's netstack compares so when it forwards, and answers nothing (google/gvisor#14011).
    #[must_use]
    pub(crate) fn by_whole_length(name: &str, mtu: u16) -> Self {
        Self {
            length: Frame::packet_len,
            ..Self::new(name, mtu)
        }
    }

    /// FreeBSD's bridge with members of this MTU: what LRO merged is longer, and dropped.
    ///
    /// Where in bridge, epair and jail the frames of story B end was not found out; the cure shows
    /// that merged ones do (story B, and if_bridge's BRIDGE_IFCAPS_STRIP, which takes LRO from direct
    /// members for this reason).
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

/// The virtual switch of Windows Server 2019 in front of a guest. It merges in software (RSC), and
/// while the guest's MTU is over [`HYPERV_2019_MTU`] what it merged does not arrive.
///
/// Two elements, so that a [`Point`](super::Point) between them sees what its mirror port saw:
/// [`rsc`](Self::rsc) merges, and this one, nearer to the guest, loses. It obeys the MTU of the
/// interface at the guest's end of the wire.
#[derive(Debug)]
pub struct HyperV2019 {
    name: String,
    guest: Side,
    guest_mtu: Arc<AtomicU32>,
}

impl HyperV2019 {
    /// The half that loses, for the guest at one end of the wire.
    #[must_use]
    pub fn new(name: &str, guest: Side) -> Self {
        Self {
            name: name.to_owned(),
            guest,
            guest_mtu: Arc::new(AtomicU32::new(0)),
        }
    }

    /// The half that merges. The feature `rx-gro` that it obeys stands for both of the story's other
    /// remedies: the switch's `EnableSoftwareRsc` and the guest's `large-receive-offload`.
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
