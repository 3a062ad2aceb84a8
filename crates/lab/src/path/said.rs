//! Elements that change the virtio-net header of a merged frame, and not the frame.

use super::frame::whole;
use super::{Element, Frame, Nanos, Onward, Side};

/// A virtual network that passes frames without their virtio-net header: the gso_size of a merged
/// frame is lost (apple/container#2245). Its checksum is complete.
#[derive(Debug)]
pub struct Headerless {
    name: String,
    toward: Side,
}

impl Headerless {
    /// Drops the headers of frames toward a side.
    #[must_use]
    pub fn new(name: &str, toward: Side) -> Self {
        Self {
            name: name.to_owned(),
            toward,
        }
    }
}

impl Element for Headerless {
    fn name(&self) -> &str {
        &self.name
    }

    fn frame(&mut self, frame: Frame, toward: Side, _at: Nanos, out: &mut Onward<'_>) {
        if toward != self.toward {
            return out.pass(frame, toward);
        }
        match whole(frame) {
            Ok(frame) => out.pass(frame, toward),
            Err(why) => out.drop_frame(toward, why),
        }
    }
}

/// A tunnel's end that sets a wrong gso_size on merged frames: it guesses it
/// (oxidecomputer/opte#805), or adds the length of the outer headers (projectcalico/calico#11252).
/// The segments that are made of the frame later are then longer than those that were sent.
#[derive(Debug)]
pub struct Decapsulator {
    name: String,
    toward: Side,
    guess: u16,
}

impl Decapsulator {
    /// Sets this gso_size on merged frames toward a side.
    #[must_use]
    pub fn new(name: &str, toward: Side, guess: u16) -> Self {
        Self {
            name: name.to_owned(),
            toward,
            guess,
        }
    }
}

impl Element for Decapsulator {
    fn name(&self) -> &str {
        &self.name
    }

    fn frame(&mut self, mut frame: Frame, toward: Side, _at: Nanos, out: &mut Onward<'_>) {
        if toward == self.toward && frame.has_segment_size() {
            let mut header = frame.header();
            header.gso_size = self.guess;
            frame.set_header(&header);
        }
        out.pass(frame, toward);
    }
}

#[cfg(test)]
mod tests {
    use super::super::element::testing::Bench;
    use super::super::{DropReason, Switch};
    use super::*;
    use crate::craft::{Ipv4, Segment};
    use coalescope_wire::LinkType;
    use gro::{Gso, GsoKind, IdRun, VirtioNetHeader};

    /// Three segments of 1,000 bytes as one frame that says so; its checksum is left to a card.
    fn merged() -> Frame {
        let mut segment = Segment::v4(Ipv4::default());
        segment.payload = vec![7; 3000];
        let bytes = segment.frame();
        let gso = Gso {
            kind: GsoKind::TcpV4,
            segment_size: 1000,
            segments: 3,
            outer_id: IdRun::Increasing,
            id: IdRun::Increasing,
            accurate_ecn: false,
        };
        let header = VirtioNetHeader::for_merged(LinkType::Ethernet, &bytes, &gso);
        Frame::new(&header.expect("a header"), &bytes)
    }

    fn through(element: &mut impl Element, toward: Side) -> Frame {
        let mut out = Bench::default().frame(element, merged(), toward, 0);
        let (to, frame) = out.pop().expect("it goes on");
        assert_eq!((to, out.len()), (toward, 0));
        frame
    }

    #[test]
    fn without_a_header_a_merged_frame_is_one_long_packet() {
        let mut network = Headerless::new("vmnet", Side::Client);
        assert_eq!(through(&mut network, Side::Server), merged());
        let bare = through(&mut network, Side::Client);
        assert_eq!(bare.header(), VirtioNetHeader::verified());
        assert_eq!(bare.longest_packet(), 3040);
    }

    #[test]
    fn a_guess_is_said_and_changes_no_byte() {
        let mut end = Decapsulator::new("tunnel", Side::Client, 1448);
        assert_eq!(through(&mut end, Side::Server), merged());
        let guessed = through(&mut end, Side::Client);
        assert_eq!(guessed.bytes(), merged().bytes());
        assert_eq!(guessed.longest_packet(), 1488);
    }

    #[test]
    fn a_switch_goes_by_segments_and_a_userspace_stack_by_the_whole_frame() {
        let mut bench = Bench::default();
        let mut switch = Switch::new("switch", 1040);
        assert_eq!(bench.frame(&mut switch, merged(), Side::Client, 0).len(), 1);
        let mut stack = Switch::by_whole_length("netstack", 1040);
        assert_eq!(bench.frame(&mut stack, merged(), Side::Client, 0).len(), 0);
        assert_eq!(bench.dropped(Side::Client, DropReason::TooLong), 1);
    }
}
