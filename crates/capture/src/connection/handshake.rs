//! What the two SYNs of a connection announced, and when they passed.

use crate::frame::Frame;
use crate::halves::Halves;

/// Handshake times; 0 is "not seen".
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Handshake {
    pub(crate) syn: Option<Syn>,
    pub(crate) syn_ack: Option<Syn>,
    pub(super) syn_ns: i64,
    pub(super) syn_ack_ns: i64,
    pub(super) ack_ns: i64,
}

/// The smallest MSS of any path: IPv6's smallest MTU (RFC 8200, 5) less headers. A smaller MSS was announced for
/// another reason than the MTU of the host's interface.
pub(super) const SMALL_MSS: u16 = 1220;

/// What a SYN announced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Syn {
    pub(crate) isn: u32,
    pub(crate) mss: Option<u16>,
    /// The window scale that the SYN offers, if any; the outer `None`: the capture cut the options off.
    pub(super) scale: Option<Option<u8>>,
    pub(super) timestamps: bool,
    /// Not scaled (RFC 7323, 2.2).
    pub(super) window: u16,
}

impl Syn {
    pub(super) fn new(frame: &Frame) -> Self {
        let (scale, cut) = frame
            .options()
            .map_or((None, false), |options| (options.window_scale, options.cut));
        Self {
            isn: frame.seq,
            mss: frame.options().and_then(|options| options.mss),
            scale: (scale.is_some() || !cut).then_some(scale),
            timestamps: frame.timestamps().is_some(),
            window: frame.window,
        }
    }
}

/// Whether a SYN-ACK acknowledges this SYN (RFC 9293, 3.5), and maybe data in it (RFC 7413).
fn answers(isn: u32, ack: u32) -> bool {
    const MOST_DATA: u32 = u16::MAX as u32;
    (1..=1 + MOST_DATA).contains(&ack.wrapping_sub(isn))
}

impl Handshake {
    /// SYN to ACK: one round trip of the whole path, from any point on it.
    pub(crate) fn rtt_ns(&self) -> Option<i64> {
        (self.syn_ns != 0 && self.ack_ns >= self.syn_ns).then(|| self.ack_ns - self.syn_ns)
    }

    /// Bytes of TCP options in each segment: timestamps, if both sides offered them.
    pub(super) fn options(&self) -> u32 {
        let stamps = |syn: &Option<Syn>| syn.as_ref().is_some_and(|syn| syn.timestamps);
        if stamps(&self.syn) && stamps(&self.syn_ack) {
            12
        } else {
            0
        }
    }

    /// Takes a SYN-ACK. The answer to another SYN, which the capture lacks, shows what hosts announce, and no round trip.
    pub(super) fn take_answer(&mut self, frame: &Frame, syn_ack: Syn) {
        self.syn_ack = Some(syn_ack);
        if self.syn.is_none_or(|syn| answers(syn.isn, frame.ack)) {
            self.syn_ack_ns = frame.time_ns;
        }
    }

    /// Whether the ACK that ends the handshake is still to come.
    pub(super) fn is_awaited(&self) -> bool {
        self.ack_ns == 0 && self.syn_ack_ns != 0
    }

    pub(super) fn halves(&self) -> Halves {
        let half = |from: i64, to: i64| (from != 0 && to >= from).then(|| to - from);
        Halves {
            to_server_ns: half(self.syn_ns, self.syn_ack_ns),
            to_client_ns: half(self.syn_ack_ns, self.ack_ns),
        }
    }
}
